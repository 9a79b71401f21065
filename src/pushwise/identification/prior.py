"""What is believed of an object before it is pushed.

Masses and frictions of cells are log-normal: ``log m = log(mass / n) + level + pattern``. The
level is common to all cells. The pattern varies over the object, partly smoothly and partly from
cell to cell, because the weight may rest on a rim, on corners or on feet.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.checks import finite_array, non_negative_number, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["FingerHeight", "Prior", "smooth_pattern"]


FRICTION_LENGTH = 0.5  # correlation length of friction, in units of the object's length
UNBOUNDED_SPREAD = 1.5  # log; friction that may be ten times another's or a tenth of it
MEASURED_HEIGHT = 0.1  # log; how well a stated height of the finger is known
_MAY_BE_ZERO = (
    "mass_smooth",
    "radius_doubt",
    "tip_doubt",
    "tool_doubt",
    "frame_doubt",
    "frame_angle_doubt",
)
_MAY_BE_NONE = ("load_spread", "friction_spread", "max_mass", "max_friction")
# Below these, covariances are singular to rounding.
_LEAST = {"mass_spread": 1e-4, "load_spread": 1e-4, "friction_spread": 1e-4, "centre_doubt": 1e-6}


class FingerHeight(NamedTuple):
    """What is believed of the height at which a finger pushes."""

    typical: float
    """Typical height [m]."""
    doubt: float
    """Uncertainty, a standard deviation of its log."""
    shifts: bool
    """Whether it is the shift of the load, height times friction, that is believed to be typical.

    A height that was not measured must not seem to reveal the friction, and with it the mass.
    """


@dataclass(frozen=True)
class Prior:
    """Typical values and how uncertain they are.

    Doubts and spreads of positive quantities are standard deviations of their logs, so 0.1 means
    about 10 %; those of positions and angles are standard deviations.
    """

    mass: float = 0.5
    """Typical total mass [kg]."""
    mass_doubt: float = 1.5
    """Uncertainty of the total mass."""
    mass_spread: float = 1.0
    """How much cells differ in mass."""
    load_spread: float | None = None
    """How much cells differ in the load they carry; None if as much as in mass.

    An object that rests on feet or a rim carries its weight on a few spots, by which cells differ
    20-fold (3). Its mass is distributed as usual all the same, and statics puts the centroid of the
    load under the centre of mass: that is believed to be where masses that differ by `mass_spread`
    have it, unless it is stated.
    """
    mass_smooth: float = 0.7
    """Share of these differences that varies smoothly over the object; the rest varies per cell."""
    mass_length: float = 0.5
    """Length over which it varies, in units of the square root of the object's area."""
    centre: tuple[float, float] | None = None
    """Centre of mass [m] in the grid frame if it is known in advance; otherwise None."""
    centre_doubt: float = 1e-3
    """Uncertainty of that centre of mass [m]."""
    friction: float = 0.35
    """Typical coefficient of friction between object and table."""
    friction_doubt: float = 0.7
    """Uncertainty of the common level of friction."""
    friction_spread: float | None = 0.36
    """How much friction varies over the object; None if nothing is believed about it.

    By default a little more than for parts that differ by up to a factor of 3, log-uniform (0.32).
    Chosen with coverage in view.

    Slow pushes show only the product of weight and friction. It is this number that separates the
    two, and so ties the centre of mass to the centre of friction.
    """
    gyration_doubt: float = 0.3
    """Uncertainty of the radius of gyration, relative to that of what the cells carry.

    On a stiff bed the nine objects of `pushwise.objects` have 0.6 (clamp) to 1.5 (hammer) times
    that radius.
    """
    finger_doubt: float = 0.5
    """Uncertainty of the given friction of the finger."""
    finger_height: float = 0.005
    """Typical height at which a finger pushes [m], if the given `Finger` does not state it.

    A push above the table moves the load forwards. Pushes at the height of the table do not exist,
    and few people measure theirs.
    """
    height_doubt: float = 0.7
    """Uncertainty of that height; one that is stated is taken to be known to a tenth."""
    radius_doubt: float = 0.0
    """Uncertainty of the given radius of the finger."""
    tip_doubt: float = 0.0
    """Constant error of recorded finger positions in the table frame [m]."""
    tool_doubt: float = 0.0
    """Constant error of finger positions along and across the push [m]: a bent or worn tool."""
    frame_doubt: float = 0.0
    """Constant error of the tracked frame's position relative to the grid frame [m]."""
    frame_angle_doubt: float = 0.0
    """Constant error of the tracked frame's angle relative to the grid frame [rad]."""
    touching: bool = False
    """Whether the finger touches the object when a record begins; only used with the doubts above.
    """
    max_mass: float | None = None
    """Upper bound of a cell's mass [kg], the paper's m_max; None for no bound."""
    max_friction: float | None = 2.0
    """Upper bound of a cell's friction, the paper's mu_max; None for no bound."""

    def __post_init__(self) -> None:
        """Refuse values that no object could have."""
        for each in fields(self):
            name, value = each.name, getattr(self, each.name)
            if name in ("centre", "touching") or (value is None and name in _MAY_BE_NONE):
                continue
            check = non_negative_number if name in _MAY_BE_ZERO else positive_number
            value = check(f"prior {name}", value)
            if value < (least := _LEAST.get(name, 0.0)):
                raise PushwiseError(f"prior {name} must be at least {least:g}; got {value:g}.")
            object.__setattr__(self, name, value)
        if self.mass_smooth >= 1.0:
            raise PushwiseError(
                f"prior mass_smooth must be at least 0 and below 1; got {self.mass_smooth:g}."
            )
        if self.centre is not None:
            x, y = finite_array("prior centre", self.centre, (2,)).tolist()
            object.__setattr__(self, "centre", (x, y))
        if self.max_friction is not None and self.max_friction <= self.friction:
            raise PushwiseError(
                f"prior max_friction must be above the typical friction {self.friction:g}; "
                f"got {self.max_friction:g}."
            )

    def check(self, grid: CellGrid) -> None:
        """Refuse a bound below the typical mass, and a centre of mass outside the object."""
        if self.centre is not None:
            hull = grid.outline[ConvexHull(grid.outline).vertices]
            if not contains(hull, np.array([self.centre]))[0]:
                x, y = self.centre
                raise PushwiseError(
                    f"prior centre ({x:g}, {y:g}) m is not within the object; it is given in "
                    "metres in the grid frame."
                )
        if self.max_mass is not None and self.max_mass <= self.mass / grid.n_cells:
            raise PushwiseError(
                f"prior max_mass must be above the typical mass of a cell, "
                f"{self.mass / grid.n_cells:g} kg ({self.mass:g} kg over {grid.n_cells} cells); "
                f"got {self.max_mass:g} kg."
            )

    def height_of(self, finger: Finger) -> FingerHeight:
        """Return what is believed of the height at which a finger pushes."""
        if finger.height > 0.0:
            return FingerHeight(finger.height, MEASURED_HEIGHT, shifts=False)
        return FingerHeight(self.finger_height, self.height_doubt, shifts=True)

    @property
    def setup_doubts(self) -> Array:
        """Standard deviations of tip (2), tool (2), frame (3) and log radius, shape (8,)."""
        tip, tool, frame = self.tip_doubt, self.tool_doubt, self.frame_doubt
        return np.array(
            [tip, tip, tool, tool, frame, frame, self.frame_angle_doubt, self.radius_doubt]
        )

    def factors(self, grid: CellGrid) -> tuple[Array, Array]:
        """Return square roots of the covariances of log mass and log friction, (n, n) each."""
        spread = UNBOUNDED_SPREAD if self.friction_spread is None else self.friction_spread
        mass = self._load_covariance(grid, self.load_spread or self.mass_spread)
        friction = self.friction_doubt**2 + spread**2 * stepped_pattern(grid)
        return _root(mass), _root(friction)

    def believed_centre(self, grid: CellGrid) -> tuple[Array, Array] | None:
        """Return what is believed of the centre of mass besides what the load implies, if anything.

        Returns:
            The centre [m] in the grid frame, shape (2,), and a root of its covariance [m], (2, 2).

        """
        if self.centre is not None:
            return np.array(self.centre), self.centre_doubt * np.eye(2)
        if self.load_spread is None or self.load_spread <= self.mass_spread:
            return None
        centre = grid.centres.mean(axis=0)
        by_log_mass = (grid.centres - centre).T / grid.n_cells
        mass = self._load_covariance(grid, self.mass_spread)
        return centre, _root(by_log_mass @ mass @ by_log_mass.T)

    def _load_covariance(self, grid: CellGrid, spread: float) -> Array:
        """Return the covariance (n, n) of log masses, or of log loads, that differ by a spread."""
        return _covariance(grid, self.mass_doubt, spread, self.mass_smooth, self.mass_length)


