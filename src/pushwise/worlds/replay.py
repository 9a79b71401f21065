"""`Replay`: a recorded log as a world, which knows only the pushes in the log."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.records.log import PushLog
from pushwise.records.record import PushRecord
from pushwise.worlds.world import Observation

__all__ = ["Replay"]

_SAME = 1e-6  # m, s; the largest difference from a recorded push


class Replay:
    """A world in which the object moves as recorded."""

    def __init__(self, log: PushLog) -> None:
        """Replay a log from its first record."""
        if not len(log):
            raise PushwiseError("a log without records cannot be replayed.")
        self._log = log
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Go back to the first record; nothing is random here."""
        self._pose = self._log[0].pose[0]
        self._next = 0

    def observe(self) -> Observation:
        """Return the present pose, and the tops of the grid's cells as the cloud.

        The cloud is empty if the log has no grid.
        """
        grid = self._log.grid
        if grid is None:
            return Observation(np.empty((0, 3)), self._pose)
        tops = np.column_stack([placed(grid.centres, self._pose), grid.heights])
        return Observation(tops, self._pose)

    def push(self, push: Push) -> PushRecord:
        """Return the record of this push; a push that is not in the log is refused."""
        count = len(self._log)
        # A push that was made several times is replayed in the order in which it was made.
        for at in ((self._next + k) % count for k in range(count)):
            record = self._log[at]
            if isinstance(record.push, Push) and _same(record.push, push):
                self._pose, self._next = record.pose[-1], at + 1
                return record
        (a, b), (c, d) = push.start, push.end
        raise PushwiseError(
            f"this log has no such push from ({a:.4f}, {b:.4f}) m to ({c:.4f}, {d:.4f}) m in "
            f"{push.duration:g} s; only its own {len(self._log)} pushes can be replayed, each the "
            "`push` of one of its records."
        )


def _same(a: Push, b: Push) -> bool:
    """Return whether two pushes follow the same path."""
    if a.raised != b.raised or abs(a.duration - b.duration) > _SAME:
        return False
    knots = np.union1d(a.times, b.times)
    return float(np.abs(a.at(knots) - b.at(knots)).max()) <= _SAME
