"""A whole push, compiled: steps, divided steps, the table's edge, coming to rest.

`roll` is the loop that `simulate` and the gradients share. It records every step it took, with
what the adjoint needs to retrace it; `set_up` describes a step, once for all of them.

Two choices are made where the equations leave one open, or have no answer:

- A finger that starts a little inside the object, as noise may put it, moves the object straight
  out of the way before the push begins.
- Where no mode of contact has a solution, however short the step, the finger is **jammed**: object
  and finger move on as one, without turning, to the end of the time step.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_inline, compiled_part
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.action import (
    Action,
    drive_between,
    jammed,
    moved_out,
    part_before_touch,
    touched_point,
)
from pushwise.physics.kernels.contact import SEPARATE, Touch
from pushwise.physics.kernels.load import Body, Ground, find_load, find_support
from pushwise.physics.kernels.state import Drive, State, mid_pose, moved, untouched
from pushwise.physics.kernels.step import StepProblem
from pushwise.physics.kernels.substep import advance, step_problem
from pushwise.physics.kernels.tilt import LEVEL, Tilt, tilt_of, tilted
from pushwise.physics.kernels.track import Track, write_instant
from pushwise.typing import Array, Flags

# How a rollout ended. Plain integers because compiled code carries them; `Ending` names them.
DONE = 0
TIPPED = 1
STARTED_INSIDE = 2
NO_SOLUTION = 3
FULL = 4  # the track has no room for another step

DIVISIONS = 4096  # the shortest step tried is dt over this
TOUCH_PARTS = 16  # of a step, in one of which the finger touches
SETTLE_LIMIT = 5.0  # s; how long after the push an object may keep sliding


class Work(NamedTuple):
    """Arrays that the steps of a rollout fill again and again, shape (Q,) each."""

    rx: Array  # friction points of the step
    ry: Array
    supported: Flags  # which of them are on the table
    pressing: Flags  # which of them press on it
    N: Array  # normal loads [N]
    c: Array  # friction loads of the object at rest [N]
    load: Array  # friction loads as the last force of the finger shifts them [N]


def new_work(body: Body) -> Work:
    """Return work space for an object that is fully supported."""
    Q = body.bx.size
    return Work(
        rx=np.empty(Q),
        ry=np.empty(Q),
        supported=np.ones(Q, np.bool_),
        pressing=np.empty(Q, np.bool_),
        N=np.empty(Q),
        c=np.empty(Q),
        load=np.empty(Q),
    )


@compiled_part
def write_step(track: Track, k: int, body: Body, s: State, drive: Drive, touch: Touch) -> None:
    """Write step k, which led to state s."""
    track.mid[k, 0] = touch.vx
    track.mid[k, 1] = touch.vy
    track.mid[k, 2] = touch.w
    track.impulse[k, 0] = touch.fx
    track.impulse[k, 1] = touch.fy
    x, y = touched_point(body, s, drive)
    track.contact[k, 0] = x
    track.contact[k, 1] = y
    track.mode[k, 0] = s.mode
    track.mode[k, 1] = s.first
    track.mode[k, 2] = s.second


@compiled_inline
def rest_load(body: Body, ground: Ground, work: Work) -> bool:
    """Fill the loads N and c of the supported points; False when the object tips."""
    standing = find_load(body, ground, work.supported, work.pressing, work.N)
    for q in range(work.N.size):
        work.c[q] = ground.mu[q] * work.N[q]
    return standing


@compiled_part
def changes_support(body: Body, ground: Ground, s: State, h: float, work: Work) -> bool:
    """Update which points are on the table in the middle of a step; return whether any changed."""
    if ground.tx.size == 0:
        return False
    x = s.x + 0.5 * h * s.vx
    y = s.y + 0.5 * h * s.vy
    return find_support(body, ground, x, y, s.th + 0.5 * h * s.w, work.supported)


class StepSetup(NamedTuple):
    """One step as the equations see it: what moves the object, how its load leans, and ``E``."""

    drive: Drive
    tilt: Tilt
    problem: StepProblem


@compiled_part
def leans(body: Body, action: Action) -> bool:
    """Return whether the load may shift."""
    return action.height > 0.0 or body.z > 0.0


@compiled_inline
def set_up(
    body: Body,
    ground: Ground,
    action: Action,
    s: State,
    begin: float,
    end: float,
    span: float,
    work: Work,
) -> StepSetup:
    """Describe a step from state s, part of a time step of length `span`.

    The loads at rest are in `work`.

    What tilts the load is the finger's mean force, and the acceleration, in the step before.
    """
    h = end - begin
    drive = drive_between(action, begin, end)
    load = work.c
    tilt = LEVEL
    if leans(body, action):
        tilt = tilt_of(body, work.c, action.height, s, mid_pose(s, h))
        tilted(body, work.c, tilt, work.load)
        load = work.load
    problem = step_problem(body, s, drive, ground.board, h, span, load, work.rx, work.ry)
    return StepSetup(drive=drive, tilt=tilt, problem=problem)


class Clock(NamedTuple):
    """The instants of a rollout: those given, and from the last on steps of dt until rest."""

    instants: Array  # [s], the first of them 0, shape (G,)
    dt: float
    settle: bool


@compiled_part
def finished(body: Body, clock: Clock, now: float, s: State) -> bool:
    """Return whether a rollout that has reached its last instant is over."""
    until = clock.instants[clock.instants.size - 1]
    speed = np.hypot(s.vx, s.vy) + abs(s.w) * body.reach
    late = now >= until + SETTLE_LIMIT
    return not clock.settle or late or speed <= STICTION_SPEED


@compiled_part
def next_goal(body: Body, clock: Clock, now: float, count: int, s: State) -> float:
    """Return the end of step `count` of a rollout, counted from 1; `now` if it is over."""
    last = clock.instants.size - 1
    if count <= last:
        return float(clock.instants[count])
    if finished(body, clock, now, s):
        return now
    return float(clock.instants[last] + (count - last) * clock.dt)


class Reached(NamedTuple):
    """How far a rollout has come."""

    ending: int
    now: float
    steps: int
    jams: int  # steps without a solution
    state: State


@compiled_inline
def roll_to(
    body: Body,
    ground: Ground,
    action: Action,
    was: Reached,
    goal: float,
    work: Work,
    track: Track,
    fresh: bool,
) -> Reached:
    """Simulate to a goal, in one step or in as many as the contact needs.

    fresh: whether the loads are to be found anew, as at the start. Steps are written to the track,
    unless that has no room at all.
    """
    s = was.state
    now = was.now
    steps = was.steps
    jams = was.jams
    ending = was.ending
    room = track.mode.shape[0]
    whole = goal - now
    part = whole / TOUCH_PARTS
    awaited = 0  # sides of the object that the finger is about to touch
    h = whole
    while now < goal and ending == DONE:
        h = min(h, goal - now)
        end = goal if goal - now - h < 1e-9 * whole else now + h
        if changes_support(body, ground, s, h, work) or fresh:
            fresh = False
            if not rest_load(body, ground, work):
                ending = TIPPED
                break
        setup = set_up(body, ground, action, s, now, end, whole, work)
        holds, after, touch = advance(body, s, setup.drive, setup.problem)
        if not holds:
            h *= 0.5
            if h >= whole / DIVISIONS:
                continue
            end = goal
            setup = set_up(body, ground, action, s, now, end, whole, work)
            touch = jammed(setup.drive, end - now)
            after = moved(body, s, setup.problem, touch)
            jams += 1
        elif h > 1.5 * part:
            free = -1
            if s.mode == SEPARATE and touch.mode != SEPARATE:
                free = int(part_before_touch(body, s, setup.drive, h) * h / part)
            if free >= 0:
                # It touches on the way. A finger that sticks would drag the object along as if it
                # had touched from the start: go free as far as it is free, then in a short step.
                h = part * min(max(free, 1), round(h / part) - 1)
                awaited = 1
                continue
            if s.second < 0 <= touch.second:
                # Two sides are met one after the other, which is not the same as both at once.
                h = max(0.25 * h, part)
                awaited = 2
                continue
        if room > 0 and steps == room:
            ending = FULL
            break
        s = after
        now = end
        if room > 0:
            write_step(track, steps, body, s, setup.drive, touch)
            track.span[steps] = whole
            write_instant(track, steps + 1, now, s, setup.drive.bx, setup.drive.by)
        steps += 1
        if awaited == 1:
            h = part
        if (awaited == 1 and s.mode != SEPARATE) or (awaited == 2 and s.second >= 0):
            awaited = 0
            h = goal - now
    return Reached(ending=ending, now=now, steps=steps, jams=jams, state=s)


@compiled_part
def begin(body: Body, action: Action, s: State, lowered: bool, track: Track) -> Reached:
    """Return the start of a rollout.

    lowered: whether the finger comes down now, so that the object has to be moved out of it. Of one
    that is in contact already, a gap within the solver's tolerance is not to be mended.
    """
    now = 0.0
    steps = int(np.int64(0))
    drive = drive_between(action, now, now)
    ending = DONE
    if lowered and drive.finger:
        clear, s = moved_out(body, s, drive)
        if not clear:
            ending = STARTED_INSIDE
    if track.mode.shape[0] > 0:
        write_instant(track, steps, now, s, drive.bx, drive.by)
    return Reached(ending=ending, now=now, steps=steps, jams=steps, state=s)


@compiled_part
def roll_out(
    body: Body, ground: Ground, action: Action, s: State, clock: Clock, work: Work, track: Track
) -> Reached:
    """Simulate from t = 0 and state s until the clock or the object stops."""
    # Literals would compile what they are passed to once more.
    p = begin(body, action, s, bool(np.bool_(True)), track)
    count = int(np.int64(1))
    goal = next_goal(body, clock, p.now, count, p.state)
    while p.ending == DONE and goal > p.now:
        p = roll_to(body, ground, action, p, goal, work, track, count == 1)
        count += 1
        goal = next_goal(body, clock, p.now, count, p.state)
    return p


@compiled_part
def starting(pose: Array, twist: Array) -> State:
    """Return the state of an untouched object at a pose (3,) with a twist (3,)."""
    return untouched(pose[0], pose[1], pose[2], twist[0], twist[1], twist[2])


@compiled
def roll(
    body: Body,
    ground: Ground,
    action: Action,
    pose: Array,
    twist: Array,
    clock: Clock,
    work: Work,
    track: Track,
) -> tuple[int, int]:
    """Simulate from a pose and a twist, (3,) each: ``(how it ended, number of steps taken)``.

    On an ending other than ``DONE`` the last instant is where it happened.
    """
    p = roll_out(body, ground, action, starting(pose, twist), clock, work, track)
    return p.ending, p.steps
