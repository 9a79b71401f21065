"""Where pushes end, many in one compiled call: for searches that ask thousands of times.

The physics is that of `rollout`; only the friction points are free to lie anywhere, and a start
that noise put under the finger is moved out of it as in `start`.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.kernels.contact import feature_normal, nearest_feature
from pushwise.physics.kernels.rollout import DONE, Action, finger_at, roll
from pushwise.physics.kernels.substep import Body
from pushwise.physics.kernels.support import Ground
from pushwise.typing import Array

__all__ = ["Fingers", "roll_ends"]


class Fingers(NamedTuple):
    """Straight pushes by one finger, k of them, each with its own clock."""

    begin: Array  # finger's centre at `first` [m], shape (k, 2)
    end: Array  # at `last` [m], shape (k, 2)
    first: Array  # when the finger starts [s], shape (k,): zero or before
    last: Array  # when it stops [s], shape (k,)
    until: Array  # end of the simulation [s], shape (k,)
    dt: Array  # time step [s], shape (k,)
    radius: float
    mu: float
    height: float  # of the contact above the table [m]
    deepest: float  # how far inside the object a finger may start [m]
    touching: bool  # whether a gap at the start is closed, too, if not larger than that


@compiled
def roll_ends(body: Body, ground: Ground, fingers: Fingers, pose: Array, out: Array) -> bool:
    """Simulate pushes from poses (k, 3) and fill in their last poses (k, 3).

    False when a finger starts too deep inside, or the model cannot follow a push.
    """
    for i in range(len(pose)):
        action = Action(
            np.array([fingers.first[i], fingers.last[i]]),
            np.array([fingers.begin[i, 0], fingers.end[i, 0]]),
            np.array([fingers.begin[i, 1], fingers.end[i, 1]]),
            fingers.radius,
            fingers.mu,
            fingers.height,
            0.0,
            0.0,
            0.0,
            0.0,
            fingers.last[i],
        )
        at = pose[i].copy()
        x, y = finger_at(action, 0.0)
        cos = np.cos(at[2])
        sin = np.sin(at[2])
        qx = cos * (x - at[0]) + sin * (y - at[1])
        qy = -sin * (x - at[0]) + cos * (y - at[1])
        feature, distance = nearest_feature(qx, qy, body.ox, body.oy)
        gap = distance - fingers.radius
        if gap < -fingers.deepest:
            return False
        if gap < 0.0 or (fingers.touching and gap < fingers.deepest):
            _, nx, ny, _ = feature_normal(feature, qx, qy, body.ox, body.oy)
            at[0] += gap * (cos * nx - sin * ny)
            at[1] += gap * (sin * nx + cos * ny)
        ending, steps, track = roll(
            body, ground, action, at, np.zeros(3), fingers.dt[i], fingers.until[i], False, None
        )
        if ending != DONE:
            return False
        out[i] = track.pose[steps]
    return True
