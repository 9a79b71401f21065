"""Refines the travels and directions of pushes until they end at the goal, or as near as they can.

With two pushes there are four numbers to choose and three to hit: near a pair of pushes that ends
close to the goal there are others that end exactly there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.planning.search_space import (
    COLUMNS,
    STEP_COST,
    SearchSpace,
    SeenGoal,
    after_part,
    longest,
    rest_cost,
)
from pushwise.typing import Array, Integers

__all__ = ["AimWork", "new_aim_work", "refine"]

_REST = 7  # column
_ONE, _CHANGE, _PAIR = 0, 1, 2  # one push, two at two contacts, two at one contact
_COARSEST, _FINEST = 8.0, 0.25  # strides by which travels are changed to refine them
_TRIES = 4  # changes of each size
_LEAST = 2.0  # strides of a push from where the finger is before it counts as a contact's
_DAMPING, _ITERATIONS = 1e-8, 12  # of aiming; [m^2]
_SLACK = 2.0  # s above the best row up to which others are worth refining
_HOPELESS = 1e-2  # m^2; steps with more damping lead nowhere
_EXACT = 1e-7  # m^2
_UNIT = 0.1  # of the step between two directions


class AimWork(NamedTuple):
    """Arrays that aiming fills again and again."""

    row: Array  # (8,)
    best: Array  # (8,)
    miss: Array  # (3,)
    other: Array  # (3,)
    jacobian: Array  # (3, 4)
    change: Array  # (4,)
    system: Array  # (3, 4)
    places: Integers  # of travel and direction of both pushes in a row (4,)


def new_aim_work() -> AimWork:
    """Return work space for aiming."""
    row, three = np.zeros(COLUMNS), np.zeros(3)
    wide = np.zeros((3, 4))
    places = np.array([3, 2, 6, 5])
    return AimWork(row, row.copy(), three, three.copy(), wide, np.zeros(4), wide.copy(), places)


@compiled_part
def _second_contact(space: SearchSpace, row: Array, kind: int) -> int:
    """Return the contact of the second push."""
    if kind == _CHANGE:
        return int(row[4])
    return int(space.ends_at[int(row[1]), int(row[2] + 0.5), int(row[3] + 0.5)])


@compiled_part
def _least(space: SearchSpace, c: int, kind: int) -> float:
    """Return the shortest travel of a first push."""
    return _LEAST if kind == _PAIR and c == space.counts.shape[0] - 1 else 0.0


@compiled_part
def _allowed(space: SearchSpace, row: Array, kind: int) -> bool:
    """Return whether a library has the pushes of a row."""
    c = int(row[1])
    most = space.widths[c] - 1.0
    if row[2] < 0.0 or row[2] > most:
        return False
    if row[3] < _least(space, c, kind) or row[3] > longest(space, c, row[2]):
        return False
    if kind == _ONE:
        return True
    at = _second_contact(space, row, kind)
    if row[5] < 0.0 or row[5] > space.widths[at] - 1.0:
        return False
    return bool(0.0 <= row[6] <= longest(space, at, row[5]))


@compiled_part
def _end_of(space: SearchSpace, q: SeenGoal, row: Array, kind: int) -> SeenGoal:
    """Return how the goal is seen after the pushes of a row."""
    q1 = after_part(space, q, int(row[1]), row[2], row[3])
    if kind == _ONE:
        return q1
    return after_part(space, q1, _second_contact(space, row, kind), row[5], row[6])


@compiled_part
def _cost_of(space: SearchSpace, q: SeenGoal, row: Array, kind: int, begin: float) -> float:
    """Return the cost of a row [s]."""
    d = int(row[2] + 0.5)
    spent = begin + row[3] * STEP_COST + space.doubts[int(row[1]), d, int(row[3])]
    if kind != _ONE:
        d2 = int(row[5] + 0.5)
        at = _second_contact(space, row, kind)
        spent += row[6] * STEP_COST + space.doubts[at, d2, int(row[6])]
    if kind == _CHANGE:
        end = space.ends_at[int(row[1]), int(row[2] + 0.5), int(row[3] + 0.5)]
        spent += space.between[end, int(row[4])]
    return float(spent + rest_cost(space, _end_of(space, q, row, kind)))


@compiled_part
def _miss(space: SearchSpace, q: SeenGoal, row: Array, kind: int, miss: Array) -> float:
    """Fill in by how much the end of a row misses the goal (3,) [m]; return its square [m^2]."""
    q2 = _end_of(space, q, row, kind)
    grid = space.grid
    turn = q2.theta - 2.0 * np.pi * np.floor(q2.theta / (2.0 * np.pi) + 0.5)
    cos = np.cos(turn)
    sin = np.sin(turn)
    miss[0] = q2.x + cos * grid.cx - sin * grid.cy - grid.cx
    miss[1] = q2.y + sin * grid.cx + cos * grid.cy - grid.cy
    miss[2] = np.sqrt(grid.mean_square) * turn
    return float(miss[0] ** 2 + miss[1] ** 2 + miss[2] ** 2)


@compiled_part
def _solve(work: AimWork, columns: int, damping: float) -> None:
    """Fill in the change of least norm that removes the miss, to first order.

    With the Jacobian J (3 x columns) it is -J^T (J J^T + damping)^-1 miss.
    """
    m = work.system
    for i in range(3):
        for j in range(3):
            m[i, j] = damping if i == j else 0.0
            for k in range(columns):
                m[i, j] += work.jacobian[i, k] * work.jacobian[j, k]
        m[i, 3] = work.miss[i]
    for i in range(3):
        for r in range(i + 1, 3):
            factor = m[r, i] / m[i, i]
            for k in range(i, 4):
                m[r, k] -= factor * m[i, k]
    for i in range(2, -1, -1):
        for k in range(i + 1, 3):
            m[i, 3] -= m[i, k] * m[k, 3]
        m[i, 3] /= m[i, i]
    for k in range(columns):
        work.change[k] = 0.0
        for i in range(3):
            work.change[k] -= work.jacobian[i, k] * m[i, 3]


@compiled_part
def _confine(space: SearchSpace, row: Array, kind: int) -> None:
    """Confine a row to what a library has: directions first, which limit the travels."""
    c = int(row[1])
    row[2] = min(max(row[2], 0.0), space.widths[c] - 1.0)
    row[3] = min(max(row[3], _least(space, c, kind)), longest(space, c, row[2]))
    if kind != _ONE:
        at = _second_contact(space, row, kind)
        row[5] = min(max(row[5], 0.0), space.widths[at] - 1.0)
        row[6] = min(max(row[6], 0.0), longest(space, at, row[5]))


@compiled_part
def _aimed(
    space: SearchSpace, q: SeenGoal, row: Array, kind: int, begin: float, work: AimWork
) -> None:
    """Change travels and directions of a row until it hits the goal, in place, if that is cheaper.

    Levenberg and Marquardt's method; a unit of change is a stride, or a tenth of the step between
    two directions.
    """
    trial = work.row
    best = work.best
    for k in range(COLUMNS):
        trial[k] = row[k]
        best[k] = row[k]
    columns = 2 if kind == _ONE else 4
    square = _miss(space, q, best, kind, work.miss)
    damping = _DAMPING
    for _ in range(_ITERATIONS):
        if square < _EXACT:
            break
        for k in range(columns):
            at = work.places[k]
            unit = _UNIT if k % 2 else 0.5
            for j in range(COLUMNS):
                trial[j] = best[j]
            trial[at] += unit
            if not _allowed(space, trial, kind):
                trial[at] -= 2.0 * unit
                unit = -unit
            if not _allowed(space, trial, kind):
                for i in range(3):
                    work.jacobian[i, k] = 0.0
                continue
            _miss(space, q, trial, kind, work.other)
            scale = (_UNIT if k % 2 else 1.0) / unit
            for i in range(3):
                work.jacobian[i, k] = (work.other[i] - work.miss[i]) * scale
        # What is at a limit and would go beyond it is kept there, and the rest solved again.
        for _ in range(2):
            _solve(work, columns, damping)
            for j in range(COLUMNS):
                trial[j] = best[j]
            for k in range(columns):
                trial[work.places[k]] += work.change[k] * (_UNIT if k % 2 else 1.0)
            _confine(space, trial, kind)
            free = True
            for k in range(columns):
                if work.change[k] != 0.0 and trial[work.places[k]] == best[work.places[k]]:
                    free = False
                    for i in range(3):
                        work.jacobian[i, k] = 0.0
            if free:
                break
        found = np.inf
        if _allowed(space, trial, kind):
            found = _miss(space, q, trial, kind, work.other)
        if found < square:
            square = found
            damping *= 0.2
            for j in range(COLUMNS):
                best[j] = trial[j]
            for i in range(3):
                work.miss[i] = work.other[i]
        else:
            damping *= 10.0
            if damping > _HOPELESS:
                break
    cost = _cost_of(space, q, best, kind, begin)
    if cost < row[0]:
        for j in range(1, COLUMNS):
            row[j] = best[j]
        row[0] = cost


@compiled_part
def _refined(space: SearchSpace, q: SeenGoal, row: Array, kind: int, begin: float) -> None:
    """Improve the travels of a row, in place, by changes that become smaller and smaller."""
    row[0] = _cost_of(space, q, row, kind, begin) if _allowed(space, row, kind) else np.inf
    step = _COARSEST
    while step >= _FINEST:
        for _ in range(_TRIES):
            t = row[3]
            t2 = row[6]
            i_best = 0
            j_best = 0
            for i in range(-1, 2):
                for j in range(-1, 2) if kind != _ONE else range(1):
                    row[3] = t + i * step
                    row[6] = t2 + j * step
                    if not _allowed(space, row, kind):
                        continue
                    cost = _cost_of(space, q, row, kind, begin)
                    if cost < row[0]:
                        row[0] = cost
                        i_best = i
                        j_best = j
            row[3] = t + i_best * step
            row[6] = t2 + j_best * step
            if i_best == 0 and j_best == 0:
                break
        step *= 0.5


@compiled
def refine(
    space: SearchSpace,
    x: float,
    y: float,
    theta: float,
    begin: Array,
    rows: Array,
    work: AimWork,
) -> None:
    """Refine travels and directions of all rows (C, 2 + D, 8) of `push_search`, in place."""
    q = SeenGoal(x=x, y=y, theta=theta)
    best = np.inf
    for c in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            best = min(best, rows[c, k, 0])
    for c in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            row = rows[c, k]
            kind = _ONE if k == 0 else _CHANGE if k == 1 else _PAIR
            if row[0] < best + _SLACK:
                _refined(space, q, row, kind, begin[c])
                _aimed(space, q, row, kind, begin[c], work)
                if kind == _PAIR and row[0] < np.inf:
                    row[4] = _second_contact(space, row, kind)
            if row[0] < np.inf:
                row[_REST] = rest_cost(space, _end_of(space, q, row, kind))
