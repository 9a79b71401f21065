"""Meshes and lines of the viewer: solids of polygons, loops, and where a camera should stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.geometry.polygon import contains
from pushwise.typing import Array, Integers

__all__ = ["CUBE", "CUBE_FACES", "Viewpoint", "fan", "loop", "prism", "triangles", "wxyz"]


CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
"""Corners of a cube with sides of 1, shape (8, 3)."""

CUBE_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)
"""Its faces, shape (12, 3)."""

_VIEW = np.radians(40.0)  # the camera's vertical field of view
_SHEET = 0.45  # of the height of a narrow screen that the panel covers, from below
_NARROW = 0.8  # width over height
_ROOM = 1.3  # around what is shown


class Viewpoint(NamedTuple):
    """Where a camera stands and what it looks at [m], and its field of view [rad]."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    fov: float

    @classmethod
    def showing(cls, points: Array, *, above: bool, aspect: float) -> Viewpoint:
        """Return a camera that shows points (k, 2) of the table, from above or at a slant.

        Args:
            points: The points [m].
            above: Whether to look straight down.
            aspect: Width of the picture over its height. On a narrow screen, what is shown is moved
                above the panel.

        """
        low, high = points.min(axis=0), points.max(axis=0)
        middle = np.append(0.5 * (low + high), 0.0)
        down = np.radians(89.9 if above else 50.0)
        forward = np.array([0.0, np.cos(down), -np.sin(down)])
        up = np.array([0.0, np.sin(down), np.cos(down)])
        free = 1.0 - _SHEET if aspect < _NARROW else 1.0
        width, depth = (high - low).tolist()
        tall = max(depth * np.sin(down) / free, width / aspect) * _ROOM
        far = 0.5 * tall / np.tan(0.5 * _VIEW) + 0.5 * depth * np.cos(down)
        target = middle - 0.5 * (1.0 - free) * tall * up
        return cls(tuple((target - far * forward).tolist()), tuple(target.tolist()), float(_VIEW))


def wxyz(theta: float) -> tuple[float, float, float, float]:
    """Return a rotation about z [rad] as a quaternion."""
    return (float(np.cos(0.5 * theta)), 0.0, 0.0, float(np.sin(0.5 * theta)))


def loop(polygon: Array, height: float) -> Array:
    """Return the sides of a polygon (k, 2) at a height [m] as line segments, shape (k, 2, 3)."""
    points = np.column_stack([polygon, np.full(len(polygon), height)])
    return np.stack([points, np.roll(points, -1, axis=0)], axis=1)


def fan(polygon: Array, height: float) -> tuple[Array, Integers]:
    """Return the mesh of a flat convex polygon (k, 2) at a height [m]: vertices and faces."""
    vertices = np.column_stack([polygon, np.full(len(polygon), height)])
    i = np.arange(1, len(polygon) - 1)
    return vertices, np.column_stack([np.zeros_like(i), i, i + 1])


def prism(polygon: Array, low: float, high: float) -> tuple[Array, Integers]:
    """Return the mesh of a solid with a polygon as its base.

    Args:
        polygon: Its base [m], simple and counter-clockwise, shape (k, 2).
        low: Height of its bottom [m].
        high: Height of its top [m].

    Returns:
        Vertices [m], shape (2 k, 3), and faces, shape (f, 3).

    """
    k = len(polygon)
    vertices = np.vstack([np.column_stack([polygon, np.full(k, height)]) for height in (low, high)])
    cap = triangles(polygon)
    i = np.arange(k)
    j = np.roll(i, -1)
    sides = np.vstack([np.column_stack([i, j, j + k]), np.column_stack([i, j + k, i + k])])
    return vertices, np.vstack([cap[:, ::-1], cap + k, sides])


def triangles(polygon: Array) -> Integers:
    """Divide a simple, counter-clockwise polygon (k, 2) into triangles (k - 2, 3) of its corners.

    Ears are cut off: corners whose triangle with both neighbours contains no other corner.
    """
    left = list(range(len(polygon)))
    found = []
    while len(left) > 3:
        at = _ear(polygon, left)
        found.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    return np.array([*found, left], dtype=np.int64)


def _ear(polygon: Array, left: list[int]) -> int:
    """Return the index of the largest ear in the list of remaining corners."""
    corners = polygon[left]
    before, after = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
    (ux, uy), (vx, vy) = (corners - before).T, (after - before).T
    area = ux * vy - uy * vx
    reflex = area <= 0.0
    for at in np.argsort(-area).tolist():
        around = np.array([before[at], corners[at], after[at]])
        others = reflex.copy()
        others[[at - 1, at, (at + 1) % len(left)]] = False
        if not contains(around, corners[others]).any():
            return int(at)
    # Every simple polygon has an ear (Meisters 1975); rounding may hide it.
    return int(np.argmax(area))
