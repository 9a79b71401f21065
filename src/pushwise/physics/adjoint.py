"""Analytic gradients: the adjoint of a step, and of a whole rollout.

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
from numpy.typing import NDArray

from pushwise.physics.compiled import compiled, compiled_sum
from pushwise.physics.advance import Body, Drive, State, contact_at, step_problem
from pushwise.physics.constants import GRAVITY, STICTION_SPEED
from pushwise.physics.contact import (
    SEPARATE,
    SLIP_LEFT,
    STICK,
    WEDGE_LEFT,
    WEDGE_STICK,
    Contact,
)
from pushwise.physics.load import spread_adjoint
from pushwise.physics.rollout import (
    Action,
    Ground,
    Track,
    drive_between,
    find_load,
    find_support,
)
from pushwise.physics.step import Array, StepProblem, balance, solve_symmetric


class StepBar(NamedTuple):
    """Derivatives of a loss in what one step depends on."""

    x: float  # arriving pose
    y: float
    th: float
    vx: float  # arriving twist
    vy: float
    w: float
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
    fx: float  # force on a cell
    fy: float


class ContactBar(NamedTuple):
    """Derivatives of a loss in the fields of a `Contact`, and in the tangent t = z x n."""

    nx: float
    ny: float
    tx: float
    ty: float
    px: float
    py: float
    b: float
    ut: float


class FingerBar(NamedTuple):
    """Derivatives of a loss in what a `Contact` is made from (table axes, mid-step)."""

    yx: float  # finger centre relative to the grid origin
    yy: float
    th: float  # mid-step angle
    ux: float  # finger velocity
    uy: float
    vx: float  # arriving twist, through the closing speed b
    vy: float
    w: float
    radius: float


class RolloutBar(NamedTuple):
    """Derivatives of a loss in what a rollout depends on."""

    ok: bool  # False where the load has no derivative: too few points press
    mass: Array  # (n,)
    friction: Array  # (n,)
    pose: Array  # (3,) at the start
    twist: Array  # (3,) at the start
    finger: Array  # (T + 1, 2) finger centre at each instant
    radius: float
    finger_friction: float
    force: Array  # (2,) on a cell


@compiled_sum
def friction_adjoint(
    p: StepProblem, y0: float, y1: float, y2: float, w0: float, w1: float, w2: float, c_bar: Array
) -> float:
    """Add ``-w . dG/dc_q`` to c_bar (Q,) and return ``-w . dG/dtheta`` of the friction."""
    eps2 = STICTION_SPEED * STICTION_SPEED
    theta_bar = 0.0
    for q in range(c_bar.size):
        x = p.rx[q]
        y = p.ry[q]
        sx = y0 - y2 * y
        sy = y1 + y2 * x
        inv = 1.0 / np.sqrt(sx * sx + sy * sy + eps2)
        ux = sx * inv
        uy = sy * inv
        ax = w0 - w2 * y
        ay = w1 + w2 * x
        along = ax * ux + ay * uy
        ru = x * ux + y * uy
        c_bar[q] -= p.dt * along
        theta_bar += p.c[q] * (w2 * ru + y2 * inv * (ax * x + ay * y - along * ru))
    return p.dt * theta_bar


@compiled
def _constraint_bar(
    k: Contact, y0: float, y1: float, y2: float, kappa: float, tangential: bool
) -> ContactBar:
    """Return ``-kappa d(N . y - b)`` of one constraint, along the normal or the tangent."""
    ax = kappa * (y0 - y2 * k.py)
    ay = kappa * (y1 + y2 * k.px)
    if tangential:
        return ContactBar(
            0.0, 0.0, -ax, -ay, -kappa * y2 * k.nx, -kappa * y2 * k.ny, 0.0, kappa
        )
    return ContactBar(-ax, -ay, 0.0, 0.0, -kappa * y2 * k.ny, kappa * y2 * k.nx, kappa, 0.0)


@compiled
def _impulse_bar(
    k: Contact,
    along_n: float,
    along_t: float,
    alpha: float,
    w0: float,
    w1: float,
    w2: float,
    fx_bar: float,
    fy_bar: float,
) -> tuple[ContactBar, float]:
    """Return ``w . d(D alpha)`` of an impulse alpha along ``d = along_n n + along_t t``.

    The impulse itself is an output too, with derivative f_bar. Second result: the derivative in
    `along_t`, which holds the finger's friction.
    """
    dx = along_n * k.nx - along_t * k.ny
    dy = along_n * k.ny + along_t * k.nx
    d_bar_x = alpha * (w0 - w2 * k.py + fx_bar)
    d_bar_y = alpha * (w1 + w2 * k.px + fy_bar)
    bar = ContactBar(
        along_n * d_bar_x,
        along_n * d_bar_y,
        along_t * d_bar_x,
        along_t * d_bar_y,
        alpha * w2 * dy,
        -alpha * w2 * dx,
        0.0,
        0.0,
    )
    return bar, -k.ny * d_bar_x + k.nx * d_bar_y


@compiled
def _plus(a: ContactBar, b: ContactBar) -> ContactBar:
    return ContactBar(
        a.nx + b.nx,
        a.ny + b.ny,
        a.tx + b.tx,
        a.ty + b.ty,
        a.px + b.px,
        a.py + b.py,
        a.b + b.b,
        a.ut + b.ut,
    )


@compiled
def _finger_bar(
    k: Contact, bar: ContactBar, s: State, drive: Drive, dt: float, yx: float, yy: float
) -> FingerBar:
    """Carry derivatives in a contact back to what `contact_at` made it from."""
    tx = -k.ny
    ty = k.nx
    ux = (drive.bx - drive.ax) / dt
    uy = (drive.by - drive.ay) / dt
    # ut = t . u and t = z x n
    t_bar_x = bar.tx + bar.ut * ux
    t_bar_y = bar.ty + bar.ut * uy
    n_bar_x = bar.nx + t_bar_y - drive.radius * bar.px
    n_bar_y = bar.ny - t_bar_x - drive.radius * bar.py
    # b = (distance - radius) / dt + n . half, half = (u + v + omega z x y) / 2
    n_bar_x += bar.b * 0.5 * (ux + s.vx - s.w * yy)
    n_bar_y += bar.b * 0.5 * (uy + s.vy + s.w * yx)
    half_x = 0.5 * bar.b * k.nx
    half_y = 0.5 * bar.b * k.ny
    # The normal turns with the object, and around a vertex; distance grows along it.
    turn = n_bar_x * tx + n_bar_y * ty
    xi_x = bar.b / dt * k.nx + k.curvature * turn * tx
    xi_y = bar.b / dt * k.ny + k.curvature * turn * ty
    return FingerBar(
        bar.px + xi_x + s.w * half_y,
        bar.py + xi_y - s.w * half_x,
        turn + xi_x * yy - xi_y * yx,
        bar.ut * tx + half_x,
        bar.ut * ty + half_y,
        half_x,
        half_y,
        half_y * yx - half_x * yy,
        -bar.b / dt - bar.px * k.nx - bar.py * k.ny,
    )


@compiled
def _dot3(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def step_adjoint(
    body: Body,
    s: State,
    p: StepProblem,
    drive: Drive,
    mode: int,
    first: int,
    second: int,
    y: tuple[float, float, float],
    f: tuple[float, float],
    after: State,
    f_bar: tuple[float, float],
    c_bar: Array,
) -> StepBar:
    """Carry the derivatives ``after`` (of pose and twist, as a State) back over one step.

    y: twist found; f, f_bar: impulse of the finger and the loss's derivative in it. Adds the
    derivatives in the friction loads to c_bar (Q,).
    """
    dt = p.dt
    m = p.m
    free = mode == SEPARATE
    # Centre of mass from the grid origin at the start, the middle and the end of the step.
    c0x = np.cos(s.th) * body.cx - np.sin(s.th) * body.cy
    c0y = np.sin(s.th) * body.cx + np.cos(s.th) * body.cy
    cmx = p.sx / m
    cmy = p.sy / m
    turn = 0.5 * (y[2] + p.uw) if free else y[2]
    end = s.th + dt * turn
    c1x = np.cos(end) * body.cx - np.sin(end) * body.cy
    c1y = np.sin(end) * body.cx + np.cos(end) * body.cy

    # Leaving twist: v1 = y + omega z x (cm - c1); then the leaving pose.
    y0_bar = after.vx
    y1_bar = after.vy
    y2_bar = after.w - after.vx * (cmy - c1y) + after.vy * (cmx - c1x)
    cm_bar_x = y[2] * after.vy
    cm_bar_y = -y[2] * after.vx
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

    # The implicit function: multipliers of momentum (w) and of the contact (kappa).
    h = balance(p, y[0], y[1], y[2])
    w = solve_symmetric(h, y0_bar, y1_bar, y2_bar)
    mid_x_bar = 0.0
    mid_y_bar = 0.0
    th_bar = 0.0
    vx_bar = 0.0
    vy_bar = 0.0
    w_bar = 0.0
    ax_bar = 0.0
    ay_bar = 0.0
    bx_bar = 0.0
    by_bar = 0.0
    radius_bar = 0.0
    mu_bar = 0.0
    if not free:
        a = contact_at(body, s, drive, dt, first)
        b = a if second < 0 else contact_at(body, s, drive, dt, second)
        yx = 0.5 * (drive.ax + drive.bx) - s.x - 0.5 * dt * s.vx
        yy = 0.5 * (drive.ay + drive.by) - s.y - 0.5 * dt * s.vy
        sigma = 1.0 if mode == SLIP_LEFT or mode == WEDGE_LEFT else -1.0
        sticks = mode == STICK
        along_n = 1.0 if sticks else -1.0
        along_t = 0.0 if sticks else sigma * drive.mu
        N1 = (a.nx, a.ny, a.px * a.ny - a.py * a.nx)
        D1x = along_n * a.nx - along_t * a.ny
        D1y = along_n * a.ny + along_t * a.nx
        D1 = (D1x, D1y, a.px * D1y - a.py * D1x)
        # Second row: the tangent when sticking, the other side when wedged.
        N2 = (b.nx, b.ny, b.px * b.ny - b.py * b.nx)
        D2x = -b.nx - along_t * b.ny
        D2y = -b.ny + along_t * b.nx
        if sticks:
            N2 = (-a.ny, a.nx, a.px * a.nx + a.py * a.ny)
            D2x = -a.ny
            D2y = a.nx
        D2 = (D2x, D2y, b.px * D2y - b.py * D2x)
        two = sticks or second >= 0
        kappa1 = 0.0
        kappa2 = 0.0
        alpha1 = 0.0
        alpha2 = 0.0
        if mode == WEDGE_STICK:
            # No rotation and two normals fix the twist; the impulse is whatever G is.
            w = (-f_bar[0], -f_bar[1], 0.0)
            r0 = y0_bar - h.h00 * w[0] - h.h01 * w[1]
            r1 = y1_bar - h.h01 * w[0] - h.h11 * w[1]
            det = a.nx * b.ny - a.ny * b.nx
            kappa1 = (r0 * b.ny - r1 * b.nx) / det
            kappa2 = (a.nx * r1 - a.ny * r0) / det
        else:
            z1 = solve_symmetric(h, N1[0], N1[1], N1[2])
            q1 = _dot3(D1, w) + D1x * f_bar[0] + D1y * f_bar[1]
            if two:
                z2 = solve_symmetric(h, N2[0], N2[1], N2[2])
                q2 = _dot3(D2, w) + D2x * f_bar[0] + D2y * f_bar[1]
                k11 = _dot3(D1, z1)
                k12 = _dot3(D1, z2)
                k21 = _dot3(D2, z1)
                k22 = _dot3(D2, z2)
                det = k11 * k22 - k12 * k21
                kappa1 = (k22 * q1 - k12 * q2) / det
                kappa2 = (k11 * q2 - k21 * q1) / det
                w = (
                    w[0] - kappa1 * z1[0] - kappa2 * z2[0],
                    w[1] - kappa1 * z1[1] - kappa2 * z2[1],
                    w[2] - kappa1 * z1[2] - kappa2 * z2[2],
                )
                det = D1x * D2y - D1y * D2x
                alpha1 = (f[0] * D2y - f[1] * D2x) / det
                alpha2 = (D1x * f[1] - D1y * f[0]) / det
            else:
                kappa1 = q1 / _dot3(D1, z1)
                w = (w[0] - kappa1 * z1[0], w[1] - kappa1 * z1[1], w[2] - kappa1 * z1[2])
                alpha1 = f[0] * D1x + f[1] * D1y
                alpha1 /= D1x * D1x + D1y * D1y

        bar, along = _impulse_bar(
            a, along_n, along_t, alpha1, w[0], w[1], w[2], f_bar[0], f_bar[1]
        )
        bar = _plus(bar, _constraint_bar(a, y[0], y[1], y[2], kappa1, False))
        mu_bar = 0.0 if sticks else sigma * along
        if sticks:
            more, _ = _impulse_bar(a, 0.0, 1.0, alpha2, w[0], w[1], w[2], f_bar[0], f_bar[1])
            bar = _plus(bar, more)
            bar = _plus(bar, _constraint_bar(a, y[0], y[1], y[2], kappa2, True))
        fb = _finger_bar(a, bar, s, drive, dt, yx, yy)
        if second >= 0:
            bar, along = _impulse_bar(
                b, -1.0, along_t, alpha2, w[0], w[1], w[2], f_bar[0], f_bar[1]
            )
            bar = _plus(bar, _constraint_bar(b, y[0], y[1], y[2], kappa2, False))
            mu_bar += sigma * along
            o = _finger_bar(b, bar, s, drive, dt, yx, yy)
            fb = FingerBar(
                fb.yx + o.yx,
                fb.yy + o.yy,
                fb.th + o.th,
                fb.ux + o.ux,
                fb.uy + o.uy,
                fb.vx + o.vx,
                fb.vy + o.vy,
                fb.w + o.w,
                fb.radius + o.radius,
            )
        mid_x_bar = -fb.yx
        mid_y_bar = -fb.yy
        th_bar += fb.th
        vx_bar += fb.vx
        vy_bar += fb.vy
        w_bar += fb.w
        ax_bar = 0.5 * fb.yx - fb.ux / dt
        ay_bar = 0.5 * fb.yy - fb.uy / dt
        bx_bar = 0.5 * fb.yx + fb.ux / dt
        by_bar = 0.5 * fb.yy + fb.uy / dt
        radius_bar = fb.radius

    # Momentum: G = M (y - u) - impulse + friction.
    th_bar += friction_adjoint(p, y[0], y[1], y[2], w[0], w[1], w[2], c_bar)
    dx = y[0] - p.ux
    dy = y[1] - p.uy
    dw = y[2] - p.uw
    kx = dw * w[0] + w[2] * dx
    ky = dw * w[1] + w[2] * dy
    u0_bar += m * w[0] - p.sy * w[2]
    u1_bar += m * w[1] + p.sx * w[2]
    u2_bar += p.sx * w[1] - p.sy * w[0] + p.J * w[2]
    m_bar = -(w[0] * dx + w[1] * dy + cmx * ky - cmy * kx)
    cm_bar_x -= m * ky
    cm_bar_y += m * kx
    J_bar = -w[2] * dw
    cell_x = np.cos(s.th + 0.5 * dt * s.w) * drive.cell_x
    cell_x -= np.sin(s.th + 0.5 * dt * s.w) * drive.cell_y
    cell_y = np.sin(s.th + 0.5 * dt * s.w) * drive.cell_x
    cell_y += np.cos(s.th + 0.5 * dt * s.w) * drive.cell_y
    th_bar -= dt * w[2] * (cell_x * drive.force_x + cell_y * drive.force_y)

    # Arriving twist carried to mid-step: u = v + omega z x (c0 - cm).
    vx_bar += u0_bar
    vy_bar += u1_bar
    w_bar += u2_bar - u0_bar * (c0y - cmy) + u1_bar * (c0x - cmx)
    c0_bar_x = s.w * u1_bar
    c0_bar_y = -s.w * u0_bar
    cm_bar_x -= c0_bar_x
    cm_bar_y -= c0_bar_y
    th_bar += cm_bar_y * cmx - cm_bar_x * cmy
    # Mid-step is predicted: theta + dt omega / 2, position + dt v / 2.
    cos0 = np.cos(s.th)
    sin0 = np.sin(s.th)
    cosm = np.cos(s.th + 0.5 * dt * s.w)
    sinm = np.sin(s.th + 0.5 * dt * s.w)
    cos1 = np.cos(end)
    sin1 = np.sin(end)
    return StepBar(
        after.x + mid_x_bar,
        after.y + mid_y_bar,
        th1_bar + th_bar + c0_bar_y * c0x - c0_bar_x * c0y,
        vx_bar + 0.5 * dt * mid_x_bar,
        vy_bar + 0.5 * dt * mid_y_bar,
        w_bar + 0.5 * dt * th_bar,
        m_bar,
        cos0 * c0_bar_x + sin0 * c0_bar_y + cosm * cm_bar_x + sinm * cm_bar_y
        + cos1 * c1_bar_x + sin1 * c1_bar_y,
        -sin0 * c0_bar_x + cos0 * c0_bar_y - sinm * cm_bar_x + cosm * cm_bar_y
        - sin1 * c1_bar_x + cos1 * c1_bar_y,
        J_bar,
        ax_bar,
        ay_bar,
        bx_bar,
        by_bar,
        radius_bar,
        mu_bar,
        dt * (w[0] - w[2] * cell_y),
        dt * (w[1] + w[2] * cell_x),
    )


@compiled
def _load_adjoint(
    body: Body,
    ground: Ground,
    supported: NDArray[np.bool_],
    N: Array,
    c_bar: Array,
    mass_bar: Array,
    friction_bar: Array,
) -> tuple[bool, float, float, float]:
    """Carry c_bar (Q,) on to mass and friction of the cells and clear it.

    Returns also the derivatives in total mass and centre of mass.
    """
    each = c_bar.size // mass_bar.size
    whole = ground.even
    for q in range(c_bar.size):
        friction_bar[q // each] += c_bar[q] * N[q]
        c_bar[q] *= ground.mu[q]
        whole = whole and supported[q]
    ok = True
    s0 = s1 = s2 = 0.0
    if not whole:
        ok, s0, s1, s2 = spread_adjoint(body.bx, body.by, N, c_bar)
    for q in range(c_bar.size):
        if ground.even:
            mass_bar[q // each] += c_bar[q] * GRAVITY / each
        c_bar[q] = 0.0
    weight = GRAVITY * body.m
    return ok, GRAVITY * (s0 + s1 * body.cx + s2 * body.cy), weight * s1, weight * s2


@compiled
def roll_adjoint(
    body: Body,
    ground: Ground,
    action: Action,
    track: Track,
    pose_bar: Array,
    impulse_bar: Array,
    cells: Array,
    cell_size: float,
) -> RolloutBar:
    """Carry derivatives in the poses (T + 1, 3) and impulses (T, 2) back over a rollout.

    cells: cell centres in the grid frame [m], shape (n, 2).
    """
    n = cells.shape[0]
    mass_bar = np.zeros(n)
    friction_bar = np.zeros(n)
    finger_bar = np.zeros(track.finger.shape)
    force_bar = np.zeros(2)
    m_bar = cx_bar = cy_bar = J_bar = 0.0
    radius_bar = mu_bar = 0.0
    ok = True

    Q = body.bx.size
    rx = np.empty(Q)
    ry = np.empty(Q)
    N = np.empty(Q)
    c = np.empty(Q)
    c_bar = np.zeros(Q)
    supported = np.ones(Q, np.bool_)
    fresh = False

    T = track.mode.shape[0]
    bar = State(pose_bar[T, 0], pose_bar[T, 1], pose_bar[T, 2], 0.0, 0.0, 0.0, 0, -1, -1)
    for k in range(T - 1, -1, -1):
        h = track.t[k + 1] - track.t[k]
        s = State(
            track.pose[k, 0],
            track.pose[k, 1],
            track.pose[k, 2],
            track.twist[k, 0],
            track.twist[k, 1],
            track.twist[k, 2],
            0,
            -1,
            -1,
        )
        before = supported.copy() if ground.tx.size > 0 else supported
        changed = ground.tx.size > 0 and find_support(
            body, ground, s.x + 0.5 * h * s.vx, s.y + 0.5 * h * s.vy, s.th + 0.5 * h * s.w, supported
        )
        if changed or not fresh:
            if fresh:
                good, a0, a1, a2 = _load_adjoint(
                    body, ground, before, N, c_bar, mass_bar, friction_bar
                )
                ok = ok and good
                m_bar += a0
                cx_bar += a1
                cy_bar += a2
            find_load(body, ground, supported, N)
            for q in range(Q):
                c[q] = ground.mu[q] * N[q]
            fresh = True
        drive = drive_between(action, track.t[k], track.t[k + 1])
        p = step_problem(body, s, drive, h, c, rx, ry)
        d = step_adjoint(
            body,
            s,
            p,
            drive,
            track.mode[k, 0],
            track.mode[k, 1],
            track.mode[k, 2],
            (track.mid[k, 0], track.mid[k, 1], track.mid[k, 2]),
            (track.impulse[k, 0], track.impulse[k, 1]),
            bar,
            (impulse_bar[k, 0], impulse_bar[k, 1]),
            c_bar,
        )
        m_bar += d.m
        cx_bar += d.cx
        cy_bar += d.cy
        J_bar += d.J
        radius_bar += d.radius
        mu_bar += d.mu
        finger_bar[k, 0] += d.ax
        finger_bar[k, 1] += d.ay
        finger_bar[k + 1, 0] += d.bx
        finger_bar[k + 1, 1] += d.by
        if track.t[k] < action.duration:
            force_bar[0] += d.fx
            force_bar[1] += d.fy
        bar = State(
            d.x + pose_bar[k, 0],
            d.y + pose_bar[k, 1],
            d.th + pose_bar[k, 2],
            d.vx,
            d.vy,
            d.w,
            0,
            -1,
            -1,
        )
    if fresh:
        good, a0, a1, a2 = _load_adjoint(body, ground, supported, N, c_bar, mass_bar, friction_bar)
        ok = ok and good
        m_bar += a0
        cx_bar += a1
        cy_bar += a2

    # Moments of mass: m = sum m_i, m c = sum m_i b_i, J = sum m_i (|b_i|^2 + w^2 / 6).
    for i in range(n):
        x = cells[i, 0]
        y = cells[i, 1]
        mass_bar[i] += (
            m_bar
            + (cx_bar * (x - body.cx) + cy_bar * (y - body.cy)) / body.m
            + J_bar * (x * x + y * y + cell_size * cell_size / 6.0)
        )
    pose0 = np.array([bar.x, bar.y, bar.th])
    twist0 = np.array([bar.vx, bar.vy, bar.w])
    return RolloutBar(
        ok,
        mass_bar,
        friction_bar,
        pose0,
        twist0,
        finger_bar,
        radius_bar,
        mu_bar,
        force_bar,
    )
