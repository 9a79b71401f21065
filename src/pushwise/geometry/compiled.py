"""Geometry for kernels: poses of SE(2), and points against polygons.

Polygons are two arrays of corners, x and y, shape (k,) each, counter-clockwise. A polygon has 2 k
features: ``2 i`` is the edge from corner i to corner i + 1, ``2 i + 1`` is corner i.
"""

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry import se2 as _se2
from pushwise.geometry.polygon import crosses_ray as _crosses_ray
from pushwise.geometry.se2 import SE2
from pushwise.typing import Array

__all__ = [
    "SE2",
    "feature_normal",
    "inside_polygon",
    "nearest_feature",
    "nearest_normals",
    "place",
    "rotate",
    "se2",
    "unplace",
    "unrotate",
]

se2 = compiled_part(_se2.se2)
rotate = compiled_part(_se2.rotate)
unrotate = compiled_part(_se2.unrotate)
place = compiled_part(_se2.place)
crosses_ray = compiled_part(_crosses_ray)


@compiled_part
def unplace(pose: SE2, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the fixed frame is in the moving one."""
    return unrotate(pose, x - pose.x, y - pose.y)


@compiled_part
def inside_polygon(x: float, y: float, px: Array, py: Array) -> bool:
    """Return whether a point lies in a polygon."""
    inside = False
    ax = px[px.size - 1] - x
    ay = py[px.size - 1] - y
    for i in range(px.size):
        bx = px[i] - x
        by = py[i] - y
        if crosses_ray(ax, ay, bx, by):
            inside = not inside
        ax = bx
        ay = by
    return inside


@compiled
def nearest_feature(x: float, y: float, px: Array, py: Array) -> tuple[int, float]:
    """Return the feature of a polygon nearest to a point, and its distance [m], negative inside."""
    best = np.inf
    feature = int(np.int64(-1))  # a literal would compile what it is passed to once more
    k = px.size
    last = k - 1  # corner a, where the edge to corner b begins
    ax = px[last] - x
    ay = py[last] - y
    for i in range(k):
        bx = px[i] - x
        by = py[i] - y
        ex = bx - ax
        ey = by - ay
        s = -(ax * ex + ay * ey)
        e2 = ex * ex + ey * ey
        if s <= 0.0:
            d2 = ax * ax + ay * ay
            if d2 < best:
                best = d2
                feature = 2 * last + 1
        elif s < e2:  # where b is nearest, the next edge sees it
            cross = ax * ey - ay * ex
            if cross * cross < best * e2:
                best = cross * cross / e2
                feature = 2 * last
        last = i
        ax = bx
        ay = by
    distance = np.sqrt(best)
    return feature, -distance if _beneath(feature, x, y, px, py) else distance


@compiled_part
def _beneath(feature: int, x: float, y: float, px: Array, py: Array) -> bool:
    """Return whether a point is on the inner side of the feature nearest to it.

    Of a corner both edges are asked: next to one that points outwards no point is beneath both,
    next to one that points inwards every point is beneath either.
    """
    i = feature // 2
    j = (i + 1) % px.size
    after = bool((px[j] - px[i]) * (y - py[i]) - (py[j] - py[i]) * (x - px[i]) > 0.0)
    if feature % 2 == 0:
        return after
    h = (i + px.size - 1) % px.size
    ax = px[i] - px[h]
    ay = py[i] - py[h]
    before = bool(ax * (y - py[i]) - ay * (x - px[i]) > 0.0)
    if before == after:
        return before
    return bool(ax * (py[j] - py[i]) - ay * (px[j] - px[i]) < 0.0)


@compiled
def feature_normal(
    feature: int, x: float, y: float, px: Array, py: Array
) -> tuple[float, float, float, float]:
    """Return distance, outward normal (2) and curvature of one feature as seen from a point."""
    i = feature // 2
    if feature % 2 == 1:
        dx = x - px[i]
        dy = y - py[i]
        d = np.hypot(dx, dy)
        if d == 0.0:  # a finger centred on a corner is inside the object: the caller refuses it
            return 0.0, 1.0, 0.0, 0.0
        return d, dx / d, dy / d, 1.0 / d
    j = (i + 1) % px.size
    ex = px[j] - px[i]
    ey = py[j] - py[i]
    length = np.hypot(ex, ey)
    nx = ey / length
    ny = -ex / length
    return nx * (x - px[i]) + ny * (y - py[i]), nx, ny, 0.0


@compiled
def nearest_normals(x: Array, y: Array, px: Array, py: Array, out: Array) -> None:
    """Fill in the distance of each of m points from a polygon [m] and the outward normal there.

    Args:
        x: Points [m], shape (m,).
        y: Likewise.
        px: The polygon.
        py: Likewise.
        out: Distance, negative inside, and normal (2) of each point, shape (3, m).

    """
    for i in range(x.size):
        feature, distance = nearest_feature(x[i], y[i], px, py)
        _, nx, ny, _ = feature_normal(feature, x[i], y[i], px, py)
        # From inside, a corner is seen against its normal.
        side = -1.0 if feature % 2 == 1 and distance < 0.0 else 1.0
        out[0, i] = distance
        out[1, i] = side * nx
        out[2, i] = side * ny
