"""`FreeSpace`: the poses in which an object neither falls nor touches an obstacle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, probability
from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import simple_polygon
from pushwise.planning.stability import Balance
from pushwise.planning.support_polygon import (
    CellsOnTable,
    PossibleCentres,
    SupportWork,
    fall_share,
    margins_or_falls,
    new_support_work,
)
from pushwise.typing import Array, Flags, Integers

__all__ = [
    "FreeSpace",
    "FreeSpaceRules",
    "FreeSpaceWork",
    "blocked",
    "checked_obstacles",
    "first_blocked",
    "new_free_space_work",
]


class FreeSpaceRules(NamedTuple):
    """What decides whether a pose is free, for compiled code; in the grid frame unless stated."""

    cells: CellsOnTable
    centres: PossibleCentres  # of mass
    limit: float  # on the share of them that may fall
    outline_x: Array  # (k,)
    outline_y: Array
    obstacles_x: Array  # corners of all obstacles, one after the other (c,), table frame
    obstacles_y: Array
    ends: Integers  # where each obstacle ends among these
    clearance: float  # distance kept from obstacles [m]


@compiled_part
def _touch(ox: Array, oy: Array, bx: Array, by: Array, gap: float) -> bool:
    """Return whether two polygons are closer than `gap` [m]; corners have shapes (k,) and (m,)."""
    # Two outlines apart from each other are closest at a corner of one of them.
    for i in range(ox.size + bx.size):
        if i < ox.size:
            _, d = nearest_feature(ox[i], oy[i], bx, by)
        else:
            _, d = nearest_feature(bx[i - ox.size], by[i - ox.size], ox, oy)
        if d < gap:
            return True
    # Otherwise their sides may still cross.
    h = ox.size - 1
    for i in range(ox.size):
        ex = ox[i] - ox[h]
        ey = oy[i] - oy[h]
        g = bx.size - 1
        for j in range(bx.size):
            cx = bx[g] - ox[h]
            cy = by[g] - oy[h]
            fx = bx[j] - bx[g]
            fy = by[j] - by[g]
            cross = ex * fy - ey * fx
            s = cx * fy - cy * fx
            t = cx * ey - cy * ex
            if cross < 0.0:
                cross, s, t = -cross, -s, -t
            if cross > 0.0 and 0.0 <= s <= cross and 0.0 <= t <= cross:
                return True
            g = j
        h = i
    return False


class FreeSpaceWork(NamedTuple):
    """Arrays that checks of poses fill again and again."""

    support: SupportWork
    ox: Array  # the outline in the table frame (k,)
    oy: Array


def new_free_space_work(rules: FreeSpaceRules) -> FreeSpaceWork:
    """Return work space for some rules."""
    k = len(rules.outline_x)
    return FreeSpaceWork(new_support_work(rules.cells), np.empty(k), np.empty(k))


@compiled_part
def blocked(rules: FreeSpaceRules, x: float, y: float, theta: float, work: FreeSpaceWork) -> bool:
    """Return whether a pose is not free."""
    ox = work.ox
    oy = work.oy
    cos = np.cos(theta)
    sin = np.sin(theta)
    left, right, low, high = np.inf, -np.inf, np.inf, -np.inf
    for i in range(ox.size):
        ox[i] = x + cos * rules.outline_x[i] - sin * rules.outline_y[i]
        oy[i] = y + sin * rules.outline_x[i] + cos * rules.outline_y[i]
        left = min(left, ox[i])
        right = max(right, ox[i])
        low = min(low, oy[i])
        high = max(high, oy[i])
    begin = 0
    for o in range(rules.ends.size):
        bx = rules.obstacles_x[begin : rules.ends[o]]
        by = rules.obstacles_y[begin : rules.ends[o]]
        begin = rules.ends[o]
        # Bounding boxes that are apart need no closer look.
        beyond_left = beyond_right = beyond_low = beyond_high = True
        for i in range(bx.size):
            beyond_right = beyond_right and right + rules.clearance < bx[i]
            beyond_left = beyond_left and bx[i] + rules.clearance < left
            beyond_high = beyond_high and high + rules.clearance < by[i]
            beyond_low = beyond_low and by[i] + rules.clearance < low
        if beyond_left or beyond_right or beyond_low or beyond_high:
            continue
        if _touch(ox, oy, bx, by, rules.clearance):
            return True
    return fall_share(rules.cells, x, y, theta, rules.centres, work.support) > rules.limit


@compiled
def _first_blocked(rules: FreeSpaceRules, poses: Array, work: FreeSpaceWork) -> int:
    """Return the index of the first of some poses (p, 3) that is not free; p if all are free."""
    count: int = poses.shape[0]
    for p in range(count):
        if blocked(rules, poses[p, 0], poses[p, 1], poses[p, 2], work):
            return p
    return count


def first_blocked(rules: FreeSpaceRules, poses: Array) -> int:
    """Return the index of the first of some poses (p, 3) that is not free; p if all are free."""
    return _first_blocked(rules, poses, new_free_space_work(rules))


def checked_obstacles(name: str, obstacles: Sequence[ArrayLike]) -> tuple[Array, ...]:
    """Return polygons (k, 2) each, checked; name: of the argument, for messages."""
    return tuple(simple_polygon(f"{name}[{i}]", one) for i, one in enumerate(obstacles))


class FreeSpace:
    """The poses in which an object may be, on a table with obstacles."""

    def __init__(
        self,
        balance: Balance,
        obstacles: Sequence[ArrayLike] = (),
        *,
        max_fall_probability: float = 0.01,
    ) -> None:
        """Check obstacles, polygons (k, 2) each [m] in the table frame."""
        self.balance = balance
        self.obstacles = checked_obstacles("obstacles", obstacles)
        """Polygons [m] in the table frame, shape (k, 2) each."""
        corners = np.concatenate([np.empty((0, 2)), *self.obstacles])
        outline = balance.model.grid.outline
        self.rules = FreeSpaceRules(
            cells=balance.cells,
            # All of them: goals and the path have one rule.
            centres=balance.possible_centres(),
            limit=probability("max_fall_probability", max_fall_probability),
            outline_x=outline[:, 0].copy(),
            outline_y=outline[:, 1].copy(),
            obstacles_x=corners[:, 0].copy(),
            obstacles_y=corners[:, 1].copy(),
            ends=np.cumsum([len(polygon) for polygon in self.obstacles], dtype=np.int64),
            clearance=0.0,
        )

    def __call__(self, poses: ArrayLike, *, clearance: float = 0.0) -> Flags:
        """Return which poses (p, 3) are free and `clearance` [m] away from obstacles, (p,)."""
        rules = self.rules._replace(clearance=float(clearance))
        at = np.array(poses, dtype=np.float64)
        free = np.ones(len(at), dtype=np.bool_)
        i = first_blocked(rules, at)
        while i < len(at):
            free[i] = False
            i += 1 + first_blocked(rules, at[i + 1 :])
        return free

    def leading(self, poses: Array, *, clearance: float = 0.0, limit: float | None = None) -> int:
        """Return how many poses (p, 3) are free before the first that is not.

        Args:
            poses: The poses.
            clearance: Distance to keep from obstacles [m].
            limit: Permitted fall probability; by default that of the space.

        """
        permitted = self.rules.limit if limit is None else float(limit)
        rules = self.rules._replace(clearance=float(clearance), limit=permitted)
        return first_blocked(rules, np.array(poses, dtype=np.float64))

    def objection(self, pose: ArrayLike) -> str | None:
        """Return why a pose (3,) is not free, as the end of a sentence; None when it is free."""
        at = np.array(finite_array("pose", pose, (3,)))[None]
        for i, polygon in enumerate(self.obstacles):
            alone = self.rules._replace(
                limit=np.inf,
                obstacles_x=polygon[:, 0].copy(),
                obstacles_y=polygon[:, 1].copy(),
                ends=np.array([len(polygon)], dtype=np.int64),
            )
            if first_blocked(alone, at) == 0:
                return f"the object touches obstacle {i} there"
        margin = float(self.balance.margins(at)[0])
        if margin == -np.inf:
            return "that is off the table"
        falls = float(margins_or_falls(self.rules.cells, at, self.rules.centres, True)[0])
        if falls > self.rules.limit:
            return (
                f"the object would fall there with probability {falls:.2g} "
                f"(its centre of mass has a margin of {margin * 1e3:.0f} mm)"
            )
        return None
