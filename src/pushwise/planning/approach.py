"""`Approach`: how the finger moves from one push to the next without touching anything.

The shortest path over corners that are clear of object and obstacles, by A* over the lines of sight
between them; each line is checked only when the search reaches it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.compilation import compiled
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Finger
from pushwise.typing import Array, Integers

__all__ = ["Approach"]


_CLEAR = 0.001  # m kept between the finger and everything else
_WIDE = 0.01  # m by which the corners of the path are further out
_RETREAT = 0.002  # m between the places tried when retreating from the last push
_RETREATS = 25


@compiled
def _sees(a: Array, b: Array, cx: Array, cy: Array, ends: Integers, gap: float) -> bool:
    """Return whether the line between two points keeps `gap` [m] from polygons.

    Args:
        a: A point outside the polygons [m], shape (2,).
        b: Another, shape (2,).
        cx: Corners of all polygons, one after the other, shape (c,) each.
        cy: See cx.
        ends: Where each polygon ends among these.
        gap: Distance to keep [m].

    """
    ex = b[0] - a[0]
    ey = b[1] - a[1]
    square = ex * ex + ey * ey
    left = min(a[0], b[0])
    right = max(a[0], b[0])
    low = min(a[1], b[1])
    high = max(a[1], b[1])
    begin = 0
    for o in range(ends.size):
        px = cx[begin : ends[o]]
        py = cy[begin : ends[o]]
        begin = ends[o]
        # A polygon whose bounding box is apart needs no closer look.
        beyond_left = beyond_right = beyond_low = beyond_high = True
        for i in range(px.size):
            beyond_right = beyond_right and right + gap < px[i]
            beyond_left = beyond_left and px[i] + gap < left
            beyond_high = beyond_high and high + gap < py[i]
            beyond_low = beyond_low and py[i] + gap < low
        if beyond_left or beyond_right or beyond_low or beyond_high:
            continue
        for i in range(2):
            _, d = nearest_feature(a[0] if i == 0 else b[0], a[1] if i == 0 else b[1], px, py)
            if d < gap:
                return False
        h = px.size - 1
        for i in range(px.size):
            dx = px[i] - a[0]
            dy = py[i] - a[1]
            s = min(max((dx * ex + dy * ey) / square, 0.0), 1.0) if square > 0.0 else 0.0
            if np.hypot(dx - s * ex, dy - s * ey) < gap:
                return False
            # The side from the previous corner crosses the line.
            before = (px[h] - a[0]) * ey - (py[h] - a[1]) * ex
            after = dx * ey - dy * ex
            fx = px[i] - px[h]
            fy = py[i] - py[h]
            first = (a[0] - px[i]) * fy - (a[1] - py[i]) * fx
            last = (b[0] - px[i]) * fy - (b[1] - py[i]) * fx
            if before * after < 0.0 and first * last < 0.0:
                return False
            h = i
    return True


class Approach:
    """Paths of a finger around an object and obstacles."""

    def __init__(
        self,
        outline: Array,
        starts: Array,
        obstacles: Sequence[Array],
        finger: Finger,
        *,
        margin: float = 0.0,
    ) -> None:
        """Prepare for an object and its surroundings.

        Args:
            outline: Of the object [m], grid frame, shape (k, 2).
            starts: Places clear of it, shape (b, 2).
            obstacles: Polygons [m], table frame, shape (k, 2) each.
            finger: The finger.
            margin: How much farther than usual it stays away from everything [m].

        """
        self._outline, self._obstacles = outline, obstacles
        self._gap = finger.radius + _CLEAR + margin
        around = outline[ConvexHull(outline).vertices]
        self._around = np.concatenate([_wider(around, finger.radius + _WIDE + margin), starts])
        self._fixed = [_wider(corners, finger.radius + _WIDE + margin) for corners in obstacles]

    def path(self, pose: Array, begin: Array, end: Array) -> Array | None:
        """Return the path (w, 2) from one place (2,) to another with the object at a pose (3,).

        Where the finger still touches the object, the path begins with a step back from it. None
        when every path is blocked.
        """
        outline = placed(self._outline, pose)
        polygons = [outline, *self._obstacles]
        corners = np.ascontiguousarray(np.concatenate(polygons).T)
        ends = np.cumsum([len(polygon) for polygon in polygons])
        off = _clear_of(outline, begin, self._gap)
        nodes = np.concatenate([[off, end], placed(self._around, pose), *self._fixed])
        path = _shortest(nodes, corners, ends, self._gap)
        if path is None:
            return None
        return path if np.array_equal(off, begin) else np.concatenate([begin[None], path])


def _clear_of(outline: Array, place: Array, gap: float) -> Array:
    """Return a place (2,) nearby that is `gap` clear of an outline (k, 2), if there is one."""
    bx, by = np.ascontiguousarray(outline.T)
    if nearest_feature(place[0], place[1], bx, by)[1] >= gap:
        return place
    ring = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    for step in range(1, _RETREATS + 1):
        there = place + step * _RETREAT * np.column_stack([np.cos(ring), np.sin(ring)])
        apart = [nearest_feature(x, y, bx, by)[1] for x, y in there.tolist()]
        if max(apart) >= gap:
            off: Array = there[int(np.argmax(apart))]
            return off
    return place


def _shortest(nodes: Array, corners: Array, ends: Integers, gap: float) -> Array | None:
    """Return the shortest path (w, 2) over nodes (n, 2) from the first to the second, by A*."""
    left = np.hypot(*(nodes - nodes[1]).T)
    parent = np.full(len(nodes), -1)
    # Estimated length, length so far, node, the previous node.
    queue = [(float(left[0]), 0.0, 0, 0)]
    while queue:
        _, so_far, i, before = heapq.heappop(queue)
        if parent[i] >= 0 or not _sees(nodes[before], nodes[i], corners[0], corners[1], ends, gap):
            continue
        parent[i] = before
        if i == 1:
            path = [1]
            while path[-1] != 0:
                path.append(int(parent[path[-1]]))
            return nodes[path[::-1]]
        length = so_far + np.hypot(*(nodes - nodes[i]).T)
        for j in np.flatnonzero(parent < 0).tolist():
            heapq.heappush(queue, (float(length[j] + left[j]), float(length[j]), j, i))
    return None


def _wider(polygon: Array, by: float) -> Array:
    """Return points (3 k, 2) at a distance `by` [m] from the corners of a polygon.

    There are three per corner: normal to both sides and between, so that the lines between them
    keep most of that distance.
    """
    side = np.roll(polygon, -1, axis=0) - polygon
    normal = np.column_stack([side[:, 1], -side[:, 0]]) / np.hypot(*side.T)[:, None]
    before = np.roll(normal, 1, axis=0)
    middle = normal + before
    middle /= np.maximum(np.hypot(*middle.T), 1e-9)[:, None]
    return np.concatenate([polygon + by * out for out in (before, middle, normal)])
