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
from pushwise.geometry.compiled import rotate, se2, unrotate
from pushwise.physics.constants import GRAVITY, STICTION_SPEED
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.adjoint_contact import (
    NO_FINGER,
    ForceBar,
    TwistBar,
    touched_adjoint,
)
from pushwise.physics.kernels.contact import JAMMED, SEPARATE, Touch
from pushwise.physics.kernels.linear import solve
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import StepSetup, Work, leans, set_up
from pushwise.physics.kernels.state import STEADY, State, mid_pose, pose_of
from pushwise.physics.kernels.step import Energy, StepProblem, energy, stretched
from pushwise.physics.kernels.tilt import tilt_adjoint
from pushwise.physics.kernels.track import Track
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


class Retraced(NamedTuple):
    """A step of a track as it was taken."""

    begin: float  # [s]
    end: float
    state: State
    setup: StepSetup
    touch: Touch
    energy: Energy  # at the twist found


@compiled_part
def state_at(body: Body, track: Track, k: int) -> State:
    """Return pose, twist, last force and lean at instant k of a track, as a step starts there."""
    fx = fy = lean_x = lean_y = 0.0
    if k > 0:
        fx = track.impulse[k - 1, 0] / track.span[k - 1]
        fy = track.impulse[k - 1, 1] / track.span[k - 1]
        x0, y0 = centre_velocity(body, track, k - 1)
        x1, y1 = centre_velocity(body, track, k)
        lean = body.z / (GRAVITY * lean_time(track, k - 1))
        lean_x = -lean * (x1 - x0)
        lean_y = -lean * (y1 - y0)
    return State(
        x=track.pose[k, 0],
        y=track.pose[k, 1],
        th=track.pose[k, 2],
        vx=track.twist[k, 0],
        vy=track.twist[k, 1],
        w=track.twist[k, 2],
        mode=SEPARATE,
        first=-1,
        second=-1,
        fx=fx,
        fy=fy,
        lean_x=lean_x,
        lean_y=lean_y,
        trend=STEADY,
    )


@compiled_part
def centre_velocity(body: Body, track: Track, k: int) -> tuple[float, float]:
    """Return the velocity of the centre of mass at instant k of a track."""
    x, y = rotate(se2(0.0, 0.0, track.pose[k, 2]), body.cx, body.cy)
    w = track.twist[k, 2]
    return track.twist[k, 0] - w * y, track.twist[k, 1] + w * x


@compiled_part
def lean_time(track: Track, k: int) -> float:
    """Return the time over which the acceleration in step k counts [s]; see `State`."""
    if track.mode[k, 0] == SEPARATE:
        return float(track.t[k + 1] - track.t[k])
    return float(track.span[k])


