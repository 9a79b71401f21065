"""What is simulated: an `ObjectModel` on a `Table`, by which `Physics`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from pushwise.checks import counted, finite_array, non_negative_number, positive_number, require_all
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan
from pushwise.shape.scene import Scene
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Friction", "Load", "ObjectModel", "Physics", "Table", "grid_of"]

Load = Literal["own", "rigid"]
Friction = Literal["coulomb", "lagged"]


@dataclass(frozen=True, eq=False, init=False)
class ObjectModel:
    """A rigid object: the mass of each cell of its grid, and its friction on the table.

    Arrays are read-only; lengths are in the grid frame.
    """

    grid: CellGrid
    """The cells."""
    mass: Array
    """Mass of each cell [kg], shape (n,), greater than zero."""
    friction: Array
    """Coefficient of friction between each cell and the table, shape (n,), zero or more."""

    def __init__(self, grid: CellGrid, mass: ArrayLike, friction: ArrayLike) -> None:
        """Check and copy the arrays; one number for `friction` holds for every cell."""
        if not isinstance(grid, CellGrid):
            raise PushwiseError(f"grid must be a CellGrid; got {type(grid).__name__}.")
        n = grid.n_cells
        if isinstance(friction, Real):  # NumPy's numbers as well
            friction = np.full(n, non_negative_number("friction", friction))
        set_field = object.__setattr__
        set_field(self, "grid", grid)
        set_field(self, "mass", finite_array("mass", mass, (n,)))
        set_field(self, "friction", finite_array("friction", friction, (n,)))
        require_all("mass", self.mass, self.mass > 0.0, "greater than zero")
        require_all("friction", self.friction, self.friction >= 0.0, "zero or more")

    @cached_property
    def total_mass(self) -> float:
        """Mass of the whole object [kg]."""
        return float(self.mass.sum())

    @cached_property
    def centre_of_mass(self) -> Array:
        """Centre of mass [m] in the grid frame, shape (2,)."""
        centre: Array = self.mass @ self.grid.centres / self.total_mass
        centre.flags.writeable = False
        return centre

    @cached_property
    def mean_friction(self) -> float:
        """Coefficient of friction of the whole object in translation: the mean over its mass."""
        return float(self.mass @ self.friction) / self.total_mass

    @cached_property
    def inertia(self) -> float:
        """Moment of inertia [kg m^2] about the vertical through the centre of mass.

        Each cell is a uniform square plate of side w: m w^2 / 6 about its own centre.
        """
        arm = self.grid.centres - self.centre_of_mass
        own = self.total_mass * self.grid.cell_size**2 / 6.0
        return float(self.mass @ np.sum(arm**2, axis=1)) + own


@dataclass(frozen=True, eq=False, init=False)
class Table:
    """The table top: inside its polygon an object is carried, outside it is not."""

    polygon: Array
    """The table's edge [m] in the table frame, shape (k, 2), counter-clockwise, read-only."""

    def __init__(self, polygon: ArrayLike | None = None) -> None:
        """Check and copy the polygon; without one, 1.0 m x 0.7 m around the origin."""
        if polygon is None:
            polygon = _rectangle(1.0, 0.7, np.zeros(2))
        object.__setattr__(self, "polygon", simple_polygon("polygon", polygon))

    @classmethod
    def rectangle(
        cls, width: float = 1.0, depth: float = 0.7, *, centre: ArrayLike = (0.0, 0.0)
    ) -> Self:
        """Return a table of `width` along x and `depth` along y [m] around `centre` (2,) [m]."""
        return cls(
            _rectangle(
                positive_number("width", width),
                positive_number("depth", depth),
                finite_array("centre", centre, (2,)),
            )
        )


@dataclass(frozen=True, eq=False)
class Physics:
    """How motion is simulated; everything that takes `physics` has these defaults."""

    dt: float | None = None
    """Time step [s]; by default the finger moves half a millimetre per step, or half its radius."""
    load: Load = "own"
    """How weight rests on the table: each cell carries its own, or a rigid object a stiff bed."""
    friction: Friction = "coulomb"
    """Coulomb's at the end of the step, or the paper's, lagged, under a `ForcePush`."""
    points: int = 2
    """Friction points along a cell's side; a cell has points x points of them."""
    anisotropy: ArrayLike | None = None
    """Symmetric positive definite matrix A (2, 2) in table axes of a table with more friction in
    one direction than in another: along a principal axis the coefficient of friction is the
    object's times the root of the eigenvalue. None for a table that is alike in all directions."""

    def __post_init__(self) -> None:
        """Refuse what no simulation could use."""
        # Python's bool is a number, but never meant as a time.
        number = isinstance(self.dt, Real) and not isinstance(self.dt, bool)
        if self.dt is not None and not (number and np.isfinite(self.dt) and self.dt > 0):
            raise PushwiseError(f"dt must be a positive number of seconds; got {self.dt!r}.")
        if self.load not in ("own", "rigid"):
            raise PushwiseError(f"load must be 'own' or 'rigid'; got {self.load!r}.")
        if self.friction not in ("coulomb", "lagged"):
            raise PushwiseError(f"friction must be 'coulomb' or 'lagged'; got {self.friction!r}.")
        if isinstance(self.points, bool) or not isinstance(self.points, int) or self.points < 1:
            raise PushwiseError(f"points must be a whole number from 1; got {self.points!r}.")
        if self.anisotropy is not None:
            A = finite_array("anisotropy", self.anisotropy, (2, 2))
            skew = np.abs(A - A.T).max() > 1e-9 * np.abs(A).max()
            if skew or np.linalg.eigvalsh(A).min() <= 0.0:
                raise PushwiseError(
                    f"anisotropy must be symmetric and positive definite; got {A.tolist()}."
                )
            if self.friction == "lagged":
                raise PushwiseError("friction 'lagged' is the paper's; it has no anisotropy.")


def _rectangle(width: float, depth: float, centre: Array) -> Array:
    """Return the corners of a rectangle [m], shape (4, 2), counter-clockwise."""
    signs = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners: Array = centre + 0.5 * signs * np.array([width, depth])
    return corners


def grid_of(value: CellGrid | ObjectModel | Scan | Scene) -> CellGrid:
    """Return the cells of what `load` returns: a grid, a model or a scan of one object."""
    if isinstance(value, CellGrid):
        return value
    if isinstance(value, ObjectModel | Scan):
        return value.grid
    if isinstance(value, Scene):
        raise PushwiseError(
            f"a scene of {counted(len(value.objects), 'object', 'objects')} is not one grid; give "
            "that of one object, scene.objects[0].grid, or scan it with pushwise scan --near."
        )
    raise PushwiseError(
        f"a CellGrid, an ObjectModel or a Scan has cells; got {type(value).__name__}."
    )
