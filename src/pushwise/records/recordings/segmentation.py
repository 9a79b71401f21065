"""The straight stretches of a finger's way: a push is one of them.

A `Push` is a straight line at a constant velocity. A finger led by a robot speeds up, slows down
and turns, so its way over time is divided at corners until each part is within a tolerance of its
chord, place by place and instant by instant (Ramer 1972, Douglas and Peucker 1973, with time).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pushwise.typing import Array

__all__ = ["fit_line", "straight_stretches"]


def straight_stretches(t: Array, place: Array, tolerance: float) -> list[tuple[int, int]]:
    """Divide a path (k, 2) [m] over times (k,) [s] into stretches of constant velocity.

    Returns the first and last sample of each; a stretch begins where the one before ends. The
    path is nowhere farther from a stretch's chord than `tolerance` [m].
    """
    corners = [0]
    todo = [(0, len(t) - 1)]
    while todo:
        first, last = todo.pop()
        if (corner := _farthest(t, place, first, last, tolerance)) is None:
            corners.append(last)
        else:
            # The nearer half is done first, so that corners come in order.
            todo += [(corner, last), (first, corner)]
    return _joined(t, place, corners, tolerance)


def fit_line(t: Array, place: Array) -> tuple[Array, Array]:
    """Return the place (2,) [m] at time 0 and the velocity (2,) [m/s] that fit a path best."""
    basis = np.column_stack([np.ones(len(t)), t])
    (start, velocity), *_ = np.linalg.lstsq(basis, place, rcond=None)
    return start, velocity


def _farthest(t: Array, place: Array, first: int, last: int, tolerance: float) -> int | None:
    """Return the sample farthest from the chord between two, None if all are near enough."""
    if last - first < 2:
        return None
    inside = slice(first + 1, last)
    share = (t[inside] - t[first]) / (t[last] - t[first])
    chord = place[first] + share[:, None] * (place[last] - place[first])
    stray = np.hypot(*(place[inside] - chord).T)
    worst = int(np.argmax(stray))
    return first + 1 + worst if stray[worst] > tolerance else None


def _joined(t: Array, place: Array, corners: list[int], tolerance: float) -> list[tuple[int, int]]:
    """Drop corners that turn out not to be needed once all are known."""
    kept = [corners[0]]
    for here, after in pairwise(corners[1:]):
        if _farthest(t, place, kept[-1], after, tolerance) is not None:
            kept.append(here)
    kept.append(corners[-1])
    return list(pairwise(kept))
