"""Poses in the plane, SE(2): one description for numbers, for arrays and for compiled code.

Functions take floats or arrays of one shape; `geometry.compiled` has them for kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["SE2", "place", "rotate", "se2", "unplace", "unrotate"]


class SE2(NamedTuple):
    """A pose, with the cosine and sine of its angle: all that moving points takes."""

    x: float
    y: float
    cos: float
    sin: float


def se2(x: float, y: float, theta: float) -> SE2:
    """Return the pose at a position [m] and an angle [rad]."""
    return SE2(x=x, y=y, cos=np.cos(theta), sin=np.sin(theta))


def rotate(pose: SE2, x: float, y: float) -> tuple[float, float]:
    """Return a vector of the moving frame in the axes of the fixed one."""
    return pose.cos * x - pose.sin * y, pose.sin * x + pose.cos * y


def unrotate(pose: SE2, x: float, y: float) -> tuple[float, float]:
    """Return a vector of the fixed frame in the axes of the moving one."""
    return pose.cos * x + pose.sin * y, -pose.sin * x + pose.cos * y


def place(pose: SE2, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the moving frame is in the fixed one."""
    return pose.x + pose.cos * x - pose.sin * y, pose.y + pose.sin * x + pose.cos * y


def unplace(pose: SE2, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the fixed frame is in the moving one."""
    return unrotate(pose, x - pose.x, y - pose.y)
