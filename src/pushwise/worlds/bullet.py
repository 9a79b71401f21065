"""`Bullet`: the paper's engine, with the cells as links, as one compound, or with a Kuka arm.

Bullet is not reproducible in a world that is used again, so every push happens in a fresh one, and
there is no `move`: the state in the middle of one could not be kept.
Its friction is coarse, and its finger touches the cells' squares: after 0.1 to 0.2 m, objects are 1
to 85 mm from where Coulomb's law puts them (`pushwise experiment referee` measures it).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pushwise.errors import PushwiseError
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.typing import Array
from pushwise.worlds.bullet_scene import (
    TIME_STEP,
    BodyKind,
    BulletFinger,
    CylinderFinger,
    Fingertip,
    Room,
    contact_force,
    flat_pose,
    put_object,
    put_table,
    raise_finger,
)
from pushwise.worlds.kuka import Kuka, rehearsed
from pushwise.worlds.run_push import Look, Motion, run_push
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Sensing

__all__ = ["Bullet"]

_AT_REST = 2e-3  # m/s, rad/s


class Bullet(SimulatedWorld):
    """Boxes on a box, pushed by an upright cylinder or by a Kuka arm that holds one.

    Tables are rectangular. Needs the extra `bullet`.
    """

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        body: BodyKind = "links",
        robot: Literal["kuka"] | None = None,
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        sensing: Sensing | None = None,
    ) -> None:
        """Put an object on a table.

        Args:
            thing: The object, or only its model.
            table: The table; the default `Table` if not given.
            body: "links": one link per cell with fixed joints, as in the paper's code; or
                "compound": one body of all boxes with one coefficient of friction, the mean
                weighted by mass.
            robot: "kuka": a Kuka iiwa whose fingertip follows the push within 3 mm, or which
                refuses it before it moves, because it is out of reach or too fast; records state
                the path that was measured. None: the finger alone.
            seed: Random seed of the noise.
            pose: Pose of the grid frame at the start [m, m, rad], shape (3,).
            finger: The finger; the default `Finger` if not given.
            sensing: What is measured, and how well; the default `Sensing` if not given.

        """
        if body not in ("links", "compound"):
            raise PushwiseError(f"body must be 'links' or 'compound'; got {body!r}.")
        if robot not in (None, "kuka"):
            raise PushwiseError(f"robot must be 'kuka' or None; got {robot!r}.")
        self._body: BodyKind = body
        self._robot = robot
        with Room():
            pass  # a missing engine is an error here, not at the first push
        super().__init__(thing, table, seed=seed, pose=pose, finger=finger, sensing=sensing)

    def _carried_out(self, push: Push, pose: Array, twist: Array) -> Motion:
        """Build the world, push, and step until the object rests."""
        height = 0.5 * float(self._model.grid.heights.min())
        # Bullet multiplies the two coefficients of a contact. The table's is 1; the finger's is
        # divided by that of the object, so that their product is the friction of the finger.
        mean = float(self._model.mass @ self._model.friction) / self._model.total_mass
        tip = Fingertip(self._finger.radius, self._finger.friction / max(mean, 1e-6), height)
        joints = rehearsed(self._table, push, tip) if self._robot == "kuka" else None
        with Room() as room:
            put_table(room, self._table)
            thing = put_object(room, self._model, pose, twist, self._body)
            finger: BulletFinger
            if joints is None:
                finger = CylinderFinger(room, push, tip)
            else:
                finger = Kuka(room, self._table, tip)
                finger.start(joints)
            engine = _BulletEngine(room, thing, finger, push)
            return run_push(engine, push, pose[2], self._sensing.rate)

    def _measured(self, push: Push, motion: Motion) -> Push:
        """Return the path of the fingertip: that of the bare finger is the commanded one."""
        if self._robot is None:
            return push
        during = motion.t <= push.duration
        return Push(motion.t[during], motion.finger[during], raised=push.raised)


class _BulletEngine:
    """A Bullet scene in the middle of a push."""

    def __init__(self, room: Room, thing: int, finger: BulletFinger, push: Push) -> None:
        """Watch an object and what pushes it."""
        self._room, self._thing, self._finger, self._push = room, thing, finger, push

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""
        steps = int(np.ceil((end - begin) / TIME_STEP - 1e-9))
        dt = (end - begin) / steps
        self._room.call("setTimeStep", dt)
        if self._push.raised and begin >= self._push.duration:
            raise_finger(self._room, self._finger)
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
