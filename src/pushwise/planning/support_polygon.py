"""Where the table supports an object: its support polygon and stability margins.

Everything is computed in the grid frame, to which the table is transformed: there the cells are
axis-aligned squares, the same for every pose. The part of the object on the table consists of
polygons whose corners are corners of cells on the table, corners of the table under cells, and
points where their sides cross; the support polygon is the convex hull of these. Compiled code uses
plain loops only: each NumPy function in it would have to be compiled, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import inside_polygon, nearest_feature
from pushwise.typing import Array, Flags

__all__ = [
    "CellsOnTable",
    "PossibleCentres",
    "SupportWork",
    "fall_share",
    "margins_or_falls",
    "new_support_work",
    "possible_centres",
    "support",
]

_SIDES = 16  # of the polygon around possible centres of mass
_ON_EDGE = 1e-9  # m from the line of an edge of the table


class CellsOnTable(NamedTuple):
    """The cells of an object [m] in the grid frame, and a table in its own frame."""

    centres: Array  # of the cells (n, 2)
    corners: Array  # of the cells, each once (c, 2)
    size: float  # of a cell
    table_x: Array  # corners of the table's polygon (k,)
    table_y: Array
    reach: float  # greatest distance of a corner from the grid's origin


class PossibleCentres(NamedTuple):
    """Where the centre of mass of an object may be [m], in the grid frame."""

    points: Array  # (s, 2)
    around: Array  # corners of a polygon that contains all of them (o, 2)
    # The same relative to the table's edge, where the place of the object is uncertain, too. It has
    # no influence on how far a centre of mass is from the object's own sides.
    at_edge: Array
    around_at_edge: Array


def possible_centres(points: Array, at_edge: Array | None = None) -> PossibleCentres:
    """Return where the centre of mass may be.

    Args:
        points: Centres of mass [m], shape (s, 2).
        at_edge: Where they are relative to the table's edge [m], shape (s, 2); by default there.

    """
    at_edge = points if at_edge is None else at_edge
    # Copies: arrays that are read-only or not contiguous would compile what takes them once more.
    return PossibleCentres(
        np.array(points, order="C"),
        _around(points),
        np.array(at_edge, order="C"),
        _around(at_edge),
    )


def _around(points: Array) -> Array:
    """Return the corners (o, 2) of a narrow polygon around points (s, 2)."""
    turn = 2.0 * np.pi / _SIDES * np.arange(_SIDES)
    normals = np.column_stack([np.cos(turn), np.sin(turn)])
    reach = (points @ normals.T).max(axis=0)
    # A corner is where a side meets the next one.
    sides = np.stack([normals, np.roll(normals, -1, axis=0)], axis=1)
    offsets = np.stack([reach, np.roll(reach, -1)], axis=1)
    return np.array(np.linalg.solve(sides, offsets[..., None])[..., 0], order="C")


class SupportWork(NamedTuple):
    """Arrays that `support` fills: the table in the grid frame, corners, and their convex hull."""

    tx: Array  # (k,)
    ty: Array
    px: Array
    py: Array
    hx: Array  # the support polygon first
    hy: Array
    edge: Flags  # which of its sides are on the table's edge


def new_support_work(cells: CellsOnTable) -> SupportWork:
    """Return work space for an object on a table."""
    k = len(cells.table_x)
    most = len(cells.corners) + k * (1 + 4 * len(cells.centres))
    return SupportWork(
        tx=np.empty(k),
        ty=np.empty(k),
        px=np.empty(most),
        py=np.empty(most),
        hx=np.empty(2 * most + 1),
        hy=np.empty(2 * most + 1),
        edge=np.empty(2 * most + 1, np.bool_),
    )


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
def _find_edges(h: int, work: SupportWork) -> None:
    """Find which of the h sides of the support polygon are on the table's edge."""
    tx = work.tx
    ty = work.ty
    hx = work.hx
    hy = work.hy
    for a in range(h):
        work.edge[a] = False
        b = a + 1 if a + 1 < h else 0
        for i in range(tx.size):
            j = i + 1 if i + 1 < tx.size else 0
            ex = tx[j] - tx[i]
            ey = ty[j] - ty[i]
            most = _ON_EDGE * np.sqrt(ex * ex + ey * ey)
            first = abs(ex * (hy[a] - ty[i]) - ey * (hx[a] - tx[i]))
            last = abs(ex * (hy[b] - ty[i]) - ey * (hx[b] - tx[i]))
            if first < most and last < most:
                work.edge[a] = True


