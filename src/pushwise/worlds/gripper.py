"""`grasp`: a parallel gripper grasps an overhanging object from the side of the table and lifts it.

A grasp succeeds if MuJoCo's contacts still hold the object after the lift; nothing is inferred
from shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.geometry.polygon import placed
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.typing import Array
from pushwise.worlds.mujoco_scene import object_scene

__all__ = ["Grasp", "grasp"]

_JAW = np.array([0.03, 0.02, 0.005])  # m; half the length, width and thickness of a jaw
_CLEARANCE = 0.005  # m between the table's edge and the tips of the jaws
_OPEN = 0.1  # m between the jaws when open; more for what is higher
_OVER = 0.01  # m between such an object and the upper jaw
_UNDER = 0.001  # m between the object and the lower jaw before the jaws close
_FORCE = 100.0  # N; the grip of a common parallel gripper
_CLOSING_SPEED = 0.2  # m/s; of a jaw that closes on air
_FRICTION = 0.8  # rubber
_LIFT = 0.1  # m

_APPROACH_TIME = 0.5  # s
_CLOSE_TIME = 0.5
_LIFT_TIME = 1.0
_HOLD_TIME = 0.5
_WATCH_TIME = 0.1  # at the end; a jaw that rocks on the object touches it intermittently
_AWAY = 0.1  # m; how far away the gripper starts

_FREE = slice(0, 7)  # the object's joint in qpos
_FINGER = slice(7, 9)  # the pushing finger's, which is out of the way
_HAND = slice(9, 11)  # the gripper's: in towards the table, and up
_HAND_SPEED = slice(8, 10)  # and in qvel
_JAW_SPEED = 10


@dataclass(frozen=True)
class Grasp:
    """The outcome of a grasp."""

    held: bool
    """Whether at the end the jaws, and nothing else, held the object."""
    raised: float
    """How far the grasped part was lifted [m]: 0.1 if the object is held."""


def grasp(thing: Thing | ObjectModel, pose: ArrayLike, table: Table | None = None) -> Grasp:
    """Grasp an object by the part that overhangs the table, and lift it by 0.1 m.

    The gripper approaches horizontally, where most of the object overhangs: its lower jaw passes
    under the object, the upper one closes on it. If nothing overhangs, it closes on air.

    Args:
        thing: The object, or only its model.
        pose: Pose of the grid frame [m, m, rad], shape (3,).
        table: The table; the default `Table` if not given.

    """
    model = thing.model if isinstance(thing, Thing) else thing
    table = Table() if table is None else table
    at = finite_array("pose", pose, (3,))
    tip, inward = _aim(model, at, table)
    engine = mujoco.MjModel.from_xml_string(_scene(model, table, tip, inward))
    data = mujoco.MjData(engine)
    half = 0.5 * at[2]
    data.qpos[_FREE] = [at[0], at[1], 0.0, np.cos(half), 0.0, 0.0, np.sin(half)]
    data.qpos[_FINGER] = 100.0
    grasped = np.append(placed(np.array([tip]), _inverse(at))[0], 0.0)
    end = _APPROACH_TIME + _CLOSE_TIME + _LIFT_TIME + _HOLD_TIME
    touched: set[str] = set()
    while data.time < end:
        _drive(data)
        mujoco.mj_step(engine, data)
        if data.time > end - _WATCH_TIME:
            touched |= _touched_by(engine, data)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, data.qpos[3:7])
    raised = float(data.qpos[2] + (turn.reshape(3, 3) @ grasped)[2])
    return Grasp(touched == {"lower", "upper"} and raised > 0.5 * _LIFT, raised)


def _aim(model: ObjectModel, pose: Array, table: Table) -> tuple[Array, Array]:
    """Return the target of the jaws' tips [m] and the direction of approach, shape (2,) each."""
    cells = placed(model.grid.centres, pose)
    corners = table.polygon
    best = (-1, 0.0, corners[0], np.zeros(2))
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        along = (b - a) / np.hypot(*(b - a))
        outward = np.array([along[1], -along[0]])
        beyond = (cells - a) @ outward - _CLEARANCE
        place = (cells - a) @ along
        out = (beyond > 0.0) & (beyond < 2.0 * _JAW[0])
        for s in np.unique(place[out].round(3)) if out.any() else place[np.argmax(beyond)][None]:
            count = int(np.sum(out & (np.abs(place - s) < _JAW[1])))
            # Among positions with equally many cells to hold, the nearest to the object's middle.
            score = (count, -abs(float(s - place.mean())))
            if score > best[:2]:
                best = (*score, a + s * along + _CLEARANCE * outward, -outward)
    return best[2], best[3]


def _scene(model: ObjectModel, table: Table, tip: Array, inward: Array) -> str:
    """Return the scene with a gripper whose jaws reach to `tip`."""
    length, width, thick = _JAW
    x, y = tip - length * inward
    turn = np.arctan2(inward[1], inward[0])
    jaw = f'type="box" size="{length} {width} {thick}" mass="0.2"'
    opening = max(_OPEN, float(model.grid.heights.max()) + _OVER)
    hand = f"""
  <body name="hand" gravcomp="1" pos="{x} {y} {-_UNDER}" euler="0 0 {turn}">
   <joint type="slide" axis="1 0 0"/>
   <joint type="slide" axis="0 0 1"/>
   <geom name="palm" type="sphere" size="0.001" pos="-1 0 0" mass="1000"/>
   <geom name="lower" {jaw} pos="0 0 {-thick}"/>
   <body name="upper" gravcomp="1" pos="0 0 {opening + thick}">
    <joint type="slide" axis="0 0 1" damping="{_FORCE / _CLOSING_SPEED}"/>
    <geom name="upper" {jaw}/>
   </body>
  </body>"""
    pairs = "".join(
        f'<pair geom1="{jaw}" geom2="cell{i}" condim="4" friction="{_FRICTION} {_FRICTION} 0.005"/>'
        for jaw in ("lower", "upper")
        for i in range(model.grid.n_cells)
    )
    pairs += '<pair geom1="lower" geom2="upper"/>'
    return object_scene(model, table, Finger(), bodies=hand, pairs=pairs)


def _drive(data: mujoco.MjData) -> None:
    """Move the hand according to the time: approach, wait for the jaw, lift, hold."""
    t = data.time
    come = min(t / _APPROACH_TIME, 1.0)
    lift = np.clip((t - _APPROACH_TIME - _CLOSE_TIME) / _LIFT_TIME, 0.0, 1.0)
    data.qpos[_HAND] = [(come - 1.0) * _AWAY, lift * _LIFT]
    data.qvel[_HAND_SPEED] = [
        _AWAY / _APPROACH_TIME if come < 1.0 else 0.0,
        _LIFT / _LIFT_TIME if 0.0 < lift < 1.0 else 0.0,
    ]
    data.qfrc_applied[_JAW_SPEED] = -_FORCE if come >= 1.0 else 0.0


def _touched_by(engine: mujoco.MjModel, data: mujoco.MjData) -> set[str]:
    """Return the names of the geoms that touch the object."""
    thing = engine.body("object").id
    names = set()
    for contact in data.contact[: data.ncon]:
        for own, other in (contact.geom, contact.geom[::-1]):
            if engine.geom_bodyid[own] == thing:
                names.add(engine.geom(other).name)
    return names


def _inverse(pose: Array) -> Array:
    """Return the pose (3,) that undoes a pose (3,)."""
    back = placed(-pose[None, :2], np.array([0.0, 0.0, -pose[2]]))[0]
    return np.array([*back, -pose[2]])
