"""`choose_goal`: where a hand can grasp an object and it does not fall (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance
from pushwise.geometry.polygon import contains
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.planning.edge_poses import EdgePose, OverhangRequest, candidates
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.options import GRASP_WIDTH, OVERHANG, PlanOptions, Prefer
from pushwise.planning.stability import Balance
from pushwise.typing import Array

__all__ = [
    "Goal",
    "GoalSpace",
    "choose_goal",
    "first_reachable",
    "overhanging_poses",
    "point_to_grasp",
]

T = TypeVar("T")

_ALTERNATIVES = 9
_STEP = 0.005  # m; margins and overhangs that differ by less rank the same
_ENOUGH = 100  # goals with the most overhang, to choose from


@dataclass(frozen=True, eq=False)
class Goal:
    """A pose at the table's edge in which a hand can grasp a part of the object."""

    pose: Array
    """Pose (x, y, theta) of the grid frame [m, m, rad], shape (3,)."""
    fall_probability: float
    """Probability that the object falls there."""
    margin: float
    """How far the most probable centre of mass is inside the support polygon [m]."""
    overhang: float
    """How far the part extends beyond the edge [m]."""
    width: float
    """Width of the part along the edge [m]."""
    edge: int
    """Number of the table's edge: from this corner of its polygon to the next."""
    alternatives: tuple[Goal, ...] = ()
    """The next best goals, best first."""


@dataclass(frozen=True, eq=False)
class GoalSpace:
    """Where goals may be."""

    region: int | ArrayLike | None = None
    """At any edge (None); at the edge with this number; at an edge with the grid's origin inside a
    polygon, shape (k, 2); or one of these poses, shape (p, 3)."""
    obstacles: Sequence[ArrayLike] = ()
    """Polygons [m] that the object must not touch, shape (k, 2) each."""
    start: ArrayLike | None = None
    """Pose of the object now, shape (3,): of equally good goals, near ones are preferred."""


def choose_goal(
    belief: Belief,
    table: Table,
    *,
    overhang: float = OVERHANG,
    grasp_width: float = GRASP_WIDTH,
    grasp_at: ArrayLike | None = None,
    prefer: Prefer = "safety",
    space: GoalSpace = GoalSpace(),
    options: PlanOptions = PlanOptions(),
) -> Goal:
    """Choose the best pose in which a graspable part of the object overhangs the table.

    Args:
        belief: What is believed about the object.
        table: The table.
        overhang: How far the part must extend beyond the edge [m].
        grasp_width: How wide it may be along the edge [m].
        grasp_at: A point of the object [m] in the grid frame, shape (2,), that must be in that
            part: in the head of a hammer, for instance, not in its handle.
        prefer: "safety" for the goal that is least likely to fall, or "overhang" for the one that
            extends farthest beyond the edge within the allowed risk.
        space: Where goals may be, and where the object is now.
        options: `max_fall_probability`, `placement_std` and `seed` are used.

    Returns:
        The best goal, with the next best ones as its `alternatives`.

    Raises:
        PushwiseError: If there is no such pose; the message says what would be possible.

    """
    overhang = positive_number("overhang", overhang)
    grasp_width = positive_number("grasp_width", grasp_width)
    if prefer not in get_args(Prefer):
        raise PushwiseError(f'prefer must be "safety" or "overhang"; got {prefer!r}.')
    limit = options.max_fall_probability
    balance = Balance.planned(belief, table, options)
    outline = balance.model.grid.outline
    at = None if grasp_at is None else point_to_grasp(outline, grasp_at)
    request = OverhangRequest(overhang, at, deep=prefer == "overhang")
    narrow = overhanging_poses(outline, table, request, grasp_width, space.region)
    resting = _stable(balance, narrow, limit, most=_ENOUGH if request.deep else None)
    if not resting:
        raise PushwiseError(_why_none(balance, request, grasp_width, limit, space.region, narrow))
    goals = resting
    if len(space.obstacles):
        free = FreeSpace(balance, space.obstacles, max_fall_probability=limit)
        goals = [goal for goal in resting if free(goal.pose[None])[0]]
        if not goals and request.deep:  # obstacles are in the way of those that extend farthest
            goals = [one for one in _stable(balance, narrow, limit) if free(one.pose[None])[0]]
        if not goals:
            raise PushwiseError(
                f"there is no goal with {overhang * 1e3:.0f} mm overhang that is free of obstacles."
            )
    away = np.zeros(len(goals))
    if space.start is not None:
        poses = np.array([goal.pose for goal in goals])
        away = cell_distance(balance.model.grid, poses, finite_array("start", space.start, (3,)))

    def rank(i: int) -> tuple[float, float, float, float]:
        goal = goals[i]
        if request.deep:
            return -np.floor(goal.overhang / _STEP), away[i], goal.fall_probability, -goal.margin
        # A tenth of the limit is less than samples can resolve, and 5 mm less than matters.
        doubt = np.floor(10.0 * goal.fall_probability / limit)
        return doubt, -np.floor(goal.margin / _STEP), away[i], -goal.margin

    best = [goals[i] for i in sorted(range(len(goals)), key=rank)[: 1 + _ALTERNATIVES]]
    return replace(best[0], alternatives=tuple(best[1:]))


