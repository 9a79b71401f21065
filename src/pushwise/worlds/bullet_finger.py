"""The finger of a Bullet world: a cylinder that moves by itself, or what an arm holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Push
from pushwise.typing import Array
from pushwise.worlds.bullet_scene import Room

__all__ = [
    "BulletFinger",
    "CylinderFinger",
    "Fingertip",
    "StreamedFinger",
    "contact_force",
    "let_touch",
]

_HEAVY = 1000.0  # kg; contacts of a body of mass 0, as in the paper's code, ignore its velocity


@dataclass(frozen=True)
class Fingertip:
    """The cylinder that touches the object."""

    radius: float
    """[m]"""
    friction: float
    """Its coefficient of friction, which Bullet multiplies by that of the object."""
    height: float
    """Height of its middle above the table, and its length [m]."""


class BulletFinger(Protocol):
    """What moves along a push."""

    body: int
    """Its number in the room."""
    link: int
    """The link that touches the object."""

    def drive(self, t: float, dt: float) -> None:
        """Move from time t [s] through one step dt [s]."""

    def place(self) -> Array:
        """Return the position of the finger's centre [m], shape (2,)."""

    def lift(self) -> None:
        """Stay, and touch nothing from now on."""


class StreamedFinger(BulletFinger, Protocol):
    """What moves along one path after another."""

    def follow(self, path: Push) -> None:
        """Follow a path from time 0 on; one that it cannot follow is refused before it moves.

        A finger that was lifted is set down where the path starts.
        """


class CylinderFinger:
    """The finger alone: an upright cylinder, so heavy that it moves whatever it meets."""

    def __init__(self, room: Room, tip: Fingertip, path: Push) -> None:
        """Put it where a path starts, to follow it."""
        self._room, self._path, self._height = room, path, tip.height
        self._up = False
        shape = room.call(
            "createCollisionShape", room.engine.GEOM_CYLINDER, radius=tip.radius, height=tip.height
        )
        self.body: int = room.call(
            "createMultiBody", _HEAVY, shape, basePosition=[*path.start, tip.height]
        )
        self.link = -1
        room.call("changeDynamics", self.body, -1, lateralFriction=tip.friction)
        room.call("changeDynamics", self.body, -1, linearDamping=0.0, angularDamping=0.0)

    def follow(self, path: Push) -> None:
        """Follow another path; see `StreamedFinger`."""
        self._path = path
        if self._up:
            place = [*path.start, self._height]
            upright = self._room.turned(0.0)
            self._room.call("resetBasePositionAndOrientation", self.body, place, upright)
            let_touch(self._room, self, touch=True)
            self._up = False

    def drive(self, t: float, dt: float) -> None:
        """Set the finger's velocity, with an upward part that gravity will cancel."""
        # Setting its position instead would make Bullet forget the contacts. The velocity leads
        # back to the path, from which contacts move even a heavy finger.
        vx, vy = (self._path.at(t + dt) - self.place()) / dt
        self._room.call("resetBaseVelocity", self.body, [vx, vy, GRAVITY * dt], [0.0] * 3)

    def place(self) -> Array:
        """Return the position of the finger's centre [m], shape (2,)."""
        position, _ = self._room.call("getBasePositionAndOrientation", self.body)
        return np.array(position[:2])

    def lift(self) -> None:
        """Stay, and touch nothing from now on."""
        if not self._up:
            self._path, self._up = Push([0.0, 1.0], [self.place()] * 2), True
            let_touch(self._room, self, touch=False)


def let_touch(room: Room, finger: BulletFinger, *, touch: bool) -> None:
    """Let the finger touch the object, or nothing."""
    group, mask = (1, -1) if touch else (0, 0)  # of bodies that move, as Bullet creates them
    room.call("setCollisionFilterGroupMask", finger.body, finger.link, group, mask)


def contact_force(room: Room, thing: int, finger: BulletFinger) -> Array:
    """Return the force of the finger on the object [N], shape (2,)."""
    force = np.zeros(3)
    for point in room.call("getContactPoints", thing, finger.body):
        if point[4] != finger.link:
            continue
        normal, pressed = np.array(point[7]), point[9]
        force += pressed * normal + point[10] * np.array(point[11])
        force += point[12] * np.array(point[13])
    return force[:2]
