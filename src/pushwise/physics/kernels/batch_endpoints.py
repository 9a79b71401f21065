"""Where many pushes end, in one call: for searches that ask thousands of times.

The physics is that of `rollout`.
"""

from typing import NamedTuple

from pushwise.compilation import compiled, compiled_part
from pushwise.physics.kernels.action import Action, finger_action
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import Clock, Work, new_work, roll_out, starting
from pushwise.physics.kernels.track import Track, new_track
from pushwise.typing import Array, Integers


class Pushes(NamedTuple):
    """Paths of one finger, B of them, with the instants at which each is simulated."""

    t: Array  # knots of all paths, one path after the other: times [s] and centres [m], shape (K,)
    x: Array
    y: Array
    knots: Integers  # where the knots of each path end, shape (B,)
    instants: Array  # of all paths, each from 0 on [s], shape (G,)
    ends: Integers  # where the instants of each path end, shape (B,)
    dt: Array  # time step while an object comes to rest [s], shape (B,)
    lifted: Array  # when each finger is raised [s], shape (B,)
    radius: float
    mu: float
    height: float  # of the contact above the table [m]
    settle: bool  # whether each goes on until the object rests


class EndsWork(NamedTuple):
    """What the pushes fill again and again; the track has no room: only ends are kept."""

    roll: Work
    track: Track


def new_ends_work(body: Body) -> EndsWork:
    """Return work space for the ends of pushes."""
    return EndsWork(new_work(body), new_track(0))


@compiled_part
def action_at(pushes: Pushes, i: int) -> Action:
    """Return push i."""
    first = pushes.knots[i - 1] if i > 0 else 0
    last = pushes.knots[i]
    return finger_action(
        pushes.t[first:last],
        pushes.x[first:last],
        pushes.y[first:last],
        pushes.radius,
        pushes.mu,
        pushes.height,
        pushes.lifted[i],
    )


@compiled_part
def clock_at(pushes: Pushes, i: int) -> Clock:
    """Return the instants of push i."""
    first = pushes.ends[i - 1] if i > 0 else 0
    return Clock(
        instants=pushes.instants[first : pushes.ends[i]], dt=pushes.dt[i], settle=pushes.settle
    )


@compiled
def roll_ends(
    body: Body,
    ground: Ground,
    pushes: Pushes,
    pose: Array,
    twist: Array,
    ends: Array,
    endings: Integers,
    work: EndsWork,
) -> None:
    """Simulate pushes from poses and twists (B, 3) each; fill in last poses, and how they ended.

    ends: (B, 3); endings: (B,).
    """
    for i in range(len(pose)):
        s = starting(pose[i], twist[i])
        p = roll_out(
            body, ground, action_at(pushes, i), s, clock_at(pushes, i), work.roll, work.track
        )
        ends[i, 0] = p.state.x
        ends[i, 1] = p.state.y
        ends[i, 2] = p.state.th
        endings[i] = p.ending
