"""What a Bullet world consists of: a fresh room, a table, an object; not the finger."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from pushwise.extras import require
from pushwise.geometry.polygon import placed
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Table
from pushwise.typing import Array
from pushwise.worlds.mujoco_scene import table_frame

__all__ = [
    "TIME_STEP",
    "BodyKind",
    "Room",
    "flat_pose",
    "grid_twist",
    "put_object",
    "put_table",
]

BodyKind = Literal["links", "compound"]

TIME_STEP = 1.0 / 240.0
"""[s]; this and the number of iterations are those of the paper's code."""
_ITERATIONS = 50
_TABLE = 0.5  # m; half the thickness of the table
_BASE_MASS = 1e-7  # kg; of the base link in the paper's code, which has no shape


class Room:
    """A Bullet world of its own, without a display; empty when it is entered."""

    def __init__(self) -> None:
        """Load the engine."""
        with _silence():
            self.engine: Any = require(
                "pybullet",
                extra="bullet",
                purpose="the Bullet world",
                note="it has wheels for Python 3.11 only",
            )

    def __enter__(self) -> Self:
        self._client = self.engine.connect(self.engine.DIRECT)
        self.call("setGravity", 0.0, 0.0, -GRAVITY)
        self.call("setPhysicsEngineParameter", numSolverIterations=_ITERATIONS)
        return self

    def __exit__(self, *_: object) -> None:
        self.call("disconnect")

    def call(self, name: str, *arguments: Any, **options: Any) -> Any:
        """Call a function of the engine for this world."""
        return getattr(self.engine, name)(*arguments, **options, physicsClientId=self._client)

    def turned(self, angle: float) -> tuple[float, float, float, float]:
        """Return the quaternion (x, y, z, w) of a turn about the vertical [rad]."""
        return (0.0, 0.0, float(np.sin(0.5 * angle)), float(np.cos(0.5 * angle)))


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress what the engine's C code prints, such as its build time."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # the C library has its own buffer
        os.dup2(kept, 2)
        os.close(kept)


def put_table(room: Room, table: Table) -> None:
    """Put the table, its top at height 0 and its friction 1."""
    (x, y), (a, b), angle = table_frame(table)
    shape = room.call("createCollisionShape", room.engine.GEOM_BOX, halfExtents=[a, b, _TABLE])
    body = room.call(
        "createMultiBody",
        0.0,
        shape,
        basePosition=[x, y, -_TABLE],
        baseOrientation=room.turned(angle),
    )
    room.call("changeDynamics", body, -1, lateralFriction=1.0)


def put_object(room: Room, model: ObjectModel, pose: Array, twist: Array, body: BodyKind) -> int:
    """Put an object at a pose (3,) on the table, with a twist (3,), and return its number."""
    if body == "links":
        thing = _linked(room, model, pose)
        frictions = dict(enumerate(model.friction.tolist()))
    else:
        thing = _compound(room, model, pose)
        frictions = {-1: model.mean_friction}
    for link, friction in frictions.items():
        # Friction and damping in one call would leave one of them unset.
        room.call("changeDynamics", thing, link, lateralFriction=friction)
        room.call("changeDynamics", thing, link, linearDamping=0.0, angularDamping=0.0)
    if twist.any():  # a velocity that is set, even zero, changes how Bullet's links slide
        _throw(room, thing, pose[2], twist)
    return thing


def _throw(room: Room, thing: int, theta: float, twist: Array) -> None:
    """Give an object at an angle [rad] the twist (3,) of its grid origin."""
    # Bullet's velocity is that of the base's centre of mass: a compound's own, or the grid origin.
    x, y = _turned_centre(room, thing, theta)
    vx, vy, omega = twist.tolist()
    velocity = [vx - omega * y, vy + omega * x, 0.0]
    room.call("resetBaseVelocity", thing, velocity, [0.0, 0.0, omega])


class _Boxes(NamedTuple):
    """The cells of an object as boxes in the grid frame."""

    extents: list[list[float]]  # half the sides [m] of each
    places: Array  # (n, 3) centres [m]


def _boxes(model: ObjectModel) -> _Boxes:
    """Return an object's cells as boxes that stand on the table."""
    half = 0.5 * model.grid.cell_size
    heights = model.grid.heights
    return _Boxes(
        [[half, half, 0.5 * h] for h in heights.tolist()],
        np.column_stack([model.grid.centres, 0.5 * heights]),
    )


