"""Where the table carries an object, compiled: the support polygon and the margin of a point.

Everything is in the grid frame, the table brought there: cells are then squares along the axes,
and the same for every pose. The part of the object on the table is made of polygons whose corners
are corners of cells on the table, corners of the table under cells, and points where their sides
cross; the support polygon is the convex hull of these.

The parts of an object that stick out over the edges of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.geometry.compiled import inside_polygon, nearest_feature
from pushwise.geometry.polygon import placed
from pushwise.typing import Array

__all__ = [
    "Overhang",
    "Shape",
    "fall_share",
    "falls",
    "inland",
    "margin",
    "margins",
    "overhangs",
    "support",
]


class Shape(NamedTuple):
    """The cells of an object [m] in the grid frame, and a table in its own."""

    centres: Array  # of the cells (n, 2)
    corners: Array  # of the cells, each once (c, 2)
    size: float  # of a cell
    table: Array  # polygon (k, 2)
    reach: float  # of the corners from the grid's origin


@compiled
def support(shape: Shape, pose: Array) -> tuple[Array, bool]:
    """Return the support polygon in the grid frame (h, 2), counter-clockwise, and if it is whole.

    It is whole when all of the object is on the table.
    """
    centres, corners, size, table, _ = shape
    k = len(table)
    tx = np.empty(k)
    ty = np.empty(k)
    cos = np.cos(pose[2])
    sin = np.sin(pose[2])
    for i in range(k):
        dx = table[i, 0] - pose[0]
        dy = table[i, 1] - pose[1]
        tx[i] = cos * dx + sin * dy
        ty[i] = -sin * dx + cos * dy
    found = np.empty((len(corners) + k * (1 + 4 * len(centres)), 2))
    count = 0
    for i in range(len(corners)):
        if inside_polygon(corners[i, 0], corners[i, 1], tx, ty):
            found[count] = corners[i]
            count += 1
    whole = count == len(corners)
    half = 0.5 * size
    for i in range(k):
        j = (i + 1) % k
        ex = tx[j] - tx[i]
        ey = ty[j] - ty[i]
        reach = half * (abs(ex) + abs(ey))
        for c in range(len(centres)):
            ox = centres[c, 0] - tx[i]
            oy = centres[c, 1] - ty[i]
            if abs(ex * oy - ey * ox) > reach:
                continue
            # What a square leaves of the edge from 0 to 1 begins and ends where they cross, or
            # at a corner of the table under the cell.
            low = 0.0
            high = 1.0
            for o, e in ((ox, ex), (oy, ey)):
                if e != 0.0:
                    a = (o - half) / e
                    b = (o + half) / e
                    low = max(low, min(a, b))
                    high = min(high, max(a, b))
                elif abs(o) > half:
                    high = -1.0
            if low <= high:
                whole = False
                for s in (low, high):
                    found[count, 0] = tx[i] + s * ex
                    found[count, 1] = ty[i] + s * ey
                    count += 1
    return _hull(found[:count]), whole


@compiled
def _hull(points: Array) -> Array:
    """Return the convex hull (h, 2) of points (p, 2), counter-clockwise (Andrew's chain)."""
    p = len(points)
    if p < 3:
        return points[:0].copy()
    by_y = np.argsort(points[:, 1], kind="mergesort")
    order = by_y[np.argsort(points[by_y, 0], kind="mergesort")]
    hull = np.empty((2 * p, 2))
    h = 0
    for turn in range(2):
        first = h
        for step in range(p):
            q = points[order[step if turn == 0 else p - 1 - step]]
            while h - first >= 2:
                a = hull[h - 2]
                b = hull[h - 1]
                if (b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]) > 0.0:
                    break
                h -= 1
            hull[h] = q
            h += 1
        h -= 1  # the last one begins the other half
    return hull[:h].copy() if h >= 3 else points[:0].copy()


@compiled
def margin(hull: Array, x: float, y: float) -> float:
    """Return how far a point is inside a convex polygon (h, 2) [m]; negative when outside."""
    inside = np.inf
    outside = np.inf
    h = len(hull)
    for i in range(h):
        j = (i + 1) % h
        ex = hull[j, 0] - hull[i, 0]
        ey = hull[j, 1] - hull[i, 1]
        dx = x - hull[i, 0]
        dy = y - hull[i, 1]
        square = ex * ex + ey * ey
        inside = min(inside, (ex * dy - ey * dx) / np.sqrt(square))
        s = min(max((ex * dx + ey * dy) / square, 0.0), 1.0)
        outside = min(outside, np.hypot(dx - s * ex, dy - s * ey))
    if h == 0:
        return -np.inf
    return inside if inside >= 0.0 else -outside


