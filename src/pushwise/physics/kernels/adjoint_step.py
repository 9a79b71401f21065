"""Analytic gradients: the adjoint of a step.

A step is an implicit function: its twist y and contact impulses alpha solve

    G(y) - sum_j D_j alpha_j = 0,     N_j . y = b_j

(G the gradient of E; D_j, N_j the generalised directions of contact impulse j and of its
constraint). For a loss with derivatives (y_bar, alpha_bar) the multipliers (w, kappa) of

    H w + sum_j N_j kappa_j = y_bar,     D_j . w = -alpha_bar_j

give the derivative in any parameter z as ``-(w . dG/dz + ...)``: one more look at the friction
points, whatever their number of parameters. Names end in ``_bar`` for derivatives of the loss.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_part, compiled_sum
from pushwise.geometry.compiled import SE2, rotate, se2, unrotate
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.adjoint_contact import (
    NO_FINGER,
    FingerBar,
    ForceBar,
    TwistBar,
    touched_adjoint,
)
from pushwise.physics.kernels.contact import JAMMED, SEPARATE
from pushwise.physics.kernels.linear import solve
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.retrace import Retraced
from pushwise.physics.kernels.rollout import Work, leans
from pushwise.physics.kernels.state import mid_pose, pose_of
from pushwise.physics.kernels.step import StepProblem, stretched
from pushwise.physics.kernels.tilt import tilt_adjoint
from pushwise.typing import Array


class StateBar(NamedTuple):
    """Derivatives of a loss in a state: the cotangent of pose and twist."""

    x: float
    y: float
    th: float
    vx: float
    vy: float
    w: float


class StepBar(NamedTuple):
    """Derivatives of a loss in what one step depends on, except the friction loads."""

    state: StateBar  # it arrives with
    m: float  # total mass, centre of mass (grid frame), second moment about the grid origin
    cx: float
    cy: float
    J: float
    ax: float  # finger centre at the start and the end of the step
    ay: float
    bx: float
    by: float
    radius: float
    mu: float
    height: float  # of the finger's contact
    fx: float  # force on a cell
    fy: float
    before: ForceBar  # mean force of the finger in the step before, through the tilt of the load
    lean: ForceBar  # likewise, shift of the load by inertia


@compiled_sum
def _friction_adjoint(p: StepProblem, y: TwistBar, w: TwistBar, c_bar: Array) -> float:
    """Add ``-w . dG/dc_q`` to c_bar (Q,) and return ``-w . dG/dtheta`` of the friction.

    y, w: the twist and the multipliers, stretched by the board. Turning moves a point r by
    ``z x r``, and r' by ``z x B r = z x A r' / det B``.
    """
    eps2 = STICTION_SPEED * STICTION_SPEED
    b = p.board
    det = b.xx * b.yy - b.xy * b.xy
    axx = (b.xx * b.xx + b.xy * b.xy) / det
    axy = b.xy * (b.xx + b.yy) / det
    ayy = (b.yy * b.yy + b.xy * b.xy) / det
    theta_bar = 0.0
    for q in range(c_bar.size):
        x = p.rx[q]
        y_ = p.ry[q]
        sx = y.x - y.w * y_
        sy = y.y + y.w * x
        inv = 1.0 / np.sqrt(sx * sx + sy * sy + eps2)
        ux = sx * inv
        uy = sy * inv
        ax = w.x - w.w * y_
        ay = w.y + w.w * x
        along = ax * ux + ay * uy
        tx = axx * x + axy * y_
        ty = axy * x + ayy * y_
        tu = tx * ux + ty * uy
        c_bar[q] -= p.dt * along
        theta_bar += p.c[q] * (w.w * tu + y.w * inv * (ax * tx + ay * ty - along * tu))
    return p.dt * theta_bar


@compiled_part
def jammed_adjoint(step: Retraced, after: StateBar) -> StepBar:
    """Carry derivatives back over a step in which the object moves as one with the finger."""
    dt = step.setup.problem.dt
    x = after.x + after.vx / dt
    y = after.y + after.vy / dt
    return StepBar(
        state=StateBar(x=after.x, y=after.y, th=after.th, vx=0.0, vy=0.0, w=0.0),
        m=0.0,
        cx=0.0,
        cy=0.0,
        J=0.0,
        ax=-x,
        ay=-y,
        bx=x,
        by=y,
        radius=0.0,
        mu=0.0,
        height=0.0,
        fx=0.0,
        fy=0.0,
        before=ForceBar(x=0.0, y=0.0),
        lean=ForceBar(x=0.0, y=0.0),
    )


class MomentumBar(NamedTuple):
    """Derivatives of a loss carried back as far as the balance of momentum of a step."""

    w: TwistBar  # its multipliers
    finger: FingerBar  # what the contact adds
    u: TwistBar  # arriving twist at mid-step, as far as the leaving pose depends on it
    cm: ForceBar  # centre of mass from the grid origin in the middle and at the end of the step
    c1: ForceBar
    th1: float  # angle at the end of the step


class FrictionBar(NamedTuple):
    """Derivatives of a loss in what the friction of a step depends on, except the loads."""

    th: float
    m: float
    height: float  # of the finger
    before: ForceBar  # as in `StepBar`
    lean: ForceBar


@compiled_part
def momentum_adjoint(body: Body, step: Retraced, after: StateBar, f_bar: ForceBar) -> MomentumBar:
    """Carry the derivatives in the state after a step, and in its impulse, back to its momentum."""
    s = step.state
    touch = step.touch
    p = step.setup.problem
    dt = p.dt
    free = touch.mode == SEPARATE
    # Centre of mass from the grid origin in the middle and at the end of the step.
    cmx = p.sx / p.m
    cmy = p.sy / p.m
    c1x, c1y = rotate(_end_pose(step), body.cx, body.cy)

    # Leaving twist: v1 = y + omega z x (cm - c1); then the leaving pose.
    y0_bar = after.vx
    y1_bar = after.vy
    y2_bar = after.w - after.vx * (cmy - c1y) + after.vy * (cmx - c1x)
    cm = ForceBar(x=touch.w * after.vy, y=-touch.w * after.vx)
    c1 = ForceBar(x=-cm.x, y=-cm.y)
    th1 = after.th + c1.y * c1x - c1.x * c1y
    share = 0.5 * dt if free else dt
    y_bar = TwistBar(x=y0_bar + share * after.x, y=y1_bar + share * after.y, w=y2_bar + share * th1)
    half = share if free else 0.0
    u = TwistBar(x=half * after.x, y=half * after.y, w=half * th1)

    # The implicit function: multipliers of momentum, with what the contact adds to them.
    finger = NO_FINGER
    if free:
        wx, wy, ww = solve(step.energy.H, y_bar.x, y_bar.y, y_bar.w)
        w = TwistBar(x=wx, y=wy, w=ww)
    else:
        w, finger = touched_adjoint(body, s, step.setup.drive, dt, touch, step.energy, y_bar, f_bar)
    return MomentumBar(w=w, finger=finger, u=u, cm=cm, c1=c1, th1=th1)


@compiled_part
def _end_pose(step: Retraced) -> SE2:
    """Return how the object is turned at the end of a step."""
    p = step.setup.problem
    free = step.touch.mode == SEPARATE
    turn = 0.5 * (step.touch.w + p.uw) if free else step.touch.w
    return se2(0.0, 0.0, step.state.th + p.dt * turn)


@compiled_part
def friction_adjoint(
    body: Body,
    action: Action,
    step: Retraced,
    w: TwistBar,
    work: Work,
    load_bar: Array,
    c_bar: Array,
) -> FrictionBar:
    """Carry the multipliers of momentum back to what friction depends on; linear in w.

    Adds the derivatives in the friction loads at rest to c_bar (Q,). load_bar (Q,) is work space,
    zero before and after.
    """
    touch = step.touch
    p = step.setup.problem
    vx, vy = stretched(p.board, touch.vx, touch.vy)
    kx, ky = stretched(p.board, w.x, w.y)
    y = TwistBar(x=vx, y=vy, w=touch.w)
    k = TwistBar(x=kx, y=ky, w=w.w)
    zero = ForceBar(x=0.0, y=0.0)
    if not leans(body, action):
        th = _friction_adjoint(p, y, k, c_bar)
        return FrictionBar(th=th, m=0.0, height=0.0, before=zero, lean=zero)
    th = _friction_adjoint(p, y, k, load_bar)
    mid = mid_pose(step.state, p.dt)
    tilt = tilt_adjoint(body, work.c, step.setup.tilt, action.height, mid, load_bar, c_bar)
    for q in range(load_bar.size):
        load_bar[q] = 0.0
    return FrictionBar(
        th=th + tilt.th,
        m=tilt.m,
        height=tilt.height,
        before=ForceBar(x=tilt.fx, y=tilt.fy),
        lean=ForceBar(x=tilt.lean_x, y=tilt.lean_y),
    )


@compiled_part
def step_adjoint(
    body: Body,
    action: Action,
    step: Retraced,
    after: StateBar,
    f_bar: ForceBar,
    work: Work,
    load_bar: Array,
    c_bar: Array,
) -> StepBar:
    """Carry the derivatives in the state after a step, and in its impulse, back over the step.

    load_bar, c_bar: as of `friction_adjoint`.
    """
    if step.touch.mode == JAMMED:
        return jammed_adjoint(step, after)
    momentum = momentum_adjoint(body, step, after, f_bar)
    friction = friction_adjoint(body, action, step, momentum.w, work, load_bar, c_bar)
    return combined_adjoint(body, step, after, momentum, friction)


@compiled_part
def combined_adjoint(
    body: Body, step: Retraced, after: StateBar, momentum: MomentumBar, friction: FrictionBar
) -> StepBar:
    """Return the derivatives in all that a step depends on, given those in momentum and friction.

    after: derivatives in the state after the step, which the other two follow from.
    """
    s = step.state
    touch = step.touch
    drive = step.setup.drive
    p = step.setup.problem
    dt = p.dt
    m = p.m
    w, finger, u, cm, c1, th1_bar = momentum
    pose0 = pose_of(s)
    mid = mid_pose(s, dt)
    c0x, c0y = rotate(pose0, body.cx, body.cy)
    cmx = p.sx / m
    cmy = p.sy / m
    th_bar = finger.th + friction.th

    # Momentum: G = M (y - u) - impulse + friction.
    dx = touch.vx - p.ux
    dy = touch.vy - p.uy
    dw = touch.w - p.uw
    kx = dw * w.x + w.w * dx
    ky = dw * w.y + w.w * dy
    u0_bar = u.x + m * w.x - p.sy * w.w
    u1_bar = u.y + m * w.y + p.sx * w.w
    u2_bar = u.w + p.sx * w.y - p.sy * w.x + p.J * w.w
    m_bar = friction.m - (w.x * dx + w.y * dy + cmx * ky - cmy * kx)
    cell_x, cell_y = rotate(mid, drive.cell_x, drive.cell_y)
    th_bar -= dt * w.w * (cell_x * drive.force_x + cell_y * drive.force_y)

    # Arriving twist carried to mid-step: u = v + omega z x (c0 - cm).
    w_bar = finger.w + u2_bar - u0_bar * (c0y - cmy) + u1_bar * (c0x - cmx)
    c0_bar_x = s.w * u1_bar
    c0_bar_y = -s.w * u0_bar
    cm_bar_x = cm.x - m * ky - c0_bar_x
    cm_bar_y = cm.y + m * kx - c0_bar_y
    th_bar += cm_bar_y * cmx - cm_bar_x * cmy
    # The centre of mass in the grid frame, through its places at the three instants.
    ax, ay = unrotate(pose0, c0_bar_x, c0_bar_y)
    bx, by = unrotate(mid, cm_bar_x, cm_bar_y)
    cx, cy = unrotate(_end_pose(step), c1.x, c1.y)
    # Mid-step is predicted: theta + dt omega / 2, position + dt v / 2.
    state = StateBar(
        x=after.x - finger.yx,
        y=after.y - finger.yy,
        th=th1_bar + th_bar + c0_bar_y * c0x - c0_bar_x * c0y,
        vx=finger.vx + u0_bar - 0.5 * dt * finger.yx,
        vy=finger.vy + u1_bar - 0.5 * dt * finger.yy,
        w=w_bar + 0.5 * dt * th_bar,
    )
    return StepBar(
        state=state,
        m=m_bar,
        cx=ax + bx + cx,
        cy=ay + by + cy,
        J=-w.w * dw,
        ax=0.5 * finger.yx - finger.ux / dt,
        ay=0.5 * finger.yy - finger.uy / dt,
        bx=0.5 * finger.yx + finger.ux / dt,
        by=0.5 * finger.yy + finger.uy / dt,
        radius=finger.radius,
        mu=finger.mu,
        height=friction.height,
        fx=dt * (w.x - w.w * cell_y),
        fy=dt * (w.y + w.w * cell_x),
        before=friction.before,
        lean=friction.lean,
    )
