"""`NearGoal`: from which poses near the goal a single contact is enough to reach it.

A push that moves the object by D reaches the goal exactly from where the goal is seen at D. So each
push of a library, and each pair at one contact, marks the nodes around one pose of a fine grid. The
value function is too coarse to show this, and greedy pushes end where two more contacts are needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.planning.push_library import PUSH_SPEED, STRIDE, PushLibrary
from pushwise.planning.value import CONTACT_COST, ValueGrid, mixed
from pushwise.typing import Array, Integers

__all__ = ["NEAR", "NearGrid", "near_cost", "near_goal"]

NEAR = 0.004
"""Distance of the cells from the goal [m] beyond which another contact is needed."""

_HALF = 20  # nodes on each side of the goal, along each axis
_STEP, _TURN = 0.005, 0.04  # m, rad between nodes
_TRAVELS = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 31])
_STEP_COST = STRIDE / PUSH_SPEED  # s
_MOST = 2.5 * CONTACT_COST  # s; two more contacts


class NearGrid(NamedTuple):
    """The cost to reach the goal with one contact, at the nodes of a grid."""

    values: Array  # [s] (2 h + 1, 2 h + 1, 2 h + 1)


@compiled_part
def near_cost(near: NearGrid, x: float, y: float, theta: float) -> float:
    """Return the cost [s] where a goal is seen at a pose; zero outside the grid."""
    v = near.values
    th = theta - 2.0 * np.pi * np.floor(theta / (2.0 * np.pi) + 0.5)
    a = x / _STEP + _HALF
    b = y / _STEP + _HALF
    c = th / _TURN + _HALF
    most = 2 * _HALF
    if not (0.0 <= a < most and 0.0 <= b < most and 0.0 <= c < most):
        return 0.0
    i = int(a)
    j = int(b)
    k = int(c)
    return mixed(v, i, j, k, a - i, b - j, c - k)


@compiled_part
def _mark(grid: ValueGrid, v: Array, x: float, y: float, theta: float, cost: float) -> None:
    """Lower the values of the nodes around a pose from which a push of some cost is enough."""
    most = 2 * _HALF
    i = int(np.floor(x / _STEP + _HALF))
    j = int(np.floor(y / _STEP + _HALF))
    k = int(np.floor(theta / _TURN + _HALF))
    if not (0 <= i < most and 0 <= j < most and 0 <= k < most):
        return
    cos = np.cos(theta)
    sin = np.sin(theta)
    mx = x + cos * grid.cx - sin * grid.cy
    my = y + sin * grid.cx + cos * grid.cy
    for kk in range(k, k + 2):
        turn = (kk - _HALF) * _TURN
        ct = np.cos(turn)
        st = np.sin(turn)
        turned = 2.0 * grid.mean_square * (1.0 - np.cos(turn - theta))
        for ii in range(i, i + 2):
            dx = (ii - _HALF) * _STEP + ct * grid.cx - st * grid.cy - mx
            for jj in range(j, j + 2):
                dy = (jj - _HALF) * _STEP + st * grid.cx + ct * grid.cy - my
                away = np.sqrt(dx * dx + dy * dy + turned)
                v[ii, jj, kk] = min(v[ii, jj, kk], cost + CONTACT_COST * away / NEAR)


@compiled
def _mark_all(
    grid: ValueGrid,
    moved: Array,
    counts: Integers,
    ends_at: Integers,
    travels: Integers,
    v: Array,
) -> None:
    """Mark all pushes (C, D, T, 3) of a library, and pairs of them at one contact."""
    contacts, directions = counts.shape
    for c in range(contacts):
        for d in range(directions):
            for i in range(travels.size):
                t = travels[i]
                if t >= counts[c, d]:
                    break
                x = moved[c, d, t, 0]
                y = moved[c, d, t, 1]
                turn = moved[c, d, t, 2]
                cost = CONTACT_COST + t * _STEP_COST
                _mark(grid, v, x, y, turn, cost)
                cos = np.cos(turn)
                sin = np.sin(turn)
                e = ends_at[c, d, t]
                for d2 in range(directions):
                    for j in range(travels.size):
                        t2 = travels[j]
                        if t2 >= counts[e, d2]:
                            break
                        ex = moved[e, d2, t2, 0]
                        ey = moved[e, d2, t2, 1]
                        _mark(
                            grid,
                            v,
                            x + cos * ex - sin * ey,
                            y + sin * ex + cos * ey,
                            turn + moved[e, d2, t2, 2],
                            cost + t2 * _STEP_COST,
                        )


def near_goal(library: PushLibrary, grid: ValueGrid) -> NearGrid:
    """Return the grid of a library; grid: its value function, for the shape of the object."""
    values = np.full((2 * _HALF + 1,) * 3, _MOST)
    _mark_all(grid, library.displacements, library.counts, library.ends_at, _TRAVELS, values)
    return NearGrid(values)
