"""Derivatives of every pose of a rollout, for least squares.

Where `adjoint` carries one loss back over all steps, this carries all parameters forward: each
step's derivatives (as in `step_adjoint`, for each number of the state) are chained into
``d pose / d z`` at every instant. Planar motion sees the masses only through four moments, so z is
short:

    z = (c_1 ... c_n, m, cx, cy, J, finger friction, finger radius, finger height, height of the
         centre of mass, x, y, theta, vx, vy, omega, x_1, y_1, ... x_K, y_K)

with c_i = mu_i m_i g [N] the friction load of cell i, m, (cx, cy), J total mass, centre of mass and
second moment about the grid origin (grid frame), then pose and twist at the start and, if asked
for, the K knots of the finger's path. The object must be fully supported, each cell by its own
weight.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.geometry.compiled import rotate, se2
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.action import Action, Place, place_of
from pushwise.physics.kernels.adjoint_contact import ForceBar, TwistBar
from pushwise.physics.kernels.adjoint_step import (
    FrictionBar,
    StateBar,
    combined_adjoint,
    friction_adjoint,
    jammed_adjoint,
    momentum_adjoint,
)
from pushwise.physics.kernels.contact import JAMMED, SEPARATE
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.retrace import Retraced, centre_velocity, lean_time, retrace
from pushwise.physics.kernels.rollout import Work, new_work, rest_load
from pushwise.physics.kernels.track import Track
from pushwise.typing import Array

MOMENTS = 4  # m, cx, cy, J follow the n loads in z
START = MOMENTS + 4  # pose and twist at the start follow moments, finger and height
EXTRA = START + 6  # numbers of z that are neither loads nor knots
STATE = 6  # numbers of a state; the two of an impulse follow,
LEAN = STATE + 2  # and the two of a lean


class JacobianWork(NamedTuple):
    """What the steps of a Jacobian fill again and again."""

    forward: Work
    load_bar: Array  # derivatives in the tilted and in the resting friction loads, shape (Q,)
    c_bar: Array
    # Derivatives in the loads of the cells for each multiplier of momentum alone, shape (n,).
    by_x: Array
    by_y: Array
    by_w: Array
    # Derivatives in z of state, mean force and lean, before and after a step, shape (10, P): with a
    # tilting load a step depends on the force and the acceleration of the one before.
    state: Array
    new: Array


def new_jacobian_work(body: Body, n: int, parameters: int) -> JacobianWork:
    """Return work space for a Jacobian in some parameters, n of them loads."""
    return JacobianWork(
        forward=new_work(body),
        load_bar=np.zeros(body.bx.size),
        c_bar=np.zeros(body.bx.size),
        by_x=np.zeros(n),
        by_y=np.zeros(n),
        by_w=np.zeros(n),
        state=np.zeros((LEAN + 2, parameters)),
        new=np.zeros((LEAN + 2, parameters)),
    )


@compiled_part
def _still(track: Track, k: int, n: int, state: Array) -> bool:
    """Return whether nothing moves or touches in a step, and no twist at the start would tell."""
    moving = track.mode[k, 0] != SEPARATE
    for i in range(3):
        moving = moving or track.twist[k, i] != 0.0 or track.mid[k, i] != 0.0
        for j in range(3):
            # Friction has used up what a small twist at the start would have brought here.
            moving = moving or abs(state[3 + i, n + START + 3 + j]) > 1e-12
    return not moving


@compiled_part
def _add_knots(new: Array, row: int, first: int, at: Place, x: float, y: float) -> None:
    """Add derivatives in the finger's centre at a place of its path to those in the knots."""
    j = first + 2 * at.knot
    new[row, j] += (1.0 - at.share) * x
    new[row, j + 1] += (1.0 - at.share) * y
    new[row, j + 2] += at.share * x
    new[row, j + 3] += at.share * y


ALONG_X = TwistBar(x=1.0, y=0.0, w=0.0)
ALONG_Y = TwistBar(x=0.0, y=1.0, w=0.0)
TURNING = TwistBar(x=0.0, y=0.0, w=1.0)


