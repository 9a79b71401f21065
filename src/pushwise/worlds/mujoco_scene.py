"""The MuJoCo model of a table, the object on it and whatever touches it.

MuJoCo relaxes contact: the normal force of a contact is

    f_n = D (k d |r| + b_n w_n + mu b_t |v_t|),      D = m d / (1 - d)

with depth r, approach speed w_n, sliding speed v_t and impedance d (Computation, "Constraint
model"; the last term is due to the relaxed cone). So a contact that slides faster carries more
load, with the default d = 0.9 up to all of it: this is why MuJoCo "loads the rim" of a turning
object. Coulomb's law remains when D mu b_t |v_t| is small compared with the load. And an object
that comes to rest is braked by no more than b_t |v_t|, so that b_t must not be small. Hence:

- a small impedance d, such that D of all feet together is `share` times the object's mass;
- stiffness and damping at the limit of the time step, so that the object sinks in by 0.03 mm;
- `solreffriction`, a damping b_t of friction alone;
- a large `impratio`: a steady push meets full friction from about 1 mm/s.

At 0.5 m/s and with friction of 0.3, two milliseconds per step would let a load depend on speed by
three quarters. `FAST` contacts, with a quarter of the time step, are as stiff with a sixteenth of
the share: what slides fast, or comes to rest by itself, is computed with them.

A cell touches the table with a foot whose corners are the cell's four Gauss points, which
integrates friction over its square; with corners at those of the square itself, rotation would be
braked 3 % too much (a 0.2 m square of 25 cells). The cell's own box is 0.5 mm higher and supports
it at the table's edge. The finger is an upright cylinder with round ends, a capsule in MuJoCo. It
and other objects meet the object at its outline, where a cell may end farther in or out.

The load under a free body is that of a stiff bed. With `own_weight` each cell slides up and down
on a root that moves in the plane: it carries its own weight, and nothing ever tips.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "FAST",
    "FLOOR",
    "RAIL",
    "STEADY",
    "TIME_STEP",
    "Softness",
    "inner_corners",
    "object_scene",
    "table_frame",
]

TIME_STEP = 0.002
"""[s]"""
FLOOR = -0.7
"""Height of the floor, the table's top being 0 [m]."""
RAIL = 0.001
"""Radius of the rails along the outline [m]."""

_IMPRATIO = 1e4
_FRICTION_DAMPING = 50.0  # 1/s; of steady contacts
_FINGER_IMPEDANCE = 0.1
_FINGER_STIFFNESS = 0.4 / TIME_STEP**2
_FINGER_DAMPING = 0.8 / TIME_STEP
_FINGER_MASS = 1000.0  # kg; so heavy that no object slows it
_FINGER_HALF_HEIGHT = 0.02  # m
# A push F at height z shifts the load by F z / (m g) along the push, which no planar model sees.
# A robot pushes thin objects with its fingertip just above the table, and so does this one.
_PUSH_HEIGHT = 0.003  # m
_FOOT = 0.0005  # m by which a foot protrudes below its cell
_ROOT = 1e-4  # with own weight: mass of the root relative to that of the object
_DROP = 0.002  # m; with own weight: how far a cell sinks beyond the table's edge
_TABLE = 0.02  # m; half the thickness of the table's top


@dataclass(frozen=True)
class Softness:
    """How softly the object's feet meet the table.

    Attributes:
        steps: Steps per `TIME_STEP`.
        share: D of all feet together, relative to the object's mass.
        friction_damping: b_t [1/s].

    """

    steps: int
    share: float
    friction_damping: float

    def impose(self, engine: mujoco.MjModel, n_cells: int, *, own_weight: bool) -> None:
        """Set the contacts of feet and cells with the table, which are a scene's first pairs."""
        ours = slice(0, 2 * n_cells)
        d, (stiffness, damping, friction_damping) = self._softness(n_cells, own_weight)
        engine.pair_solimp[ours, :2] = d
        engine.pair_solref[ours] = stiffness, damping
        engine.pair_solreffriction[ours] = -1.0, friction_damping

    def attributes(self, n_cells: int, *, own_weight: bool) -> str:
        """Return the same as attributes of MJCF."""
        d, (stiffness, damping, friction_damping) = self._softness(n_cells, own_weight)
        return _attributes(d, stiffness, damping, friction_damping)

    def _softness(self, n_cells: int, own_weight: bool) -> tuple[float, tuple[float, float, float]]:
        """Return impedance and, as MuJoCo wants them, stiffness and the two dampings."""
        # d / (1 - d) = share / number of contacts. A separate cell has four, and counts with a
        # third of its mass in MuJoCo, because it moves freely in one direction of three.
        contacts = 12 if own_weight else 4 * n_cells
        rate = 1.2 * self.steps / TIME_STEP
        d = self.share / (contacts + self.share)
        return d, (-d * rate * self.steps / TIME_STEP, -d * rate, -d * self.friction_damping)


