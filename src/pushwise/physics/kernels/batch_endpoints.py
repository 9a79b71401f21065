"""Where many pushes end, in one call: for searches that ask thousands of times.

The physics is that of `rollout`.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE, Action, Clock, Work, new_work, roll
from pushwise.physics.kernels.substep import State
from pushwise.physics.kernels.track import Track, new_track
from pushwise.typing import Array


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


class EndsWork(NamedTuple):
    """What the pushes fill again and again: a finger's two knots, and a track."""

    t: Array  # (2,)
    x: Array  # (2,)
    y: Array  # (2,)
    roll: Work
    track: Track


def new_ends_work(body: Body, room: int) -> EndsWork:
    """Return work space for pushes of at most `room` steps."""
    return EndsWork(
        t=np.empty(2), x=np.empty(2), y=np.empty(2), roll=new_work(body), track=new_track(room)
    )


@compiled_part
def at_rest(x: float, y: float, th: float) -> State:
    """Return the state of an object at rest at a pose."""
    return State(
        x=x, y=y, th=th, vx=0.0, vy=0.0, w=0.0, mode=SEPARATE, first=-1, second=-1, fx=0.0, fy=0.0
    )


@compiled
def roll_ends(
    body: Body, ground: Ground, fingers: Fingers, pose: Array, ends: Array, work: EndsWork
) -> int:
    """Simulate pushes from poses (k, 3) and fill in their last poses, `ends` (k, 3).

    Returns how the first push ended that did not end with ``DONE``, or ``DONE``.
    """
    for i in range(len(pose)):
        work.t[0] = fingers.first[i]
        work.t[1] = fingers.last[i]
        work.x[0] = fingers.begin[i, 0]
        work.x[1] = fingers.end[i, 0]
        work.y[0] = fingers.begin[i, 1]
        work.y[1] = fingers.end[i, 1]
        action = Action(
            t=work.t,
            x=work.x,
            y=work.y,
            radius=fingers.radius,
            mu=fingers.mu,
            height=fingers.height,
            cell_x=0.0,
            cell_y=0.0,
            force_x=0.0,
            force_y=0.0,
            duration=fingers.last[i],
        )
        s = at_rest(pose[i, 0], pose[i, 1], pose[i, 2])
        clock = Clock(dt=fingers.dt[i], until=fingers.until[i], settle=False)
        ending, steps = roll(body, ground, action, s, clock, work.roll, work.track)
        if ending != DONE:
            return ending
        for j in range(3):
            ends[i, j] = work.track.pose[steps, j]
    return DONE
