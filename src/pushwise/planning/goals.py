"""`choose_goal`: where a hand can grasp an object and it does not fall (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance
from pushwise.geometry.polygon import contains
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.options import GRASP_WIDTH, OVERHANG, PlanOptions
from pushwise.planning.stability import Balance
from pushwise.planning.support_polygon import Overhang, overhangs
from pushwise.typing import Array

__all__ = ["Goal", "choose_goal", "first_reachable"]

T = TypeVar("T")

_TURNS = 72  # orientations of the object tried at an edge
_PLACES = 5  # places tried along an edge
_DEEPER = (0.0, 0.01, 0.02, 0.04)  # m of additional overhang that are tried
_ALTERNATIVES = 9
_STEP = 0.005  # m; margins that differ by less rank the same


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


def choose_goal(
    belief: Belief,
    table: Table,
    *,
    overhang: float = OVERHANG,
    grasp_width: float = GRASP_WIDTH,
    region: int | ArrayLike | None = None,
    obstacles: Sequence[ArrayLike] = (),
    start: ArrayLike | None = None,
    options: PlanOptions = PlanOptions(),
) -> Goal:
    """Choose the safest pose in which a graspable part of the object overhangs the table.

    Args:
        belief: What is believed about the object.
        table: The table.
        overhang: How far the part must extend beyond the edge [m].
        grasp_width: How wide it may be along the edge [m].
        region: Where the goal may be: at any edge (None); at the edge with this number; at an edge
            with the grid's origin inside a polygon, shape (k, 2); or one of these poses, shape
            (p, 3).
        obstacles: Polygons [m] that the object must not touch, shape (k, 2) each.
        start: Pose of the object now, shape (3,); among equally safe goals near ones are preferred.
        options: `max_fall_probability` and `seed` are used.

    Returns:
        The best goal, with the next best ones as its `alternatives`.

    Raises:
        PushwiseError: If there is no such pose; the message says what would be possible.

    """
    overhang = positive_number("overhang", overhang)
    grasp_width = positive_number("grasp_width", grasp_width)
    limit = options.max_fall_probability
    balance = Balance(belief, table, seed=options.seed)
    candidates = _candidates(balance, overhang, region)
    narrow = [c for c in candidates if c[1].width <= grasp_width]
    goals = _stable(balance, narrow, limit)
    if not goals:
        raise PushwiseError(
            _why_none(balance, overhang, grasp_width, limit, region, candidates, narrow)
        )
    if len(obstacles):
        free = FreeSpace(balance, obstacles, max_fall_probability=limit)
        goals = [goal for goal in goals if free(goal.pose[None])[0]]
        if not goals:
            raise PushwiseError(
                f"there is no goal with {overhang * 1e3:.0f} mm overhang that is free of obstacles."
            )
    away = np.zeros(len(goals))
    if start is not None:
        poses = np.array([goal.pose for goal in goals])
        away = cell_distance(balance.model.grid, poses, finite_array("start", start, (3,)))

    def rank(i: int) -> tuple[float, float, float, float]:
        goal = goals[i]
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


def _candidates(
    balance: Balance, overhang: float, region: int | ArrayLike | None
) -> list[tuple[Array, Overhang]]:
    """Return poses of the region with a part at least `overhang` deep beyond an edge."""
    table = balance.table.polygon
    outline = balance.model.grid.outline
    if region is None:
        return _at_edges(outline, table, range(len(table)), overhang)
    if isinstance(region, int):
        edge = non_negative_integer("region", region)
        if edge >= len(table):
            raise PushwiseError(
                f"region must be below the number of the table's edges, {len(table)}; got {edge}."
            )
        return _at_edges(outline, table, [edge], overhang)
    if np.shape(region)[-1:] == (3,):
        poses = finite_array("region", region, ("p", 3))
        every = [(pose, part) for pose in poses for part in overhangs(outline, table, pose)]
        return [(pose, part) for pose, part in every if part.depth >= overhang - 1e-9]
    polygon = finite_array("region", region, ("k", 2))
    every = _at_edges(outline, table, range(len(table)), overhang, finer=4)
    inside = contains(polygon, np.array([pose[:2] for pose, _ in every]).reshape(-1, 2))
    return [candidate for candidate, kept in zip(every, inside, strict=True) if kept]


def _at_edges(
    outline: Array, table: Array, edges: range | list[int], overhang: float, finer: int = 1
) -> list[tuple[Array, Overhang]]:
    """Return poses at edges of the table, in all orientations, with a part that deep beyond them.

    Args:
        outline: Outline of the object in the grid frame [m], shape (k, 2).
        table: Polygon of the table [m], shape (c, 2).
        edges: Numbers of its edges.
        overhang: Least depth of the part beyond the edge [m].
        finer: Factor by which to increase the number of places along an edge.

    """
    # Every edge is a half plane y < 0 whose edge runs towards -x, moved and turned.
    far = 1e3
    half_plane = np.array([[far, 0.0], [-far, 0.0], [-far, -far], [far, -far]])
    shapes: list[tuple[Array, Overhang]] = []
    for theta in np.arange(_TURNS) * 2.0 * np.pi / _TURNS:
        cos, sin = np.cos(theta), np.sin(theta)
        top = float((outline @ np.array([sin, cos])).max())
        for deeper in _DEEPER:
            pose = np.array([0.0, overhang + deeper - top, theta])
            parts = overhangs(outline, half_plane, pose, edges=[0])
            shapes += [(pose, part) for part in parts if part.depth >= overhang - 1e-9]
    found = []
    for edge in edges:
        a, b = table[edge], table[(edge + 1) % len(table)]
        length = float(np.hypot(*(b - a)))
        t = (b - a) / length
        turn = np.arctan2(-t[1], -t[0])
        for pose, part in shapes:
            room = length - part.width
            if room < 0.0:
                continue
            for share in np.linspace(0.1, 0.9, _PLACES * finer):
                begin = share * room
                # The half plane's edge begins at x = far, and its x runs against t.
                along = begin - part.begin + far
                at = a + along * t + pose[1] * np.array([t[1], -t[0]])
                placed_part = replace(part, edge=edge, begin=begin)
                found.append((np.append(at, pose[2] + turn), placed_part))
    return found


def _stable(
    balance: Balance, candidates: list[tuple[Array, Overhang]], limit: float, certainty: float = 1.0
) -> list[Goal]:
    """Return the candidates whose probability of falling is within the limit."""
    if not candidates:
        return []
    poses = np.array([pose for pose, _ in candidates])
    margins = balance.margins(poses)
    resting = np.flatnonzero(margins > 0.0)
    falls = balance.fall_probabilities(poses[resting], certainty=certainty)
    return [
        Goal(poses[i], float(fall), float(margins[i]), part.depth, part.width, part.edge)
        for i, fall in zip(resting.tolist(), falls, strict=True)
        if fall <= limit
        for part in [candidates[i][1]]
    ]


def _why_none(
    balance: Balance,
    overhang: float,
    grasp_width: float,
    limit: float,
    region: int | ArrayLike | None,
    candidates: list[tuple[Array, Overhang]],
    narrow: list[tuple[Array, Overhang]],
) -> str:
    """Return a sentence on why there is no goal, and what would help."""
    none = f"there is no goal with {overhang * 1e3:.0f} mm overhang"
    if not candidates:
        return f"{none}: no pose of the region has a part that far beyond an edge of the table."
    if not narrow:
        least = min(part.width for _, part in candidates)
        return (
            f"{none}: the narrowest part that deep is {least * 1e3:.0f} mm wide, the grasp "
            f"{grasp_width * 1e3:.0f} mm; use a wider gripper or less overhang."
        )
    none += f" and a fall probability of at most {limit:.3g}"
    for less in np.arange(0.9, 0.0, -0.1) * overhang:
        fewer = _candidates(balance, less, region)
        if _stable(balance, [c for c in fewer if c[1].width <= grasp_width], limit):
            none += f"; {less * 1e3:.0f} mm could be had"
            break
    for certainty in (1.25, 1.5, 2.0, 3.0, 5.0, 10.0):
        if _stable(balance, narrow, limit, certainty):
            return (
                f"{none}; the centre of mass would have to be known {certainty:g} times better: "
                "push a few times more."
            )
    return f"{none}; knowing the centre of mass better would not help."
