"""Solid bodies with a polygon as their base, for the page in the browser."""

from __future__ import annotations

import numpy as np

from pushwise.geometry.polygon import contains
from pushwise.typing import Array, Integers

__all__ = ["prism", "triangles"]


def prism(polygon: Array, low: float, high: float) -> tuple[Array, Integers]:
    """Return vertices (2 k, 3) [m] and faces (f, 3) of the body between two heights [m].

    polygon: simple, counter-clockwise, shape (k, 2) [m].
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

    By cutting off ears: corners whose triangle with both neighbours has no other corner inside.
    """
    left = list(range(len(polygon)))
    found = []
    while len(left) > 3:
        at = _ear(polygon, left)
        found.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    return np.array([*found, left], dtype=np.int64)


def _ear(polygon: Array, left: list[int]) -> int:
    """Return where in the list of remaining corners there is an ear; the fattest one."""
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
