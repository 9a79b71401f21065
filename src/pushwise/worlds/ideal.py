"""`Ideal`: our own physics with a hidden mass and friction distribution, seen through noise."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import non_negative_number
from pushwise.geometry.polygon import placed
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.motion_state import MotionState
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array
from pushwise.worlds.run_push import Motion, sample_times
from pushwise.worlds.streaming import Instant, StreamedSimulation
from pushwise.worlds.world import Sensing

__all__ = ["Ideal"]


class Ideal(StreamedSimulation):
    """The world as `simulate` sees it; without noise its records are `simulate`'s, bit for bit."""

    _motion: MotionState | None

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        arm_error: tuple[float, float] = (0.0, 0.0),
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        sensing: Sensing | None = None,
        physics: Physics = Physics(),
    ) -> None:
        """Put an object on a table.

        Args:
            thing: The object, or only its model.
            table: The table; the default `Table` if not given.
            arm_error: How inaccurate the arm is that pushes; records contain only the commanded
                push. Standard deviations of the finger's actual start, along x and y each [m], and
                of the direction in which it actually moves [rad]: the whole path is turned about
                its start.
            seed: Random seed of the noise and of the errors.
            pose: Pose of the grid frame at the start [m, m, rad], shape (3,).
            finger: The finger; the default `Finger` if not given.
            sensing: What is measured, and how well; the default `Sensing` if not given.
            physics: How it is simulated: on a stiff bed, for instance.

        """
        self._physics = physics
        self._start_error = non_negative_number("arm_error[0]", arm_error[0])
        self._direction_error = non_negative_number("arm_error[1]", arm_error[1])
        super().__init__(thing, table, seed=seed, pose=pose, finger=finger, sensing=sensing)

    def _attempted(self, push: Push) -> Push:
        """Return the push with the errors of an inaccurate arm."""
        if not (self._start_error or self._direction_error):
            return push
        start = push.start + self._start_error * self._rng.standard_normal(2)
        angle = self._direction_error * self._rng.standard_normal()
        path = placed(push.positions - push.start, np.append(start, angle))
        return Push(push.times, path, raised=push.raised)

    def _carried_out(self, push: Push, pose: Array, twist: Array) -> Motion:
        """Simulate the push."""
        path = simulate(
            self._model,
            push,
            pose,
            twist=twist,
            finger=self._finger,
            table=self._table,
            physics=self._physics,
        )
        t = sample_times(push, float(path.t[-1]), self._sensing.rate)
        impulse = np.zeros((len(path.t), 2))
        impulse[1:] = np.cumsum(path.force * np.diff(path.t)[:, None], axis=0)
        given = np.stack([np.interp(t, path.t, column) for column in impulse.T], axis=-1)
        force = np.zeros((len(t), 2))
        force[1:] = np.diff(given, axis=0) / np.diff(t)[:, None]
        return Motion(t, path.pose_at(t), force, push.at(t), np.zeros((len(t), 2)), path.tipped)

    def _streamed(self, end: Array | None, dt: float) -> Instant:
        """Simulate the move."""
        state = self._motion
        if state is None:
            state = self._simulator.start(self._pose, self._twist)
        self._motion = state = self._simulator.step(state, end, dt)
        return Instant(state.pose, state.twist, bool(state.tipped))

    @cached_property
    def _simulator(self) -> Simulator:
        """The object, simulated bit by bit."""
        return Simulator(self._model, finger=self._finger, table=self._table, physics=self._physics)

    def _halt(self) -> None:
        """Note that the object rests and the finger is up."""
        super()._halt()
        self._motion = None

    def _inner_state(self) -> dict[str, Any]:
        """Return how finger and object touch, as JSON can hold it."""
        return {} if self._motion is None else {"motion": self._motion.to_json()}

    def _restore_inner(self, stream: Mapping[str, Any]) -> None:
        """Return to what `_inner_state` returned."""
        if "motion" in stream:
            self._motion = MotionState.from_json(stream["motion"])
