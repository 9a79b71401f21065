"""`follow`: push, look, and plan again, until the object is where it should be.

Every push is the first of a fresh plan from the pose that was seen, so that what the model gets
wrong is put right by the next one. A push is only made when the plan says that the object stays
on the table, with the probability asked for. When one ends outside the model's own prediction
interval, the object is identified again with the pushes made on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import cell_distance, mean_cell_error
from pushwise.identification.belief import Known
from pushwise.identification.identify import identify
from pushwise.identification.result import Identification
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.planning.plan import Plan, plan
from pushwise.planning.stability import model_of
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array
from pushwise.worlds.world import World

__all__ = ["End", "Followed", "follow"]


_SURPRISE = 3.0  # standard deviations of what the model predicts
_SMALL = 0.005  # m; a difference no model is changed for
_STILL = 0.002  # m; an object that moves less did not move
_PATIENCE = 8  # pushes without getting nearer
_RETREAT = 0.003  # m the finger starts further back when it would touch
_RETREATS = 3


class End(StrEnum):
    """How it ended."""

    REACHED = "the goal is reached"
    FELL = "the object fell off the table"
    BLOCKED = "the object does not move when it is pushed"
    LOST = "the object is not where it was seen"
    REFUSED = "the world refused the next push"
    NO_PROGRESS = "the object does not get nearer"
    OUT_OF_REACH = "no pushes lead to the goal from where the object is"
    OUT_OF_PUSHES = "all pushes are spent"


@dataclass(frozen=True, eq=False)
class Followed:
    """What became of the object."""

    end: End
    """How it ended; a sentence a person can read."""
    detail: str
    """What a planner that found nothing, or a world that failed, said; else empty."""
    goal: Array
    """Where it should be [m, m, rad], shape (3,)."""
    pose: Array
    """Where the object was last seen [m, m, rad], shape (3,)."""
    error: float
    """Mean distance of its cells from the goal there [m]; after a fall, before the last push."""
    records: tuple[PushRecord, ...]
    """The pushes made."""
    found: Identification | ObjectModel
    """What is known of the object in the end."""
    simulations: int
    """Pushes simulated in planning."""

    @property
    def reached(self) -> bool:
        """Whether the goal is reached."""
        return self.end is End.REACHED


def follow(
    world: World,
    found: Identification | ObjectModel,
    goal: ArrayLike,
    table: Table,
    *,
    obstacles: Sequence[ArrayLike] = (),
    finger: Finger | None = None,
    method: str = "batch",
    tolerance: float = 0.02,
    max_pushes: int = 40,
    max_fall_probability: float = 0.01,
    time_limit: float = 10.0,
    known: Known | None = None,
    seed: int = 0,
    on_push: Callable[[PushRecord, float], None] | None = None,
) -> Followed:
    """Slide the object of a world to a goal pose (3,), planning again after each push.

    Arguments are those of `plan`; time_limit: of each plan [s]. on_push: called after each push
    with its record and the error left [m].
    """
    there = finite_array("goal", goal, (3,))
    tolerance = positive_number("tolerance", tolerance)
    most = non_negative_integer("max_pushes", max_pushes)
    grid = model_of(found).grid
    records: list[PushRecord] = []
    simulations = 0
    pose = world.observe().pose
    errors = [mean_cell_error(grid, pose, there)]
    finger_at: Array | None = None
    still = 0

    def ended(end: End, detail: str = "") -> Followed:
        return Followed(end, detail, there, pose, errors[-1], tuple(records), found, simulations)

    while errors[-1] >= tolerance:
        if len(records) == most:
            return ended(End.OUT_OF_PUSHES)
        try:
            # Aim for better than needed: the last push will miss by a little.
            planned = plan(
                found,
                pose,
                there,
                table,
                obstacles=obstacles,
                finger=finger,
                finger_at=finger_at,
                method=method,
                tolerance=0.6 * tolerance,
                max_fall_probability=max_fall_probability,
                time_limit=time_limit,
                known=known,
                seed=seed + len(records),
            )
        except PushwiseError as error:
            return ended(End.OUT_OF_REACH, str(error))
        simulations += planned.simulations
        try:
            record = _pushed(world, planned.pushes[0])
            records.append(record)
            finger_at = None if record.finger is None else record.finger[-1]
            if record.fell:
                pose = record.pose[-1]
                return ended(End.FELL)
            before, pose = pose, world.observe().pose
        except SimulationError as error:
            return ended(End.LOST, str(error))
        except PushwiseError as error:
            # A push that the arm cannot make; what was learned and done so far is still true.
            return ended(End.REFUSED, str(error))
        errors.append(mean_cell_error(grid, pose, there))
        if on_push is not None:
            on_push(record, errors[-1])
        still = still + 1 if cell_distance(grid, before, pose) < _STILL else 0
        if still == 2:
            return ended(End.BLOCKED)
        if len(errors) > _PATIENCE and min(errors[-_PATIENCE:]) > min(errors[:-_PATIENCE]) - 1e-3:
            return ended(End.NO_PROGRESS)
        if isinstance(found, Identification) and _surprising(planned, record, pose, grid):
            try:
                found = _identified_again(found, records)
            except PushwiseError as error:
                # The pushes contradict each other: something else moved the object.
                return ended(End.LOST, str(error))
    return ended(End.REACHED)


def _pushed(world: World, push: Push) -> PushRecord:
    """Carry out a push, from a little further back where the finger would touch the object."""
    speed = float(np.hypot(*push.velocity))
    for tries in range(_RETREATS):
        back = tries * _RETREAT / speed
        try:
            return world.push(
                Push(push.start - back * push.velocity, push.velocity, push.duration + back)
            )
        except SimulationError as error:
            last = error
    raise last


def _surprising(planned: Plan, record: PushRecord, pose: Array, grid: CellGrid) -> bool:
    """Tell whether a push ended where the model says it should hardly ever end."""
    expected = planned.poses[1]
    off = np.abs(pose - expected)
    off[2] = abs(np.remainder(off[2] + np.pi, 2.0 * np.pi) - np.pi)
    noise = record.noise or Noise()
    # The pose was measured before the push and after it.
    measured = np.sqrt(2.0) * np.array([noise.position, noise.position, noise.angle])
    far = cell_distance(grid, pose, expected) > _SMALL
    return bool(far and np.any(off > _SURPRISE * np.hypot(planned.spread[0], measured)))


def _identified_again(found: Identification, records: list[PushRecord]) -> Identification:
    """Return what is known with the pushes made on the way, too."""
    problem = found.posterior.problem
    used = {id(record) for record in problem.records}
    new = [record for record in records if id(record) not in used]
    return identify(
        found.model.grid,
        [*problem.records, *new],
        finger=problem.finger,
        prior=problem.prior,
        physics=problem.physics,
    )
