"""`slide`: take an unknown object to the table's edge and grasp it there (Algorithm 3).

Look, play with it, identify it, choose a goal where it does not fall, plan, push, grasp. Each
phase goes through a `Journal`; `run_folder.RunFolder` is one that keeps what a phase found in
files, and gives it back when a run is taken up again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from pushwise.checks import counted
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import uniform_model
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.planning.goals import Goal, choose_goal, first_with_a_way
from pushwise.planning.plan import Plan, plan
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan
from pushwise.sliding.explore import explore
from pushwise.sliding.follow import End, Followed, follow
from pushwise.sliding.outcome import Found, Outcome, Phase, Settings, Target
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.world import Observation, World

__all__ = ["Journal", "safest", "slide"]

T = TypeVar("T")

Choose = Callable[[Found, Table, Settings, Array], Goal]
"""Chooses a goal for what is known of an object, on a table, as asked, from a pose (3,)."""

_AROUND = 0.05  # m around the object of which the cloud is kept
_TIME_LIMIT = 20.0  # s; plans take one or two, only a planner that finds nothing is stopped
_TRIED = 3  # goals to which a way is looked for, and how often that is begun


@runtime_checkable
class Grasper(Protocol):
    """A world that has a gripper, too."""

    def grasp(self) -> Grasp:
        """Grasp the object by what is over the edge, and lift it."""


class Journal:
    """Carries out the phases of a run one after the other, and tells of them."""

    def __init__(self, tell: Callable[[Phase, str], None] | None = None) -> None:
        """Begin.

        tell: called with a phase and some words, when it begins and when there is news.
        """
        self.tell: Callable[[Phase, str], None] = tell or (lambda phase, words: None)
        self.seconds: dict[str, float] = {}
        """How long each phase took, or has taken so far, with what it took before a stop [s]."""
        self.records: list[PushRecord] = []
        """The exploring pushes made so far."""
        self._began = perf_counter()

    def begin(self, world: World, start: Outcome) -> None:
        """Get ready for a run in a world: `start` holds settings, table, finger and prior."""

    def carry_out(self, phase: Phase, do: Callable[[], T]) -> T:
        """Do what a phase does, and return what it found."""
        self.tell(phase, "")
        self._began = perf_counter() - self.seconds.get(phase, 0.0)
        found = do()
        self.seconds[phase] = self.elapsed()
        return found

    def elapsed(self) -> float:
        """Return how long the phase that is carried out has taken so far [s]."""
        return perf_counter() - self._began

    def explored(self, record: PushRecord) -> None:
        """Take note of an exploring push."""
        self.records.append(record)
        self.tell(Phase.EXPLORE, f"push {len(self.records)}")

    def end(self, outcome: Outcome) -> None:
        """Take note of how it ended."""


def safest(found: Found, table: Table, settings: Settings, pose: Array) -> Goal:
    """Choose the safest goal for an object now at `pose` (3,), with the next best ones."""
    return choose_goal(
        found,
        table,
        overhang=settings.overhang,
        grasp_width=settings.grasp_width,
        max_fall_probability=settings.max_fall_probability,
        start=pose,
        seed=settings.seed,
    )


def slide(
    world: World,
    table: Table,
    *,
    settings: Settings | None = None,
    finger: Finger | None = None,
    prior: Prior | None = None,
    choose: Choose = safest,
    journal: Journal | None = None,
) -> Outcome:
    """Slide the object of a world to the table's edge, where a hand can grasp it.

    finger: with the friction it is believed to have. prior: what is believed of the object.
    choose: chooses the goal. journal: hears of each phase, and may know what some found already.
    """
    if prior is not None and prior.centre is not None:
        raise PushwiseError(
            "slide makes its grid from what it sees, so that no centre of mass can be stated in "
            "that grid's frame; leave the prior's centre out."
        )
    asked = settings or Settings()
    run = journal or Journal()
    done = Outcome(asked, table, finger or Finger(), prior or Prior())
    run.begin(world, done)
    do = run.carry_out

    def ended(verdict: str, *, success: bool = False) -> Outcome:
        outcome = replace(done, verdict=verdict, success=success, seconds=dict(run.seconds))
        run.end(outcome)
        return outcome

    seen, grid = do(Phase.LOOK, lambda: _look(world))
    done = replace(done, seen=seen, grid=grid)
    try:
        records = do(Phase.EXPLORE, lambda: _explored(world, done, seen, grid, run))
    except PushwiseError as error:
        return ended(f"Not explored: {error}")
    done = replace(done, records=records)
    found = do(Phase.IDENTIFY, lambda: _identified(done, grid))
    done = replace(done, found=found)
    try:
        target = do(Phase.PLAN, lambda: _target(world, done, found, choose))
    except PushwiseError as error:
        return ended(f"Not moved: {error}")
    done = replace(done, goal=target.goal, plan=target.plan)
    followed = do(Phase.FOLLOW, lambda: _followed(world, done, found, target, choose, run))
    done = replace(done, followed=followed)
    if not followed.reached:
        return ended(_not_there(followed))
    if not isinstance(world, Grasper):
        return ended("The object is at the edge, ready to be grasped.", success=True)
    gripper = world
    grasp = do(Phase.GRASP, lambda: gripper.grasp())
    done = replace(done, grasp=grasp)
    if not grasp.held:
        return ended("Not grasped: the object reached the edge, but slipped out of the gripper.")
    return ended("Grasped: the object was slid to the edge and lifted there.", success=True)


def _look(world: World) -> tuple[Observation, CellGrid]:
    """Look at the object and divide it into cells, in the frame whose pose the world tells."""
    seen = world.observe()
    x, y, theta = seen.pose
    cos, sin = np.cos(theta), np.sin(theta)
    scan = Scan.from_points(seen.points, table=(0.0, 0.0, 1.0, 0.0), axis=(cos, sin, 0.0))
    turn = np.array([[cos, -sin], [sin, cos]])
    origin = (scan.frame[:2, 3] - [x, y]) @ turn
    cells = scan.grid
    grid = CellGrid(cells.centres + origin, cells.cell_size, cells.heights, cells.outline + origin)
    own = (seen.points[:, :2] - [x, y]) @ turn
    low, high = grid.outline.min(axis=0) - _AROUND, grid.outline.max(axis=0) + _AROUND
    near = np.all((own > low) & (own < high), axis=1)
    return Observation(seen.points[near], seen.pose), grid


def _explored(
    world: World, done: Outcome, seen: Observation, grid: CellGrid, run: Journal
) -> tuple[PushRecord, ...]:
    """Make a few pushes that keep the object on the table."""
    return explore(
        world,
        grid,
        seen.pose,
        done.table,
        done.finger,
        pushes=done.settings.explore,
        prior=done.prior,
        seed=done.settings.seed,
        made=run.records,
        on_push=run.explored,
    )


def _identified(done: Outcome, grid: CellGrid) -> Found:
    """Learn from the pushes; without any, believe in the same stuff everywhere."""
    if not done.records:
        return uniform_model(grid, done.prior)
    return identify(
        grid,
        done.records,
        finger=done.finger,
        prior=done.prior,
        search=SearchOptions(seed=done.settings.seed),
    )


def _target(
    world: World,
    done: Outcome,
    found: Found,
    choose: Choose,
) -> Target:
    """Choose the best goal that there is a way to."""
    asked = done.settings
    pose = world.observe().pose
    best = choose(found, done.table, asked, pose)
    goals = (best, *best.alternatives)

    def way_to(goal: Array) -> Plan:
        return plan(
            found,
            pose,
            goal,
            done.table,
            finger=_finger(found, done.finger),
            tolerance=asked.tolerance,
            max_fall_probability=asked.max_fall_probability,
            time_limit=_TIME_LIMIT,
            seed=asked.seed,
        )

    at, way = first_with_a_way(goals[:_TRIED], way_to)
    return Target(replace(goals[at], alternatives=goals[at + 1 :]), way)


def _followed(
    world: World,
    done: Outcome,
    found: Found,
    target: Target,
    choose: Choose,
    run: Journal,
) -> Followed:
    """Push, look and plan again until the object is at the goal.

    What the pushes on the way tell may make the goal unsafe, or a push may end where no way leads
    there: then a goal is chosen again.
    """
    asked = done.settings
    records: tuple[PushRecord, ...] = ()
    simulations = 0
    for left in reversed(range(_TRIED)):
        end = follow(
            world,
            found,
            target.goal.pose,
            done.table,
            finger=_finger(found, done.finger),
            tolerance=asked.tolerance,
            max_pushes=asked.max_pushes - len(records),
            max_fall_probability=asked.max_fall_probability,
            time_limit=_TIME_LIMIT,
            seed=asked.seed + len(records),
            on_push=lambda record, left: run.tell(Phase.FOLLOW, f"{left * 1e3:.0f} mm to go"),
        )
        records += end.records
        simulations += end.simulations
        made = replace(end, records=records, simulations=simulations)
        if end.end is not End.OUT_OF_REACH or not left:
            break
        found = end.found
        try:
            target = _target(world, done, found, choose)
        except PushwiseError as error:
            return replace(made, detail=str(error))
    return made


def _finger(found: Found, believed: Finger) -> Finger:
    """Return the finger as identified, or as believed."""
    return found.finger if isinstance(found, Identification) else believed


def _not_there(followed: Followed) -> str:
    """Say how it ended short of the goal."""
    made = counted(len(followed.records), "push", "pushes")
    detail = f" ({followed.detail.rstrip('.')})" if followed.detail else ""
    return (
        f"Not there: after {made} {followed.end}{detail}, "
        f"{followed.error * 1e3:.0f} mm from the goal."
    )
