"""`PlanOptions`: what planning may be asked for, with one set of defaults.

The command line shows the defaults in its help, so that nothing slow is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pushwise.errors import PushwiseError

__all__ = ["GRASP_WIDTH", "METHODS", "OVERHANG", "PLACEMENT_STD", "PlanOptions", "Prefer"]

Prefer = Literal["safety", "overhang"]
"""Which goals at the edge are best."""

METHODS = ("batch", "gradient", "exhaustive")
"""Names of the contact searches: ours with the fewest pushes, the paper's Algorithm 2, and the
exhaustive search that the paper compares it with."""

OVERHANG = 0.05
"""How far a part must extend beyond the table's edge at a goal, by default [m]."""

GRASP_WIDTH = 0.3
"""How wide that part may be along the edge, by default [m]."""


PLACEMENT_STD = 0.003
"""How far an object typically rests from where it should, relative to the table's edge [m]: errors
of the camera and of the outline, and where a push ends. Chosen with falls in view
(`pushwise experiment reach`, on seeds of development)."""


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
    placement_std: float = PLACEMENT_STD
    """Standard error of where the object is relative to the table's edge [m], along each axis."""
    time_limit: float = 20.0
    """Time limit for each plan [s], kept to within a tenth; compilation is not counted."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        """Check the values."""
        from pushwise.checks import (
            non_negative_integer,
            non_negative_number,
            positive_number,
            probability,
        )

        if self.method not in METHODS:
            raise PushwiseError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        for check, names in (
            (positive_number, ("tolerance", "time_limit")),
            (non_negative_integer, ("max_pushes", "seed")),
            (probability, ("max_fall_probability",)),
            (non_negative_number, ("placement_std",)),
        ):
            for name in names:  # kept as Python's numbers, which JSON can hold
                object.__setattr__(self, name, check(name, getattr(self, name)))
