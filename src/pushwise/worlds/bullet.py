"""`Bullet`: the paper's engine, with the cells as links, as one compound, or with a Kuka arm.

Bullet does not repeat itself in a world that is used again, so that every push happens in a
fresh one. Its friction is coarse, and its finger touches the cells' squares: after 0.2 m objects
are 1 to 80 mm from where Coulomb's law has them (`pushwise experiment referee` measures it).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pushwise.errors import PushwiseError
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise
from pushwise.typing import Array
from pushwise.worlds.bullet_scene import (
    TIME_STEP,
    BodyKind,
    Cylinder,
    Pusher,
    Room,
    contact_force,
    flat_pose,
    put_object,
    put_table,
)
from pushwise.worlds.kuka import Kuka
from pushwise.worlds.run_push import Look, Motion, watch
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["Bullet"]

_AT_REST = 2e-3  # m/s, rad/s


class Bullet(SimulatedWorld):
    """Boxes of Bullet on a box, pushed by an upright cylinder or by a Kuka arm that holds one.

    Tables are rectangular. Needs the extra `bullet`.
    """

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        noise: Noise | None = None,
        rate: float = 50.0,
        forces: bool = True,
        body: BodyKind = "links",
        robot: Literal["kuka"] | None = None,
    ) -> None:
        """Put an object on a table; the first arguments are those of every simulated world.

        body: "links", a link a cell with fixed joints, as the authors do; or "compound", one
        body of all boxes, which has one coefficient of friction, the mean over the weight.
        robot: "kuka", a Kuka iiwa whose fingertip follows the push; without it the finger is
        alone. A push out of the arm's reach is refused before it moves.
        """
        if body not in ("links", "compound"):
            raise PushwiseError(f"body must be 'links' or 'compound'; got {body!r}.")
        if robot not in (None, "kuka"):
            raise PushwiseError(f"robot must be 'kuka' or None; got {robot!r}.")
        self._body: BodyKind = body
        self._robot = robot
        with Room():
            pass  # refuses here, not at the first push, when the engine is not installed
        super().__init__(
            thing,
            table,
            seed=seed,
            pose=pose,
            finger=finger,
            noise=noise,
            rate=rate,
            forces=forces,
        )

    def _carried_out(self, push: Push, pose: Array) -> Motion:
        """Build the world, push, and step until the object rests."""
        height = 0.5 * float(self._model.grid.heights.min())
        # Bullet multiplies coefficients; the table's is 1, so that the object's own hold there.
        mean = float(self._model.mass @ self._model.friction) / self._model.total_mass
        rough = self._finger.friction / max(mean, 1e-6)
        with Room() as room:
            put_table(room, self._table)
            thing = put_object(room, self._model, pose, self._body)
            pusher: Pusher
            if self._robot == "kuka":
                pusher = Kuka(room, self._table, push, self._finger.radius, rough, height)
            else:
                pusher = Cylinder(room, push, self._finger.radius, rough, height)
            return watch(_Scene(room, thing, pusher), push, pose[2], self._rate)


class _Scene:
    """A room in the middle of a push."""

    def __init__(self, room: Room, thing: int, pusher: Pusher) -> None:
        """Watch an object and what pushes it."""
        self._room, self._thing, self._pusher = room, thing, pusher

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""
        steps = int(np.ceil((end - begin) / TIME_STEP - 1e-9))
        dt = (end - begin) / steps
        self._room.call("setTimeStep", dt)
        total = np.zeros(2)
        for i in range(steps):
            self._pusher.drive(begin + i * dt, dt)
            self._room.call("stepSimulation")
            total += contact_force(self._room, self._thing, self._pusher)
        mean: Array = total / steps
        return mean

    def look(self, near: float) -> Look:
        """Return what there is now; theta within half a turn of `near` [rad]."""
        pose, tilt = flat_pose(self._room, self._thing, near)
        speeds = np.abs(self._room.call("getBaseVelocity", self._thing))
        return Look(pose, self._pusher.place(), tilt, bool(speeds.max() < _AT_REST))
