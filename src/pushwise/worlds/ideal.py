"""`Ideal`: our own physics with hidden masses and frictions, seen through noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import non_negative_number
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.records.record import Noise, finger_path
from pushwise.typing import Array
from pushwise.worlds.run_push import Motion, sample_times
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["Ideal"]


class Ideal(SimulatedWorld):
    """The world as `simulate` sees it; without noise its records are `simulate`'s, bit for bit."""

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
        start_error: float = 0.0,
        direction_error: float = 0.0,
    ) -> None:
        """Put an object on a table; the first arguments are those of every simulated world.

        start_error, direction_error: standard deviations of where the finger really starts,
        along x and y [m], and of where it really goes [rad]. Records tell only what was asked.
        """
        self._start_error = non_negative_number("start_error", start_error)
        self._direction_error = non_negative_number("direction_error", direction_error)
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

    def _attempted(self, push: Push) -> Push:
        """Return the push with the errors of a clumsy arm."""
        if not (self._start_error or self._direction_error):
            return push
        start = push.start + self._start_error * self._rng.standard_normal(2)
        angle = self._direction_error * self._rng.standard_normal()
        cos, sin = np.cos(angle), np.sin(angle)
        velocity = np.array([[cos, -sin], [sin, cos]]) @ push.velocity
        return Push(start, velocity, push.duration)

    def _carried_out(self, push: Push, pose: Array) -> Motion:
        """Simulate the push."""
        path = simulate(self._model, push, pose, finger=self._finger, table=self._table)
        t = sample_times(push.duration, float(path.t[-1]), self._rate)
        impulse = np.zeros((len(path.t), 2))
        impulse[1:] = np.cumsum(path.force * np.diff(path.t)[:, None], axis=0)
        given = np.stack([np.interp(t, path.t, column) for column in impulse.T], axis=-1)
        force = np.zeros((len(t), 2))
        force[1:] = np.diff(given, axis=0) / np.diff(t)[:, None]
        return Motion(t, path.pose_at(t), force, finger_path(push, t), path.tipped)