def first_reachable(goals: Sequence[Goal], plan_to: Callable[[Array], T]) -> tuple[int, T]:
    """Return the index of the first goal that a plan can be found for, and the plan.

    Args:
        goals: Goals, best first.
        plan_to: Returns a plan to a pose (3,), or raises PushwiseError.

    Raises:
        PushwiseError: If there is a plan to none of them.

    """
    for at, goal in enumerate(goals):
        try:
            return at, plan_to(goal.pose)
        except PushwiseError as error:
            why = str(error)
    raise PushwiseError(f"no way to any of the best goals was found; the last: {why}")


def _stable(
    balance: Balance,
    found: Sequence[EdgePose],
    limit: float,
    *,
    certainty: float = 1.0,
    most: int | None = None,
) -> list[Goal]:
    """Return the candidates whose probability of falling is within the limit.

    Args:
        balance: The object on its table.
        found: The candidates.
        limit: Greatest probability of falling.
        certainty: Factor by which to divide the uncertainty of the centre of mass.
        most: Number of goals that are enough, those with the most overhang; None for all.

    """
    if not found:
        return []
    if most is not None:
        return _deepest(balance, found, limit, most)
    poses = np.array([one.pose for one in found])
    margins = balance.margins(poses)
    resting = np.flatnonzero(margins > 0.0)
    falls = balance.fall_probabilities(poses[resting], certainty=certainty)
    return [
        Goal(poses[i], float(fall), float(margins[i]), part.depth, part.width, part.edge)
        for i, fall in zip(resting.tolist(), falls, strict=True)
        if fall <= limit
        for part in [found[i].part]
    ]


def _deepest(balance: Balance, found: Sequence[EdgePose], limit: float, most: int) -> list[Goal]:
    """Return candidates within the limit, those that extend farthest, `most` of them or more."""
    deep = sorted(found, key=lambda one: -one.part.depth)
    goals: list[Goal] = []
    for first in range(0, len(deep), 10 * most):
        goals += _stable(balance, deep[first : first + 10 * most], limit)
        if len(goals) >= most:
            break
    return goals


def point_to_grasp(outline: Array, grasp_at: ArrayLike) -> tuple[float, float]:
    """Return the point to be grasped [m]; refuse one that is not within the object."""
    at = finite_array("grasp_at", grasp_at, (2,))
    if not contains(outline, at[None])[0]:
        raise PushwiseError(
            f"grasp_at must be a point of the object, in metres in the grid frame; "
            f"({at[0]:g}, {at[1]:g}) is outside its outline."
        )
    return float(at[0]), float(at[1])


def overhanging_poses(
    outline: Array,
    table: Table,
    request: OverhangRequest,
    grasp_width: float,
    region: int | ArrayLike | None = None,
) -> list[EdgePose]:
    """Return poses with a part beyond an edge that a hand can grasp, whether or not they rest.

    Args:
        outline: The object's outline [m], shape (k, 2).
        table: The table.
        request: The part.
        grasp_width: How wide it may be along the edge [m].
        region: Where poses may be, as for `GoalSpace`.

    Raises:
        PushwiseError: There is none; the message says what is too large.

    """
    found = candidates(outline, table.polygon, request, region)
    narrow = [one for one in found if one.part.width <= grasp_width]
    if narrow:
        return narrow
    if found:
        least = min(one.part.width for one in found)
        raise PushwiseError(
            f"{_none(request)}: the narrowest part that deep is {least * 1e3:.0f} mm wide, the "
            f"grasp {grasp_width * 1e3:.0f} mm; use a wider gripper or less overhang."
        )
    where = "" if region is None else " of the region"
    length, width = 1e3 * np.ptp(outline, axis=0)
    raise PushwiseError(
        f"{_none(request)}: in no pose{where} does the object, {length:.0f} x {width:.0f} mm, "
        "extend that far beyond an edge of the table; ask for less overhang."
    )


def _none(request: OverhangRequest) -> str:
    """Return the beginning of a sentence on why there is no goal."""
    none = f"there is no goal with {request.overhang * 1e3:.0f} mm overhang"
    if request.at is None:
        return none
    return f"{none} of the part at ({1e3 * request.at[0]:.0f}, {1e3 * request.at[1]:.0f}) mm"


def _why_none(
    balance: Balance,
    request: OverhangRequest,
    grasp_width: float,
    limit: float,
    region: int | ArrayLike | None,
    narrow: Sequence[EdgePose],
) -> str:
    """Return a sentence on why no pose at the edge is a goal, and what would help."""
    none = f"{_none(request)} and a fall probability of at most {limit:.3g}"
    outline, table = balance.model.grid.outline, balance.table.polygon
    for less in np.arange(0.9, 0.0, -0.1) * request.overhang:
        fewer = candidates(outline, table, OverhangRequest(less, request.at, deep=False), region)
        if _stable(balance, [one for one in fewer if one.part.width <= grasp_width], limit):
            none += f"; {less * 1e3:.0f} mm could be had"
            break
    for certainty in (1.25, 1.5, 2.0, 3.0, 5.0, 10.0):
        if _stable(balance, narrow, limit, certainty=certainty):
            return (
                f"{none}; the centre of mass would have to be known {certainty:g} times better: "
                "push a few times more."
            )
    return f"{none}; knowing the centre of mass better would not help."
