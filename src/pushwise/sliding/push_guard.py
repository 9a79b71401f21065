"""`PushGuard`: keeps the object on the table and away from obstacles, in plans and at every step.

A planned push must keep its distance. At every step near an edge or an obstacle, the next motion of
the finger is also simulated with models drawn from the belief, until the object has come to rest:
on average over them the object must not fall with more than the permitted probability, and none may
touch an obstacle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.geometry.compiled import nearest_feature
from pushwise.identification.belief import Belief
from pushwise.physics.model import Physics
from pushwise.physics.motion_state import MotionState
from pushwise.physics.simulator import Simulator, step_batch
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.push_library import TIME_STEP
from pushwise.planning.support_polygon import margins_or_falls
from pushwise.typing import Array

__all__ = ["PushGuard"]

_MODELS = 8
_CLEARANCES = (0.02, 0.015, 0.01, 0.005, 0.002)  # m kept from obstacles, where the ends allow it
_FINGER_CLEARANCE = 0.001  # m
_TOUCHES = 0.001  # m between object and obstacle that none of the models may undercut
_NEAR_OBSTACLE = 0.05  # m; further away no step can be a risk
_NEAR_EDGE = 0.03  # m
_GLIDE = 0.5  # s in which a released object comes to rest, where little of it is on the table


class PushGuard:
    """Judges pushes and steps."""

    def __init__(
        self,
        belief: Belief,
        free: FreeSpace,
        finger_obstacles: Sequence[Array] = (),
        *,
        seed: int,
    ) -> None:
        """Draw models from a belief; finger_obstacles: what the finger must not touch."""
        self._free = free
        self._finger_obstacles = [np.ascontiguousarray(one.T) for one in finger_obstacles]
        models = [belief.model, *belief.models(_MODELS, np.random.default_rng(seed))]
        self._simulators, self._without_edge = (
            [
                Simulator(model, finger=belief.finger, table=table, physics=Physics(dt=TIME_STEP))
                for model in models
            ]
            for table in (free.balance.table, None)
        )
        self._radius = belief.finger.radius
        self._drift = belief.drift

    def clearance(self, pose: Array, goal: Array) -> float:
        """Return the distance [m] to keep from obstacles between two poses (3,)."""
        if not self._free.obstacles:
            return 0.0
        both = np.stack([pose, goal])
        kept = (gap for gap in _CLEARANCES if self._free(both, clearance=gap).all())
        return next(kept, 0.0)

    def allows(
        self, poses: Array, fingers: Array, clearance: float, *, retreats: bool = False
    ) -> bool:
        """Return whether poses (k, 3) are free, and places of the finger (k, 2).

        Args:
            poses: Where the object would be, first where it is.
            fingers: Where the finger would be.
            clearance: Distance to keep from obstacles [m].
            retreats: Whether the object is too near the edge already. Then it must never come
                nearer to falling, and be farther from it in the end.

        """
        now = self.risk(poses[:1]) if retreats else 0.0
        limit = max(self._free.rules.limit, now)
        if self._free.leading(poses, clearance=clearance, limit=limit) < len(poses):
            return False
        if retreats and self.risk(poses[-1:]) >= now:
            return False
        gap = self._radius + _FINGER_CLEARANCE
        for corners in self._finger_obstacles:
            if any(nearest_feature(x, y, *corners)[1] < gap for x, y in fingers.tolist()):
                return False
        return True

    def allows_step(
        self, pose: Array, twist: Array, before: Array, after: Array, dt: float
    ) -> bool:
        """Return whether the finger may go from one place (2,) to another in a time dt [s].

        The object is at a pose (3,) with a twist (3,). Where the risk is too high already, a step
        is allowed that does not raise it.
        """
        if not self._near_hazard(pose):
            return True
        states = _after(self._simulators, pose, twist, (before, after), dt)
        ends = states.pose.copy()
        if states.tipped.any():
            # One rule decides whether an object falls, `FreeSpace`: see how far it would have gone.
            on = _after(self._without_edge, pose, twist, (before, after), dt)
            ends[states.tipped] = on.pose[states.tipped]
        if self._free.obstacles:
            near = self._free(ends, clearance=_TOUCHES + float(self._drift[:2].max()))
            if not near.all() and self._free(pose[None], clearance=_TOUCHES)[0]:
                return False
        risk = self.risk(ends)
        return risk <= max(self._free.rules.limit, self.risk(pose[None]))

    def risk(self, poses: Array) -> float:
        """Return the fall probability, on average over poses (k, 3)."""
        rules = self._free.rules
        return float(np.mean(margins_or_falls(rules.cells, poses.copy(), rules.centres, True)))

    def _near_hazard(self, pose: Array) -> bool:
        """Return whether an edge or an obstacle is near."""
        cells = self._free.rules.cells
        inland = -nearest_feature(pose[0], pose[1], cells.table_x, cells.table_y)[1]
        if inland < cells.reach + _NEAR_EDGE:
            return True
        if not self._free.obstacles:
            return False
        return bool(self._free.leading(pose[None], clearance=_NEAR_OBSTACLE) == 0)


def _after(
    simulators: list[Simulator], pose: Array, twist: Array, finger: tuple[Array, Array], dt: float
) -> MotionState:
    """Return the states of models after the finger went from one place to another and is raised."""
    states = simulators[0].start(np.repeat(pose[None], len(simulators), axis=0), twist)
    states = step_batch(simulators, states, finger[0], TIME_STEP)
    states = step_batch(simulators, states, finger[1], dt)
    return step_batch(simulators, states, None, _GLIDE)
