"""`ContactRoutes`: how long the finger takes from one contact to another around the object.

An estimate for searches, which ask thousands of times: from the contact straight to the convex hull
of the outline, around it, and in again. `approach` finds the path that is taken.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.typing import Array

__all__ = ["APPROACH_SPEED", "ContactRoutes"]

APPROACH_SPEED = 0.3
"""Speed of a finger that touches nothing [m/s]."""


class ContactRoutes:
    """Times between contacts around the convex hull of an outline."""

    def __init__(self, outline: Array, contacts: Array) -> None:
        """Prepare for an outline (k, 2) and contacts (C, 2) [m]."""
        self._ring = outline[ConvexHull(outline).vertices]
        side = np.roll(self._ring, -1, axis=0) - self._ring
        self._side = side
        self._lengths = np.hypot(*side.T)
        self._begins = np.concatenate([[0.0], np.cumsum(self._lengths)[:-1]])
        self._along, self._depth = self._projected(contacts)
        self.between = self._times(self._along, self._depth)
        """Times from each contact to each other [s], shape (C, C)."""

    def from_place(self, place: Array) -> Array:
        """Return the times from a place (2,) to the contacts [s], shape (C,)."""
        along, depth = self._projected(place[None])
        times: Array = self._times(along, depth)[0]
        return times

    def _projected(self, points: Array) -> tuple[Array, Array]:
        """Return where along the hull points (n, 2) are nearest, and how far off it, (n,) each."""
        away = points[:, None] - self._ring
        share = np.sum(away * self._side, axis=-1) / self._lengths**2
        share = np.clip(share, 0.0, 1.0)
        apart = np.hypot(*np.moveaxis(away - share[..., None] * self._side, -1, 0))
        nearest = np.argmin(apart, axis=1)
        rows = np.arange(len(points))
        along = self._begins[nearest] + share[rows, nearest] * self._lengths[nearest]
        return along, apart[rows, nearest]

    def _times(self, along: Array, depth: Array) -> Array:
        """Return times from places given along the hull to the contacts [s], shape (n, C)."""
        around = np.abs(along[:, None] - self._along)
        around = np.minimum(around, self._lengths.sum() - around)
        times: Array = (around + depth[:, None] + self._depth) / APPROACH_SPEED
        return times
