"""`PushJudge`: which of the pushes that a search proposes are worth it, judged by earlier ones.

The cheapest way to a goal by an exact model may lead away from it first: a push on from the current
contact costs little, and from farther away another contact hits the goal exactly. With a model that
is not exact, the longer way back adds as much error as there was. So once pushes have disappointed,
an object near its goal must come nearer with each of them.
"""

from __future__ import annotations

import numpy as np

from pushwise.geometry.metric import mean_cell_error
from pushwise.planning.push_library import LocalPushes
from pushwise.planning.push_search import PushChoice, PushSearch
from pushwise.planning.value import CONTACT_COST, relative_pose
from pushwise.shape.grid import CellGrid
from pushwise.sliding.push_outcomes import PushOutcomes
from pushwise.typing import Array

__all__ = ["PushJudge"]

_WORTH = 0.2  # strides that are worth going on for
_SHORTEST = 2.0  # strides of a push that is worth beginning
_PROGRESS = 0.5  # s less that remain after it
_AT_GOAL = 0.5 * CONTACT_COST  # s that remain after one that ends at the goal
_CORRECTION = 0.4  # strides of such a push
_DISAPPOINTED = 1.0  # s by which the cost exceeds what the last push promised
_NEARBY = 0.04  # m from the goal within which a doubtful model must lead nearer to it


class PushJudge:
    """Judges the choices of a search."""

    def __init__(
        self, grid: CellGrid, search: PushSearch, outcomes: PushOutcomes, *, doubtful: bool
    ) -> None:
        """Start without a push; doubtful: whether the model is an assumption."""
        self._grid, self._search, self._outcomes = grid, search, outcomes
        self._doubtful = doubtful
        self.forget()

    def forget(self) -> None:
        """Forget what the last push promised: the goal has changed."""
        self._promised = self._cost = np.inf

    def promise(self, promised: float, pose: Array, target: Array) -> None:
        """Note what should remain to be done after a push [s] that begins at a pose (3,)."""
        self._promised, self._cost = promised, self._cost_at(pose, target)

    def disappointed(self, best: PushChoice, pose: Array, target: Array) -> bool:
        """Return whether the last push did much less than it promised, given the best way on."""
        broken = best.cost > self._promised + _DISAPPOINTED
        if self._promised < _AT_GOAL:
            # It should have ended at the goal, so it must at least have led nearer.
            broken = broken or self._cost_at(pose, target) >= self._cost
        self._doubtful = self._doubtful or broken
        return broken

    def worth(self, choices: list[PushChoice], pose: Array, target: Array) -> list[PushChoice]:
        """Return the choices that are worth beginning at a pose (3,), best first.

        The cost of the way from far away is an estimate: pushes that end neither at the goal nor
        where much less remains to be done lead to more of them, for ever.
        """
        if not self._cautious(pose, target):
            here = self._cost_at(pose, target)
            worth = [one for one in choices if _long_enough(one, here)]
            return worth or [one for one in choices if one.travel >= _SHORTEST]
        error = mean_cell_error(self._grid, pose, target)
        ends = [mean_cell_error(self._grid, self._end(one, pose), target) for one in choices]
        return [choices[i] for i in np.argsort(ends, kind="stable") if ends[i] < error]

    def goes_on(
        self, choice: PushChoice, pose: Array, target: Array, local: LocalPushes | None
    ) -> bool:
        """Return whether a choice is worth going on for, from where the finger is."""
        if choice.travel < _WORTH:
            return False
        if not self._cautious(pose, target):
            return True
        end = self._end(choice, pose, local)
        return mean_cell_error(self._grid, end, target) < mean_cell_error(self._grid, pose, target)

    def _cautious(self, pose: Array, target: Array) -> bool:
        """Return whether the next push must lead nearer to the goal."""
        return self._doubtful and mean_cell_error(self._grid, pose, target) < _NEARBY

    def _end(self, choice: PushChoice, pose: Array, local: LocalPushes | None = None) -> Array:
        """Return the pose (3,) in which a choice lets go of the object."""
        poses, _ = self._outcomes.of(pose, choice.at_first_contact, local)
        end: Array = poses[-1]
        return end

    def _cost_at(self, pose: Array, target: Array) -> float:
        """Return the cost of what remains to be done at a pose (3,) [s]."""
        return self._search.cost_here(relative_pose(pose, target))


def _long_enough(choice: PushChoice, here: float) -> bool:
    """Return whether a choice does enough, given the cost of what remains to be done now [s]."""
    if choice.rest < _AT_GOAL:
        return choice.travel >= _CORRECTION
    return choice.travel >= _SHORTEST and choice.rest < here - _PROGRESS