STEADY = Softness(steps=1, share=1.0, friction_damping=_FRICTION_DAMPING)
"""For slow pushes."""
FAST = Softness(steps=4, share=1.0 / 16.0, friction_damping=2.0 * _FRICTION_DAMPING)
"""For what slides fast, or freely."""


def object_scene(
    model: ObjectModel,
    table: Table,
    finger: Finger,
    *,
    own_weight: bool = False,
    bodies: str = "",
    pairs: str = "",
) -> str:
    """Return the MJCF of the table, the floor, the object and the finger.

    Args:
        model: The object.
        table: The table, a rectangle.
        finger: The finger.
        own_weight: Whether each cell carries its own weight, instead of one free body.
        bodies: MJCF of further bodies.
        pairs: MJCF of further contact pairs, for instance with the object's geoms cell0, cell1, ...

    """
    k = len(model.grid.outline)
    touching = [
        *_table_pairs(model, own_weight),
        *(_finger_pair(i, finger) for i in range(k)),
    ]
    return f"""
<mujoco model="pushwise">
 <compiler angle="radian"/>
 <option timestep="{TIME_STEP}" gravity="0 0 {-GRAVITY}" cone="elliptic" impratio="{_IMPRATIO}"
  solver="Newton" tolerance="1e-10" integrator="Euler"/>
 <default><geom contype="0" conaffinity="0"/></default>
 <worldbody>
  <geom name="floor" type="plane" size="5 5 0.1" pos="0 0 {FLOOR}" conaffinity="2"/>
  {_table_geom(table)}
  <body name="object">{_cells_on_a_root(model) if own_weight else _free_body(model)}</body>
  <body name="finger">
   <joint name="finger" type="slide" axis="1 0 0"/>
   <joint type="slide" axis="0 1 0"/>
   <geom name="finger" type="capsule" size="{finger.radius} {_FINGER_HALF_HEIGHT}"
    pos="0 0 {_PUSH_HEIGHT}" mass="{_FINGER_MASS}" contype="4"/>
  </body>
  {bodies}
 </worldbody>
 <contact>{"".join(touching)}{pairs}</contact>
</mujoco>"""


def table_frame(table: Table) -> tuple[Array, Array, float]:
    """Return centre (2,), half sides (2,) [m] and angle [rad] of a rectangular table."""
    corners = table.polygon
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*sides.T)
    square = len(corners) == 4 and abs(sides[0] @ sides[1]) < 1e-9 * lengths[0] * lengths[1]
    if not square or not np.allclose(sides[0], -sides[2]):
        raise PushwiseError(
            f"this world needs a rectangular table; got a polygon of {len(corners)} corners."
        )
    angle = float(np.arctan2(sides[0, 1], sides[0, 0]))
    return corners.mean(axis=0), 0.5 * lengths[:2], angle


def _table_geom(table: Table) -> str:
    """Return the table's top, a box whose upper side is at height 0."""
    (x, y), (a, b), angle = table_frame(table)
    return (
        f'<geom name="table" type="box" size="{a} {b} {_TABLE}" pos="{x} {y} {-_TABLE}" '
        f'euler="0 0 {angle}"/>'
    )


def _free_body(model: ObjectModel) -> str:
    """Return the object's joint and geoms, in the grid frame."""
    centres = model.grid.centres.tolist()
    cells = "".join(_cell_geoms(model, i, x, y) for i, (x, y) in enumerate(centres))
    return f"<freejoint/>{cells}{_rails(model.grid)}"


