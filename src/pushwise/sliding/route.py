"""`Route`: the poses that a controller aims at one after the other, around obstacles."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.path import find_path
from pushwise.typing import Array

__all__ = ["Route"]

_PASSED = 0.03  # m from a waypoint at which it counts as reached
_TIME_LIMIT = 20.0  # s; so long that a busy machine changes no result
_RETREATS = np.arange(0.01, 0.21, 0.01)  # m
_DETOUR = np.array([0.08, 0.08, 0.6])  # m, m, rad
_AHEAD = 0.15  # m; how far ahead a detour may lead


class Route:
    """Waypoints to a goal."""

    def __init__(self, free: FreeSpace, *, seed: int) -> None:
        """Prepare for poses that are free."""
        self._free, self._seed = free, seed
        self._rng = np.random.default_rng(seed)
        self._left: list[Array] = []

    def start(self, pose: Array, goal: Array) -> None:
        """Find the way from a pose (3,) to a goal (3,).

        Raises:
            PushwiseError: The goal is not free, or there is no path.

        """
        if objection := self._free.objection(goal):
            x, y, theta = goal
            raise PushwiseError(
                f"goal ({x:.3f} m, {y:.3f} m, {theta:.3f} rad) is not free: {objection}."
            )
        self._left = [goal]
        if self._free.objection(pose) is None:
            path = find_path(self._free, pose, goal, time_limit=_TIME_LIMIT, seed=self._seed)
            self._left = [*path[1:-1], goal]

    def target(self, pose: Array) -> Array:
        """Return the next waypoint (3,) for an object at a pose (3,)."""
        grid = self._free.balance.model.grid
        while len(self._left) > 1 and cell_distance(grid, pose, self._left[0]) < _PASSED:
            self._left.pop(0)
        return self._left[0]

    def retreat(self, pose: Array) -> Array:
        """Return the nearest free pose (3,) on the way to the middle of the table."""
        inland = self._free.balance.table.polygon.mean(axis=0) - pose[:2]
        inland /= max(float(np.hypot(*inland)), 1e-9)
        for distance in _RETREATS:
            back: Array = pose + np.append(distance * inland, 0.0)
            if self._free(back[None])[0]:
                return back
        return self.target(pose)

    def detour(self, pose: Array, size: float) -> Array:
        """Return a free pose (3,) on the way to the next waypoint, for when no push leads there.

        Pushes towards a waypoint that is far away are long, and none of them may be free where
        an obstacle is close.
        """
        target = self.target(pose)
        left = target - pose
        left[2] = np.remainder(left[2] + np.pi, 2.0 * np.pi) - np.pi
        apart = cell_distance(self._free.balance.model.grid, pose, target)
        if apart > _AHEAD:
            target = pose + _AHEAD / apart * left
        for _ in range(50):
            aside: Array = target + size * _DETOUR * self._rng.uniform(-1.0, 1.0, 3)
            if self._free(aside[None])[0]:
                return aside
        return target