class FrictionRows(NamedTuple):
    """Derivatives of friction for each multiplier of momentum alone: it is linear in them."""

    x: FrictionBar
    y: FrictionBar
    w: FrictionBar


@compiled_part
def _friction_row(
    body: Body, action: Action, step: Retraced, w: TwistBar, by_load: Array, work: JacobianWork
) -> FrictionBar:
    """Return the derivatives of friction for multipliers w; those by cell fill by_load (n,)."""
    c_bar = work.c_bar
    found = friction_adjoint(body, action, step, w, work.forward, work.load_bar, c_bar)
    each = c_bar.size // by_load.size
    for i in range(by_load.size):
        total = 0.0
        for q in range(i * each, (i + 1) * each):
            total += c_bar[q]
            c_bar[q] = 0.0
        by_load[i] = total / each
    return found


@compiled_part
def _friction_for(rows: FrictionRows, w: TwistBar) -> FrictionBar:
    """Return the derivatives of friction for all three multipliers together."""
    x, y, z = rows
    return FrictionBar(
        th=w.x * x.th + w.y * y.th + w.w * z.th,
        m=w.x * x.m + w.y * y.m + w.w * z.m,
        height=w.x * x.height + w.y * y.height + w.w * z.height,
        before=ForceBar(
            x=w.x * x.before.x + w.y * y.before.x + w.w * z.before.x,
            y=w.x * x.before.y + w.y * y.before.y + w.w * z.before.y,
        ),
        lean=ForceBar(
            x=w.x * x.lean.x + w.y * y.lean.x + w.w * z.lean.x,
            y=w.x * x.lean.y + w.y * y.lean.y + w.w * z.lean.y,
        ),
    )


@compiled_part
def _fill_row(
    body: Body,
    action: Action,
    step: Retraced,
    friction: FrictionRows,
    row: int,
    n: int,
    work: JacobianWork,
) -> None:
    """Fill a row of `work.new`: the derivatives in z of one number of the state after a step.

    n: number of loads.
    """
    one = StateBar(
        x=1.0 if row == 0 else 0.0,
        y=1.0 if row == 1 else 0.0,
        th=1.0 if row == 2 else 0.0,
        vx=1.0 if row == 3 else 0.0,
        vy=1.0 if row == 4 else 0.0,
        w=1.0 if row == 5 else 0.0,
    )
    f_bar = ForceBar(x=1.0 if row == 6 else 0.0, y=1.0 if row == 7 else 0.0)
    w = TwistBar(x=0.0, y=0.0, w=0.0)
    if step.touch.mode == JAMMED:
        d = jammed_adjoint(step, one)
    else:
        momentum = momentum_adjoint(body, step, one, f_bar)
        w = momentum.w
        d = combined_adjoint(body, step, one, momentum, _friction_for(friction, w))
    state = work.state
    new = work.new
    P = new.shape[1]
    for j in range(P):
        new[row, j] = (
            d.state.x * state[0, j]
            + d.state.y * state[1, j]
            + d.state.th * state[2, j]
            + d.state.vx * state[3, j]
            + d.state.vy * state[4, j]
            + d.state.w * state[5, j]
        )
    if action.height > 0.0:
        for j in range(P):
            new[row, j] += d.before.x * state[6, j] + d.before.y * state[7, j]
    if body.z > 0.0:
        for j in range(P):
            new[row, j] += d.lean.x * state[LEAN, j] + d.lean.y * state[LEAN + 1, j]
    for i in range(n):
        new[row, i] += w.x * work.by_x[i] + w.y * work.by_y[i] + w.w * work.by_w[i]
    new[row, n] += d.m
    new[row, n + 1] += d.cx
    new[row, n + 2] += d.cy
    new[row, n + 3] += d.J
    new[row, n + 4] += d.mu
    new[row, n + 5] += d.radius
    new[row, n + 6] += d.height
    if n + EXTRA < P:
        _add_knots(new, row, n + EXTRA, place_of(action, step.begin), d.ax, d.ay)
        _add_knots(new, row, n + EXTRA, place_of(action, step.end), d.bx, d.by)


