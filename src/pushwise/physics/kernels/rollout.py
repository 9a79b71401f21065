"""A whole push, compiled: steps, divided steps, the table's edge, coming to rest.

`roll` is the loop that `simulate` and the gradients share. It records every step it took, with
what the adjoint needs to retrace it.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pushwise.compilation import compiled
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.contact import SEPARATE, feature_normal, nearest_feature
from pushwise.physics.kernels.substep import (
    GAP_TOLERANCE,
    Body,
    Drive,
    State,
    advance,
    advance_lagged,
    gap_after,
)
from pushwise.physics.kernels.support import Ground, find_load, find_support
from pushwise.physics.kernels.tilt import tilt_before
from pushwise.typing import Array, Integers

_N = TypeVar("_N", np.float64, np.int64)

# How a rollout ended.
DONE = 0
TIPPED = 1
STARTED_INSIDE = 2
NO_SOLUTION = 3

DIVISIONS = 4096  # the shortest step tried is dt over this
SETTLE_LIMIT = 5.0  # s; how long after the push an object may go on sliding


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


class Track(NamedTuple):
    """Every step taken. T steps have T + 1 instants; arrays may have spare room at the end."""

    t: Array  # (T + 1,)
    pose: Array  # (T + 1, 3)
    twist: Array  # (T + 1, 3)
    finger: Array  # (T + 1, 2)
    mid: Array  # (T, 3) twist found at mid-step
    impulse: Array  # (T, 2) of the finger on the object [N s]
    contact: Array  # (T, 2) touched, or nearest, point of the outline at the end of the step
    mode: Integers  # (T, 3): mode and touched outline features


@compiled
def state_at(track: Track, k: int) -> State:
    """Return pose and twist at instant k of a track, as a step starts from them."""
    return State(
        track.pose[k, 0],
        track.pose[k, 1],
        track.pose[k, 2],
        track.twist[k, 0],
        track.twist[k, 1],
        track.twist[k, 2],
        SEPARATE,
        -1,
        -1,
    )


@compiled
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


@compiled
def drive_between(action: Action, t0: float, t1: float) -> Drive:
    """Return what moves the object from t0 to t1."""
    ax, ay = finger_at(action, t0)
    bx, by = finger_at(action, t1)
    on = 1.0 if t0 < action.duration else 0.0
    return Drive(
        action.t.size > 0,
        ax,
        ay,
        bx,
        by,
        action.radius,
        action.mu,
        action.cell_x,
        action.cell_y,
        on * action.force_x,
        on * action.force_y,
    )


@compiled
def touched_point(body: Body, s: State, drive: Drive) -> tuple[float, float]:
    """Return the point of the outline nearest to the finger, or the point a force acts on."""
    cos = np.cos(s.th)
    sin = np.sin(s.th)
    px = drive.cell_x
    py = drive.cell_y
    if drive.finger:
        yx = drive.bx - s.x
        yy = drive.by - s.y
        qx = cos * yx + sin * yy
        qy = -sin * yx + cos * yy
        feature, _ = nearest_feature(qx, qy, body.ox, body.oy)
        d, nx, ny, _ = feature_normal(feature, qx, qy, body.ox, body.oy)
        px = qx - d * nx
        py = qy - d * ny
    return s.x + cos * px - sin * py, s.y + sin * px + cos * py


@compiled
def _longer(a: NDArray[_N], rows: int) -> NDArray[_N]:
    """Return a copy of an array with room for more rows."""
    b = np.empty((rows, a.shape[1]), a.dtype)
    b[: a.shape[0]] = a
    return b


@compiled
def roll(
    body: Body,
    ground: Ground,
    action: Action,
    pose: Array,
    twist: Array,
    dt: float,
    until: float,
    settle: bool,
    lagged: bool | None,
) -> tuple[int, int, Track]:
    """Simulate from t = 0: ``(how it ended, steps taken, track)``.

    pose, twist: (3,) at t = 0. dt: step [s]. until: end [s]; with `settle` the end is the first
    rest after it. lagged: True for the paper's friction, else None (a type of its own, so that
    the other branch is not even compiled). On an ending other than ``DONE`` the last instant is
    where it happened.
    """
    room = int(until / dt) + 64
    t = np.empty((room + 1, 1))
    poses = np.empty((room + 1, 3))
    twists = np.empty((room + 1, 3))
    finger = np.empty((room + 1, 2))
    mids = np.empty((room, 3))
    impulses = np.empty((room, 2))
    contacts = np.empty((room, 2))
    modes = np.empty((room, 3), np.int64)

    rx = np.empty(body.bx.size)
    ry = np.empty(body.bx.size)
    N = np.empty(body.bx.size)
    supported = np.ones(body.bx.size, np.bool_)
    find_support(body, ground, pose[0], pose[1], pose[2], supported)
    standing = find_load(body, ground, supported, N)
    c = ground.mu * N
    board = ground.board
    tilts = action.height > 0.0
    load = np.empty(c.size) if tilts else c  # as the last force of the finger shifts it

    s = State(pose[0], pose[1], pose[2], twist[0], twist[1], twist[2], SEPARATE, -1, -1)
    now = 0.0
    steps = 0
    ending = DONE if standing else TIPPED
    t[0] = 0.0
    poses[0] = pose
    twists[0] = twist
    finger[0] = finger_at(action, 0.0)
    if action.t.size > 0:
        _, gap = gap_after(body, s, drive_between(action, 0.0, 0.0))
        if gap < -GAP_TOLERANCE:
            ending = STARTED_INSIDE

    origin = 0.0
    count = 0
    limit = until + (SETTLE_LIMIT if settle else 0.0)
    while ending == DONE:
        if now >= until:
            speed = np.hypot(s.vx, s.vy) + abs(s.w) * body.reach
            if not settle or now >= limit or speed <= STICTION_SPEED:
                break
            if origin < until:
                origin = until
                count = 0
        count += 1
        goal = origin + count * dt
        if now < until and goal > until - 1e-9 * dt:
            goal = until
        h = goal - now
        while now < goal and ending == DONE:
            h = min(h, goal - now)
            end = goal if goal - now - h < 1e-9 * dt else now + h
            drive = drive_between(action, now, end)
            mid_th = s.th + 0.5 * h * s.w
            if ground.tx.size > 0 and find_support(
                body, ground, s.x + 0.5 * h * s.vx, s.y + 0.5 * h * s.vy, mid_th, supported
            ):
                if not find_load(body, ground, supported, N):
                    ending = TIPPED
                    break
                for q in range(N.size):
                    c[q] = ground.mu[q] * N[q]
            if tilts:
                tilt_before(body, c, action.height, t[:, 0], impulses, steps, mid_th, load)
            if lagged is None:
                holds, after, touch = advance(body, s, drive, board, end - now, load, rx, ry)
            else:
                holds, after, touch = advance_lagged(body, s, drive, board, end - now, load, rx, ry)
            if not holds:
                h *= 0.5
                if h < dt / DIVISIONS:
                    ending = NO_SOLUTION
                continue
            if steps == room:
                room *= 2
                t = _longer(t, room + 1)
                poses = _longer(poses, room + 1)
                twists = _longer(twists, room + 1)
                finger = _longer(finger, room + 1)
                mids = _longer(mids, room)
                impulses = _longer(impulses, room)
                contacts = _longer(contacts, room)
                modes = _longer(modes, room)
            s = after
            now = end
            mids[steps, 0] = touch.vx
            mids[steps, 1] = touch.vy
            mids[steps, 2] = touch.w
            impulses[steps, 0] = touch.fx
            impulses[steps, 1] = touch.fy
            contacts[steps] = touched_point(body, s, drive)
            modes[steps, 0] = s.mode
            modes[steps, 1] = s.first
            modes[steps, 2] = s.second
            steps += 1
            t[steps] = now
            poses[steps, 0] = s.x
            poses[steps, 1] = s.y
            poses[steps, 2] = s.th
            twists[steps, 0] = s.vx
            twists[steps, 1] = s.vy
            twists[steps, 2] = s.w
            finger[steps, 0] = drive.bx
            finger[steps, 1] = drive.by
    track = Track(
        t[: steps + 1, 0],
        poses[: steps + 1],
        twists[: steps + 1],
        finger[: steps + 1],
        mids[:steps],
        impulses[:steps],
        contacts[:steps],
        modes[:steps],
    )
    return ending, steps, track
