"""`Arrow`: a push as it is set with an arrow: where, in which direction, how far and how fast."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.typing import Array

__all__ = ["Arrow"]

_CLEAR = 0.003  # m between finger and outline at the start
_SLANT = np.radians(70.0)  # beyond it, the finger would pass by
_LENGTHS = (0.005, 0.4)  # m


@dataclass(frozen=True)
class Arrow:
    """A push against an outline, seen from the object."""

    place: float
    """Where the finger touches: the distance along the outline from its first corner [m]."""
    slant: float = 0.0
    """Angle between the push and the outline's normal there [rad]."""
    length: float = 0.1
    """How far the finger moves after it touches [m]."""
    speed: float = 0.1
    """How fast it moves [m/s]."""

    def contact(self, outline: Array) -> tuple[Array, Array]:
        """Return the point touched [m] and the outward normal there, shape (2,) each."""
        edge = np.roll(outline, -1, axis=0) - outline
        lengths = np.hypot(*edge.T)
        ends = np.cumsum(lengths)
        at = self.place % ends[-1]
        i = min(int(np.searchsorted(ends, at, side="right")), len(outline) - 1)
        along = edge[i] / lengths[i]
        point = outline[i] + (at - ends[i] + lengths[i]) * along
        return point, np.array([along[1], -along[0]])

    def push(self, outline: Array, pose: Array, radius: float) -> Push:
        """Return the push of an object at a pose.

        Args:
            outline: The object's outline [m], shape (k, 2), counter-clockwise.
            pose: Its pose [m, m, rad], shape (3,).
            radius: The finger's radius [m].

        """
        point, normal = self.contact(placed(outline, pose))
        cos, sin = np.cos(self.slant), np.sin(self.slant)
        along = -np.array([cos * normal[0] - sin * normal[1], sin * normal[0] + cos * normal[1]])
        # The finger starts where it clears the outline by a little, along its own path.
        start = point + radius * normal - _CLEAR / cos * along
        return Push.line(start, self.speed * along, (self.length + _CLEAR / cos) / self.speed)

    def moved_to(self, outline: Array, point: Array) -> Arrow:
        """Return the same push at the point of an outline (k, 2) nearest to a point (2,) [m]."""
        edge = np.roll(outline, -1, axis=0) - outline
        square = np.sum(edge**2, axis=1)
        share = np.clip(np.sum((point - outline) * edge, axis=1) / square, 0.0, 1.0)
        nearest = outline + share[:, None] * edge
        i = int(np.argmin(np.hypot(*(point - nearest).T)))
        lengths = np.sqrt(square)
        return replace(self, place=float(lengths[:i].sum() + share[i] * lengths[i]))

    def aimed_at(self, outline: Array, radius: float, tip: Array) -> Arrow:
        """Return the push at the same place that ends with the finger's centre at a point (2,)."""
        point, normal = self.contact(outline)
        arm = tip - point - radius * normal
        inward, across = -float(arm @ normal), float(arm @ [normal[1], -normal[0]])
        slant = float(np.clip(np.arctan2(across, max(inward, 1e-9)), -_SLANT, _SLANT))
        return replace(self, slant=slant, length=float(np.clip(np.hypot(*arm), *_LENGTHS)))
