"""What searches over a push library work on, and where one or two of its pushes lead.

A row is one push or two: cost, then contact, direction and travel of both (contact -1 is no push),
and the cost of what remains at the end.
Directions and travels may be between those of the library, whose displacements are interpolated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_part
from pushwise.planning.near_goal import NEAR, NearGrid, near_cost
from pushwise.planning.push_library import PUSH_SPEED, STRIDE
from pushwise.planning.value import CONTACT_COST, ValueGrid, cost_to_go, squared_distance
from pushwise.typing import Array, Integers

__all__ = [
    "COLUMNS",
    "STEP_COST",
    "SearchSpace",
    "SeenGoal",
    "after",
    "after_part",
    "longest",
    "rest_cost",
]

COLUMNS = 8
"""Length of a row."""
STEP_COST = STRIDE / PUSH_SPEED
"""What a stride costs [s]."""
_APPROACH = 0.8  # s on the way to the next contact, which the value function does not count


class SearchSpace(NamedTuple):
    """A library and a value function for compiled code; the last contact is where the finger is."""

    displacements: Array  # (C, D, T, 3)
    cos: Array  # of the turns (C, D, T)
    sin: Array
    doubts: Array  # cost of an outcome that depends on where exactly the finger touches [s]
    counts: Integers  # (C, D)
    widths: Integers  # number of directions of each contact (C,)
    ends_at: Integers  # (C, D, T)
    travels: Integers  # that are tried, in strides
    between: Array  # cost of going from one contact to another [s], (C, C)
    grid: ValueGrid
    near: NearGrid


class SeenGoal(NamedTuple):
    """A goal as an object sees it."""

    x: float
    y: float
    theta: float


@compiled_part
def after(space: SearchSpace, q: SeenGoal, c: int, d: int, t: int) -> SeenGoal:
    """Return how a goal is seen after a push."""
    dx = q.x - space.displacements[c, d, t, 0]
    dy = q.y - space.displacements[c, d, t, 1]
    cos = space.cos[c, d, t]
    sin = space.sin[c, d, t]
    return SeenGoal(
        x=cos * dx + sin * dy,
        y=cos * dy - sin * dx,
        theta=q.theta - space.displacements[c, d, t, 2],
    )


@compiled_part
def after_part(space: SearchSpace, q: SeenGoal, c: int, d: float, t: float) -> SeenGoal:
    """Return how a goal is seen after a push between two directions, and between two strides."""
    i = min(int(d), space.counts.shape[1] - 2)
    k = min(int(t), space.displacements.shape[2] - 2)
    v = d - i
    u = t - k
    x = 0.0
    y = 0.0
    turn = 0.0
    for j in range(4):
        weight = (v if j // 2 else 1.0 - v) * (u if j % 2 else 1.0 - u)
        if weight > 0.0:
            moved = space.displacements[c, i + j // 2, k + j % 2]
            x += weight * moved[0]
            y += weight * moved[1]
            turn += weight * moved[2]
    cos = np.cos(turn)
    sin = np.sin(turn)
    return SeenGoal(
        x=cos * (q.x - x) + sin * (q.y - y),
        y=cos * (q.y - y) - sin * (q.x - x),
        theta=q.theta - turn,
    )


@compiled_part
def longest(space: SearchSpace, c: int, d: float) -> float:
    """Return the longest travel of a push between two directions, in strides."""
    i = int(d)
    if i == d:
        return float(space.counts[c, i] - 1.0)
    return float(min(space.counts[c, i], space.counts[c, i + 1]) - 1.0)


@compiled_part
def rest_cost(space: SearchSpace, q: SeenGoal) -> float:
    """Return the cost of what remains after a push [s]: at least a contact, except at the goal."""
    away = np.sqrt(squared_distance(space.grid, q.x, q.y, q.theta))
    if away < NEAR:
        return float(CONTACT_COST * away / NEAR)
    further = cost_to_go(space.grid, q.x, q.y, q.theta)
    further = max(CONTACT_COST, max(further, near_cost(space.near, q.x, q.y, q.theta)))
    return further + _APPROACH
