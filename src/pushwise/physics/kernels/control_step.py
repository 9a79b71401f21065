"""Many states advanced by one control step: the finger moves in a straight line, for a while.

A state is a row of numbers (`COLUMNS`), everything needed to continue as if nothing had been
interrupted.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_inline, compiled_part
from pushwise.physics.kernels.action import finger_action
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE, Work, begin, new_work, roll_to
from pushwise.physics.kernels.state import State, Trend
from pushwise.physics.kernels.track import Track
from pushwise.typing import Array, Integers

COLUMNS = (
    *("x", "y", "theta", "vx", "vy", "omega"),
    *("mode", "first", "second"),  # of the contact
    *("force_x", "force_y"),
    *("ax", "ay", "alpha", "jx", "jy", "jerk"),  # `Trend`
    *("finger_x", "finger_y", "down"),
    *("status", "jams", "t"),
)
FINGER, DOWN, STATUS, JAMS, TIME = 17, 19, 20, 21, 22
RAISED, LOWERED, PLACED = 0.0, 1.0, 2.0  # PLACED: to be lowered where it is


class ControlSteps(NamedTuple):
    """What happens to B states."""

    finger: Array  # where the finger's centre goes [m], shape (B, 2)
    counts: Integers  # number of time steps, shape (B,)
    down: bool  # whether there is a finger
    dt: float  # how long it takes [s]
    radius: float
    mu: float
    height: float  # of the contact above the table [m]


class ControlWork(NamedTuple):
    """What control steps fill again and again."""

    roll: Work
    t: Array  # the two knots of the finger's path, shape (2,) each
    x: Array
    y: Array


def new_control_work(body: Body) -> ControlWork:
    """Return work space for control steps of an object."""
    return ControlWork(new_work(body), np.zeros(2), np.zeros(2), np.zeros(2))


@compiled_part
def _state_in(rows: Array, i: int) -> State:
    """Return the state in row i."""
    return State(
        x=rows[i, 0],
        y=rows[i, 1],
        th=rows[i, 2],
        vx=rows[i, 3],
        vy=rows[i, 4],
        w=rows[i, 5],
        mode=int(rows[i, 6]),
        first=int(rows[i, 7]),
        second=int(rows[i, 8]),
        fx=rows[i, 9],
        fy=rows[i, 10],
        lean_x=0.0,  # simulators do not know how high a centre of mass is
        lean_y=0.0,
        trend=Trend(
            ax=rows[i, 11],
            ay=rows[i, 12],
            aw=rows[i, 13],
            jx=rows[i, 14],
            jy=rows[i, 15],
            jw=rows[i, 16],
        ),
    )


@compiled_part
def _write(rows: Array, i: int, s: State) -> None:
    """Write a state into row i."""
    rows[i, 0] = s.x
    rows[i, 1] = s.y
    rows[i, 2] = s.th
    rows[i, 3] = s.vx
    rows[i, 4] = s.vy
    rows[i, 5] = s.w
    rows[i, 6] = s.mode
    rows[i, 7] = s.first
    rows[i, 8] = s.second
    rows[i, 9] = s.fx
    rows[i, 10] = s.fy
    rows[i, 11] = s.trend.ax
    rows[i, 12] = s.trend.ay
    rows[i, 13] = s.trend.aw
    rows[i, 14] = s.trend.jx
    rows[i, 15] = s.trend.jy
    rows[i, 16] = s.trend.jw


@compiled_inline
def advance_state(
    body: Body,
    ground: Ground,
    steps: ControlSteps,
    rows: Array,
    i: int,
    work: ControlWork,
    track: Track,
) -> tuple[int, int]:
    """Advance the state in row i of (B, 23), in place.

    If its object has tipped, or a finger was lowered into the object, it stays as it is. Returns
    how it ended, and the number of its steps in the track.
    """
    ending = int(rows[i, STATUS])
    count = int(np.int64(0))
    if ending == DONE:
        lowered = steps.down and rows[i, DOWN] != LOWERED
        work.t[1] = steps.dt
        work.x[1] = steps.finger[i, 0]
        work.y[1] = steps.finger[i, 1]
        # A finger that was raised is lowered where it is to be.
        raised = rows[i, DOWN] == RAISED
        work.x[0] = work.x[1] if raised else rows[i, FINGER]
        work.y[0] = work.y[1] if raised else rows[i, FINGER + 1]
        lifted = np.inf if steps.down else 0.0
        action = finger_action(work.t, work.x, work.y, steps.radius, steps.mu, steps.height, lifted)
        p = begin(body, action, _state_in(rows, i), lowered, track)
        parts = steps.counts[i]
        for k in range(1, parts + 1):
            goal = action.duration if k == parts else action.duration * k / parts
            p = roll_to(body, ground, action, p, goal, work.roll, track, k == 1)
        ending = p.ending
        count = p.steps
        _write(rows, i, p.state)
        rows[i, FINGER] = work.x[1]
        rows[i, FINGER + 1] = work.y[1]
        rows[i, DOWN] = LOWERED if steps.down else RAISED
        rows[i, STATUS] = ending
        rows[i, JAMS] += p.jams
        rows[i, TIME] += p.now
    return ending, count


@compiled
def advance_states(
    body: Body,
    ground: Ground,
    steps: ControlSteps,
    rows: Array,
    first: int,
    last: int,
    work: ControlWork,
    track: Track,
) -> tuple[int, int]:
    """Advance the states in rows [first, last) of (B, 23), in place.

    Returns how the last one ended, and the number of its steps in the track.
    """
    ending = DONE
    count = int(np.int64(0))
    for i in range(first, last):
        ending, count = advance_state(body, ground, steps, rows, i, work, track)
    return ending, count
