"""From sampled positions of a finger to a `Push` with few knots."""

from __future__ import annotations

import numpy as np

from pushwise.physics.push import Push
from pushwise.typing import Array, Integers

__all__ = ["TOLERANCE", "kept_up_speed", "path_through", "rest_at_start"]

_KEPT_UP = 0.05  # s; a speed that a finger has for less than this is jitter of its path

TOLERANCE = 2e-4
"""How far the path may be from a sample [m]: jitter of a robot, not a bend that it made."""


def path_through(t: Array, positions: Array, *, raised: bool = False) -> Push:
    """Return the path of a finger, with knots at those samples that it needs.

    At every sample the path is within `TOLERANCE` of the finger. A straight motion at constant
    velocity has two knots, and a rest at the end none, because a push rests when it is over.

    Args:
        t: Times of the samples [s], increasing, shape (T,); the push starts at the first.
        positions: The finger's centre then [m], shape (T, 2).
        raised: Whether the finger is raised after the last sample.

    """
    knots = _knots(t, positions)
    # A finger that is raised after a rest is there until then.
    while len(knots) > 2 and not raised and _rests(positions[knots[-2] :]):
        knots = knots[:-1]
    return Push(t[knots] - t[0], positions[knots], raised=raised)


def rest_at_start(t: Array, positions: Array) -> int:
    """Return the last sample before a finger sets out; 0 if it moves from the first one on.

    Also 0 for a finger that never moves. Arguments as for `path_through`.
    """
    first = int(_knots(t, positions)[1])
    waits = first < len(t) - 1 and _rests(positions[: first + 1])
    return first if waits else 0


def kept_up_speed(push: Push) -> float:
    """Return the greatest speed that a finger keeps up [m/s]; the jitter of its path is none."""
    window = min(_KEPT_UP, push.duration)
    ends = np.concatenate([push.times, push.times + window]).clip(window, push.duration)
    return float(np.hypot(*(push.at(ends) - push.at(ends - window)).T).max()) / window


def _knots(t: Array, positions: Array) -> Integers:
    """Return the samples between which the finger moves in straight lines at constant speed.

    This is the scheme of Douglas and Peucker, with distances between positions at the same time: a
    finger that slows down on a straight line needs a knot, too. Where the samples are those of a
    piecewise linear path, the farthest one is at a bend, so that bends are found exactly.
    """
    kept = np.zeros(len(t), bool)
    kept[[0, -1]] = True
    spans = [(0, len(t) - 1)]
    while spans:
        a, b = spans.pop()
        if b - a < 2:
            continue
        share = ((t[a + 1 : b] - t[a]) / (t[b] - t[a]))[:, None]
        line = positions[a] + share * (positions[b] - positions[a])
        off = np.hypot(*(positions[a + 1 : b] - line).T)
        farthest = int(np.argmax(off))
        if off[farthest] > TOLERANCE:
            bend = a + 1 + farthest
            kept[bend] = True
            spans += [(a, bend), (bend, b)]
    return np.flatnonzero(kept)


def _rests(positions: Array) -> bool:
    """Return whether a finger stays at the first of some positions (k, 2)."""
    return bool((np.hypot(*(positions - positions[0]).T) <= TOLERANCE).all())
