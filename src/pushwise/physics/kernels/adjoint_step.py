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

from pushwise.compilation import compiled, compiled_sum
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.adjoint_contact import FingerBar, touched_adjoint
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.step import Balance, StepProblem, solve_symmetric, stretched
from pushwise.physics.kernels.substep import Body, Drive, State
from pushwise.typing import Array


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


@compiled_sum
def uneven_turn_adjoint(
    p: StepProblem, y0: float, y1: float, y2: float, w0: float, w1: float, w2: float
) -> float:
    """Return ``-w . dG/dtheta`` of the friction on an uneven board; y, w and points stretched.

    Turning moves r by ``z x r``, and so r' not by ``z x r'`` but by ``z x B r = z x A r' / det B``.
    """
    eps2 = STICTION_SPEED * STICTION_SPEED
    b = p.board
    det = b.xx * b.yy - b.xy * b.xy
    axx = (b.xx * b.xx + b.xy * b.xy) / det
    axy = b.xy * (b.xx + b.yy) / det
    ayy = (b.yy * b.yy + b.xy * b.xy) / det
    theta_bar = 0.0
    for q in range(p.c.size):
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
        tx = axx * x + axy * y
        ty = axy * x + ayy * y
        tu = tx * ux + ty * uy
        theta_bar += p.c[q] * (w2 * tu + y2 * inv * (ax * tx + ay * ty - along * tu))
    return p.dt * theta_bar


@compiled
def step_adjoint(
    body: Body,
    s: State,
    p: StepProblem,
    h: Balance,
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

    h: the `Balance` at the twist y found, which the caller may share; f, f_bar: impulse of the
    finger and the loss's derivative in it. Adds the derivatives in the friction loads to c_bar
    (Q,).
    """
    dt = p.dt
    m = p.m
    free = mode == SEPARATE
    # Centre of mass from the grid origin at the start, the middle and the end of the step.
    cos0 = np.cos(s.th)
    sin0 = np.sin(s.th)
    c0x = cos0 * body.cx - sin0 * body.cy
    c0y = sin0 * body.cx + cos0 * body.cy
    cmx = p.sx / m
    cmy = p.sy / m
    turn = 0.5 * (y[2] + p.uw) if free else y[2]
    end = s.th + dt * turn
    cos1 = np.cos(end)
    sin1 = np.sin(end)
    c1x = cos1 * body.cx - sin1 * body.cy
    c1y = sin1 * body.cx + cos1 * body.cy

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

    # The implicit function: multipliers of momentum, with what the contact adds to them.
    finger = FingerBar(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    mu_bar = 0.0
    if free:
        w = solve_symmetric(h, y0_bar, y1_bar, y2_bar)
    else:
        w, finger, mu_bar = touched_adjoint(
            body, s, drive, dt, mode, first, second, y, f, h, (y0_bar, y1_bar, y2_bar), f_bar
        )
    th_bar = finger.th
    vx_bar = finger.vx
    vy_bar = finger.vy
    w_bar = finger.w

    # Momentum: G = M (y - u) - impulse + friction.
    v0, v1 = stretched(p.board, y[0], y[1])
    k0, k1 = stretched(p.board, w[0], w[1])
    turned = friction_adjoint(p, v0, v1, y[2], k0, k1, w[2], c_bar)
    if not p.board.even:  # c_bar is right, but stretched points turn otherwise
        turned = uneven_turn_adjoint(p, v0, v1, y[2], k0, k1, w[2])
    th_bar += turned
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
    cosm = np.cos(s.th + 0.5 * dt * s.w)
    sinm = np.sin(s.th + 0.5 * dt * s.w)
    cell_x = cosm * drive.cell_x - sinm * drive.cell_y
    cell_y = sinm * drive.cell_x + cosm * drive.cell_y
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
    return StepBar(
        after.x - finger.yx,
        after.y - finger.yy,
        th1_bar + th_bar + c0_bar_y * c0x - c0_bar_x * c0y,
        vx_bar - 0.5 * dt * finger.yx,
        vy_bar - 0.5 * dt * finger.yy,
        w_bar + 0.5 * dt * th_bar,
        m_bar,
        cos0 * c0_bar_x
        + sin0 * c0_bar_y
        + cosm * cm_bar_x
        + sinm * cm_bar_y
        + cos1 * c1_bar_x
        + sin1 * c1_bar_y,
        -sin0 * c0_bar_x
        + cos0 * c0_bar_y
        - sinm * cm_bar_x
        + cosm * cm_bar_y
        - sin1 * c1_bar_x
        + cos1 * c1_bar_y,
        J_bar,
        0.5 * finger.yx - finger.ux / dt,
        0.5 * finger.yy - finger.uy / dt,
        0.5 * finger.yx + finger.ux / dt,
        0.5 * finger.yy + finger.uy / dt,
        finger.radius,
        mu_bar,
        dt * (w[0] - w[2] * cell_y),
        dt * (w[1] + w[2] * cell_x),
    )
