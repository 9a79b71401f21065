"""A whole push, compiled: steps, divided steps, the table's edge, coming to rest.

`roll` is the loop that `simulate` and the gradients share. It records every step it took, with
what the adjoint needs to retrace it; `set_up` describes a step, once for all of them.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import feature_normal, nearest_feature, place, unplace
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.contact import Touch
from pushwise.physics.kernels.load import Body, Ground, find_load, find_support
from pushwise.physics.kernels.step import StepProblem
from pushwise.physics.kernels.substep import (
    GAP_TOLERANCE,
    Drive,
    State,
    advance,
    gap_after,
    mid_pose,
    pose_of,
    step_problem,
)
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
SETTLE_LIMIT = 5.0  # s; how long after the push an object may keep sliding


class Action(NamedTuple):
    """A finger's path through knots, or (no knots) a force on a point of the object."""

    t: Array  # times of the knots [s], shape (K,)
    x: Array  # finger centre at the knots [m], shape (K,)
    y: Array
    radius: float
    mu: float
    height: float  # of the finger's contact above the table [m]
    cell_x: float
    cell_y: float
    force_x: float
    force_y: float
    duration: float  # end of the motion, or of the force [s]


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


@compiled_part
def finger_at(action: Action, t: float) -> tuple[float, float]:
    """Return the finger's centre at a time; it rests before the first and after the last knot."""
    k = action.t.size
    if k == 0:
        return 0.0, 0.0
    if t <= action.t[0]:
        return action.x[0], action.y[0]
    for i in range(1, k):
        if t <= action.t[i]:
            s = (t - action.t[i - 1]) / (action.t[i] - action.t[i - 1])
            return (
                action.x[i - 1] + s * (action.x[i] - action.x[i - 1]),
                action.y[i - 1] + s * (action.y[i] - action.y[i - 1]),
            )
    return action.x[k - 1], action.y[k - 1]


@compiled_part
def drive_between(action: Action, t0: float, t1: float) -> Drive:
    """Return what moves the object from t0 to t1."""
    ax, ay = finger_at(action, t0)
    bx, by = finger_at(action, t1)
    on = 1.0 if t0 < action.duration else 0.0
    return Drive(
        finger=action.t.size > 0,
        ax=ax,
        ay=ay,
        bx=bx,
        by=by,
        radius=action.radius,
        mu=action.mu,
        cell_x=action.cell_x,
        cell_y=action.cell_y,
        force_x=on * action.force_x,
        force_y=on * action.force_y,
    )


@compiled_part
def touched_point(body: Body, s: State, drive: Drive) -> tuple[float, float]:
    """Return the point of the outline nearest to the finger, or the point a force acts on."""
    at = pose_of(s)
    px = drive.cell_x
    py = drive.cell_y
    if drive.finger:
        qx, qy = unplace(at, drive.bx, drive.by)
        feature, _ = nearest_feature(qx, qy, body.ox, body.oy)
        d, nx, ny, _ = feature_normal(feature, qx, qy, body.ox, body.oy)
        px = qx - d * nx
        py = qy - d * ny
    return place(at, px, py)


@compiled_part
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
def set_up(
    body: Body,
    ground: Ground,
    action: Action,
    s: State,
    begin: float,
    end: float,
    work: Work,
) -> StepSetup:
    """Describe a step from state s; the loads at rest are in `work`.

    The force that tilts the load is the finger's mean force in the step before.
    """
    h = end - begin
    drive = drive_between(action, begin, end)
    load = work.c
    tilt = LEVEL
    if action.height > 0.0:
        tilt = tilt_of(body, work.c, action.height, s.fx, s.fy, mid_pose(s, h))
        tilted(body, work.c, tilt, work.load)
        load = work.load
    problem = step_problem(body, s, drive, ground.board, h, load, work.rx, work.ry)
    return StepSetup(drive=drive, tilt=tilt, problem=problem)


class Clock(NamedTuple):
    """The time grid of a rollout: steps of dt to `until`, and from there anew until rest."""

    dt: float
    until: float
    settle: bool


@compiled_part
def next_goal(clock: Clock, now: float, count: int) -> float:
    """Return where step `count` of the grid ends, counted from zero, or from `until` after it."""
    origin = clock.until if now >= clock.until else 0.0
    goal = origin + count * clock.dt
    if now < clock.until and goal > clock.until - 1e-9 * clock.dt:
        return clock.until
    return goal


@compiled_part
def finished(body: Body, clock: Clock, now: float, s: State) -> bool:
    """Return whether a rollout is over: the time is up and, if asked for, the object at rest."""
    if now < clock.until:
        return False
    speed = np.hypot(s.vx, s.vy) + abs(s.w) * body.reach
    late = now >= clock.until + SETTLE_LIMIT
    return not clock.settle or late or speed <= STICTION_SPEED


@compiled
def roll(
    body: Body, ground: Ground, action: Action, s: State, clock: Clock, work: Work, track: Track
) -> tuple[int, int]:
    """Simulate from t = 0 and state s: ``(how it ended, number of steps in the track)``.

    On an ending other than ``DONE`` the last instant is where it happened.
    """
    room = track.mode.shape[0]
    find_support(body, ground, s.x, s.y, s.th, work.supported)
    ending = DONE if rest_load(body, ground, work) else TIPPED
    now = 0.0
    steps = int(np.int64(0))  # a literal would compile what it is passed to once more
    drive = drive_between(action, now, now)
    write_instant(track, steps, now, s, drive.bx, drive.by)
    if drive.finger and gap_after(body, s, drive)[1] < -GAP_TOLERANCE:
        ending = STARTED_INSIDE

    count = 0
    settling = False
    while ending == DONE and not finished(body, clock, now, s):
        if now >= clock.until and not settling:
            settling = True
            count = 0
        count += 1
        goal = next_goal(clock, now, count)
        h = goal - now
        while now < goal and ending == DONE:
            h = min(h, goal - now)
            end = goal if goal - now - h < 1e-9 * clock.dt else now + h
            if changes_support(body, ground, s, h, work) and not rest_load(body, ground, work):
                ending = TIPPED
                break
            setup = set_up(body, ground, action, s, now, end, work)
            holds, after, touch = advance(body, s, setup.drive, setup.problem)
            if not holds:
                h *= 0.5
                if h < clock.dt / DIVISIONS:
                    ending = NO_SOLUTION
                continue
            if steps == room:
                ending = FULL
                break
            s = after
            now = end
            write_step(track, steps, body, s, setup.drive, touch)
            steps += 1
            write_instant(track, steps, now, s, setup.drive.bx, setup.drive.by)
    return ending, steps