def _root(covariance: Array) -> Array:
    """Return the Cholesky factor of a covariance."""
    return np.asarray(np.linalg.cholesky(covariance), np.float64)


def smooth_pattern(grid: CellGrid, length: float = 0.5) -> Array:
    """Return the correlation matrix of cells in a smooth pattern, shape (n, n).

    Args:
        grid: The cells.
        length: Correlation length in units of the square root of the object's area.

    """
    gap = grid.centres[:, None] - grid.centres
    length = length * np.sqrt(grid.area)
    pattern: Array = np.exp(-0.5 * np.sum(gap**2, axis=-1) / length**2)
    return pattern


def stepped_pattern(grid: CellGrid) -> Array:
    """Return the correlation matrix of cells in a pattern that changes in steps, shape (n, n).

    The friction of an object of several parts is constant on each of them. Under a smooth prior
    such a step is next to impossible; the exponential kernel is that of a random walk and expects
    them.
    """
    r = grid.centres - grid.centres.mean(axis=0)
    extent = np.ptp(r @ np.linalg.eigh(r.T @ r)[1][:, 1]) + grid.cell_size
    gap = np.sqrt(np.sum((r[:, None] - r) ** 2, axis=-1))
    pattern: Array = np.exp(-gap / (FRICTION_LENGTH * extent))
    return pattern


def _covariance(
    grid: CellGrid, doubt: float, spread: float, smooth: float, length: float = 0.5
) -> Array:
    """Return the covariance (n, n) of a common level plus a pattern that is partly smooth."""
    pattern = smooth * smooth_pattern(grid, length) + (1.0 - smooth) * np.eye(grid.n_cells)
    covariance: Array = doubt**2 + spread**2 * pattern
    return covariance
