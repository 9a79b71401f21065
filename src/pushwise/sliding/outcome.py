"""`Outcome`: everything a run of `slide` was asked for, saw, learned, planned and did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from pushwise.identification.belief import Belief
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.planning.goals import Goal
from pushwise.planning.plan import Plan
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.follow import Followed
from pushwise.sliding.options import SlideOptions
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.world import Observation

__all__ = ["Learned", "Outcome", "Phase", "Target"]


class Phase(StrEnum):
    """The phases of a run, in order."""

    LOOK = "look"
    EXPLORE = "explore"
    IDENTIFY = "identify"
    PLAN = "plan"
    FOLLOW = "follow"
    GRASP = "grasp"


class Learned(NamedTuple):
    """What the phase `IDENTIFY` returns."""

    found: Identification | None
    """What was identified; None without exploring pushes."""
    belief: Belief
    """What is believed about the object."""


class Target(NamedTuple):
    """What the phase `PLAN` returns."""

    goal: Goal
    """The best goal that can be reached, with the next best ones."""
    plan: Plan | None
    """The plan made before the first push; None where a controller has to find the way."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that was seen, learned, planned and done; None for what was not reached."""

    options: SlideOptions
    """The options of the run."""
    table: Table
    """The table."""
    finger: Finger
    """The finger, with the friction assumed before the first push."""
    prior: Prior
    """The prior of the identification."""
    seen: Observation | None = None
    """The first observation: the point cloud around the object, and its pose."""
    grid: CellGrid | None = None
    """The cells made from it, in the frame whose pose the world reports."""
    records: tuple[PushRecord, ...] = ()
    """The exploring pushes."""
    found: Identification | None = None
    """What was identified from them; None without exploring pushes."""
    belief: Belief | None = None
    """What was believed before the first push to the goal; assumed without exploring pushes."""
    goal: Goal | None = None
    """The goal."""
    plan: Plan | None = None
    """The plan made before the first push to the goal."""
    followed: Followed | None = None
    """The pushes to the goal, and how they ended."""
    grasp: Grasp | None = None
    """The result of the grasp; None where a world has no gripper."""
    success: bool = False
    """Whether the object is held, or at the goal where a world has no gripper."""
    verdict: str = ""
    """The outcome in one sentence."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Duration of each phase [s]."""

    @property
    def other_goal(self) -> bool:
        """Whether `goal` was replaced by another one later."""
        goal, followed = self.goal, self.followed
        return bool(goal and followed and (followed.goal != goal.pose).any())

    @property
    def fall_probability(self) -> float | None:
        """Fall probability at `goal`; None without a goal, or where nothing was learned."""
        learned = self.found is not None
        return self.goal.fall_probability if self.goal is not None and learned else None
