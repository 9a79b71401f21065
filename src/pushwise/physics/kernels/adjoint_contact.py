"""Derivatives of a contact: from its constraint and impulse back to finger and object.

Part of `adjoint`: functions take what the implicit function theorem gives (the multipliers w of
momentum and kappa of a constraint) and return derivatives of the loss, ``_bar``.
"""

from typing import NamedTuple

from pushwise.compilation import compiled
from pushwise.physics.kernels.contact import SLIP_LEFT, STICK, WEDGE_LEFT, WEDGE_STICK, Contact
from pushwise.physics.kernels.step import Balance, solve_symmetric
from pushwise.physics.kernels.substep import Body, Drive, State, contact_at

Triple = tuple[float, float, float]


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


@compiled
def _constraint_bar(
    k: Contact, y0: float, y1: float, y2: float, kappa: float, tangential: bool
) -> ContactBar:
    """Return ``-kappa d(N . y - b)`` of one constraint, along the normal or the tangent."""
    ax = kappa * (y0 - y2 * k.py)
    ay = kappa * (y1 + y2 * k.px)
    if tangential:
        return ContactBar(0.0, 0.0, -ax, -ay, -kappa * y2 * k.nx, -kappa * y2 * k.ny, 0.0, kappa)
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
    """Add two sets of derivatives."""
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
def _dot(a: Triple, b: Triple) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def touched_adjoint(
    body: Body,
    s: State,
    drive: Drive,
    dt: float,
    mode: int,
    first: int,
    second: int,
    y: Triple,
    f: tuple[float, float],
    h: Balance,
    y_bar: Triple,
    f_bar: tuple[float, float],
) -> tuple[Triple, FingerBar, float]:
    """Solve for the multipliers of a step with contact and carry them back to the finger.

    y, f: twist and impulse found, h: the Hessian there; y_bar, f_bar: the loss's derivatives in
    them. Returns the multipliers w of momentum, and the derivatives in the finger's motion and
    in its friction.
    """
    w = solve_symmetric(h, y_bar[0], y_bar[1], y_bar[2])
    a = contact_at(body, s, drive, dt, first)
    b = a if second < 0 else contact_at(body, s, drive, dt, second)
    yx = 0.5 * (drive.ax + drive.bx) - s.x - 0.5 * dt * s.vx
    yy = 0.5 * (drive.ay + drive.by) - s.y - 0.5 * dt * s.vy
    sigma = 1.0 if mode in (SLIP_LEFT, WEDGE_LEFT) else -1.0
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
        r0 = y_bar[0] - h.h00 * w[0] - h.h01 * w[1]
        r1 = y_bar[1] - h.h01 * w[0] - h.h11 * w[1]
        det = a.nx * b.ny - a.ny * b.nx
        kappa1 = (r0 * b.ny - r1 * b.nx) / det
        kappa2 = (a.nx * r1 - a.ny * r0) / det
    else:
        z1 = solve_symmetric(h, N1[0], N1[1], N1[2])
        q1 = _dot(D1, w) + D1x * f_bar[0] + D1y * f_bar[1]
        if two:
            z2 = solve_symmetric(h, N2[0], N2[1], N2[2])
            q2 = _dot(D2, w) + D2x * f_bar[0] + D2y * f_bar[1]
            k11 = _dot(D1, z1)
            k12 = _dot(D1, z2)
            k21 = _dot(D2, z1)
            k22 = _dot(D2, z2)
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
            kappa1 = q1 / _dot(D1, z1)
            w = (w[0] - kappa1 * z1[0], w[1] - kappa1 * z1[1], w[2] - kappa1 * z1[2])
            alpha1 = f[0] * D1x + f[1] * D1y
            alpha1 /= D1x * D1x + D1y * D1y

    bar, along = _impulse_bar(a, along_n, along_t, alpha1, w[0], w[1], w[2], f_bar[0], f_bar[1])
    bar = _plus(bar, _constraint_bar(a, y[0], y[1], y[2], kappa1, False))
    mu_bar = 0.0 if sticks else sigma * along
    if sticks:
        more, _ = _impulse_bar(a, 0.0, 1.0, alpha2, w[0], w[1], w[2], f_bar[0], f_bar[1])
        bar = _plus(bar, more)
        bar = _plus(bar, _constraint_bar(a, y[0], y[1], y[2], kappa2, True))
    fb = _finger_bar(a, bar, s, drive, dt, yx, yy)
    if second >= 0:
        bar, along = _impulse_bar(b, -1.0, along_t, alpha2, w[0], w[1], w[2], f_bar[0], f_bar[1])
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
    return w, fb, mu_bar
