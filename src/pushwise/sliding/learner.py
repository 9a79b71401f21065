"""`Learner`: identifies the object of a run, and not twice from the same pushes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pushwise.errors import PushwiseWarning
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.identification.result import Identification
from pushwise.records.record import PushRecord
from pushwise.sliding.explore import Unexplored

__all__ = ["Learner"]


class Learner:
    """Learns from exploring pushes.

    Exploration identifies the object after each push, and what it ends with is what the run
    believes afterwards.
    """

    def __init__(self, scene: Unexplored, *, seed: int) -> None:
        """Prepare for an object."""
        self.scene = scene
        """The object and its surroundings."""
        self._seed = seed
        self._last: tuple[list[PushRecord], Identification] | None = None
        self._warned: list[warnings.WarningMessage] = []

    def learn(self, records: Sequence[PushRecord]) -> Identification:
        """Identify from some pushes; `warn` gives its warnings."""
        if self._last is not None and self._last[0] == list(records):
            return self._last[1]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", PushwiseWarning)
            found = identify(
                self.scene.grid,
                records,
                finger=self.scene.finger,
                prior=self.scene.prior,
                search=SearchOptions(seed=self._seed),
            )
        self._last, self._warned = (list(records), found), warned
        return found

    def warn(self) -> None:
        """Give the warnings of the last identification."""
        for each in self._warned:
            warnings.warn(each.message, each.category, stacklevel=2)
