"""Simple polygons: validity, area, distances, and which points are inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "contains",
    "crosses_ray",
    "outline_distance",
    "outline_distances",
    "placed",
    "signed_area",
    "simple_polygon",
]


def simple_polygon(name: str, value: ArrayLike) -> Array:
    """Return `value` as a simple polygon [m], shape (k, 2), counter-clockwise, read-only.

    A clockwise polygon is reversed, keeping its first corner. A polygon that repeats a corner,
    touches or crosses itself, or has no area is refused.
    """
    corners = finite_array(name, value, ("k", 2))
    k = len(corners)
    if k < 3:
        raise PushwiseError(f"{name} must have at least three corners; got {k}.")
    _refuse_repeated_corner(name, corners)
    area = signed_area(corners)
    # For corners on a straight line, rounding leaves an area of this order.
    extent = float(np.ptp(corners, axis=0).max())
    nothing = 1e-12 * extent * extent
    farthest = corners[np.argmax(np.sum((corners - corners[0]) ** 2, axis=1))]
    wide = np.abs(_cross(corners[0], farthest, corners)).max() > nothing
    if abs(area) <= nothing and not wide:
        raise PushwiseError(f"{name} must enclose an area; its {k} corners lie on one line.")
    _refuse_crossing(name, corners)  # such as a figure of eight, whose areas cancel
    if abs(area) <= nothing:
        raise PushwiseError(f"{name} must enclose an area.")
    if area < 0.0:
        corners = np.ascontiguousarray(np.roll(corners[::-1], 1, axis=0))
        corners.flags.writeable = False
    return corners


def signed_area(polygon: Array) -> float:
    """Return the area [m^2] of a polygon (k, 2); negative if it is clockwise."""
    # Relative to the first corner, so that a polygon far from the origin loses no digits.
    x, y = (polygon - polygon[0]).T
    return 0.5 * float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def crosses_ray(ax: float, ay: float, bx: float, by: float) -> bool:
    """Return whether the edge from a to b crosses the x axis to the right of the origin.

    A point lies in a polygon if an odd number of edges, seen from it, do. Takes floats or arrays;
    `geometry.compiled` has it for kernels.
    """
    cross = ax * (by - ay) - ay * (bx - ax)
    # It crosses at x = cross / (by - ay), which must be greater than zero: not on the edge itself.
    ahead = ((by > ay) & (cross > 0.0)) | ((by < ay) & (cross < 0.0))
    return ((ay > 0.0) != (by > 0.0)) & ahead


def contains(polygon: Array, points: Array) -> Flags:
    """Return which points [m], shape (n, 2), lie inside a polygon [m], shape (k, 2)."""
    inside = np.zeros(len(points), dtype=np.bool_)
    before = polygon[-1] - points
    for corner in polygon:
        after = corner - points
        inside ^= crosses_ray(before[:, 0], before[:, 1], after[:, 0], after[:, 1])
        before = after
    return inside


def placed(points: ArrayLike, pose: ArrayLike) -> Array:
    """Return points of the grid frame [m], shape (n, 2), in the table frame.

    For one pose (3,), or for poses (k, 3) with shape (k, n, 2).
    """
    points, pose = np.asarray(points, float), np.asarray(pose, float)
    cos, sin = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    turn = np.moveaxis(np.array([[cos, sin], [-sin, cos]]), (0, 1), (-2, -1))
    turned: Array = points @ turn + pose[..., None, :2]
    return turned


def outline_distance(outline: Array, point: Array) -> float:
    """Return the distance [m] of a point (2,) from a polygon (k, 2); negative inside."""
    return float(outline_distances(outline, point[None])[0])


def outline_distances(outline: Array, points: Array) -> Array:
    """Return the distances [m] of points (n, 2) from a polygon (k, 2), negative inside; (n,)."""
    edge = np.roll(outline, -1, axis=0) - outline
    away = points[:, None] - outline
    along = np.sum(away * edge, axis=-1) / np.sum(edge**2, axis=-1)
    nearest = outline + np.clip(along, 0.0, 1.0)[..., None] * edge
    apart = points[:, None] - nearest
    distances = np.hypot(apart[..., 0], apart[..., 1]).min(axis=1)
    signed: Array = np.where(contains(outline, points), -distances, distances)
    return signed


def _refuse_repeated_corner(name: str, corners: Array) -> None:
    """Raise when two corners coincide."""
    order = np.lexsort(corners.T)
    same = np.all(np.diff(corners[order], axis=0) == 0.0, axis=1)
    if same.any():
        at = int(np.argmax(same))
        i, j = sorted((int(order[at]), int(order[at + 1])))
        x, y = corners[i]
        raise PushwiseError(
            f"{name} must not repeat a corner; corners {i} and {j} are both ({x:g}, {y:g})."
        )


def _refuse_crossing(name: str, corners: Array) -> None:
    """Raise when two edges meet anywhere but at the corner they share."""
    k = len(corners)
    ends = np.roll(corners, -1, axis=0)
    low, high = np.minimum(corners, ends), np.maximum(corners, ends)
    # Sweep along x: edges can meet only if their x ranges overlap.
    order = np.argsort(low[:, 0], kind="stable")
    last = np.searchsorted(low[order, 0], high[order, 0], side="right")
    for at, i in enumerate(order.tolist()):
        others = order[at + 1 : last[at]]
        near = (low[others, 1] <= high[i, 1]) & (high[others, 1] >= low[i, 1])
        others = others[near]
        if not len(others):
            continue
        meets = _edges_meet(corners[i], ends[i], corners[others], ends[others])
        follows, leads = others == (i + 1) % k, others == (i - 1) % k
        # Neighbours always share a corner; they must not fold back on each other.
        meets[follows] &= _folds_back(corners[i], ends[i], ends[others[follows]])
        meets[leads] &= _folds_back(ends[i], corners[i], corners[others[leads]])
        if meets.any():
            a, b = sorted((i, int(others[np.argmax(meets)])))
            raise PushwiseError(
                f"{name} must not touch or cross itself; its edges {a} and {b} meet."
            )


def _cross(a: Array, b: Array, c: Array) -> Array:
    """Return twice the signed area of each triangle a, b, c."""
    ab, ac = b - a, c - a
    result: Array = ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0]
    return result


def _edges_meet(
    a: Array,
    b: Array,
    c: Array,
    d: Array,
) -> Flags:
    """Return whether edge a b and each edge c d, whose boxes overlap, share a point."""
    # Opposite or zero signs both ways mean that the edges cross or touch. If all four are zero,
    # the edges are collinear and meet because their boxes overlap.
    c_and_d = np.sign(_cross(a, b, c)) * np.sign(_cross(a, b, d)) <= 0.0
    a_and_b = np.sign(_cross(c, d, a)) * np.sign(_cross(c, d, b)) <= 0.0
    meet: Flags = c_and_d & a_and_b
    return meet


def _folds_back(far: Array, shared: Array, other: Array) -> Flags:
    """Return whether the edge from `shared` to `other` runs back over the one to `far`."""
    back = np.sum((far - shared) * (other - shared), axis=-1) > 0.0
    over: Flags = (_cross(far, shared, other) == 0.0) & back
    return over
