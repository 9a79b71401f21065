"""`ValueFunction`: the time that pushes take an object to a goal, for every pose relative to it.

A state is the pose of the goal as the object sees it. Value iteration starts from a terminal cost
that overestimates far from the goal: the distance of the cells, at a price per metre far above what
pushing costs. Each sweep then allows one push more. It is needed because the distance of the cells
has local minima (half a turn from the goal), where a greedy search is caught.

The nodes of the grid are dense near the goal: node k of an axis is at reach (k / n)^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.compilation import compiled, compiled_part
from pushwise.planning.push_library import PUSH_SPEED, STRIDE, PushLibrary
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Integers

__all__ = [
    "CONTACT_COST",
    "TRAVELS",
    "ValueFunction",
    "ValueGrid",
    "cost_to_go",
    "mixed",
    "relative_pose",
]

CONTACT_COST = 2.0
"""What beginning a contact costs [s]: the approach, and the wish for few of them."""
TRAVELS = np.array([2, 4, 6, 8, 10, 12, 15, 18, 22, 26, 31, 37, 44, 52, 62, 74, 88, 105, 125, 150])
"""Travels that searches try, in strides."""

_HALF_XY, _HALF_TURN = 15, 18  # nodes on each side of the goal
_REACH = 1.2  # m
_BALL = 0.012  # m from the goal within which fine control is left to the controller
_PRICE = CONTACT_COST / 0.01  # s/m beyond that: far more than pushing costs
_BEYOND = 2.0 / PUSH_SPEED  # s/m outside the grid
_SWEEPS = 6
_ACTIONS = 500  # of a sweep; each sweep takes others


class ValueGrid(NamedTuple):
    """A value function for compiled code."""

    values: Array  # [s] (2 h + 1, 2 h + 1, 2 k + 1)
    reach: float  # of the axes x and y [m]
    cx: float  # centroid of the cells [m]
    cy: float
    mean_square: float  # distance of the cells from it [m^2]


@compiled_part
def _cell(x: float, reach: float, half: int) -> tuple[int, float]:
    """Return the node before x on an axis, and the share of the way to the next one."""
    z = min(abs(x) / reach, 1.0) * half * half
    i = min(int(np.sqrt(z)), half - 1)
    share = (z - i * i) / (2 * i + 1)
    if x >= 0.0:
        return half + i, share
    return half - i - 1, 1.0 - share


@compiled_part
def squared_distance(grid: ValueGrid, x: float, y: float, theta: float) -> float:
    """Return the mean square distance of the cells [m^2] from a goal seen at a pose."""
    cos = np.cos(theta)
    sin = np.sin(theta)
    dx = x + cos * grid.cx - sin * grid.cy - grid.cx
    dy = y + sin * grid.cx + cos * grid.cy - grid.cy
    return float(dx * dx + dy * dy + 2.0 * grid.mean_square * (1.0 - cos))


@compiled_part
def _turn_cell(theta: float, half: int) -> tuple[int, float]:
    """Return the node before an angle on the axis of theta, and the share of the way beyond it."""
    return _cell(theta - 2.0 * np.pi * np.floor(theta / (2.0 * np.pi) + 0.5), np.pi, half)


@compiled_part
def mixed(v: Array, i: int, j: int, k: int, a: float, b: float, c: float) -> float:
    """Return the value at shares a, b and c of the way from node (i, j, k) to the next ones."""
    low = (1.0 - c) * v[i, j, k] + c * v[i, j, k + 1]
    high = (1.0 - c) * v[i, j + 1, k] + c * v[i, j + 1, k + 1]
    first = (1.0 - b) * low + b * high
    low = (1.0 - c) * v[i + 1, j, k] + c * v[i + 1, j, k + 1]
    high = (1.0 - c) * v[i + 1, j + 1, k] + c * v[i + 1, j + 1, k + 1]
    second = (1.0 - b) * low + b * high
    return float((1.0 - a) * first + a * second)


@compiled_part
def _outside(grid: ValueGrid, x: float, y: float) -> float:
    """Return what a goal seen at x, y costs more because it is outside the grid [s]."""
    return float(_BEYOND * (max(abs(x) - grid.reach, 0.0) + max(abs(y) - grid.reach, 0.0)))


@compiled_part
def cost_to_go(grid: ValueGrid, x: float, y: float, theta: float) -> float:
    """Return the interpolated value [s] of a goal seen at a pose."""
    v = grid.values
    i, a = _cell(x, grid.reach, v.shape[0] // 2)
    j, b = _cell(y, grid.reach, v.shape[0] // 2)
    k, c = _turn_cell(theta, v.shape[2] // 2)
    return mixed(v, i, j, k, a, b, c) + _outside(grid, x, y)


@compiled
def _sweep(
    grid: ValueGrid, nodes: Array, turns: Array, actions: Array, before: Integers, share: Array
) -> float:
    """Improve all values by one push, in place; return the largest change [s].

    Args:
        grid: The values so far.
        nodes: Positions of the nodes along x and y [m].
        turns: And along theta [rad].
        actions: Displacement x, y, theta and cost [s] of each push, shape (A, 4).
        before: Room for a node before each of the turns.
        share: And for a share of the way to the next one.

    """
    v = grid.values
    half = v.shape[0] // 2
    change = 0.0
    for n in range(actions.shape[0]):
        dx = actions[n, 0]
        dy = actions[n, 1]
        turn = actions[n, 2]
        cost = actions[n, 3]
        cos = np.cos(turn)
        sin = np.sin(turn)
        for k in range(v.shape[2]):
            before[k], share[k] = _turn_cell(turns[k] - turn, v.shape[2] // 2)
        for i in range(v.shape[0]):
            for j in range(v.shape[1]):
                x = cos * (nodes[i] - dx) + sin * (nodes[j] - dy)
                y = cos * (nodes[j] - dy) - sin * (nodes[i] - dx)
                p, a = _cell(x, grid.reach, half)
                q, b = _cell(y, grid.reach, half)
                beyond = _outside(grid, x, y)
                for k in range(v.shape[2]):
                    if v[i, j, k] <= cost:
                        continue
                    found = cost + (mixed(v, p, q, before[k], a, b, share[k]) + beyond)
                    if found < v[i, j, k]:
                        change = max(change, v[i, j, k] - found)
                        v[i, j, k] = found
    # Both ends of the axis of theta are half a turn.
    last = v.shape[2] - 1
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            best = min(v[i, j, 0], v[i, j, last])
            v[i, j, 0] = best
            v[i, j, last] = best
    return change


@compiled
def _terminal(grid: ValueGrid, nodes: Array, turns: Array) -> None:
    """Fill in the terminal cost of all nodes."""
    v = grid.values
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            for k in range(v.shape[2]):
                away = np.sqrt(squared_distance(grid, nodes[i], nodes[j], turns[k]))
                v[i, j, k] = _PRICE * max(away - _BALL, 0.0)


@compiled
def _values_at(grid: ValueGrid, seen: Array, found: Array) -> None:
    """Fill in the values of goals seen at poses (n, 3)."""
    for i in range(seen.shape[0]):
        found[i] = cost_to_go(grid, seen[i, 0], seen[i, 1], seen[i, 2])


def relative_pose(pose: Array, goal: Array) -> Array:
    """Return the pose (3,) of a goal (3,) as an object at a pose (3,) sees it."""
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    dx, dy = goal[0] - pose[0], goal[1] - pose[1]
    turn = np.remainder(goal[2] - pose[2] + np.pi, 2.0 * np.pi) - np.pi
    return np.array([cos * dx + sin * dy, cos * dy - sin * dx, turn])


@dataclass(frozen=True, eq=False)
class ValueFunction:
    """The cost to reach a goal by the pushes of a library."""

    grid: ValueGrid
    """The values at the nodes, for compiled code."""
    changes: tuple[float, ...]
    """Largest change in each sweep [s]."""

    @classmethod
    def of(cls, library: PushLibrary, cells: CellGrid) -> ValueFunction:
        """Iterate values over the pushes of a library for an object with these cells."""
        centroid = cells.centres.mean(axis=0)
        spread = float(np.mean(np.sum((cells.centres - centroid) ** 2, axis=1)))
        nodes, turns = _nodes(_HALF_XY, _REACH), _nodes(_HALF_TURN, np.pi)
        values = np.empty((len(nodes), len(nodes), len(turns)))
        grid = ValueGrid(values, _REACH, float(centroid[0]), float(centroid[1]), spread)
        _terminal(grid, nodes, turns)
        every = _actions(library)
        rng = np.random.default_rng(0)
        order = rng.permutation(len(every))
        before, share = np.empty(len(turns), np.int64), np.empty(len(turns))
        changes = []
        for sweep in range(_SWEEPS):
            some = np.take(order, np.arange(_ACTIONS) + sweep * _ACTIONS, mode="wrap")
            changes.append(_sweep(grid, nodes, turns, every[some], before, share))
        return cls(grid, tuple(changes))

    def __call__(self, poses: ArrayLike, goal: ArrayLike) -> Array:
        """Return the cost [s] from poses (n, 3) to a goal (3,), shape (n,)."""
        at = finite_array("poses", poses, ("n", 3))
        there = finite_array("goal", goal, (3,))
        seen = np.array([relative_pose(pose, there) for pose in at])
        found = np.empty(len(at))
        _values_at(self.grid, seen, found)
        return found


def _nodes(half: int, reach: float) -> Array:
    """Return the nodes of an axis, dense near zero."""
    k = np.arange(-half, half + 1)
    return reach * np.sign(k) * (k / half) ** 2.0


def _actions(library: PushLibrary) -> Array:
    """Return displacement and cost of pushes of a library, shape (A, 4)."""
    found = []
    travels: Integers = TRAVELS
    for c, d in np.ndindex(library.counts.shape):
        valid = travels[travels < library.counts[c, d]]
        cost = CONTACT_COST + valid * STRIDE / PUSH_SPEED
        found.append(np.column_stack([library.displacements[c, d, valid], cost]))
    return np.concatenate(found)