def _cells_on_a_root(model: ObjectModel) -> str:
    """Return a root that moves in the plane, with one body per cell that moves up and down."""
    x, y = model.centre_of_mass
    root = (
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
        '<joint type="hinge" axis="0 0 1"/>'
        f'<geom type="sphere" size="0.001" pos="{x} {y} 0" mass="{_ROOT * model.total_mass}"/>'
    )
    cells = "".join(
        f'<body pos="{x} {y} 0"><joint type="slide" axis="0 0 1" range="{-_DROP} 1" '
        f'limited="true"/>{_cell_geoms(model, i, 0.0, 0.0)}</body>'
        for i, (x, y) in enumerate(model.grid.centres.tolist())
    )
    return root + cells + _rails(model.grid)


def _cell_geoms(model: ObjectModel, i: int, x: float, y: float) -> str:
    """Return a cell's box, which has its mass, and its foot, which has its friction."""
    half = 0.5 * model.grid.cell_size
    if model.grid.heights[i] <= _FOOT:
        raise PushwiseError(
            f"the MuJoCo world needs cells higher than {1e3 * _FOOT:g} mm; cell {i} is "
            f"{1e3 * model.grid.heights[i]:g} mm high."
        )
    height = 0.5 * (model.grid.heights[i] - _FOOT)
    foot = half / 3**0.5
    return (
        f'<geom name="cell{i}" type="box" size="{half} {half} {height}" '
        f'pos="{x} {y} {height + _FOOT}" mass="{model.mass[i]}" contype="2"/>'
        f'<geom name="foot{i}" type="box" size="{foot} {foot} {2 * _FOOT}" '
        f'pos="{x} {y} {2 * _FOOT}" mass="0"/>'
    )


def _rails(grid: CellGrid) -> str:
    """Return what is touched: one rail per side of the outline, just above the table."""
    height = min(_PUSH_HEIGHT, 0.5 * grid.heights.min())
    corners = inner_corners(grid.outline)
    return "".join(
        f'<geom name="rail{i}" type="capsule" size="{RAIL}" mass="0" contype="8" '
        f'fromto="{a[0]} {a[1]} {height} {b[0]} {b[1]} {height}"/>'
        for i, (a, b) in enumerate(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    )


def inner_corners(outline: Array) -> Array:
    """Return the outline (k, 2) moved inwards by the radius of a rail.

    Rails are round because a finger sliding along would catch on the end faces of boxes.
    """
    side = np.roll(outline, -1, axis=0) - outline
    normal = np.stack([-side[:, 1], side[:, 0]], axis=1) / np.hypot(*side.T)[:, None]
    before = np.roll(normal, 1, axis=0)
    # The offset lines of two sides meet at (n + m) / (1 + n . m); sharp corners are cut off.
    bend = np.maximum(1.0 + np.sum(normal * before, axis=1), 0.1)
    corners: Array = outline + RAIL * (normal + before) / bend[:, None]
    # MuJoCo refuses a rail of length zero: a side of two radii between two right angles.
    none = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T) < 1e-6
    corners[none] -= 0.01 * side[none]
    return corners


def _table_pairs(model: ObjectModel, own_weight: bool) -> list[str]:
    """Return the contacts of feet and cells with the table, each with its own friction."""
    soft = STEADY.attributes(model.grid.n_cells, own_weight=own_weight)
    return [
        f'<pair geom1="table" geom2="{part}{i}" condim="3" friction="{mu} {mu}" {soft}/>'
        for i, mu in enumerate(model.friction.tolist())
        for part in ("foot", "cell")
    ]


def _finger_pair(rail: int, finger: Finger) -> str:
    """Return the contact of the finger with a rail."""
    mu = finger.friction
    d = _FINGER_IMPEDANCE
    soft = _attributes(d, -d * _FINGER_STIFFNESS, -d * _FINGER_DAMPING, -d * _FRICTION_DAMPING)
    return f'<pair geom1="finger" geom2="rail{rail}" condim="3" friction="{mu} {mu}" {soft}/>'


def _attributes(d: float, stiffness: float, damping: float, friction_damping: float) -> str:
    """Return the attributes of a contact with constant impedance d.

    MuJoCo divides the stiffness by the impedance twice and multiplies it once, and divides the
    damping once: all three are multiplied by -d beforehand, so that those act which are meant.
    """
    return (
        f'solimp="{d} {d} 0.001" solref="{stiffness} {damping}" '
        f'solreffriction="-1 {friction_damping}"'
    )