@compiled_part
def _supported(inner: Array, at_edge: Array, s: int, h: int, work: SupportWork) -> bool:
    """Return whether point s of those in the grid frame is in the support polygon of h corners.

    inner, at_edge: Where the points are relative to the object and to the table's edge, (n, 2).
    """
    hx = work.hx
    hy = work.hy
    for a in range(h):
        b = a + 1 if a + 1 < h else 0
        p = at_edge if work.edge[a] else inner
        if (hx[b] - hx[a]) * (p[s, 1] - hy[a]) < (hy[b] - hy[a]) * (p[s, 0] - hx[a]):
            return False
    return h > 0


@compiled_part
def fall_share(
    cells: CellsOnTable,
    x: float,
    y: float,
    theta: float,
    centres: PossibleCentres,
    work: SupportWork,
) -> float:
    """Return the share of the possible centres of mass that are outside the support polygon."""
    _, d = nearest_feature(x, y, cells.table_x, cells.table_y)
    if -d > cells.reach:
        return 0.0
    h, whole = support(cells, x, y, theta, work)
    # The hull of all cells contains every possible centre of mass.
    if whole:
        return 0.0
    _find_edges(h, work)
    # The support polygon is convex: what has its corners in it is in it. Mostly this is all.
    holds = True
    for i in range(centres.around.shape[0]):
        if not _supported(centres.around, centres.around_at_edge, i, h, work):
            holds = False
            break
    if holds:
        return 0.0
    count = centres.points.shape[0]
    out = 0
    for s in range(count):
        if not _supported(centres.points, centres.at_edge, s, h, work):
            out += 1
    share: float = out / count
    return share


@compiled
def fill_margins_or_falls(
    cells: CellsOnTable,
    poses: Array,
    centres: PossibleCentres,
    fall: bool,
    work: SupportWork,
    found: Array,
) -> None:
    """Fill in the stability margin of the first centre of mass, or the share of them that fall.

    Args:
        cells: The object and the table.
        poses: Poses of the object [m, m, rad], shape (p, 3).
        centres: Where the centre of mass may be.
        fall: Whether to find the share of centres outside the support polygon, instead of how far
            the first one is inside it [m], negative outside.
        work: See `new_support_work`.
        found: One number per pose, shape (p,).

    """
    px = centres.points[0, 0]
    py = centres.points[0, 1]
    for i in range(poses.shape[0]):
        if fall:
            found[i] = fall_share(cells, poses[i, 0], poses[i, 1], poses[i, 2], centres, work)
            continue
        h, _ = support(cells, poses[i, 0], poses[i, 1], poses[i, 2], work)
        inside = np.inf
        outside = np.inf
        for a in range(h):
            b = a + 1 if a + 1 < h else 0
            ex = work.hx[b] - work.hx[a]
            ey = work.hy[b] - work.hy[a]
            dx = px - work.hx[a]
            dy = py - work.hy[a]
            square = ex * ex + ey * ey
            inside = min(inside, (ex * dy - ey * dx) / np.sqrt(square))
            s = min(max((ex * dx + ey * dy) / square, 0.0), 1.0)
            outside = min(outside, np.hypot(dx - s * ex, dy - s * ey))
        if h == 0:
            found[i] = -np.inf
        else:
            found[i] = inside if inside >= 0.0 else -outside


def margins_or_falls(
    cells: CellsOnTable, poses: Array, centres: PossibleCentres, fall: bool
) -> Array:
    """Return what `fill_margins_or_falls` finds for poses (p, 3), shape (p,)."""
    found = np.empty(len(poses))
    fill_margins_or_falls(cells, poses, centres, fall, new_support_work(cells), found)
    return found
