"""`ControlOptions`: what a `PushController` may be asked for, and `Doing`: what it says it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pushwise.checks import (
    non_negative_integer,
    non_negative_number,
    positive_number,
    probability,
)
from pushwise.planning.options import PLACEMENT_STD

__all__ = ["ControlOptions", "Doing"]


@dataclass(frozen=True)
class ControlOptions:
    """Options of `PushController`."""

    period: float = 0.02
    """Time between two steps [s]."""
    tolerance: float = 0.005
    """Mean distance of the cells from the goal at which it counts as reached [m]."""
    max_fall_probability: float = 0.01
    """Maximum fall probability on the way and at the goal."""
    placement_std: float = PLACEMENT_STD
    """Standard error of where the object is relative to the table's edge [m], along each axis."""
    may_raise: bool = True
    """Whether the finger may be raised to reach a hollow of the object."""
    seed: int = 0
    """Random seed."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("period", "tolerance"):
            positive_number(name, getattr(self, name))
        probability("max_fall_probability", self.max_fall_probability)
        non_negative_number("placement_std", self.placement_std)
        non_negative_integer("seed", self.seed)


class Doing(StrEnum):
    """What a `PushController` is doing."""

    LOOKING = "looking"
    APPROACHING = "approaching"
    PUSHING = "pushing"
    ARRIVED = "arrived"
