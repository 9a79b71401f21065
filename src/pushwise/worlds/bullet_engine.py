"""A Bullet scene in motion: along one push, or move by move.

The same steps in a fresh room have the same results, but Bullet cannot return to a state in the
middle of them to the last bit. So a stream's state is where it began and all moves since then, and
who restores it makes them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal
from weakref import finalize

import numpy as np

from pushwise.checks import finite_array
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.typing import Array
from pushwise.worlds.bullet_finger import (
    BulletFinger,
    CylinderFinger,
    Fingertip,
    StreamedFinger,
    contact_force,
)
from pushwise.worlds.bullet_scene import (
    TIME_STEP,
    BodyKind,
    Room,
    flat_pose,
    grid_twist,
    put_object,
    put_table,
)
from pushwise.worlds.kuka import StreamedKuka
from pushwise.worlds.run_push import TILTED, Look
from pushwise.worlds.streaming import PARKED, Instant

__all__ = ["BulletEngine", "BulletScene", "BulletStream"]

_AT_REST = 2e-3  # m/s, rad/s
_FALLEN = -0.05  # m; there is no floor


@dataclass(frozen=True, eq=False)
class BulletScene:
    """What is in a room."""

    model: ObjectModel
    """The object."""
    table: Table
    """The table it is on."""
    finger: Finger
    """The finger."""
    body: BodyKind
    """What Bullet makes of the object."""
    robot: Literal["kuka"] | None
    """What moves the finger."""

    def put(self, room: Room, pose: Array, twist: Array) -> int:
        """Put table and object, at a pose (3,) with a twist (3,); return the object's number."""
        put_table(room, self.table)
        return put_object(room, self.model, pose, twist, self.body)

    @property
    def tip(self) -> Fingertip:
        """What touches the object, at half its height."""
        # Bullet multiplies the two coefficients of a contact. The table's is 1; the finger's is
        # divided by that of the object, so that their product is the friction of the finger.
        mean = self.model.mean_friction
        height = 0.5 * float(self.model.grid.heights.min())
        return Fingertip(self.finger.radius, self.finger.friction / max(mean, 1e-6), height)


class BulletEngine:
    """A Bullet scene in the middle of a push."""

    def __init__(
        self, room: Room, thing: int, finger: BulletFinger, *, lifted_at: float = np.inf
    ) -> None:
        """Watch an object and what pushes it; the finger is lifted at a time [s]."""
        self._room, self._thing, self._finger = room, thing, finger
        self._lifted_at = lifted_at

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""
        steps = int(np.ceil((end - begin) / TIME_STEP - 1e-9))
        dt = (end - begin) / steps
        self._room.call("setTimeStep", dt)
        if begin >= self._lifted_at:
            self._finger.lift()
        total = np.zeros(2)
        for i in range(steps):
            self._finger.drive(begin + i * dt, dt)
            self._room.call("stepSimulation")
            total += contact_force(self._room, self._thing, self._finger)
        mean: Array = total / steps
        return mean

    def look(self, near: float) -> Look:
        """Return the current state, theta within half a turn of `near` [rad]."""
        pose, height, tilt = flat_pose(self._room, self._thing, near)
        speeds = np.abs(self._room.call("getBaseVelocity", self._thing))
        still = bool(speeds.max() < _AT_REST)
        return Look(pose, self._finger.place(), height, tilt, still)

    def twist(self, theta: float) -> Array:
        """Return the twist (3,) of the grid origin of the object at an angle [rad]."""
        return grid_twist(self._room, self._thing, theta)


class BulletStream:
    """A scene that continues from move to move, in a room that is open until it is closed."""

    def __init__(self, scene: BulletScene, pose: Array, twist: Array) -> None:
        """Build the scene, the finger up."""
        self._began = pose.copy(), twist.copy()
        self._moves: list[tuple[Array | None, float]] = []
        self._theta = float(pose[2])
        rooms = ExitStack()
        self.close = finalize(self, rooms.close)
        """Close the room; it is also closed when the stream is no longer referenced."""
        room = rooms.enter_context(Room())
        thing = scene.put(room, pose, twist)
        self._finger: StreamedFinger
        if scene.robot is None:
            self._finger = CylinderFinger(room, scene.tip, _standing(PARKED))
            self._finger.lift()
        else:
            self._finger = StreamedKuka(room, rooms.enter_context(Room()), scene.table, scene.tip)
        self._engine = BulletEngine(room, thing, self._finger)

    def move(self, end: Array | None, dt: float) -> Instant:
        """Run for dt [s], the finger on its way to a place (2,), or (None) up."""
        if end is None:
            self._finger.lift()
        else:
            here = self._moves[-1][0] if self._moves else None
            self._finger.follow(Push([0.0, dt], [end if here is None else here, end]))
        self._moves.append((end, dt))
        self._engine.advance(0.0, dt)
        now = self._engine.look(self._theta)
        self._theta = float(now.pose[2])
        fell = now.tilt > TILTED or now.height < _FALLEN
        return Instant(now.pose, self._engine.twist(self._theta), fell)

    def finger_at(self) -> Array:
        """Return where the finger really is [m], shape (2,)."""
        return self._finger.place()

    def to_json(self) -> dict[str, Any]:
        """Return where the stream began and its moves, as JSON can hold it."""
        pose, twist = self._began
        moves = [[None if end is None else end.tolist(), dt] for end, dt in self._moves]
        return {"pose": pose.tolist(), "twist": twist.tolist(), "moves": moves}

    @classmethod
    def from_json(cls, scene: BulletScene, kept: Mapping[str, Any]) -> BulletStream:
        """Make all moves of a stream again."""
        start = (finite_array(name, kept[name], (3,)) for name in ("pose", "twist"))
        stream = cls(scene, *start)
        for end, dt in kept["moves"]:
            stream.move(None if end is None else finite_array("finger", end, (2,)), float(dt))
        return stream


def _standing(place: Array) -> Push:
    """Return the path of a finger that stays at a place (2,)."""
    return Push([0.0, 1.0], [place, place])
