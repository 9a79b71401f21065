"""`Bullet`: the paper's engine, with the cells as links, as one compound, or with a Kuka arm.

Bullet does not repeat itself in a world that is used again, so that every push happens in a
fresh one. Its friction is coarse, and its finger touches the cells' squares: after 0.2 m objects
are 1 to 80 mm from where Coulomb's law has them (`pushwise experiment referee` measures it).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushwise.errors import PushwiseError
from pushwise.objects.thing import Thing
from pushwise.physics.actions import Finger, Push
from pushwise.physics.model import ObjectModel, Table
from pushwise.pushes.record import Noise
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
from pushwise.worlds.simulated import Motion, SimulatedWorld

__all__ = ["Bullet"]

_LIE = 0.1  # s an object must be at rest to count as resting
_PATIENCE = 5.0  # s after which an object counts as resting in any case
_AT_REST = 2e-3  # m/s, rad/s
_TILTED = 0.35  # rad; an object tilted that much no longer lies on the table
_LEANING = 0.05  # rad; and this much it is no longer flat on it


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
        super().__init__(thing, table, seed=seed, pose=pose, finger=finger, noise=noise, rate=rate)

    def _carried_out(self, push: Push, pose: NDArray[np.float64]) -> Motion:
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
            return self._watched(room, thing, pusher, push, pose)

    def _watched(
        self, room: Room, thing: int, pusher: Pusher, push: Push, pose: NDArray[np.float64]
    ) -> Motion:
        """Step the world and take samples until the object rests or falls."""
        t = self._times(push.duration, push.duration)
        times, poses, forces = [0.0], [pose], [np.zeros(2)]
        fingers, tilts = [pusher.place()], [0.0]
        rest = 0.0
        while True:
            begin, k = times[-1], len(times)
            end = float(t[k]) if k < len(t) else begin + 1.0 / self._rate
            steps = int(np.ceil((end - begin) / TIME_STEP - 1e-9))
            dt = (end - begin) / steps
            room.call("setTimeStep", dt)
            force = np.zeros(2)
            for i in range(steps):
                pusher.drive(begin + i * dt, dt)
                room.call("stepSimulation")
                force += contact_force(room, thing, pusher)
            flat, tilt = flat_pose(room, thing, poses[-1][2])
            times.append(end)
            poses.append(flat)
            tilts.append(tilt)
            forces.append(force / steps)
            fingers.append(pusher.place())
            if tilt > _TILTED:
                break
            if end > push.duration:
                still = np.abs(room.call("getBaseVelocity", thing)).max() < _AT_REST
                rest = rest + 1.0 / self._rate if still else 0.0
                if rest >= _LIE or end > push.duration + _PATIENCE:
                    break
        fell = tilts[-1] > _TILTED
        flat_until = int(np.argmax(np.array(tilts) > _LEANING)) if fell else len(times)
        kept = slice(0, max(flat_until, 2))
        return Motion(
            np.array(times)[kept],
            np.array(poses)[kept],
            np.array(forces)[kept],
            np.array(fingers)[kept],
            fell,
        )
