"""Where a simulated push may start: a pose that noise put under the finger is moved out of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import SimulationError
from pushwise.physics.advance import Body
from pushwise.physics.contact import feature_normal, nearest_feature
from pushwise.physics.rollout import Action, finger_at

__all__ = ["ClearStart", "clear_start"]

Array = NDArray[np.float64]


class ClearStart(NamedTuple):
    """A pose clear of the finger, and how it depends on what it was made from."""

    pose: Array  # (3,)
    normal: Array  # (2,) outward normal it was moved along; zero when it was not moved
    by_finger: Array  # (2, 2) derivative of its position in the finger's; zero when not moved
    by_angle: Array  # (2,) derivative of its position in the angle; zero when not moved


def clear_start(
    name: str,
    pose: Array,
    body: Body,
    action: Action,
    *,
    deepest: float | None = None,
    touching: bool = False,
) -> ClearStart:
    """Move an observed pose (3,) straight out of the finger.

    `name` is what an error calls the push; deepest: how far inside may be noise [m], half the
    finger's radius when not given; touching: whether to close a gap, too.
    """
    untouched = ClearStart(pose, np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    if action.t.size == 0:
        return untouched
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    turn = np.array([[cos, -sin], [sin, cos]])
    arm = np.array(finger_at(action, 0.0)) - pose[:2]
    q = turn.T @ arm
    feature, distance = nearest_feature(q[0], q[1], body.ox, body.oy)
    gap = distance - action.radius
    if gap >= 0.0 and not (touching and deepest is not None and gap < deepest):
        return untouched
    if deepest is None and gap < -0.5 * action.radius:
        raise SimulationError(
            f"{name}: the finger, radius {action.radius:g} m, starts {-gap * 1e3:.1f} mm inside "
            "the object as observed; more than half its radius cannot be noise."
        )
    if deepest is not None and gap < -deepest:
        raise SimulationError(
            f"{name}: the finger starts {-gap * 1e3:.1f} mm inside the object as observed; "
            f"more than {deepest * 1e3:g} mm is no matter of calibration."
        )
    _, nx, ny, curvature = feature_normal(feature, q[0], q[1], body.ox, body.oy)
    n = turn @ np.array([nx, ny])
    t = np.array([-n[1], n[0]])
    moved = np.array([pose[0] + gap * n[0], pose[1] + gap * n[1], pose[2]])
    by_finger = np.outer(n, n) + gap * curvature * np.outer(t, t)
    # Turning the object by an angle is turning the finger back about it, and then both.
    by_angle = gap * t - by_finger @ np.array([-arm[1], arm[0]])
    return ClearStart(moved, n, by_finger, by_angle)
