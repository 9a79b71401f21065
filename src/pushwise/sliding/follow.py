"""`follow`: push, look and plan again until the object is at the goal.

Every push is the first of a new plan from the observed pose, so that errors of the model are
corrected by the next one. A push is only made when the plan keeps the object on the table with the
required probability. When a push ends outside the model's own prediction interval, the object is
identified again, with all pushes made so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import cell_distance, mean_cell_error
from pushwise.identification.belief import Belief, checked_belief
from pushwise.identification.identify import identify
from pushwise.identification.posterior import Posterior
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.planning.options import PlanOptions
from pushwise.planning.plan import plan
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.moved import End, Moved
from pushwise.typing import Array
from pushwise.worlds.world import World, observed, pushed

__all__ = [
    "LONGEST_PLAN",
    "AbandonedGoal",
    "Followed",
    "follow",
    "is_surprising",
    "make_push",
]

LONGEST_PLAN = 60
"""Pushes that a plan may have; only the first is made, and the next plan may be shorter."""

_SURPRISE = 3.0  # standard deviations of the predicted pose
_SMALL = 0.005  # m; a smaller difference does not change the model
_STILL = 0.002  # m; an object that moved less counts as not moved
_PATIENCE = 8  # pushes without progress
_RETREAT = 0.003  # m by which the finger starts further back when it would touch
_RETREATS = 3


@dataclass(frozen=True, eq=False)
class AbandonedGoal:
    """A goal that was given up on the way."""

    pose: Array
    """The goal [m, m, rad], shape (3,)."""
    pushes: int
    """Number of pushes made before it was given up."""
    reason: str
    """Why, as a sentence."""


@dataclass(frozen=True, eq=False)
class Followed(Moved):
    """The result of `follow`."""

    belief: Belief
    """What is believed about the object in the end."""
    simulations: int
    """Number of pushes simulated in planning."""
    abandoned: tuple[AbandonedGoal, ...] = ()
    """The goals that `slide` gave up before `goal`, in order."""


def follow(
    world: World,
    belief: Belief,
    goal: ArrayLike,
    table: Table,
    *,
    obstacles: Sequence[ArrayLike] = (),
    options: PlanOptions = PlanOptions(),
    progress: OnProgress | None = None,
) -> Followed:
    """Slide the object of a world to a goal, planning again after each push.

    Args:
        world: Where the pushes are made.
        belief: What is believed about the object and the finger; identified again when a push
            contradicts it.
        goal: Pose to reach (x, y, theta) [m, m, rad], shape (3,).
        table: The table.
        obstacles: Polygons [m] in the table frame, shape (k, 2) each.
        options: Method, tolerance and limits; the time limit is that of each plan.
        progress: Called after each push, with its record as the result.

    """
    there = finite_array("goal", goal, (3,))
    grid = checked_belief(belief).model.grid
    records: list[PushRecord] = []
    learned = 0  # how many of them the belief knows
    simulations = 0
    pose = observed(world).pose
    errors = [mean_cell_error(grid, pose, there)]
    finger_at: Array | None = None
    still = 0

    def ended(end: End, detail: str = "") -> Followed:
        return Followed(end, detail, there, pose, errors[-1], tuple(records), belief, simulations)

    while errors[-1] >= options.tolerance:
        if len(records) == options.max_pushes:
            return ended(End.OUT_OF_PUSHES)
        try:
            planned = plan(
                belief,
                pose,
                there,
                table,
                obstacles=obstacles,
                finger_at=finger_at,
                options=replace(
                    options,
                    # Aim for better than needed: the last push will miss by a little.
                    tolerance=0.6 * options.tolerance,
                    max_pushes=LONGEST_PLAN,
                    seed=options.seed + len(records),
                ),
            )
        except PushwiseError as error:
            return ended(End.OUT_OF_REACH, str(error))
        simulations += planned.simulations
        try:
            record = make_push(world, planned.pushes[0])
            records.append(record)
            made = record.push
            finger_at = made.end if isinstance(made, Push) and not made.raised else None
            if record.fell:
                pose = record.pose[-1]
                return ended(End.FELL)
            before, pose = pose, observed(world).pose
        except SimulationError as error:
            return ended(End.LOST, str(error))
        except PushwiseError as error:
            # The arm cannot make this push; what was learned and done so far remains valid.
            return ended(End.REFUSED, str(error))
        errors.append(mean_cell_error(grid, pose, there))
        if progress is not None:
            text = f"{errors[-1] * 1e3:.0f} mm to go"
            progress(Progress("follow", text, len(records), options.max_pushes, record))
        still = still + 1 if cell_distance(grid, before, pose) < _STILL else 0
        if still == 2:
            return ended(End.BLOCKED)
        if len(errors) > _PATIENCE and min(errors[-_PATIENCE:]) > min(errors[:-_PATIENCE]) - 1e-3:
            return ended(End.NO_PROGRESS)
        if belief.posterior is not None and is_surprising(
            grid, pose, planned.poses[1], planned.pose_std[0], record.noise
        ):
            try:
                belief = _identified_again(belief.posterior, records[learned:])
                learned = len(records)
            except PushwiseError as error:
                # The pushes contradict each other: something else moved the object.
                return ended(End.LOST, str(error))
    return ended(End.REACHED)


def make_push(world: World, push: Push) -> PushRecord:
    """Make a push, from slightly further back where the finger would touch the object."""
    velocity = push.velocities[0]
    speed = float(np.hypot(*velocity))
    tried = push
    for tries in range(1, _RETREATS + 1):
        try:
            return pushed(world, tried)
        except SimulationError as error:
            last = error
        back = tries * _RETREAT / speed
        tried = Push(
            [0.0, *(push.times[1:] + back)],
            [push.start - back * velocity, *push.positions[1:]],
            raised=push.raised,
        )
    raise last


def is_surprising(
    grid: CellGrid, pose: Array, expected: Array, std: Array, noise: Noise | None
) -> bool:
    """Return whether a push ended outside the prediction interval of the model.

    Args:
        grid: The object's cells.
        pose: Where it ended [m, m, rad], shape (3,).
        expected: Where the model predicted it to end, shape (3,).
        std: Standard deviation of that prediction, shape (3,).
        noise: Noise of the measured poses; None if unknown.

    """
    off = np.abs(pose - expected)
    off[2] = abs(np.remainder(off[2] + np.pi, 2.0 * np.pi) - np.pi)
    noise = noise or Noise()
    # The pose was measured before and after the push.
    measured = np.sqrt(2.0) * np.array([noise.position, noise.position, noise.angle])
    far = cell_distance(grid, pose, expected) > _SMALL
    return bool(far and np.any(off > _SURPRISE * np.hypot(std, measured)))


def _identified_again(posterior: Posterior, new: list[PushRecord]) -> Belief:
    """Return the belief after another identification that also uses the pushes made since."""
    problem = posterior.problem
    return identify(
        problem.grid,
        [*problem.records, *new],
        finger=problem.finger,
        prior=problem.prior,
        physics=problem.physics,
    ).belief
