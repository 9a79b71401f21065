"""Segmentation of a finger's path into straight stretches, the candidates for pushes.

A `Push` is a straight line at constant velocity. A finger moved by a robot speeds up, slows down
and turns, so its path over time is split at corners until each part is within a tolerance of its
chord at every instant (Ramer 1972, Douglas and Peucker 1973, with time).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pushwise.typing import Array

__all__ = ["fit_line", "straight_stretches"]


def straight_stretches(t: Array, place: Array, tolerance: float) -> list[tuple[int, int]]:
    """Split a path into stretches of constant velocity.

    Args:
        t: Times [s], shape (k,).
        place: Positions [m], shape (k, 2).
        tolerance: How far the path may be from the chord of a stretch [m].

    Returns:
        First and last sample of each stretch; a stretch begins where the previous one ends.

    """
    corners = [0]
    todo = [(0, len(t) - 1)]
    while todo:
        first, last = todo.pop()
        if (corner := _farthest(t, place, first, last, tolerance)) is None:
            corners.append(last)
        else:
            # The earlier half is split first, so that corners come in order.
            todo += [(corner, last), (first, corner)]
    return _joined(t, place, corners, tolerance)


def fit_line(t: Array, place: Array) -> tuple[Array, Array]:
    """Return the position (2,) [m] at time 0 and the velocity (2,) [m/s] that fit a path best."""
    basis = np.column_stack([np.ones(len(t)), t])
    (start, velocity), *_ = np.linalg.lstsq(basis, place, rcond=None)
    return start, velocity


def _farthest(t: Array, place: Array, first: int, last: int, tolerance: float) -> int | None:
    """Return the sample farthest from a chord, None if all are within the tolerance."""
    if last - first < 2:
        return None
    inside = slice(first + 1, last)
    share = (t[inside] - t[first]) / (t[last] - t[first])
    chord = place[first] + share[:, None] * (place[last] - place[first])
    stray = np.hypot(*(place[inside] - chord).T)
    worst = int(np.argmax(stray))
    return first + 1 + worst if stray[worst] > tolerance else None


def _joined(t: Array, place: Array, corners: list[int], tolerance: float) -> list[tuple[int, int]]:
    """Drop corners that are not needed once all are known."""
    kept = [corners[0]]
    for here, after in pairwise(corners[1:]):
        if _farthest(t, place, kept[-1], after, tolerance) is not None:
            kept.append(here)
    kept.append(corners[-1])
    return list(pairwise(kept))
