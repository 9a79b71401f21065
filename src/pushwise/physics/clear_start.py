"""A pose that noise put under the finger, moved out of it, and how that depends on either."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.typing import Array

__all__ = ["ClearStart", "FingerGap"]


class FingerGap(NamedTuple):
    """How far a finger is from the object, and in which direction."""

    gap: float  # [m]; negative inside
    normal: tuple[float, float]  # outward normal of the outline, table axes
    curvature: float  # of the outline's normal [1/m]


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
