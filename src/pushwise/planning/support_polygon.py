"""Where the table supports an object: its support polygon, stability margins and overhangs.

Everything is computed in the grid frame, to which the table is transformed: there the cells are
axis-aligned squares, the same for every pose. The part of the object on the table consists of
polygons whose corners are corners of cells on the table, corners of the table under cells, and
points where their sides cross; the support polygon is the convex hull of these. Compiled code uses
plain loops only: each NumPy function in it would have to be compiled, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import inside_polygon, nearest_feature
from pushwise.geometry.polygon import placed
from pushwise.typing import Array

__all__ = [
    "CellsOnTable",
    "Overhang",
    "SupportWork",
    "fall_share",
    "margins_or_falls",
    "new_support_work",
    "overhangs",
    "support",
]


class CellsOnTable(NamedTuple):
    """The cells of an object [m] in the grid frame, and a table in its own frame."""

    centres: Array  # of the cells (n, 2)
    corners: Array  # of the cells, each once (c, 2)
    size: float  # of a cell
    table_x: Array  # corners of the table's polygon (k,)
    table_y: Array
    reach: float  # greatest distance of a corner from the grid's origin


class SupportWork(NamedTuple):
    """Arrays that `support` fills: the table in the grid frame, corners, and their convex hull."""

    tx: Array  # (k,)
    ty: Array
    px: Array
    py: Array
    hx: Array  # the support polygon first
    hy: Array


def new_support_work(cells: CellsOnTable) -> SupportWork:
    """Return work space for an object on a table."""
    k = len(cells.table_x)
    most = len(cells.corners) + k * (1 + 4 * len(cells.centres))
    sizes = (k, k, most, most, 2 * most + 1, 2 * most + 1)
    return SupportWork(*(np.empty(size) for size in sizes))


@compiled
def support(
    cells: CellsOnTable, x: float, y: float, theta: float, work: SupportWork
) -> tuple[int, bool]:
    """Find the support polygon in the grid frame: the first h of (work.hx, work.hy).

    It runs counter-clockwise. Returns h, zero where less than a triangle is on the table, and
    whether all of the object is on the table.
    """
    centres, corners = cells.centres, cells.corners
    k = cells.table_x.size
    n = centres.shape[0]
    tx = work.tx
    ty = work.ty
    cos = np.cos(theta)
    sin = np.sin(theta)
    for i in range(k):
        dx = cells.table_x[i] - x
        dy = cells.table_y[i] - y
        tx[i] = cos * dx + sin * dy
        ty[i] = -sin * dx + cos * dy
    px = work.px
    py = work.py
    p = 0
    for i in range(corners.shape[0]):
        if inside_polygon(corners[i, 0], corners[i, 1], tx, ty):
            px[p] = corners[i, 0]
            py[p] = corners[i, 1]
            p += 1
    whole = p == corners.shape[0]
    half = 0.5 * cells.size
    for i in range(k):
        j = i + 1 if i + 1 < k else 0
        ex = tx[j] - tx[i]
        ey = ty[j] - ty[i]
        reach = half * (abs(ex) + abs(ey))
        for c in range(n):
            ox = centres[c, 0] - tx[i]
            oy = centres[c, 1] - ty[i]
            if abs(ex * oy - ey * ox) > reach:
                continue
            # The part of the edge within a square, from 0 to 1, begins and ends where they cross
            # or at a corner of the table under the cell.
            low = 0.0
            high = 1.0
            for axis in range(2):
                o = ox if axis == 0 else oy
                e = ex if axis == 0 else ey
                if e != 0.0:
                    first = (o - half) / e
                    last = (o + half) / e
                    if first > last:
                        first, last = last, first
                    if first > low:
                        low = first
                    if last < high:
                        high = last
                elif abs(o) > half:
                    high = -1.0
            if low <= high:
                whole = False
                px[p] = tx[i] + low * ex
                py[p] = ty[i] + low * ey
                px[p + 1] = tx[i] + high * ex
                py[p + 1] = ty[i] + high * ey
                p += 2
    # The convex hull by Andrew's monotone chain; first a shell sort by x, then y.
    gap = p // 2
    while gap > 0:
        for i in range(gap, p):
            qx = px[i]
            qy = py[i]
            j = i
            while j >= gap and (px[j - gap] > qx or (px[j - gap] == qx and py[j - gap] > qy)):
                px[j] = px[j - gap]
                py[j] = py[j - gap]
                j -= gap
            px[j] = qx
            py[j] = qy
        gap = 1 if gap == 2 else int(gap / 2.2)
    hx = work.hx
    hy = work.hy
    h = 0
    if p >= 3:
        for turn in range(2):
            start = h
            for step in range(p):
                at = step if turn == 0 else p - 1 - step
                while h - start >= 2:
                    ex = hx[h - 1] - hx[h - 2]
                    ey = hy[h - 1] - hy[h - 2]
                    if ex * (py[at] - hy[h - 2]) - ey * (px[at] - hx[h - 2]) > 0.0:
                        break
                    h -= 1
                hx[h] = px[at]
                hy[h] = py[at]
                h += 1
            h -= 1  # the last point begins the other half
    if h < 3:
        h = 0
    return h, whole


@compiled_part
def fall_share(
    cells: CellsOnTable, x: float, y: float, theta: float, points: Array, work: SupportWork
) -> float:
    """Return the share of points (s, 2) of the grid frame that are outside the support polygon."""
    _, d = nearest_feature(x, y, cells.table_x, cells.table_y)
    if -d > cells.reach:
        return 0.0
    h, whole = support(cells, x, y, theta, work)
    # Points are possible centres of mass: the hull of all cells contains every one.
    if whole:
        return 0.0
    hx = work.hx
    hy = work.hy
    count = points.shape[0]
    out = 0
    for s in range(count):
        holds = h > 0
        for a in range(h):
            b = a + 1 if a + 1 < h else 0
            ex = hx[b] - hx[a]
            ey = hy[b] - hy[a]
            if ex * (points[s, 1] - hy[a]) < ey * (points[s, 0] - hx[a]):
                holds = False
                break
        if not holds:
            out += 1
    share: float = out / count
    return share


@compiled
def fill_margins_or_falls(
    cells: CellsOnTable, poses: Array, points: Array, fall: bool, work: SupportWork, found: Array
) -> None:
    """Fill in the stability margin of the first point, or the share of points that fall.

    Args:
        cells: The object and the table.
        poses: Poses of the object [m, m, rad], shape (p, 3).
        points: Points of the grid frame [m], where the centre of mass may be, shape (s, 2).
        fall: Whether to find the share of points outside the support polygon, instead of how far
            the first one is inside it [m], negative outside.
        work: See `new_support_work`.
        found: One number per pose, shape (p,).

    """
    for i in range(poses.shape[0]):
        if fall:
            found[i] = fall_share(cells, poses[i, 0], poses[i, 1], poses[i, 2], points, work)
            continue
        h, _ = support(cells, poses[i, 0], poses[i, 1], poses[i, 2], work)
        inside = np.inf
        outside = np.inf
        for a in range(h):
            b = a + 1 if a + 1 < h else 0
            ex = work.hx[b] - work.hx[a]
            ey = work.hy[b] - work.hy[a]
            dx = points[0, 0] - work.hx[a]
            dy = points[0, 1] - work.hy[a]
            square = ex * ex + ey * ey
            inside = min(inside, (ex * dy - ey * dx) / np.sqrt(square))
            s = min(max((ex * dx + ey * dy) / square, 0.0), 1.0)
            outside = min(outside, np.hypot(dx - s * ex, dy - s * ey))
        if h == 0:
            found[i] = -np.inf
        else:
            found[i] = inside if inside >= 0.0 else -outside


def margins_or_falls(cells: CellsOnTable, poses: Array, points: Array, fall: bool) -> Array:
    """Return what `fill_margins_or_falls` finds for poses (p, 3), shape (p,)."""
    found = np.empty(len(poses))
    fill_margins_or_falls(cells, poses, points, fall, new_support_work(cells), found)
    return found


@dataclass(frozen=True)
class Overhang:
    """A connected part of an object beyond an edge of the table."""

    edge: int
    """Number of the edge: from this corner of the table's polygon to the next."""
    depth: float
    """How far it extends beyond the edge [m]."""
    width: float
    """Its width along the edge, anywhere beyond it [m]."""
    begin: float
    """Where it begins along the edge [m], from the edge's first corner."""


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
    """Return the parts beyond one edge.

    Args:
        edge: Its number.
        depth: Distance of the outline's corners beyond the edge [m], shape (k,).
        along: Their position along it [m], shape (k,).
        length: Length of the edge [m].

    """
    out = depth > 0.0
    k = len(out)
    found = []
    for leaves in np.flatnonzero(~out & np.roll(out, -1)).tolist():
        run = [(leaves + 1) % k]
        while out[(run[-1] + 1) % k]:
            run.append((run[-1] + 1) % k)
        left = _crossing(depth, along, leaves, run[0])
        back = _crossing(depth, along, run[-1], (run[-1] + 1) % k)
        # SeenGoal from outside, the outline of solid matter runs along the edge; that of a notch
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
