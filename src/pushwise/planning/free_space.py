"""Which poses an object may pass through: it neither falls there nor touches an obstacle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, probability
from pushwise.compilation import compiled
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import simple_polygon
from pushwise.planning.stability import Balance
from pushwise.planning.support_polygon import Shape, fall_share
from pushwise.typing import Array, Flags, Integers

__all__ = ["Free", "Rules", "blocked", "collides"]


_CENTRES = 256  # samples of the centre of mass that judge a pose; `choose_goal` looks at more


class Rules(NamedTuple):
    """What decides whether a pose is free, for the compiled code; grid frame but for the table."""

    shape: Shape
    centres: Array  # of mass that may be (s, 2)
    limit: float  # on the share of them that may fall
    outline: Array  # (k, 2)
    obstacles: Array  # corners of all obstacles, one after the other (c, 2), table frame
    ends: Integers  # where each obstacle ends in `obstacles`
    clearance: float  # distance kept from obstacles [m]


@compiled
def _nearer(px: Array, py: Array, bx: Array, by: Array, gap: float) -> bool:
    """Tell whether a corner of one polygon is nearer than `gap` to another."""
    for i in range(px.size):
        _, d = nearest_feature(px[i], py[i], bx, by)
        if d < gap:
            return True
    return False


@compiled
def _cross(ox: Array, oy: Array, bx: Array, by: Array) -> bool:
    """Tell whether the sides of two polygons cross."""
    for i in range(ox.size):
        ex = ox[i] - ox[i - 1]
        ey = oy[i] - oy[i - 1]
        for j in range(bx.size):
            cx = bx[j - 1] - ox[i - 1]
            cy = by[j - 1] - oy[i - 1]
            fx = bx[j] - bx[j - 1]
            fy = by[j] - by[j - 1]
            cross = ex * fy - ey * fx
            s = cx * fy - cy * fx
            t = cx * ey - cy * ex
            if cross < 0.0:
                cross, s, t = -cross, -s, -t
            if cross > 0.0 and 0.0 <= s <= cross and 0.0 <= t <= cross:
                return True
    return False


@compiled
def collides(rules: Rules, pose: Array) -> bool:
    """Tell whether the outline at a pose (3,) comes closer to an obstacle than the clearance."""
    gap = rules.clearance
    k = len(rules.outline)
    ox = np.empty(k)
    oy = np.empty(k)
    cos = np.cos(pose[2])
    sin = np.sin(pose[2])
    for i in range(k):
        ox[i] = pose[0] + cos * rules.outline[i, 0] - sin * rules.outline[i, 1]
        oy[i] = pose[1] + sin * rules.outline[i, 0] + cos * rules.outline[i, 1]
    begin = 0
    for end in rules.ends:
        bx = rules.obstacles[begin:end, 0].copy()
        by = rules.obstacles[begin:end, 1].copy()
        begin = end
        apart = ox.max() + gap < bx.min() or bx.max() + gap < ox.min()
        if apart or oy.max() + gap < by.min() or by.max() + gap < oy.min():
            continue
        # Two outlines apart from each other are nearest at a corner of one of them.
        if _nearer(ox, oy, bx, by, gap) or _nearer(bx, by, ox, oy, gap) or _cross(ox, oy, bx, by):
            return True
    return False


@compiled
def blocked(rules: Rules, pose: Array) -> bool:
    """Tell whether the object may not be at a pose (3,)."""
    return collides(rules, pose) or fall_share(rules.shape, pose, rules.centres) > rules.limit


@compiled
def _blocked(rules: Rules, poses: Array) -> Flags:
    found = np.empty(len(poses), np.bool_)
    for i in range(len(poses)):
        found[i] = blocked(rules, poses[i])
    return found


class Free:
    """The poses that are free on a table with obstacles."""

    def __init__(
        self,
        balance: Balance,
        obstacles: Sequence[ArrayLike] = (),
        *,
        max_fall_probability: float = 0.01,
    ) -> None:
        """Check obstacles, polygons (k, 2) each [m] in the table frame."""
        self.balance = balance
        self.obstacles = tuple(
            simple_polygon(f"obstacles[{i}]", polygon) for i, polygon in enumerate(obstacles)
        )
        """Polygons [m] in the table frame, shape (k, 2) each."""
        corners = np.concatenate([np.empty((0, 2)), *self.obstacles])
        self.rules = Rules(
            balance.shape,
            balance.centres[:_CENTRES].copy(),
            probability("max_fall_probability", max_fall_probability),
            np.array(balance.model.grid.outline),
            corners,
            np.cumsum([len(polygon) for polygon in self.obstacles], dtype=np.int64),
            0.0,
        )

    def __call__(self, poses: ArrayLike, *, clearance: float = 0.0) -> Flags:
        """Return which poses (p, 3) are free, and `clearance` [m] away from obstacles, (p,)."""
        rules = self.rules._replace(clearance=clearance)
        blocked: Flags = _blocked(rules, np.array(poses, dtype=np.float64))
        return ~blocked

    def objection(self, pose: ArrayLike) -> str | None:
        """Return what is wrong with a pose (3,), as the end of a sentence; None when it is free."""
        at = np.array(finite_array("pose", pose, (3,)))
        for i, polygon in enumerate(self.obstacles):
            one = self.rules._replace(obstacles=polygon.copy(), ends=np.array([len(polygon)]))
            if collides(one, at):
                return f"the object touches obstacle {i} there"
        margin = float(self.balance.margins(at[None])[0])
        if margin == -np.inf:
            return "that is off the table"
        falls = fall_share(self.rules.shape, at, self.rules.centres)
        if falls > self.rules.limit:
            return (
                f"the object would fall there with probability {falls:.2g} "
                f"(its centre of mass has a margin of {margin * 1e3:.0f} mm)"
            )
        return None
