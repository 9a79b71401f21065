"""`StreamedSimulation`: a simulated world in which a finger can also be moved bit by bit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, positive_number
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array
from pushwise.worlds.run_push import PATIENCE
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Observation

__all__ = ["PARKED", "Instant", "StreamedSimulation"]

PARKED = np.array([100.0, 100.0])
"""Where a raised finger is out of the way [m]."""
_AT_REST = 1e-3  # m/s, rad/s
_WAIT = 0.02  # s between two looks at an object that is to come to rest


class Instant(NamedTuple):
    """The object's motion at the end of a move, in the table frame."""

    pose: Array  # (3,)
    twist: Array  # (3,) of the grid origin
    fell: bool


class StreamedSimulation(SimulatedWorld):
    """A simulated world with `move`; subclasses keep what continues from one move to the next.

    `push` after `move` first raises the finger and waits until the object rests. After a push the
    finger is up, and the next move sets it down.
    """

    _twist: Array  # (3,) of the grid origin
    _place: Array | None  # (2,) of the finger, unless it is up

    def reset(self, seed: int) -> None:
        """Put the object back where it started, with the finger up.

        Args:
            seed: Random seed of the noise from here on.

        """
        super().reset(seed)
        self._halt()

    def push(self, push: Push, *, twist: ArrayLike = (0.0, 0.0, 0.0)) -> PushRecord:
        """Carry out a push as `SimulatedWorld.push` does; a moving object comes to rest first."""
        record = super().push(push, twist=twist)
        self._halt()
        return record

    def move(self, finger: ArrayLike | None, dt: float) -> Observation:
        """Move the finger in a straight line while the world runs, and return what is seen then.

        Only the pose is looked at, with noise; `observe` also takes the cloud. Errors of the arm
        that pushes are not made here.

        Args:
            finger: Where the finger's centre is at the end [m], shape (2,). If it is up, it is set
                down there and stands still. None raises it.
            dt: Duration of the move [s].

        Raises:
            SimulationError: The finger is set down inside the object, or the object has fallen.

        """
        self._refuse_fallen()
        end = None if finger is None else finite_array("finger", finger, (2,))
        if end is not None and self._place is None:
            self._refuse_inside(end)
        self._run(end, positive_number("dt", dt))
        return Observation(np.empty((0, 3)), self._noisy(self._pose[None])[0])

    def state(self) -> dict[str, Any]:
        """Return all that the world's future depends on, as JSON can hold it.

        In the middle of moves this includes the object's twist, the finger and their contact.
        """
        stream = None
        if self._place is not None or self._twist.any():
            place = None if self._place is None else self._place.tolist()
            stream = {"twist": self._twist.tolist(), "finger": place, **self._inner_state()}
        return {**super().state(), "stream": stream}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Return to a state; the same pushes and moves then have the same results."""
        super().restore(state)
        self._halt()
        stream = state.get("stream")
        if stream is not None:
            self._twist = finite_array("twist", stream["twist"], (3,))
            place = stream["finger"]
            self._place = None if place is None else finite_array("finger", place, (2,))
            self._restore_inner(stream)

    @abstractmethod
    def _streamed(self, end: Array | None, dt: float) -> Instant:
        """Run for dt [s], the finger on its way to a place (2,), or (None) up."""

    def _path(self, end: Array | None, dt: float) -> Push:
        """Return the path of a finger on its way to a place (2,); a raised one is parked."""
        there = PARKED if end is None else end
        here = there if end is None or self._place is None else self._place
        return Push([0.0, dt], [here, there])

    def _inner_state(self) -> dict[str, Any]:
        """Return what else a stream depends on, as JSON can hold it."""
        return {}

    def _restore_inner(self, stream: Mapping[str, Any]) -> None:
        """Return to what `_inner_state` returned."""

    def _halt(self) -> None:
        """Note that the object rests and the finger is up."""
        self._twist = np.zeros(3)
        self._place = None

    def _settle(self) -> None:
        """Raise the finger and wait until the object rests."""
        waited = 0.0
        while np.abs(self._twist).max() > _AT_REST and waited < PATIENCE and not self._fell:
            self._run(None, _WAIT)
            waited += _WAIT
        self._halt()

    def _run(self, end: Array | None, dt: float) -> None:
        """Move the finger to a place (2,), or (None) keep it up, and note where the object is."""
        self._pose, self._twist, self._fell = self._streamed(end, dt)
        self._place = end