@compiled_part
def _add_velocity(
    body: Body, track: Track, k: int, n: int, rows: Array, factor: float, new: Array
) -> None:
    """Add a factor times the derivatives of the centre's velocity at instant k to those of a lean.

    n: number of loads; rows: derivatives of the state at instant k, shape (10, P).
    """
    at = se2(0.0, 0.0, track.pose[k, 2])
    px, py = rotate(at, body.cx, body.cy)
    w = track.twist[k, 2]
    for j in range(new.shape[1]):
        turn = rows[2, j]
        new[LEAN, j] += factor * (rows[3, j] - rows[5, j] * py - w * px * turn)
        new[LEAN + 1, j] += factor * (rows[4, j] + rows[5, j] * px - w * py * turn)
    new[LEAN, n + 1] -= factor * w * at.sin
    new[LEAN, n + 2] -= factor * w * at.cos
    new[LEAN + 1, n + 1] += factor * w * at.cos
    new[LEAN + 1, n + 2] -= factor * w * at.sin


@compiled_part
def _fill_lean(body: Body, track: Track, k: int, n: int, work: JacobianWork) -> None:
    """Fill the rows of a lean in `work.new`: inertia against the acceleration in step k."""
    factor = -body.z / (GRAVITY * lean_time(track, k))
    new = work.new
    for j in range(new.shape[1]):
        new[LEAN, j] = 0.0
        new[LEAN + 1, j] = 0.0
    _add_velocity(body, track, k + 1, n, new, factor, new)
    _add_velocity(body, track, k, n, work.state, -factor, new)
    x0, y0 = centre_velocity(body, track, k)
    x1, y1 = centre_velocity(body, track, k + 1)
    new[LEAN, n + 7] += factor / body.z * (x1 - x0)
    new[LEAN + 1, n + 7] += factor / body.z * (y1 - y0)


@compiled
def roll_jacobian(
    body: Body,
    ground: Ground,
    action: Action,
    track: Track,
    n: int,
    poses: Array,
    impulses: Array,
    work: JacobianWork,
) -> None:
    """Differentiate all poses of a track, and its impulses if there is room for them.

    n: number of loads; poses: filled in, shape (T + 1, 3, P) with P = n + EXTRA, or with two more
    for each knot; impulses: (T, 2, P), or no rows.
    """
    P = poses.shape[2]
    T = track.mode.shape[0]
    with_impulse = impulses.shape[0] > 0
    rest_load(body, ground, work.forward)
    state = work.state
    new = work.new
    for j in range(P):
        for i in range(3):
            poses[0, i, j] = 0.0
    for i in range(STATE):
        state[i, n + START + i] = 1.0
    for i in range(3):
        poses[0, i, n + START + i] = 1.0
    rows = STATE + 2 if with_impulse or action.height > 0.0 else STATE
    for k in range(T):
        if _still(track, k, n, state):
            for j in range(P):
                for i in range(STATE, LEAN + 2):
                    state[i, j] = 0.0
                if with_impulse:
                    impulses[k, 0, j] = 0.0
                    impulses[k, 1, j] = 0.0
        else:
            step = retrace(body, ground, action, track, k, work.forward)
            friction = FrictionRows(
                x=_friction_row(body, action, step, ALONG_X, work.by_x, work),
                y=_friction_row(body, action, step, ALONG_Y, work.by_y, work),
                w=_friction_row(body, action, step, TURNING, work.by_w, work),
            )
            for row in range(rows):
                _fill_row(body, action, step, friction, row, n, work)
            if body.z > 0.0:
                _fill_lean(body, track, k, n, work)
            for j in range(P):
                for i in range(STATE):
                    state[i, j] = new[i, j]
                for i in range(2):
                    if with_impulse:
                        impulses[k, i, j] = new[STATE + i, j]
                    state[STATE + i, j] = new[STATE + i, j] / track.span[k]
                    state[LEAN + i, j] = new[LEAN + i, j]
        for j in range(P):
            for i in range(3):
                poses[k + 1, i, j] = state[i, j]
