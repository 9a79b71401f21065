"""`Outcome`: all that a run of `slide` was asked for, saw, learned, planned and did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pushwise.checks import non_negative_integer, positive_number, probability
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.planning.goals import Goal
from pushwise.planning.plan import Plan
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.follow import Followed
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.world import Observation

__all__ = ["Found", "Outcome", "Phase", "Settings", "Target"]

Found = Identification | ObjectModel
"""What was identified, or only a model where there was nothing to learn from."""


class Phase(StrEnum):
    """What is done, in this order."""

    LOOK = "look"
    EXPLORE = "explore"
    IDENTIFY = "identify"
    PLAN = "plan"
    FOLLOW = "follow"
    GRASP = "grasp"


@dataclass(frozen=True)
class Settings:
    """What was asked for."""

    explore: int = 5
    """Pushes to learn from; with none, mass and friction are taken as even."""
    overhang: float = 0.05
    """How far a part must be over the edge at the goal [m]."""
    grasp_width: float = 0.3
    """How wide that part may be along the edge [m].

    The gripper of the simulated worlds closes on it from above and below, so that width hardly
    matters; for a hand that closes from the sides, how wide it opens.
    """
    max_fall_probability: float = 0.01
    """How likely a fall may be at the goal, and on the way."""
    tolerance: float = 0.01
    """How near to the goal is near enough: mean distance of cells [m]."""
    max_pushes: int = 40
    """How many pushes may be made on the way."""
    seed: int = 0
    """Decides all that is random."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("explore", "max_pushes", "seed"):
            non_negative_integer(name, getattr(self, name))
        for name in ("overhang", "grasp_width", "tolerance"):
            positive_number(name, getattr(self, name))
        probability("max_fall_probability", self.max_fall_probability)


@dataclass(frozen=True, eq=False)
class Target:
    """Where to, and how."""

    goal: Goal
    """The best goal there is a way to, with the next best ones."""
    plan: Plan
    """The way, as far as can be told before the first push."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """All that was seen, learned, planned and done; None for what it did not come to."""

    settings: Settings
    """What was asked for."""
    table: Table
    """The table."""
    finger: Finger
    """The finger, as far as it was known before."""
    prior: Prior
    """What was believed of the object before."""
    seen: Observation | None = None
    """The first look: the cloud around the object and its pose."""
    grid: CellGrid | None = None
    """The cells made of it, in the frame whose pose the world tells."""
    records: tuple[PushRecord, ...] = ()
    """The pushes it was identified from."""
    found: Found | None = None
    """What was identified; only a model when there was nothing to learn from."""
    goal: Goal | None = None
    """Where it should go."""
    plan: Plan | None = None
    """How, as far as could be told before the first push."""
    followed: Followed | None = None
    """The pushes on the way, and how it ended."""
    grasp: Grasp | None = None
    """What became of the grasp; None where a world cannot grasp."""
    success: bool = False
    """Whether the object is held, or at the goal where a world cannot grasp."""
    verdict: str = ""
    """What came of it, in words."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """How long each phase took."""

    @property
    def other_goal(self) -> bool:
        """Whether another goal than `goal` was chosen on the way."""
        goal, followed = self.goal, self.followed
        return bool(goal and followed and (followed.goal != goal.pose).any())

    @property
    def fall_probability(self) -> float | None:
        """How likely a fall is at `goal`; None where nothing was learned, or without a goal."""
        learned = isinstance(self.found, Identification)
        return self.goal.fall_probability if self.goal is not None and learned else None
