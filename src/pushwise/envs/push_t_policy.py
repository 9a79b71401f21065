"""`PushTPolicy`: plays Push-T with a `PushController`, without training, in pixels as others do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.envs.push_t_task import (
    AGENT,
    CONTROL_STEPS,
    CONTROL_TIME,
    GOAL,
    PIXEL,
    SIZE,
    T_KEYPOINTS,
    WALLS,
    agent_path,
    agent_target,
    t_model,
)
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.sliding.control_options import ControlOptions, Doing
from pushwise.sliding.controller import PushController
from pushwise.typing import Array
from pushwise.worlds.world import Observation

__all__ = ["PushTPolicy"]

_PERIOD = CONTROL_STEPS * CONTROL_TIME
_TOLERANCE = 0.0018  # m; the coverage is then above 0.95, however the T is off
_THICK = 0.05  # m of a wall
_GIVE = 0.002  # m beyond the walls: where the T touches one, it may still be pushed
_SAMPLES = 5  # a shorter push is not recorded
_METRES = np.array([PIXEL, PIXEL, 1.0])
_UNSEEN = np.empty((0, 3))


class PushTPolicy:
    """Maps observations of Push-T's state mode to actions, for one episode after the other.

    It works in any environment with gym-pusht's task, such as `pushwise/PushT-v1` and gym-pusht
    itself; what it knows of the physics is its belief.
    """

    def __init__(self, belief: Belief | None = None) -> None:
        """Prepare for a T, which takes a few seconds; by default the one of `pushwise/PushT-v1`."""
        known = Belief.certain(t_model(), AGENT) if belief is None else belief
        if known.learned:
            # Nothing can fall here, so that nothing depends on how certain the model is.
            known = Belief.certain(known.model, known.finger)
        low, high = PIXEL * np.array(WALLS)
        reach = known.finger.radius + _GIVE
        self._controller = PushController(
            known,
            Table.rectangle(4.0, 4.0),
            _frame(low - _GIVE, high + _GIVE),
            finger_obstacles=_frame(-reach, PIXEL * SIZE + reach),  # an agent passes over walls
            options=ControlOptions(period=_PERIOD, tolerance=_TOLERANCE, may_raise=False),
        )
        self.reset()

    def reset(self) -> None:
        """Begin an episode."""
        self.records: list[PushRecord] = []
        """What was seen of the pushes so far, for `identify`: one record per contact, in metres."""
        self._agent: Array | None = None  # where it should be now [px]
        self._velocity = np.zeros(2)  # px/s
        self._target = np.zeros(2)  # px
        self._fingers: list[Array] = []  # m, of the push under way
        self._poses: list[Array] = []

    @property
    def contacts(self) -> int:
        """Number of contacts begun in this episode."""
        return 0 if self._agent is None else self._controller.contacts

    def __call__(self, state: ArrayLike, goal: ArrayLike = GOAL) -> Array:
        """Return where the agent should go [px], shape (2,).

        It stays where it is while an episode begins with the T inside a wall.

        Args:
            state: Agent x, y, T x, y, angle [px, px, px, px, rad], shape (5,).
            goal: Pose to cover [px, px, rad], shape (3,).

        """
        seen = finite_array("state", state, (5,))
        agent, pose = seen[:2], seen[2:] * _METRES
        if self._agent is None and _in_wall(pose):
            # gym-pusht starts some episodes so, and pushes the T out within a few steps.
            return agent.copy()
        if self._agent is None:
            self._controller.reset(PIXEL * agent)
        else:
            self._note(pose)
            if not np.allclose(agent, self._agent, atol=0.5):
                self._velocity = np.zeros(2)  # something stopped it
        place = self._controller.step(Observation(_UNSEEN, pose), goal * _METRES, PIXEL * agent)
        assert place is not None  # it is never raised
        self._begin_or_end(PIXEL * agent, pose)
        self._target = agent_target(agent, self._velocity, place / PIXEL).clip(0.0, SIZE)
        path, speeds = agent_path(agent[None], self._velocity[None], self._target[None])
        if self._poses:
            self._fingers.extend(PIXEL * path[:, 0])
        self._agent, self._velocity = path[-1, 0], speeds[-1, 0]
        return self._target.copy()

    def _begin_or_end(self, finger: Array, pose: Array) -> None:
        """Begin the record of a contact, or end it where the agent goes elsewhere."""
        doing = self._controller.doing
        if doing is Doing.APPROACHING:
            self._close()
        elif doing is Doing.PUSHING and not self._poses:
            self._fingers, self._poses = [finger], [pose]

    def _note(self, pose: Array) -> None:
        """Add a pose to the record of a push."""
        if self._poses:
            turn = np.remainder(pose[2] - self._poses[-1][2] + np.pi, 2.0 * np.pi) - np.pi
            self._poses.append(np.array([*pose[:2], self._poses[-1][2] + turn]))

    def _close(self) -> None:
        """End the record of a push, if there is one."""
        poses, fingers = np.array(self._poses), np.array(self._fingers)
        self._poses, self._fingers = [], []
        if len(poses) < _SAMPLES:
            return
        push = Push(CONTROL_TIME * np.arange(len(fingers)), fingers)
        times = _PERIOD * np.arange(len(poses))
        self.records.append(PushRecord(push, times, poses, source="Push-T"))


def _in_wall(pose: Array) -> bool:
    """Return whether a T overlaps a wall by more than the controller allows."""
    corners = placed(T_KEYPOINTS, pose)
    low, high = PIXEL * np.array(WALLS)
    return bool((corners < low - _GIVE).any() or (corners > high + _GIVE).any())


def _frame(low: float, high: float) -> list[Array]:
    """Return four walls around a square [m], shape (4, 2) each."""
    out, end = low - _THICK, high + _THICK
    sides = [(out, low, out, end), (high, end, out, end), (low, high, out, low)]
    return [
        np.array([(left, down), (right, down), (right, up), (left, up)])
        for left, right, down, up in (*sides, (low, high, high, end))
    ]
