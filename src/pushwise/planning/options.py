"""What planning may be asked for, with one set of defaults, and the deadline it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from pushwise.errors import PushwiseError

__all__ = ["GRASP_WIDTH", "METHODS", "OVERHANG", "Deadline", "OutOfTimeError", "PlanOptions"]

METHODS = ("batch", "gradient", "exhaustive")
"""Names of the contact searches: ours with the fewest pushes, the paper's Algorithm 2, and the
exhaustive search that the paper compares it with."""

OVERHANG = 0.05
"""How far a part must extend beyond the table's edge at a goal, by default [m]."""

GRASP_WIDTH = 0.3
"""How wide that part may be along the edge, by default [m]."""


@dataclass(frozen=True)
class PlanOptions:
    """Options of `plan`, `follow`, `choose_goal` and `slide`."""

    method: str = "batch"
    """Contact search: "batch" (fewest pushes), "gradient" (Algorithm 2) or "exhaustive"."""
    tolerance: float = 0.01
    """Mean distance of the cells from the goal at which it counts as reached [m]."""
    max_pushes: int = 40
    """Maximum number of pushes."""
    max_fall_probability: float = 0.01
    """Maximum fall probability at the goal and along the path."""
    time_limit: float = 20.0
    """Time for each plan [s], kept within a tenth; compilation is not counted."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        """Check the values."""
        # Imported here: `pushwise --help` shows these defaults without loading NumPy.
        from pushwise.checks import non_negative_integer, positive_number, probability

        if self.method not in METHODS:
            raise PushwiseError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        for name in ("tolerance", "time_limit"):
            positive_number(name, getattr(self, name))
        for name in ("max_pushes", "seed"):
            non_negative_integer(name, getattr(self, name))
        probability("max_fall_probability", self.max_fall_probability)


class OutOfTimeError(Exception):
    """Raised at the deadline; `plan` turns it into a PushwiseError."""


class Deadline:
    """A moment after which planning stops."""

    def __init__(self, seconds: float) -> None:
        """Set it this many seconds from now."""
        self._begin = perf_counter()
        self._end = self._begin + seconds

    @property
    def spent(self) -> float:
        """Seconds since it was set."""
        return perf_counter() - self._begin

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return perf_counter() > self._end

    def check(self) -> None:
        """Raise OutOfTimeError when the time is up."""
        if self.passed:
            raise OutOfTimeError
