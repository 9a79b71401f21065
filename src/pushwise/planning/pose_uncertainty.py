"""How certain the poses of a plan are: its pushes simulated again with other possible models."""

from __future__ import annotations

import numpy as np

from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.physics.simulate import simulate_batch
from pushwise.planning.deadline import Deadline
from pushwise.typing import Array

__all__ = ["PoseUncertainty"]


_SAMPLES = 16  # the relative error of a standard deviation is then about a fifth


class PoseUncertainty:
    """Standard deviation of the pose after a push, from samples of a belief."""

    def __init__(self, belief: Belief, table: Table, *, seed: int = 0) -> None:
        """Draw models from the belief; none where the model is certain or assumed."""
        self._models = belief.models(_SAMPLES, np.random.default_rng(seed))
        self._table, self._finger, self._drift = table, belief.finger, belief.drift

    def after(self, pose: Array, push: Push, expected: Array) -> Array:
        """Return the standard deviation [m, m, rad], shape (3,), of the pose after a push.

        It includes the model's own prediction error, `Belief.drift`.

        Args:
            pose: Pose before the push, shape (3,).
            push: The push.
            expected: Pose that the most probable model predicts, shape (3,).

        """
        if not self._models:
            return self._drift.copy()
        motions = simulate_batch(self._models, push, pose, finger=self._finger, table=self._table)
        off = np.array([motion.pose[-1] for motion in motions]) - expected
        deviation: Array = np.sqrt(np.mean(off**2, axis=0) + self._drift**2)
        return deviation

    def along(self, poses: list[Array], pushes: list[Push], deadline: Deadline) -> Array:
        """Return the standard deviation after every push of a plan, shape (pushes, 3)."""
        stds = np.zeros((len(pushes), 3))
        for i, push in enumerate(pushes):
            deadline.check()
            stds[i] = self.after(poses[i], push, poses[i + 1])
        return stds