@compiled
def margins(shape: Shape, poses: Array, point: Array) -> Array:
    """Return the margin [m] of a point of the grid frame (2,) at each pose (p, 3), shape (p,)."""
    found = np.empty(len(poses))
    for i in range(len(poses)):
        hull, _ = support(shape, poses[i])
        found[i] = margin(hull, point[0], point[1])
    return found


@compiled
def inland(shape: Shape, poses: Array) -> bool:
    """Tell whether all of the object is on the table at every pose (p, 3), whichever way it turns.

    There a push moves it as it would anywhere else.
    """
    for i in range(len(poses)):
        _, d = nearest_feature(poses[i, 0], poses[i, 1], shape.table[:, 0], shape.table[:, 1])
        if -d <= shape.reach:
            return False
    return True


@compiled
def fall_share(shape: Shape, pose: Array, points: Array) -> float:
    """Return the share of points (s, 2) of the grid frame outside the support polygon."""
    _, d = nearest_feature(pose[0], pose[1], shape.table[:, 0], shape.table[:, 1])
    if -d > shape.reach:
        return 0.0
    hull, whole = support(shape, pose)
    # Points are where a centre of mass can be: the hull of all cells holds every one.
    if whole:
        return 0.0
    h = len(hull)
    out = 0
    for s in range(len(points)):
        holds = h > 0
        for a in range(h):
            b = a + 1 if a + 1 < h else 0
            ex = hull[b, 0] - hull[a, 0]
            ey = hull[b, 1] - hull[a, 1]
            if ex * (points[s, 1] - hull[a, 1]) < ey * (points[s, 0] - hull[a, 0]):
                holds = False
                break
        if not holds:
            out += 1
    return out / len(points)


@compiled
def falls(shape: Shape, poses: Array, points: Array) -> Array:
    """Return the share of points (s, 2) that fall at each pose (p, 3), shape (p,)."""
    found = np.empty(len(poses))
    for i in range(len(poses)):
        found[i] = fall_share(shape, poses[i], points)
    return found


@dataclass(frozen=True)
class Overhang:
    """A connected part of an object beyond an edge of the table."""

    edge: int
    """Which edge: from this corner of the table's polygon to the next."""
    depth: float
    """How far it reaches beyond the edge [m]."""
    width: float
    """How wide it is along the edge, anywhere beyond it [m]."""
    begin: float
    """Where along the edge it begins [m] from its first corner."""


def overhangs(
    outline: Array, table: Array, pose: Array, *, edges: Sequence[int] | None = None
) -> list[Overhang]:
    """Return the parts of an outline (k, 2) at a pose (3,) beyond edges of a table (c, 2).

    Both run counter-clockwise. A part counts for an edge when it lies beyond the line through
    the edge and crosses it between the edge's ends.
    """
    corners = placed(outline, pose)
    found = []
    for edge in range(len(table)) if edges is None else edges:
        a, b = table[edge], table[(edge + 1) % len(table)]
        length = float(np.hypot(*(b - a)))
        t = (b - a) / length
        depth = (corners - a) @ np.array([t[1], -t[0]])
        along = (corners - a) @ t
        found += _beyond(edge, depth, along, length)
    return found


def _beyond(edge: int, depth: Array, along: Array, length: float) -> list[Overhang]:
    """Return the parts beyond one edge, of corners at `depth` beyond and `along` it, (k,) each."""
    out = depth > 0.0
    k = len(out)
    found = []
    for leaves in np.flatnonzero(~out & np.roll(out, -1)).tolist():
        run = [(leaves + 1) % k]
        while out[(run[-1] + 1) % k]:
            run.append((run[-1] + 1) % k)
        left = _crossing(depth, along, leaves, run[0])
        back = _crossing(depth, along, run[-1], (run[-1] + 1) % k)
        # Seen from outside, the outline of solid matter runs along the edge; that of a notch
        # runs back.
        if back <= left or left < 0.0 or back > length:
            continue
        low = min(left, float(along[run].min()))
        high = max(back, float(along[run].max()))
        found.append(Overhang(edge, float(depth[run].max()), high - low, left))
    return found


def _crossing(depth: Array, along: Array, i: int, j: int) -> float:
    """Return where along the edge the outline crosses it between corners i and j."""
    share = depth[i] / (depth[i] - depth[j])
    return float(along[i] + share * (along[j] - along[i]))
