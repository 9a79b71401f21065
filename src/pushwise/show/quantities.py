"""What figures, report and viewer have in common: the quantities they show, and their colours.

Quantities per cell (mass, friction, load, uncertainty) and their colour maps, the ellipse of the
centre of mass, and pushes next to what the model predicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.prepared import PreparedObject, action_of
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import Trajectory, simulate
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "Compared",
    "Quantity",
    "cell_corners",
    "colours",
    "compared",
    "duration",
    "ellipse",
    "finger_path",
    "gradient",
    "millimetres",
    "point",
    "probability",
    "quantities",
]


_ELLIPSE = 2.4477  # standard deviations that contain 95 % of a Gaussian in the plane


@dataclass(frozen=True, eq=False)
class Compared:
    """An observed push and the model's prediction of it, from the same pose."""

    record: PushRecord
    """What was observed."""
    grid: CellGrid
    """The cells of the object."""
    path: Trajectory
    """What the model predicts."""
    apart: float
    """Mean distance between observed and predicted cells at the end [m]."""
    turned: float
    """Angle between observed and predicted final pose [rad], zero or more."""


def compared(
    model: ObjectModel, record: PushRecord, finger: Finger, table: Table | None = None
) -> Compared:
    """Simulate an observed push from its observed starting pose.

    Raises:
        SimulationError: The finger starts further inside the object than noise can explain.

    """
    action = action_of(model, record.push, finger)
    start = PreparedObject.of(model, None, Physics()).clear_start(
        "the push", record.pose[0].copy(), action
    )
    path = simulate(model, record.push, start.pose, twist=record.twist, finger=finger, table=table)
    seen, said = record.pose[-1], path.pose_at(record.t[-1])
    turned = np.remainder(said[2] - seen[2] + np.pi, 2.0 * np.pi) - np.pi
    apart = mean_cell_error(model.grid, said, seen)
    return Compared(record, model.grid, path, apart, abs(float(turned)))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number per cell."""

    title: str
    """What it is."""
    values: Array
    """Values per cell, zero or more, shape (n,)."""
    unit: str
    """The unit of the values; empty for a plain number."""
    scheme: str
    """The name of its Matplotlib colour map."""

    @property
    def top(self) -> str:
        """The largest value, with its unit."""
        unit = f"\u00a0{self.unit}" if self.unit else ""
        return f"{self.values.max():.3g}{unit}"


def quantities(belief: Belief) -> dict[str, Quantity]:
    """Return what is believed about the cells, by short names.

    Where the total mass is not known, masses and loads are shares of the whole: grams would be the
    prior's. There is an uncertainty only where there is a posterior: that of each cell's share of
    the load, as a percentage of what it was before the first push.
    """
    model = belief.model
    mass, load = model.mass, model.friction * model.mass * GRAVITY
    if belief.total_mass_known:
        masses = Quantity("Mass", 1e3 * mass, "g", "viridis")
        loads = Quantity("Friction load", 1e3 * load, "mN", "viridis")
    else:
        share = "% of the whole"
        masses = Quantity("Mass", 1e2 * mass / mass.sum(), share, "viridis")
        loads = Quantity("Friction load", 1e2 * load / load.sum(), share, "viridis")
    shown = {
        "mass": masses,
        "friction": Quantity("Coefficient of friction", model.friction, "", "viridis"),
        "load": loads,
    }
    if belief.posterior is not None:
        left = 1e2 * (1.0 - belief.posterior.load_known)
        shown["uncertainty"] = Quantity("Remaining uncertainty of the load", left, "%", "magma")
    return shown


def cell_corners(grid: CellGrid) -> Array:
    """Return the corners of the cells [m], shape (n, 4, 2)."""
    square = 0.5 * grid.cell_size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners: Array = grid.centres[:, None, :] + square
    return corners


def colours(values: Array, scheme: str, top: float | None = None) -> list[str]:
    """Return a colour per value (n,), zero or more, from zero to `top`, by default the largest."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    top = float(values.max()) if top is None else top
    share = values / top if top > 0.0 else np.zeros_like(values)
    return [to_hex(colour) for colour in colormaps[scheme](share)]


def gradient(scheme: str) -> str:
    """Return a colour map from left to right, as a CSS gradient."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    stops = [to_hex(colour) for colour in colormaps[scheme](np.linspace(0.0, 1.0, 9))]
    return f"linear-gradient(to right, {', '.join(stops)})"


def ellipse(centre: Array, covariance: Array) -> Array:
    """Return the ellipse that contains 95 % of a Gaussian in the plane.

    Args:
        centre: Its mean [m], shape (2,).
        covariance: Its covariance [m^2], shape (2, 2).

    Returns:
        Points on the ellipse [m], shape (64, 2).

    """
    values, axes = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    ring: Array = centre + (_ELLIPSE * axes @ (np.sqrt(values)[:, None] * circle)).T
    return ring


def finger_path(push: Push) -> Array:
    """Return the places through which a finger moves [m], shape (k, 2), each unlike the last.

    There are two at least, so that there is a line to draw; a finger that rests has one of them
    twice.
    """
    moves = np.append(True, np.diff(push.positions, axis=0).any(axis=1))
    places: Array = push.positions[moves]
    return places if len(places) > 1 else np.repeat(places, 2, axis=0)


def probability(value: float) -> str:
    """Return a probability as a percentage; samples resolve nothing below a tenth of one."""
    if value < 1e-3:
        return "below 0.1 %"
    return f"{100.0 * value:.2g} %" if value < 0.095 else f"{100.0 * value:.0f} %"


def millimetres(metres: float) -> str:
    """Return a length, such as how far an object is from its goal, in millimetres."""
    return f"{round(1e3 * metres, 1) + 0.0:.1f} mm"


def point(place: Array) -> str:
    """Return a point (2,) [m], such as a centre of mass, in millimetres."""
    x, y = (round(1e3 * value, 1) + 0.0 for value in place.tolist())  # + 0.0: no minus zero
    return f"({x:.1f}, {y:.1f}) mm"


def duration(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds:.1f} s"
