"""The parts of an object that overhang the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.geometry.polygon import placed
from pushwise.typing import Array

__all__ = ["Overhang", "overhangs"]


@dataclass(frozen=True)
class Overhang:
    """A connected part of an object beyond an edge of the table."""

    edge: int
    """Number of the edge: from this corner of the table's polygon to the next."""
    depth: float
    """How far it extends beyond the edge [m]."""
    width: float
    """Its width along the edge, anywhere beyond it [m]."""
    begin: float
    """Where it begins along the edge [m], from the edge's first corner."""


def overhangs(
    outline: Array, table: Array, pose: Array, *, edges: Sequence[int] | None = None
) -> list[Overhang]:
    """Return the parts of an outline (k, 2) at a pose (3,) beyond edges of a table (c, 2).

    Both run counter-clockwise. A part counts for an edge when it lies beyond the line through
    the edge and crosses it between the edge's ends.
    """
    corners = placed(outline, pose)
    found = []
    for edge in range(len(table)) if edges is None else edges:
        a, b = table[edge], table[(edge + 1) % len(table)]
        length = float(np.hypot(*(b - a)))
        t = (b - a) / length
        depth = (corners - a) @ np.array([t[1], -t[0]])
        along = (corners - a) @ t
        found += _beyond(edge, depth, along, length)
    return found


def _beyond(edge: int, depth: Array, along: Array, length: float) -> list[Overhang]:
    """Return the parts beyond one edge.

    Args:
        edge: Its number.
        depth: Distance of the outline's corners beyond the edge [m], shape (k,).
        along: Their position along it [m], shape (k,).
        length: Length of the edge [m].

    """
    out = depth > 0.0
    k = len(out)
    found = []
    for leaves in np.flatnonzero(~out & np.roll(out, -1)).tolist():
        run = [(leaves + 1) % k]
        while out[(run[-1] + 1) % k]:
            run.append((run[-1] + 1) % k)
        left = _crossing(depth, along, leaves, run[0])
        back = _crossing(depth, along, run[-1], (run[-1] + 1) % k)
        # Seen from outside, the outline of solid matter runs along the edge; that of a notch runs
        # back.
        if back <= left or left < 0.0 or back > length:
            continue
        low = min(left, float(along[run].min()))
        high = max(back, float(along[run].max()))
        found.append(Overhang(edge, float(depth[run].max()), high - low, left))
    return found


def _crossing(depth: Array, along: Array, i: int, j: int) -> float:
    """Return where along the edge the outline crosses it between corners i and j."""
    share = depth[i] / (depth[i] - depth[j])
    return float(along[i] + share * (along[j] - along[i]))
