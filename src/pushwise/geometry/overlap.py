"""How much of one place of an object another place of it covers, for many pairs of poses.

An object is a sum of convex parts with a sign: rectangles it is made of, or the triangles of a fan,
of which those that lie outside count negatively. The area that two such sums share is the sum over
all pairs of parts, each of which is clipped by the other (Sutherland and Hodgman).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.polygon import signed_area
from pushwise.typing import Array

__all__ = ["ConvexParts", "convex_parts", "fan", "overlap"]

_CORNERS = 4  # of a part; a triangle has its last corner twice


class ConvexParts(NamedTuple):
    """An object as convex parts, counter-clockwise."""

    corners: Array  # [m] in the frame of the object, shape (p, 4, 2)
    signs: Array  # 1 or -1, shape (p,)
    area: float  # of all of them together [m^2]


def convex_parts(corners: Array, signs: Array) -> ConvexParts:
    """Return parts of shape (p, 4, 2) with signs (p,) as one object."""
    return ConvexParts(corners, signs, float(signs @ [signed_area(part) for part in corners]))


def fan(outline: Array) -> ConvexParts:
    """Return a simple polygon [m], shape (k, 2), as triangles from its first corner."""
    corners, signs = [], []
    for a, b in pairwise(outline[1:]):
        triangle = np.stack([outline[0], a, b])
        sign = np.sign(signed_area(triangle))
        if sign != 0.0:
            ordered = triangle if sign > 0.0 else triangle[::-1]
            corners.append(np.concatenate([ordered, ordered[-1:]]))
            signs.append(sign)
    return convex_parts(np.array(corners), np.array(signs))


def overlap(parts: ConvexParts, poses: Array, goals: Array) -> Array:
    """Return the share of an object's area at goals (B, 3) that it covers from poses (B, 3)."""
    found = np.empty(len(poses))
    room = np.empty((2, 4 * _CORNERS, 2))
    _overlap(parts.corners, parts.signs, np.array(poses), np.array(goals), room, found)
    return found / parts.area


@compiled
def _overlap(
    corners: Array, signs: Array, poses: Array, goals: Array, room: Array, found: Array
) -> None:
    """Fill in the area that an object at poses (B, 3) shares with itself at goals (B, 3)."""
    for i in range(len(poses)):
        cos = np.cos(goals[i, 2])
        sin = np.sin(goals[i, 2])
        dx = poses[i, 0] - goals[i, 0]
        dy = poses[i, 1] - goals[i, 1]
        x = cos * dx + sin * dy
        y = cos * dy - sin * dx
        turn = poses[i, 2] - goals[i, 2]
        total = 0.0
        for p in range(len(corners)):
            for q in range(len(corners)):
                for k in range(4):
                    px = corners[p, k, 0]
                    py = corners[p, k, 1]
                    room[0, k, 0] = x + np.cos(turn) * px - np.sin(turn) * py
                    room[0, k, 1] = y + np.sin(turn) * px + np.cos(turn) * py
                total += signs[p] * signs[q] * _clipped_area(corners, q, room)
        found[i] = total


@compiled_part
def _clipped_area(corners: Array, q: int, room: Array) -> float:
    """Return the area of the polygon in room[0], four corners, inside part q."""
    count = 4
    at = 0
    for k in range(4):
        ax = corners[q, k, 0]
        ay = corners[q, k, 1]
        ex = corners[q, (k + 1) % 4, 0] - ax
        ey = corners[q, (k + 1) % 4, 1] - ay
        if ex == 0.0 and ey == 0.0:
            continue
        kept = 0
        for j in range(count):
            n = (j + 1) % count
            here = ex * (room[at, j, 1] - ay) - ey * (room[at, j, 0] - ax)
            there = ex * (room[at, n, 1] - ay) - ey * (room[at, n, 0] - ax)
            if here >= 0.0:
                room[1 - at, kept, 0] = room[at, j, 0]
                room[1 - at, kept, 1] = room[at, j, 1]
                kept += 1
            if (here > 0.0 and there < 0.0) or (here < 0.0 and there > 0.0):
                share = here / (here - there)
                room[1 - at, kept, 0] = room[at, j, 0] + share * (room[at, n, 0] - room[at, j, 0])
                room[1 - at, kept, 1] = room[at, j, 1] + share * (room[at, n, 1] - room[at, j, 1])
                kept += 1
        at = 1 - at
        count = kept
        if count < 3:
            return 0.0
    twice = 0.0
    for j in range(count):
        n = (j + 1) % count
        twice += room[at, j, 0] * room[at, n, 1] - room[at, n, 0] * room[at, j, 1]
    return 0.5 * twice
