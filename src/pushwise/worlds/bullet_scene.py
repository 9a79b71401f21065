"""What there is in a Bullet world: a fresh room, a table, an object, a finger."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, Protocol, Self

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Push
from pushwise.typing import Array
from pushwise.worlds.mujoco_scene import table_frame

__all__ = [
    "TIME_STEP",
    "BodyKind",
    "Cylinder",
    "Pusher",
    "Room",
    "contact_force",
    "flat_pose",
    "put_object",
    "put_table",
]

BodyKind = Literal["links", "compound"]

TIME_STEP = 1.0 / 240.0
"""[s]; this and the number of iterations are the authors'."""
_ITERATIONS = 50
_TABLE = 0.5  # m; half the thickness of the table
_HEAVY = 1000.0  # kg; a body of mass 0, as the authors have it, has no velocity in its contacts
_BASE_MASS = 1e-7  # kg; of the authors' base link, which has no shape


class Room:
    """A Bullet world of its own, without a display; empty when it is entered."""

    def __init__(self) -> None:
        """Find the engine."""
        try:
            with _silence():
                import pybullet
        except ImportError:
            raise PushwiseError(
                "this world needs PyBullet; install it with pip install 'pushwise[bullet]' "
                "(it has wheels for Python 3.11)."
            ) from None
        self.engine: Any = pybullet

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
    """Keep what the engine's C code prints, like its build time, off the terminal."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # the C library keeps a buffer of its own
        os.dup2(kept, 2)
        os.close(kept)


class Pusher(Protocol):
    """What moves along a push."""

    body: int
    """Its number in the room."""
    link: int
    """The link that touches the object."""

    def drive(self, t: float, dt: float) -> None:
        """Move on from time t by one step dt [s]."""

    def place(self) -> Array:
        """Return where the finger's centre is [m], shape (2,)."""


class Cylinder:
    """The finger alone: an upright cylinder, so heavy that it moves whatever it meets."""

    def __init__(
        self, room: Room, push: Push, radius: float, friction: float, height: float
    ) -> None:
        """Put it at the start of the push, its middle at `height` [m], as long as it is high."""
        self._room, self._push = room, push
        shape = room.call(
            "createCollisionShape", room.engine.GEOM_CYLINDER, radius=radius, height=height
        )
        self.body: int = room.call(
            "createMultiBody", _HEAVY, shape, basePosition=[*push.start, height]
        )
        self.link = -1
        room.call("changeDynamics", self.body, -1, lateralFriction=friction)
        room.call("changeDynamics", self.body, -1, linearDamping=0.0, angularDamping=0.0)

    def drive(self, t: float, dt: float) -> None:
        """Give the finger its velocity, and upwards what gravity will take."""
        # Moving it to its place instead would make Bullet forget the contacts.
        vx, vy = self._push.velocity if t < self._push.duration else np.zeros(2)
        self._room.call("resetBaseVelocity", self.body, [vx, vy, GRAVITY * dt], [0.0] * 3)

    def place(self) -> Array:
        """Return where the finger's centre is [m], shape (2,)."""
        position, _ = self._room.call("getBasePositionAndOrientation", self.body)
        return np.array(position[:2])


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


def put_object(room: Room, model: ObjectModel, pose: Array, body: BodyKind) -> int:
    """Put an object at a pose (3,) on the table and return its number."""
    half = 0.5 * model.grid.cell_size
    heights = model.grid.heights
    extents = [[half, half, 0.5 * h] for h in heights.tolist()]
    places = np.column_stack([model.grid.centres, 0.5 * heights])
    turn = room.turned(pose[2])
    if body == "links":
        thing = _linked(room, model, extents, places, pose, turn)
        frictions = dict(enumerate(model.friction.tolist()))
    else:
        thing = _compound(room, model, extents, places, pose, turn)
        frictions = {-1: float(model.mass @ model.friction) / model.total_mass}
    for link, friction in frictions.items():
        # Friction and damping in one call would leave one of them unset.
        room.call("changeDynamics", thing, link, lateralFriction=friction)
        room.call("changeDynamics", thing, link, linearDamping=0.0, angularDamping=0.0)
    return thing


def _linked(
    room: Room,
    model: ObjectModel,
    extents: list[list[float]],
    places: Array,
    pose: Array,
    turn: tuple[float, float, float, float],
) -> int:
    """Put a light base with a link a cell on fixed joints."""
    n = model.grid.n_cells
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
        baseOrientation=turn,
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


def _compound(
    room: Room,
    model: ObjectModel,
    extents: list[list[float]],
    places: Array,
    pose: Array,
    turn: tuple[float, float, float, float],
) -> int:
    """Put one body of all boxes, with the model's mass, centre and inertia."""
    centre = model.mass @ places / model.total_mass
    own = np.array(extents) ** 2 / 3.0
    square = model.mass @ ((places - centre) ** 2 + own)
    ixx, iyy, izz = square.sum() - square
    boxes = "".join(
        f'<collision><origin xyz="{x} {y} {z}"/>'
        f'<geometry><box size="{2 * a} {2 * b} {2 * c}"/></geometry></collision>'
        for (x, y, z), (a, b, c) in zip(places.tolist(), extents, strict=True)
    )
    urdf = (
        f'<robot name="object"><link name="object"><inertial><mass value="{model.total_mass}"/>'
        f'<origin xyz="{centre[0]} {centre[1]} {centre[2]}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
        f"{boxes}</link></robot>"
    )
    # Bullet's call that makes a compound takes no more than 16 shapes; a URDF may have any number.
    with TemporaryDirectory() as folder:
        file = Path(folder) / "object.urdf"
        file.write_text(urdf, encoding="utf-8")
        thing: int = room.call(
            "loadURDF",
            str(file),
            [pose[0], pose[1], 0.0],
            turn,
            flags=room.engine.URDF_USE_INERTIA_FROM_FILE,
        )
    return thing


def flat_pose(room: Room, thing: int, near: float) -> tuple[Array, float]:
    """Return the pose (3,) of the grid frame, theta within half a turn of `near`, and the tilt."""
    position, q = room.call("getBasePositionAndOrientation", thing)
    inner = room.call("getDynamicsInfo", thing, -1)[3]  # the centre of mass in the grid frame
    back = [-value for value in inner]
    (x, y, _), (qx, qy, qz, qw) = room.call(
        "multiplyTransforms", position, q, back, room.turned(0.0)
    )
    theta = np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy**2 + qz**2))
    turns = np.round((near - theta) / (2.0 * np.pi))
    tilt = 2.0 * np.arcsin(min(np.hypot(qx, qy), 1.0))
    return np.array([x, y, theta + 2.0 * np.pi * turns]), float(tilt)


def contact_force(room: Room, thing: int, pusher: Pusher) -> Array:
    """Return the force of the finger on the object [N], shape (2,)."""
    force = np.zeros(3)
    for point in room.call("getContactPoints", thing, pusher.body):
        if point[4] != pusher.link:
            continue
        normal, pressed = np.array(point[7]), point[9]
        force += pressed * normal + point[10] * np.array(point[11])
        force += point[12] * np.array(point[13])
    return force[:2]
