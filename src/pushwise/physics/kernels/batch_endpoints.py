"""Where pushes start and end: a start moved out of the finger, and many ends in one call.

The ends are for searches that ask thousands of times; their physics is that of `rollout`.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import SE2, feature_normal, nearest_feature, rotate, unplace
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE, Action, Clock, finger_at, roll
from pushwise.physics.kernels.substep import State, pose_of
from pushwise.typing import Array


class FingerGap(NamedTuple):
    """How far a finger is from the object at the start of a push, and in which direction."""

    gap: float  # [m]; negative inside
    nx: float  # outward normal of the outline, table axes
    ny: float
    curvature: float  # of the outline's normal [1/m]
    arm_x: float  # from the grid origin to the finger, table axes [m]
    arm_y: float


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
def finger_gap(body: Body, action: Action, at: SE2) -> FingerGap:
    """Return how a finger at time zero meets an object at a pose."""
    x, y = finger_at(action, 0.0)
    qx, qy = unplace(at, x, y)
    feature, distance = nearest_feature(qx, qy, body.ox, body.oy)
    _, nx, ny, curvature = feature_normal(feature, qx, qy, body.ox, body.oy)
    nx, ny = rotate(at, nx, ny)
    return FingerGap(
        gap=distance - action.radius,
        nx=nx,
        ny=ny,
        curvature=curvature,
        arm_x=x - at.x,
        arm_y=y - at.y,
    )


@compiled_part
def at_rest(x: float, y: float, th: float) -> State:
    """Return the state of an object at rest at a pose."""
    return State(x=x, y=y, th=th, vx=0.0, vy=0.0, w=0.0, mode=SEPARATE, first=-1, second=-1)


@compiled_part
def _straight(fingers: Fingers, i: int) -> Action:
    """Return push i as an action."""
    t = np.empty(2)
    x = np.empty(2)
    y = np.empty(2)
    t[0] = fingers.first[i]
    t[1] = fingers.last[i]
    x[0] = fingers.begin[i, 0]
    x[1] = fingers.end[i, 0]
    y[0] = fingers.begin[i, 1]
    y[1] = fingers.end[i, 1]
    return Action(
        t=t,
        x=x,
        y=y,
        radius=fingers.radius,
        mu=fingers.mu,
        height=fingers.height,
        cell_x=0.0,
        cell_y=0.0,
        force_x=0.0,
        force_y=0.0,
        duration=fingers.last[i],
    )


@compiled
def roll_ends(body: Body, ground: Ground, fingers: Fingers, pose: Array, out: Array) -> bool:
    """Simulate pushes from poses (k, 3) and fill in their last poses (k, 3).

    A start that noise put under the finger is moved out of it. False when a finger starts too deep
    inside, or the model cannot follow a push.
    """
    for i in range(len(pose)):
        action = _straight(fingers, i)
        s = at_rest(pose[i, 0], pose[i, 1], pose[i, 2])
        met = finger_gap(body, action, pose_of(s))
        if met.gap < -fingers.deepest:
            return False
        if met.gap < 0.0 or (fingers.touching and met.gap < fingers.deepest):
            s = at_rest(s.x + met.gap * met.nx, s.y + met.gap * met.ny, s.th)
        ending, track = roll(
            body, ground, action, s, Clock(dt=fingers.dt[i], until=fingers.until[i], settle=False)
        )
        if ending != DONE:
            return False
        last = len(track.t) - 1
        for j in range(3):
            out[i, j] = track.pose[last, j]
    return True
