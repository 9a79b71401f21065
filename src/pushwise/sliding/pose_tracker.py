"""`PoseTracker`: where an object is, from noisy observations and the model's prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pushwise.geometry.metric import cell_distance
from pushwise.geometry.se2 import se2
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array

__all__ = ["PoseTracker"]

_MOVING_GAIN = 0.4  # of an observation while the object moves
_LEAST_GAIN = 0.05  # while it rests: the mean of the last twenty or so
_SURPRISE = 0.006  # m; an observation further off counts as a motion that was not predicted
_AT_REST = 1e-3  # m/s, rad/s
_RECENT = 0.3  # share of the last observation in the average of the recent ones
_MET = 0.3  # share of the last gap in the average of those where the finger touches
_MISSHAPEN = 0.002  # m; where that average is further off, the outline is wrong there
_THINNEST = 0.2  # of its radius, as which a finger inside the outline counts
_STRAYED = 0.0015  # m; where that average is further off, an object glides on that should rest


class PoseTracker:
    """Predicts the object's motion with the model and corrects it with each observation.

    Where the finger is seen to touch the object inside or outside its outline, which is wrong
    there, the model's finger is as much thinner or thicker.
    """

    def __init__(self, simulator: Simulator, pose: Array) -> None:
        """Start with an object at rest at an observed pose (3,)."""
        self._simulator = simulator
        self._finger = simulator.finger
        self._met_at = 0.0  # m; the gap seen between finger and outline while they touch
        self.pose = pose.copy()
        """Estimated pose [m, m, rad], shape (3,)."""
        self.twist = np.zeros(3)
        """Estimated twist [m/s, m/s, rad/s], shape (3,)."""
        self._rested = 1  # observations since the object came to rest
        self._off = np.zeros(3)  # from predicted to observed poses, on average of the recent ones

    @property
    def resting(self) -> bool:
        """Whether the object is believed to be at rest."""
        return self._rested > 0

    def update(
        self,
        observed: Array,
        before: Array | None,
        after: Array | None,
        dt: float,
        *,
        touching: bool = False,
    ) -> None:
        """Take in the pose (3,) observed after the finger went from one place (2,) to another."""
        self._simulator.finger = self.finger
        self._predict(before, after, dt)
        gap = self._gap(observed, after) if touching and after is not None else 0.0
        self._met_at = self._met_at + _MET * (gap - self._met_at) if touching else 0.0
        off = observed - self.pose
        off[2] = np.remainder(off[2] + np.pi, 2.0 * np.pi) - np.pi
        self._off += _RECENT * (off - self._off)
        still = bool(np.abs(self.twist).max() < _AT_REST)
        if still and self._away(off) < _SURPRISE and self._away(self._off) < _STRAYED:
            self._rested += 1
        else:
            self._rested = 0
        gain = max(1.0 / (self._rested + 1), _LEAST_GAIN) if self._rested else _MOVING_GAIN
        self.pose = self.pose + gain * off

    @property
    def finger(self) -> Finger:
        """The finger as the model needs it."""
        if abs(self._met_at) < _MISSHAPEN:
            return self._finger
        radius = self._finger.radius
        return replace(self._finger, radius=max(radius + self._met_at, _THINNEST * radius))

    def _gap(self, pose: Array, finger: Array) -> float:
        """Return the distance [m] between a finger (2,) and the outline at a pose (3,)."""
        (x, y, theta), (finger_x, finger_y) = pose.tolist(), finger.tolist()
        radius = self._finger.radius
        met = self._simulator.prepared.finger_gap(se2(x, y, theta), finger_x, finger_y, radius)
        return float(met.gap)

    def _away(self, off: Array) -> float:
        """Return how far cells are off [m] where the pose is, by `off` (3,)."""
        grid = self._simulator.model.grid
        return float(cell_distance(grid, self.pose, self.pose + off))

    def _predict(self, before: Array | None, after: Array | None, dt: float) -> None:
        """Advance the estimate with the model."""
        simulator = self._simulator
        if before is None or after is None:
            state = simulator.step(simulator.start(self.pose, self.twist), after, dt)
        else:
            state = simulator.start(self._clear_of(before), self.twist)
            state, _ = simulator.run(state, Push([0.0, dt], [before, after]))
        self.pose, self.twist = state.pose.copy(), state.twist.copy()

    def _clear_of(self, finger: Array) -> Array:
        """Return the estimated pose (3,), moved out of the finger if noise put it there."""
        pose = self.pose.copy()
        (x, y, theta), (finger_x, finger_y) = pose.tolist(), finger.tolist()
        radius = self._simulator.finger.radius
        met = self._simulator.prepared.finger_gap(se2(x, y, theta), finger_x, finger_y, radius)
        if met.gap < 0.0:
            pose[:2] += met.gap * np.array(met.normal)
        return pose
