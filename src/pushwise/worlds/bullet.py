"""`Bullet`: the paper's engine, with the cells as links, as one compound, or with a Kuka arm.

Bullet is not reproducible in a world that is used again, so every push and every stream of moves
begins in a fresh one (`bullet_engine`).
Its friction is coarse, and its finger touches the cells' squares: after 0.1 to 0.2 m, objects are 1
to 85 mm from where Coulomb's law puts them (`pushwise experiment referee` measures it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pushwise.errors import PushwiseError
from pushwise.geometry.se2 import se2, unplace
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.typing import Array
from pushwise.worlds.bullet_engine import BulletEngine, BulletScene, BulletStream
from pushwise.worlds.bullet_finger import BulletFinger, CylinderFinger
from pushwise.worlds.bullet_scene import BodyKind, Room
from pushwise.worlds.kuka import Kuka, rehearsed
from pushwise.worlds.run_push import Motion, run_push
from pushwise.worlds.streaming import Instant, StreamedSimulation
from pushwise.worlds.world import Sensing

__all__ = ["Bullet"]


class Bullet(StreamedSimulation):
    """Boxes on a box, pushed by an upright cylinder or by a Kuka arm that holds one.

    Tables are rectangular. Needs the extra `bullet`.
    """

    _stream: BulletStream | None  # what moves continue from

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
                the path that was measured. It refuses a `move` for the same reasons; while its
                finger is up it is not simulated. None: the finger alone.
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
        self._stream = None
        with Room():
            pass  # a missing engine is an error here, not at the first push
        super().__init__(thing, table, seed=seed, pose=pose, finger=finger, sensing=sensing)

    def _carried_out(self, push: Push, pose: Array, twist: Array) -> Motion:
        """Build the world, push, and step until the object rests."""
        scene = self._scene()
        tip = scene.tip
        joints = rehearsed(self._table, push, tip) if self._robot == "kuka" else None
        with Room() as room:
            thing = scene.put(room, pose, twist)
            finger: BulletFinger
            if joints is None:
                finger = CylinderFinger(room, tip, push)
            else:
                finger = Kuka(room, self._table, tip)
                finger.start(joints)
            lifted_at = push.duration if push.raised else np.inf
            engine = BulletEngine(room, thing, finger, lifted_at=lifted_at)
            return run_push(engine, push, pose[2], self._sensing.rate)

    def _measured(self, push: Push, motion: Motion) -> Push:
        """Return the path of the fingertip: that of the bare finger is the commanded one."""
        if self._robot is None:
            return push
        during = motion.t <= push.duration
        return Push(motion.t[during], motion.finger[during], raised=push.raised)

    def _streamed(self, end: Array | None, dt: float) -> Instant:
        """Step the engine on from where the last move left it."""
        if self._stream is None:
            self._stream = BulletStream(self._scene(), self._pose, self._twist)
        return self._stream.move(end, dt)

    def _halt(self) -> None:
        """Leave the room: pushes and streams begin in a fresh one, with an object at rest."""
        super()._halt()
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _inner_state(self) -> dict[str, Any]:
        """Return the moves made so far."""
        return {} if self._stream is None else {"moves": self._stream.to_json()}

    def _restore_inner(self, stream: Mapping[str, Any]) -> None:
        """Make all moves again."""
        if "moves" in stream:
            self._stream = BulletStream.from_json(self._scene(), stream["moves"])

    def _distance(self, place: Array) -> float:
        """Return how far a place (2,) is from the outline and from the cells' squares [m]."""
        own = np.array(unplace(se2(*self._pose), *place))
        beyond = np.abs(own - self._model.grid.centres) - 0.5 * self._model.grid.cell_size
        squares = np.hypot(*np.maximum(beyond, 0.0).T).min()
        return min(super()._distance(place), float(squares))

    def _scene(self) -> BulletScene:
        """Return what is in a room."""
        return BulletScene(self._model, self._table, self._finger, self._body, self._robot)
