"""A time limit that planning checks before every step that takes time.

Time spent compiling does not count.
"""

from __future__ import annotations

from pushwise.compilation import working_clock

__all__ = ["Deadline", "OutOfTimeError"]


class OutOfTimeError(Exception):
    """Raised at the deadline; `plan` turns it into a PushwiseError."""


class Deadline:
    """A moment after which planning stops."""

    def __init__(self, seconds: float) -> None:
        """Set it this many seconds from now."""
        self._begin = working_clock()
        self._end = self._begin + seconds

    @property
    def spent(self) -> float:
        """Seconds since it was set."""
        return working_clock() - self._begin

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return working_clock() > self._end

    def check(self) -> None:
        """Raise OutOfTimeError when the time is up."""
        if self.passed:
            raise OutOfTimeError