def _linked(room: Room, model: ObjectModel, pose: Array) -> int:
    """Put a light base with one link per cell on fixed joints."""
    n = model.grid.n_cells
    extents, places = _boxes(model)
    shapes = [
        room.call("createCollisionShape", room.engine.GEOM_BOX, halfExtents=extent)
        for extent in extents
    ]
    level = [room.turned(0.0)] * n
    thing: int = room.call(
        "createMultiBody",
        _BASE_MASS,
        -1,
        basePosition=[pose[0], pose[1], 0.0],
        baseOrientation=room.turned(pose[2]),
        linkMasses=model.mass.tolist(),
        linkCollisionShapeIndices=shapes,
        linkVisualShapeIndices=[-1] * n,
        linkPositions=places.tolist(),
        linkOrientations=level,
        linkInertialFramePositions=[[0.0, 0.0, 0.0]] * n,
        linkInertialFrameOrientations=level,
        linkParentIndices=[0] * n,
        linkJointTypes=[room.engine.JOINT_FIXED] * n,
        linkJointAxis=[[0.0, 0.0, 1.0]] * n,
    )
    return thing


def _compound(room: Room, model: ObjectModel, pose: Array) -> int:
    """Put one body of all boxes, with the model's mass, centre and inertia."""
    extents, places = _boxes(model)
    centre = model.mass @ places / model.total_mass
    own = np.array(extents) ** 2 / 3.0
    square = model.mass @ ((places - centre) ** 2 + own)
    ixx, iyy, izz = square.sum() - square
    # Bullet reads files in lines of limited length, and breaks a longer one anywhere.
    boxes = "".join(
        f'\n<collision><origin xyz="{x} {y} {z}"/>'
        f'<geometry><box size="{2 * a} {2 * b} {2 * c}"/></geometry></collision>'
        for (x, y, z), (a, b, c) in zip(places.tolist(), extents, strict=True)
    )
    urdf = (
        f'<robot name="object"><link name="object"><inertial><mass value="{model.total_mass}"/>'
        f'<origin xyz="{centre[0]} {centre[1]} {centre[2]}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"{boxes}</link></robot>"
    )
    # Bullet's own call for compounds takes at most 16 shapes; a URDF may have any number.
    with TemporaryDirectory() as folder:
        file = Path(folder) / "object.urdf"
        file.write_text(urdf, encoding="utf-8")
        thing: int = room.call(
            "loadURDF",
            str(file),
            [pose[0], pose[1], 0.0],
            room.turned(pose[2]),
            flags=room.engine.URDF_USE_INERTIA_FROM_FILE,
        )
    return thing


def flat_pose(room: Room, thing: int, near: float) -> tuple[Array, float, float]:
    """Return pose (3,), height and tilt of the grid frame, theta within half a turn of `near`."""
    position, q = room.call("getBasePositionAndOrientation", thing)
    back = [-value for value in _inner_centre(room, thing)]
    (x, y, z), (qx, qy, qz, qw) = room.call(
        "multiplyTransforms", position, q, back, room.turned(0.0)
    )
    theta = np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy**2 + qz**2))
    turns = np.round((near - theta) / (2.0 * np.pi))
    tilt = 2.0 * np.arcsin(min(np.hypot(qx, qy), 1.0))
    return np.array([x, y, theta + 2.0 * np.pi * turns]), z, float(tilt)


def grid_twist(room: Room, thing: int, theta: float) -> Array:
    """Return the twist (3,) of the grid origin of an object at an angle [rad]."""
    (vx, vy, _), (_, _, omega) = room.call("getBaseVelocity", thing)
    x, y = _turned_centre(room, thing, theta)
    return np.array([vx + omega * y, vy - omega * x, omega])


def _turned_centre(room: Room, thing: int, theta: float) -> Array:
    """Return the way from the grid origin to the centre of an object's base [m], shape (2,)."""
    own = np.array([_inner_centre(room, thing)[:2]])
    turned: Array = placed(own, np.array([0.0, 0.0, theta]))[0]
    return turned


def _inner_centre(room: Room, thing: int) -> tuple[float, float, float]:
    """Return the centre of mass of an object's base in the grid frame [m]."""
    centre: tuple[float, float, float] = room.call("getDynamicsInfo", thing, -1)[3]
    return centre
