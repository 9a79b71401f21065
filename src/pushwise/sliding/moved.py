"""`Moved`: where an object was brought, in whichever way, and how that ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["End", "Moved"]


class End(StrEnum):
    """How it ended."""

    REACHED = "the goal is reached"
    FELL = "the object fell off the table"
    BLOCKED = "the object does not move when pushed"
    LOST = "the object is not where it was seen"
    REFUSED = "the world refused the next push"
    NO_PROGRESS = "the last pushes brought it no nearer"
    OUT_OF_REACH = "no safe pushes to the goal were found"
    OUT_OF_PUSHES = "no more pushes were allowed"
    OUT_OF_TIME = "the time limit was reached"


@dataclass(frozen=True, eq=False)
class Moved:
    """What `drive` and `follow` have in common."""

    end: End
    """How it ended, as a readable clause."""
    detail: str
    """The error message of the controller, the planner or the world that ended it, or empty."""
    goal: Array
    """The goal [m, m, rad], shape (3,)."""
    pose: Array
    """Last known pose of the object [m, m, rad], shape (3,)."""
    error: float
    """Mean distance of its cells from the goal there [m]; after a fall, before the last push."""
    records: tuple[PushRecord, ...]
    """What was seen of each push."""

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        return self.end is End.REACHED
