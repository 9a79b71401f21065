"""A pose that noise put under the finger, moved out of it, and how that depends on either."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.geometry.se2 import SE2, rotate, unrotate
from pushwise.typing import Array

__all__ = ["ClearStart", "FingerGap", "gap_at"]


class FingerGap(NamedTuple):
    """How far a finger is from the object, and in which direction."""

    gap: float  # [m]; negative inside
    normal: tuple[float, float]  # outward normal of the outline, table axes
    curvature: float  # of the outline's normal [1/m]


def gap_at(outline: tuple[Array, Array], at: SE2, x: float, y: float, radius: float) -> FingerGap:
    """Return how a finger at a point of the table [m] meets an object at a pose.

    The outline is its corners' x and y [m], grid frame, shape (k,) each.
    """
    q = unrotate(at, x - at.x, y - at.y)
    feature, distance = nearest_feature(*q, *outline)
    _, nx, ny, curvature = feature_normal(feature, *q, *outline)
    # From inside, a corner is seen against its normal.
    side = -1.0 if feature % 2 == 1 and distance < 0.0 else 1.0
    return FingerGap(distance - radius, rotate(at, side * nx, side * ny), side * curvature)


class ClearStart(NamedTuple):
    """A pose clear of the finger, and how it depends on what it was made from."""

    pose: Array  # (3,)
    by_radius: Array  # (2,) derivative of its position in the finger's radius; zero when not moved
    by_finger: Array  # (2, 2) derivative of its position in the finger's; zero when not moved
    by_angle: Array  # (2,) derivative of its position in the angle; zero when not moved

    def moved(self, met: FingerGap, x: float, y: float) -> ClearStart:
        """Return the pose moved straight away from a finger at (x, y), so that it touches."""
        n = np.array(met.normal)
        t = np.array([-n[1], n[0]])
        pose = np.append(self.pose[:2] + met.gap * n, self.pose[2])
        by_finger = np.outer(n, n) + met.gap * met.curvature * np.outer(t, t)
        # Turning the object by an angle is turning the finger back about it, and then both.
        by_angle = met.gap * t - by_finger @ np.array([self.pose[1] - y, x - self.pose[0]])
        rest = np.eye(2) - by_finger
        return ClearStart(
            pose,
            rest @ self.by_radius - n,
            rest @ self.by_finger + by_finger,
            rest @ self.by_angle + by_angle,
        )
