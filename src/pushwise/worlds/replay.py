"""`Replay`: a recorded log as a world. It answers only the pushes it has."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.records.log import PushLog
from pushwise.records.record import PushRecord
from pushwise.worlds.world import Observation

__all__ = ["Replay"]

_SAME = 1e-6  # m, m/s, s; how well a push must agree with a recorded one


class Replay:
    """The object lies where the next record finds it, and moves as recorded."""

    def __init__(self, log: PushLog) -> None:
        """Replay a log from its first record."""
        if not len(log):
            raise PushwiseError("a log without records cannot be replayed.")
        self._log = log
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Go back to the first record; nothing is random here."""
        self._pose = self._log[0].pose[0]

    def observe(self) -> Observation:
        """Return the pose now, and the tops of the grid's cells as the cloud.

        The cloud is empty when the log has no grid.
        """
        grid = self._log.grid
        if grid is None:
            return Observation(np.empty((0, 3)), self._pose)
        tops = np.column_stack([placed(grid.centres, self._pose), grid.heights])
        return Observation(tops, self._pose)

    def push(self, push: Push) -> PushRecord:
        """Return the record of this push; one that was never made is refused."""
        for record in self._log:
            if isinstance(record.push, Push) and _same(record.push, push):
                self._pose = record.pose[-1]
                return record
        x, y = push.start
        raise PushwiseError(
            f"this log has no push from ({x:.4f}, {y:.4f}) m at ({push.velocity[0]:.4f}, "
            f"{push.velocity[1]:.4f}) m/s; it answers only the {len(self._log)} it has, "
            "each the `push` of one of its records."
        )


def _same(a: Push, b: Push) -> bool:
    """Return whether two pushes agree."""
    apart = [*(a.start - b.start), *(a.velocity - b.velocity), a.duration - b.duration]
    return float(np.abs(apart).max()) <= _SAME