@compiled_part
def retrace(
    body: Body, ground: Ground, action: Action, track: Track, k: int, work: Work
) -> Retraced:
    """Describe step k of a track again, with the loads at rest in `work`."""
    s = state_at(body, track, k)
    touch = Touch(
        mode=track.mode[k, 0],
        first=track.mode[k, 1],
        second=track.mode[k, 2],
        vx=track.mid[k, 0],
        vy=track.mid[k, 1],
        w=track.mid[k, 2],
        fx=track.impulse[k, 0],
        fy=track.impulse[k, 1],
    )
    begin = track.t[k]
    end = track.t[k + 1]
    setup = set_up(body, ground, action, s, begin, end, track.span[k], work)
    at = energy(setup.problem, touch.vx, touch.vy, touch.w)
    return Retraced(begin=begin, end=end, state=s, setup=setup, touch=touch, energy=at)


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
def _jammed_adjoint(after: StateBar, dt: float) -> StepBar:
    """Carry derivatives back over a step in which the object moves as one with the finger."""
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

    Adds the derivatives in the friction loads at rest to c_bar (Q,). load_bar (Q,) is work space,
    zero before and after.
    """
    s = step.state
    touch = step.touch
    drive = step.setup.drive
    p = step.setup.problem
    dt = p.dt
    if touch.mode == JAMMED:
        return _jammed_adjoint(after, dt)
    m = p.m
    free = touch.mode == SEPARATE
    # Centre of mass from the grid origin at the start, the middle and the end of the step.
    pose0 = pose_of(s)
    mid = mid_pose(s, dt)
    c0x, c0y = rotate(pose0, body.cx, body.cy)
    cmx = p.sx / m
    cmy = p.sy / m
    turn = 0.5 * (touch.w + p.uw) if free else touch.w
    pose1 = se2(0.0, 0.0, s.th + dt * turn)
    c1x, c1y = rotate(pose1, body.cx, body.cy)

    # Leaving twist: v1 = y + omega z x (cm - c1); then the leaving pose.
    y0_bar = after.vx
    y1_bar = after.vy
    y2_bar = after.w - after.vx * (cmy - c1y) + after.vy * (cmx - c1x)
    cm_bar_x = touch.w * after.vy
    cm_bar_y = -touch.w * after.vx
    c1_bar_x = -cm_bar_x
    c1_bar_y = -cm_bar_y
    th1_bar = after.th + c1_bar_y * c1x - c1_bar_x * c1y
    share = 0.5 * dt if free else dt
    y0_bar += share * after.x
    y1_bar += share * after.y
    y2_bar += share * th1_bar
    u0_bar = share * after.x if free else 0.0
    u1_bar = share * after.y if free else 0.0
    u2_bar = share * th1_bar if free else 0.0

    # The implicit function: multipliers of momentum, with what the contact adds to them.
    y_bar = TwistBar(x=y0_bar, y=y1_bar, w=y2_bar)
    finger = NO_FINGER
    if free:
        wx, wy, ww = solve(step.energy.H, y_bar.x, y_bar.y, y_bar.w)
        w = TwistBar(x=wx, y=wy, w=ww)
    else:
        w, finger = touched_adjoint(body, s, drive, dt, touch, step.energy, y_bar, f_bar)
    th_bar = finger.th
    w_bar = finger.w

    # Momentum: G = M (y - u) - impulse + friction.
    vx, vy = stretched(p.board, touch.vx, touch.vy)
    kx, ky = stretched(p.board, w.x, w.y)
    tilts = leans(body, action)
    th_bar += _friction_adjoint(
        p,
        TwistBar(x=vx, y=vy, w=touch.w),
        TwistBar(x=kx, y=ky, w=w.w),
        load_bar if tilts else c_bar,
    )
    before = lean = ForceBar(x=0.0, y=0.0)
    m_bar = height_bar = 0.0
    if tilts:
        tilt = tilt_adjoint(body, work.c, step.setup.tilt, action.height, mid, load_bar, c_bar)
        before = ForceBar(x=tilt.fx, y=tilt.fy)
        lean = ForceBar(x=tilt.lean_x, y=tilt.lean_y)
        m_bar = tilt.m
        height_bar = tilt.height
        th_bar += tilt.th
        for q in range(load_bar.size):
            load_bar[q] = 0.0
    dx = touch.vx - p.ux
    dy = touch.vy - p.uy
    dw = touch.w - p.uw
    kx = dw * w.x + w.w * dx
    ky = dw * w.y + w.w * dy
    u0_bar += m * w.x - p.sy * w.w
    u1_bar += m * w.y + p.sx * w.w
    u2_bar += p.sx * w.y - p.sy * w.x + p.J * w.w
    m_bar -= w.x * dx + w.y * dy + cmx * ky - cmy * kx
    cm_bar_x -= m * ky
    cm_bar_y += m * kx
    cell_x, cell_y = rotate(mid, drive.cell_x, drive.cell_y)
    th_bar -= dt * w.w * (cell_x * drive.force_x + cell_y * drive.force_y)

    # Arriving twist carried to mid-step: u = v + omega z x (c0 - cm).
    w_bar += u2_bar - u0_bar * (c0y - cmy) + u1_bar * (c0x - cmx)
    c0_bar_x = s.w * u1_bar
    c0_bar_y = -s.w * u0_bar
    cm_bar_x -= c0_bar_x
    cm_bar_y -= c0_bar_y
    th_bar += cm_bar_y * cmx - cm_bar_x * cmy
    # The centre of mass in the grid frame, through its places at the three instants.
    ax, ay = unrotate(pose0, c0_bar_x, c0_bar_y)
    bx, by = unrotate(mid, cm_bar_x, cm_bar_y)
    cx, cy = unrotate(pose1, c1_bar_x, c1_bar_y)
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
        height=height_bar,
        fx=dt * (w.x - w.w * cell_y),
        fy=dt * (w.y + w.w * cell_x),
        before=before,
        lean=lean,
    )
