"""Objects that stand on the table of the MuJoCo world and should not be touched.

They are free bodies: whatever touches one moves it, and the world reports by how much. Rows of
cells carry their weight; the finger and other objects meet walls along their outlines, because a
cell may reach many millimetres beyond the outline that was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import mujoco
import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import contains, placed
from pushwise.physics.model import ObjectModel
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array
from pushwise.worlds.mujoco_scene import RAIL, inner_corners

__all__ = ["Bystander", "Bystanders"]

_WALL = 0.005  # m; half the height of walls: fingers and rails meet those of flat objects, too


@dataclass(frozen=True, eq=False)
class Bystander:
    """An object that stands on the table and is not to be moved."""

    model: ObjectModel
    """Its cells, masses and frictions."""
    pose: Array
    """Pose of its grid frame on the table at the start [m, m, rad], shape (3,)."""

    def __post_init__(self) -> None:
        """Check the pose."""
        object.__setattr__(self, "pose", finite_array("pose", self.pose, (3,)))

    @property
    def outline(self) -> Array:
        """Its outline on the table at the start [m], shape (k, 2)."""
        return placed(self.model.grid.outline, self.pose)


class Bystanders:
    """The bystanders of a world: their MJCF, and where they are."""

    def __init__(self, others: Sequence[Bystander]) -> None:
        """Remember the bystanders, which stand where they start."""
        self._others = tuple(others)
        self.outlines = tuple(other.outline for other in self._others)
        """Where they start [m], shape (k, 2) each."""
        for i, a in enumerate(self.outlines):
            for j, b in enumerate(self.outlines[:i]):
                if contains(a, b).any() or contains(b, a).any():
                    raise PushwiseError(f"objects {j} and {i} of the bystanders overlap.")
        self._places: Array | None = None  # (k, 7), once they may have moved

    def bodies(self) -> str:
        """Return the MJCF of their bodies."""
        return "".join(_body(k, other) for k, other in enumerate(self._others))

    def pairs(self) -> str:
        """Return the MJCF of their contacts with the table."""
        return "".join(
            f'<pair geom1="table" geom2="other{k}_{i}" condim="3" friction="{mu} {mu}"/>'
            for k, other in enumerate(self._others)
            for i, (_, _, mu, _) in enumerate(_boxes(other.model))
        )

    def lay(self, engine: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Put them where they are now."""
        if self._places is not None:
            for k, place in enumerate(self._places):
                data.qpos[self._slot(engine, k)] = place

    def note(self, engine: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Remember where they are."""
        self._places = np.array(
            [data.qpos[self._slot(engine, k)] for k in range(len(self._others))]
        ).reshape(-1, 7)

    def reset(self) -> None:
        """Put them back where they started."""
        self._places = None

    def state(self) -> list[list[float]] | None:
        """Return where they are, as JSON can hold it."""
        return None if self._places is None else self._places.tolist()

    def restore(self, state: list[list[float]] | None) -> None:
        """Return to a state."""
        self._places = None if state is None else np.array(state).reshape(-1, 7)

    def moved(self) -> Array:
        """Return how far each was moved since the start [m], shape (k,), as a mean of its cells."""
        if self._places is None:
            return np.zeros(len(self._others))
        return np.array(
            [
                mean_cell_error(other.model.grid, _pose(place), other.pose)
                for other, place in zip(self._others, self._places, strict=True)
            ]
        )

    @staticmethod
    def _slot(engine: mujoco.MjModel, k: int) -> slice:
        """Return where the coordinates of a bystander are."""
        at = int(engine.joint(f"other{k}").qposadr[0])
        return slice(at, at + 7)


def _pose(place: Array) -> Array:
    """Return the pose (3,) on the table of a free body's position and quaternion (7,)."""
    x, y, _, qw, qx, qy, qz = place
    return np.array([x, y, np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy**2 + qz**2))])


def _body(k: int, other: Bystander) -> str:
    """Return the MJCF of a bystander, a free body of boxes with walls around them."""
    x, y, theta = other.pose
    geoms = "".join(
        f'<geom name="other{k}_{i}" type="box" size="{size[0]} {size[1]} {size[2]}" '
        f'pos="{place[0]} {place[1]} {size[2]}" mass="{mass}" contype="2"/>'
        for i, (place, size, _, mass) in enumerate(_boxes(other.model))
    )
    return (
        f'<body name="other{k}" pos="{x} {y} 0" euler="0 0 {theta}">'
        f'<freejoint name="other{k}"/>{geoms}{_walls(other.model.grid)}</body>'
    )


def _walls(grid: CellGrid) -> str:
    """Return a wall along each side of the outline, with its outer face there."""
    corners = inner_corners(grid.outline)
    sides = np.roll(corners, -1, axis=0) - corners
    return "".join(
        f'<geom type="box" size="{0.5 * np.hypot(*side) + RAIL} {RAIL} {_WALL}" mass="0" '
        f'pos="{middle[0]} {middle[1]} {_WALL}" euler="0 0 {np.arctan2(side[1], side[0])}" '
        'contype="8" conaffinity="12"/>'
        for middle, side in zip(corners + 0.5 * sides, sides, strict=True)
    )


class _RowOfCells(NamedTuple):
    """A box in the place of a row of cells."""

    place: Array  # middle [m], (2,)
    size: Array  # half sides [m], (3,)
    friction: float
    mass: float


def _boxes(model: ObjectModel) -> list[_RowOfCells]:
    """Return a box for each row of cells."""
    grid = model.grid
    half = 0.5 * grid.cell_size
    return [
        _RowOfCells(
            grid.centres[[cells[0], cells[-1]]].mean(axis=0),
            np.array([half * len(cells), half, 0.5 * float(grid.heights[cells].mean())]),
            float(model.friction[cells].mean()),
            float(model.mass[cells].sum()),
        )
        for cells in _rows(grid)
    ]


def _rows(grid: CellGrid) -> list[list[int]]:
    """Return the cells in runs along x without a gap."""
    i, j = np.rint((grid.centres - grid.centres.min(axis=0)) / grid.cell_size).astype(np.int64).T
    runs: list[list[int]] = []
    for cell in np.lexsort((i, j)).tolist():
        last = runs[-1][-1] if runs else None
        if last is not None and j[last] == j[cell] and i[last] + 1 == i[cell]:
            runs[-1].append(cell)
        else:
            runs.append([cell])
    return runs
