"""`slide`: take an unknown object to the table's edge and grasp it there (Algorithm 3).

The phases are: look, explore, identify, plan, follow, grasp. Each goes through a `Journal`;
`run_folder.RunFolder` is a journal that keeps the results of the phases in files, so that a run
can be interrupted and resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from pushwise.checks import counted
from pushwise.compilation import working_clock
from pushwise.errors import PushwiseError, WriteError
from pushwise.identification.belief import Belief
from pushwise.identification.holdout import uniform_model
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.planning.goals import point_to_grasp
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan
from pushwise.shape.scan_options import ScanOptions
from pushwise.sliding.bring import bring
from pushwise.sliding.explore import Unexplored, explore
from pushwise.sliding.explore_safely import explore_until_safe
from pushwise.sliding.follow import AbandonedGoal, Followed
from pushwise.sliding.learner import Learner
from pushwise.sliding.moved import End
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Learned, Outcome, Phase, Target
from pushwise.sliding.target import TRIED, ChooseGoal, choose_target, safest
from pushwise.threads import one_thread
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp
from pushwise.worlds.world import Observation, World, observed

__all__ = ["Journal", "look", "slide"]

T = TypeVar("T")

_AROUND = 0.05  # m around the object within which the point cloud is kept


@runtime_checkable
class Grasper(Protocol):
    """A world that also has a gripper."""

    def grasp(self) -> Grasp:
        """Grasp the object by the part that overhangs the edge, and lift it."""


class Journal:
    """Carries out the phases of a run one after the other, and reports them."""

    def __init__(self) -> None:
        """Start an empty journal."""
        self.seconds: dict[str, float] = {}
        """Duration of each phase so far, including the time before an interruption [s]."""
        self.records: list[PushRecord] = []
        """The exploring pushes made so far."""
        self.progress: OnProgress = lambda news: None
        """Called when a phase begins, and after each push."""
        self._began = working_clock()

    def held(self) -> AbstractContextManager[None]:
        """Return a block during which no other process may use the journal."""
        return nullcontext()

    def begin(self, world: World, start: Outcome) -> None:
        """Prepare a run in a world; `start` holds options, table, finger and prior."""

    def carry_out(self, phase: Phase, do: Callable[[], T]) -> T:
        """Carry out a phase and return its result."""
        self.progress(Progress(phase))
        self._began = working_clock() - self.seconds.get(phase, 0.0)
        result = do()
        self.seconds[phase] = self.elapsed()
        return result

    def elapsed(self) -> float:
        """Return the duration of the current phase so far [s]."""
        return working_clock() - self._began

    def explored(self, news: Progress) -> None:
        """Keep an exploring push, and report it."""
        assert isinstance(news.result, PushRecord)
        self.records.append(news.result)
        self.keep(news.result)
        self.progress(news)

    def keep(self, record: PushRecord) -> None:
        """Keep an exploring push before anything else happens: it cannot be made again."""

    def end(self, outcome: Outcome) -> None:
        """Record the outcome."""


@one_thread()
def slide(
    world: World,
    table: Table,
    *,
    options: SlideOptions = SlideOptions(),
    finger: Finger | None = None,
    prior: Prior | None = None,
    choose: ChooseGoal = safest,
    journal: Journal | None = None,
    progress: OnProgress | None = None,
) -> Outcome:
    """Slide the object of a world to the table's edge, where a hand can grasp it (Algorithm 3).

    Args:
        world: Where the object is seen, pushed and grasped.
        table: The table it is on.
        options: Number of exploring pushes, overhang and limits.
        finger: The finger, with the friction it is assumed to have.
        prior: What is believed about mass and friction before the first push.
        choose: Chooses the goal; by default the safest one.
        journal: Keeps the results of the phases, and may provide those of an interrupted run.
        progress: Called when a phase begins, and after each push.

    """
    if prior is not None and prior.centre is not None:
        raise PushwiseError(
            "slide makes its grid from what it sees, so that no centre of mass can be stated in "
            "that grid's frame; leave the prior's centre out."
        )
    run = journal or Journal()
    run.progress = progress or run.progress
    start = Outcome(options, table, finger or Finger(), prior or Prior())
    with run.held():
        run.begin(world, start)
        return _carried_out(run, world, start, choose)


def _carried_out(run: Journal, world: World, done: Outcome, choose: ChooseGoal) -> Outcome:
    """Carry out the phases of a run, one after the other, as far as they lead."""
    do = run.carry_out

    def ended(verdict: str, *, success: bool = False) -> Outcome:
        outcome = replace(done, verdict=verdict, success=success, seconds=dict(run.seconds))
        run.end(outcome)
        return outcome

    seen, grid = do(Phase.LOOK, lambda: look(world))
    done = replace(done, seen=seen, grid=grid)
    if done.options.grasp_at is not None:
        point_to_grasp(grid.outline, done.options.grasp_at)  # refused before the first push
    scene = Unexplored(grid, done.table, done.finger, done.prior, done.options.obstacles)
    learner = Learner(scene, seed=done.options.plan.seed)
    try:
        records = do(Phase.EXPLORE, lambda: _explored(world, done, learner, seen.pose, choose, run))
    except WriteError:
        raise
    except PushwiseError as error:
        done = replace(done, records=tuple(run.records))
        return ended(f"Not explored: {error}")
    done = replace(done, records=records)
    try:
        learned = do(Phase.IDENTIFY, lambda: _identified(done.records, learner))
    except WriteError:
        raise
    except PushwiseError as error:
        return ended(f"Not identified: {error}")
    belief = learned.belief
    done = replace(done, found=learned.found, belief=belief)
    try:
        target = do(Phase.PLAN, lambda: choose_target(world, done, belief, choose))
    except WriteError:
        raise
    except PushwiseError as error:
        return ended(f"Not moved: {error}")
    done = replace(done, goal=target.goal, plan=target.plan)
    followed = do(Phase.FOLLOW, lambda: _followed(world, done, belief, target, choose, run))
    done = replace(done, followed=followed)
    if not followed.reached:
        return ended(_not_there(followed))
    if not isinstance(world, Grasper):
        return ended("The object is at the edge, ready to be grasped.", success=True)
    gripper = world
    try:
        grasp = do(Phase.GRASP, lambda: gripper.grasp())
    except WriteError:
        raise
    except PushwiseError as error:  # it may come to rest at the edge and fall, a moment later
        return ended(f"Not grasped: {error}")
    done = replace(done, grasp=grasp)
    if not grasp.held:
        return ended("Not grasped: the object reached the edge, but slipped out of the gripper.")
    return ended("Grasped: the object was slid to the edge and lifted there.", success=True)


def look(world: World) -> tuple[Observation, CellGrid]:
    """Look at the object and divide it into cells, in the frame whose pose the world reports."""
    seen = observed(world)
    x, y, theta = seen.pose
    cos, sin = np.cos(theta), np.sin(theta)
    options = ScanOptions(table=(0.0, 0.0, 1.0, 0.0), axis=(cos, sin, 0.0))
    scan = Scan.from_points(seen.points, options)
    turn = np.array([[cos, -sin], [sin, cos]])
    origin = (scan.frame[:2, 3] - [x, y]) @ turn
    cells = scan.grid
    grid = CellGrid(cells.centres + origin, cells.cell_size, cells.heights, cells.outline + origin)
    own = (seen.points[:, :2] - [x, y]) @ turn
    low, high = grid.outline.min(axis=0) - _AROUND, grid.outline.max(axis=0) + _AROUND
    near = np.all((own > low) & (own < high), axis=1)
    return Observation(seen.points[near], seen.pose), grid


def _explored(
    world: World,
    done: Outcome,
    learner: Learner,
    pose: Array,
    choose: ChooseGoal,
    run: Journal,
) -> tuple[PushRecord, ...]:
    """Push the object, at random or until a goal is safe, so that it stays on the table."""
    asked = done.options.explore
    if asked == "auto":
        return explore_until_safe(
            world,
            learner,
            pose,
            lambda belief, pose: choose(belief, done.table, done.options, pose),
            options=done.options,
            made=run.records,
            progress=run.explored,
        )
    return explore(
        world,
        learner.scene,
        pose,
        pushes=asked,
        seed=done.options.plan.seed,
        made=run.records,
        progress=run.explored,
    )


def _identified(records: Sequence[PushRecord], learner: Learner) -> Learned:
    """Learn from the pushes; without any, assume uniform mass and friction."""
    scene = learner.scene
    if not records:
        return Learned(None, Belief.assuming(uniform_model(scene.grid, scene.prior), scene.finger))
    found = learner.learn(records)
    learner.warn()
    return Learned(found, found.belief)


def _followed(
    world: World,
    done: Outcome,
    belief: Belief,
    target: Target,
    choose: ChooseGoal,
    run: Journal,
) -> Followed:
    """Push, look and plan again until the object is at the goal.

    What the pushes reveal may make the goal unsafe, or a push may end where no plan leads there:
    then another goal is chosen.
    """
    asked = done.options.plan
    records: tuple[PushRecord, ...] = ()
    abandoned: tuple[AbandonedGoal, ...] = ()
    simulations = 0
    for left in reversed(range(TRIED)):
        end = bring(
            world,
            belief,
            target.goal.pose,
            done.table,
            obstacles=done.options.obstacles,
            options=replace(
                asked,
                max_pushes=asked.max_pushes - len(records),
                seed=asked.seed + len(records),
            ),
            progress=run.progress,
        )
        records += end.records
        simulations += end.simulations
        made = replace(end, records=records, simulations=simulations, abandoned=abandoned)
        if end.end is not End.OUT_OF_REACH or not left or len(records) >= asked.max_pushes:
            break
        belief = end.belief
        abandoned += (AbandonedGoal(target.goal.pose, len(records), end.detail),)
        try:
            target = choose_target(world, done, belief, choose, abandoned)
        except PushwiseError as error:
            return replace(made, detail=str(error))
    return made


def _not_there(followed: Followed) -> str:
    """Return a sentence on how it ended without reaching the goal."""
    made = counted(len(followed.records), "push", "pushes")
    return (
        f"Goal not reached after {made}: {followed.end}; the object is "
        f"{followed.error * 1e3:.1f} mm from the goal."
    )
