"""How much of an object at one pose it covers at another, for many pairs of poses.

An object is a sum of convex parts with a sign: the rectangles it is made of, or the triangles of a
fan, where those outside the object count negatively. The area that two such sums share is the sum
over all pairs of parts, one clipped by the other (Sutherland and Hodgman).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import SE2, place, se2, unplace
from pushwise.geometry.polygon import signed_area
from pushwise.typing import Array, Integers

__all__ = [
    "ConvexParts",
    "Covered",
    "convex_parts",
    "fan",
    "new_covered",
    "overlap",
    "update_covered",
]

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


class Covered(NamedTuple):
    """How much of their goals B objects cover, and where they were when that was computed."""

    places: Array  # pose and goal of each [m, m, rad], shape (B, 6); nan before the first time
    shares: Array  # shape (B,)


def new_covered(size: int) -> Covered:
    """Return room for the shares of some objects, none of them known yet."""
    return Covered(np.full((size, 6), np.nan), np.zeros(size))


def overlap(parts: ConvexParts, poses: Array, goals: Array) -> Array:
    """Return the share of an object's area at goals (B, 3) that it covers from poses (B, 3)."""
    covered = new_covered(len(poses))
    update_covered(parts, np.arange(len(poses)), np.hstack([poses, goals]), covered)
    return covered.shares


def update_covered(parts: ConvexParts, of: Integers, places: Array, covered: Covered) -> None:
    """Find what some objects cover, unless they and their goals are where they were.

    Args:
        parts: the object, the same for all of them.
        of: which of the objects, shape (n,).
        places: poses and goals of all objects [m, m, rad], shape (B, 6).
        covered: of all objects, to be updated.

    """
    _update(parts, of, places, covered, np.empty((2, 4 * _CORNERS, 2)))


@compiled
def _update(parts: ConvexParts, of: Integers, places: Array, covered: Covered, room: Array) -> None:
    """Fill in what some objects cover where their places have changed."""
    for n in range(of.size):
        i = of[n]
        same = True
        for k in range(6):
            same = same and places[i, k] == covered.places[i, k]
        if same:
            continue
        for k in range(6):
            covered.places[i, k] = places[i, k]
        goal = se2(places[i, 3], places[i, 4], places[i, 5])
        x, y = unplace(goal, places[i, 0], places[i, 1])
        turn = places[i, 2] - places[i, 5]
        covered.shares[i] = _shared_area(parts, se2(x, y, turn), room) / parts.area


@compiled_part
def _shared_area(parts: ConvexParts, at: SE2, room: Array) -> float:
    """Return the area that an object at a pose shares with itself at the origin."""
    total = 0.0
    for p in range(len(parts.corners)):
        for q in range(len(parts.corners)):
            for k in range(4):
                x, y = place(at, parts.corners[p, k, 0], parts.corners[p, k, 1])
                room[0, k, 0] = x
                room[0, k, 1] = y
            total += parts.signs[p] * parts.signs[q] * _clipped_area(parts.corners, q, room)
    return total


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
