"""`choose_target`: where to slide an object, and a plan of how to get there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.planning.goals import Goal, GoalSpace, choose_goal, first_reachable
from pushwise.planning.plan import Plan, plan
from pushwise.sliding.follow import LONGEST_PLAN, AbandonedGoal
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome, Target
from pushwise.typing import Array
from pushwise.worlds.world import StreamingWorld, World, observed

__all__ = ["TRIED", "ChooseGoal", "choose_target", "safest"]

ChooseGoal = Callable[[Belief, Table, SlideOptions, Array], Goal]
"""Chooses a goal for an object that is now at a pose (3,)."""

TRIED = 3
"""How many goals a plan is searched for, and how often goals are chosen."""

_SAME = 0.005  # m; goals nearer to each other are the same


def safest(belief: Belief, table: Table, options: SlideOptions, pose: Array) -> Goal:
    """Choose the safest goal for an object now at `pose` (3,), with the next best ones."""
    return choose_goal(
        belief,
        table,
        overhang=options.overhang,
        grasp_width=options.grasp_width,
        grasp_at=options.grasp_at,
        prefer=options.prefer,
        space=GoalSpace(obstacles=options.obstacles, start=pose),
        options=options.plan,
    )


def choose_target(
    world: World,
    done: Outcome,
    belief: Belief,
    choose: ChooseGoal,
    abandoned: Sequence[AbandonedGoal] = (),
) -> Target:
    """Choose the best goal that a plan can be found for, none of those that were abandoned.

    In a world that streams a controller finds the way, also where no plan is found: there the plan
    to the best goal is for people to look at.
    """
    options = replace(done.options.plan, max_pushes=LONGEST_PLAN)
    pose = observed(world).pose
    best = choose(belief, done.table, done.options, pose)
    goals = [each for each in (best, *best.alternatives) if _is_new(each, abandoned, belief)]
    if not goals:
        raise PushwiseError("all safe goals were tried; none could be reached.")

    def plan_to(goal: Array) -> Plan:
        blocks = done.options.obstacles
        return plan(belief, pose, goal, done.table, obstacles=blocks, options=options)

    streams = isinstance(world, StreamingWorld)
    try:
        at, planned = first_reachable(goals[: 1 if streams else TRIED], plan_to)
    except PushwiseError:
        if not streams:
            raise
        return Target(replace(goals[0], alternatives=tuple(goals[1:])), None)
    return Target(replace(goals[at], alternatives=tuple(goals[at + 1 :])), planned)


def _is_new(goal: Goal, abandoned: Sequence[AbandonedGoal], belief: Belief) -> bool:
    """Return whether a goal is not one of those that were abandoned."""
    grid = belief.model.grid
    return all(mean_cell_error(grid, goal.pose, each.pose) > _SAME for each in abandoned)
