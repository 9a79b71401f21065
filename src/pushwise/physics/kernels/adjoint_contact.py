"""Derivatives of a contact: from its constraint and impulse back to finger and object.

Part of `adjoint_step`: functions take what the implicit function theorem gives (the multipliers w
of momentum and kappa of a constraint) and return derivatives of the loss, ``_bar``.
"""

from typing import NamedTuple

from pushwise.compilation import compiled_part
from pushwise.physics.kernels.contact import (
    SLIP_LEFT,
    STICK,
    WEDGE_LEFT,
    WEDGE_STICK,
    Contact,
    Touch,
)
from pushwise.physics.kernels.linear import solve
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.state import Drive, State, mid_finger
from pushwise.physics.kernels.step import Energy
from pushwise.physics.kernels.substep import contact_at


class TwistBar(NamedTuple):
    """Derivatives of a loss in a twist, or multipliers of its three equations."""

    x: float
    y: float
    w: float


class ForceBar(NamedTuple):
    """Derivatives of a loss in the impulse of the finger on the object."""

    x: float
    y: float


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
    mu: float  # friction of the finger


NO_FINGER = FingerBar(
    yx=0.0, yy=0.0, th=0.0, ux=0.0, uy=0.0, vx=0.0, vy=0.0, w=0.0, radius=0.0, mu=0.0
)


class Impulse(NamedTuple):
    """An impulse alpha along ``d = along_n n + along_t t`` of a contact, and its constraint."""

    along_n: float
    along_t: float
    alpha: float
    kappa: float  # multiplier of the constraint
    tangential: bool  # whether the constraint is along the tangent


@compiled_part
def _contact_bar(k: Contact, i: Impulse, y: Touch, w: TwistBar, f_bar: ForceBar) -> ContactBar:
    """Return ``w . d(D alpha) - kappa d(N . y - b)`` of an impulse and its constraint.

    The impulse itself is an output too, with derivative f_bar.
    """
    dx = i.along_n * k.nx - i.along_t * k.ny
    dy = i.along_n * k.ny + i.along_t * k.nx
    d_bar_x = i.alpha * (w.x - w.w * k.py + f_bar.x)
    d_bar_y = i.alpha * (w.y + w.w * k.px + f_bar.y)
    # The constraint is along the normal or the tangent.
    ax = i.kappa * (y.vx - y.w * k.py)
    ay = i.kappa * (y.vy + y.w * k.px)
    on_n = 0.0 if i.tangential else 1.0
    on_t = 1.0 if i.tangential else 0.0
    side_x = k.nx if i.tangential else k.ny
    side_y = k.ny if i.tangential else -k.nx
    return ContactBar(
        nx=i.along_n * d_bar_x - on_n * ax,
        ny=i.along_n * d_bar_y - on_n * ay,
        tx=i.along_t * d_bar_x - on_t * ax,
        ty=i.along_t * d_bar_y - on_t * ay,
        px=i.alpha * w.w * dy - i.kappa * y.w * side_x,
        py=-i.alpha * w.w * dx - i.kappa * y.w * side_y,
        b=on_n * i.kappa,
        ut=on_t * i.kappa,
    )


@compiled_part
def _along_t_bar(k: Contact, alpha: float, w: TwistBar, f_bar: ForceBar) -> float:
    """Return the derivative in `along_t` of an impulse, which holds the finger's friction."""
    d_bar_x = alpha * (w.x - w.w * k.py + f_bar.x)
    d_bar_y = alpha * (w.y + w.w * k.px + f_bar.y)
    return -k.ny * d_bar_x + k.nx * d_bar_y


@compiled_part
def _finger_bar(
    k: Contact, bar: ContactBar, mu_bar: float, s: State, drive: Drive, dt: float, more: FingerBar
) -> FingerBar:
    """Carry derivatives in a contact back to what `contact_at` made it from, added to `more`."""
    yx, yy = mid_finger(s, drive, dt)
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
        yx=more.yx + (bar.px + xi_x + s.w * half_y),
        yy=more.yy + (bar.py + xi_y - s.w * half_x),
        th=more.th + (turn + xi_x * yy - xi_y * yx),
        ux=more.ux + (bar.ut * tx + half_x),
        uy=more.uy + (bar.ut * ty + half_y),
        vx=more.vx + half_x,
        vy=more.vy + half_y,
        w=more.w + (half_y * yx - half_x * yy),
        radius=more.radius + (-bar.b / dt - bar.px * k.nx - bar.py * k.ny),
        mu=more.mu + mu_bar,
    )


@compiled_part
def _row(k: Contact, along_n: float, along_t: float) -> TwistBar:
    """Return the generalised direction of ``along_n n + along_t t`` at a contact."""
    x = along_n * k.nx - along_t * k.ny
    y = along_n * k.ny + along_t * k.nx
    return TwistBar(x=x, y=y, w=k.px * y - k.py * x)


@compiled_part
def _dot(a: TwistBar, b: TwistBar) -> float:
    return a.x * b.x + a.y * b.y + a.w * b.w


@compiled_part
def _solved(h: Energy, r: TwistBar) -> TwistBar:
    x, y, w = solve(h.H, r.x, r.y, r.w)
    return TwistBar(x=x, y=y, w=w)


@compiled_part
def _less(a: TwistBar, kappa: float, b: TwistBar) -> TwistBar:
    return TwistBar(x=a.x - kappa * b.x, y=a.y - kappa * b.y, w=a.w - kappa * b.w)


@compiled_part
def touched_adjoint(
    body: Body,
    s: State,
    drive: Drive,
    dt: float,
    touch: Touch,
    h: Energy,
    y_bar: TwistBar,
    f_bar: ForceBar,
) -> tuple[TwistBar, FingerBar]:
    """Solve for the multipliers of a step with contact and carry them back to the finger.

    touch: twist, impulse and mode found; h: ``E`` there; y_bar, f_bar: the loss's derivatives in
    twist and impulse. Returns the multipliers w of momentum, and the derivatives in the finger.
    """
    mode = touch.mode
    a = contact_at(body, s, drive, dt, touch.first)
    wedged = touch.second >= 0
    b = contact_at(body, s, drive, dt, touch.second) if wedged else a
    sigma = 1.0 if mode in (SLIP_LEFT, WEDGE_LEFT) else -1.0
    sticks = mode == STICK
    along_n = 1.0 if sticks else -1.0
    along_t = 0.0 if sticks else sigma * drive.mu
    # Rows of the constraints N and of the impulses D; the second pair is the tangent when
    # sticking, the other side when wedged.
    N1 = _row(a, 1.0, 0.0)
    D1 = _row(a, along_n, along_t)
    N2 = _row(a, 0.0, 1.0) if sticks else _row(b, 1.0, 0.0)
    D2 = N2 if sticks else _row(b, -1.0, along_t)
    w = _solved(h, y_bar)
    kappa1 = 0.0
    kappa2 = 0.0
    alpha1 = 0.0
    alpha2 = 0.0
    if mode == WEDGE_STICK:
        # No rotation and two normals fix the twist; the impulse is whatever G is.
        w = TwistBar(x=-f_bar.x, y=-f_bar.y, w=0.0)
        r0 = y_bar.x - h.H.xx * w.x - h.H.xy * w.y
        r1 = y_bar.y - h.H.xy * w.x - h.H.yy * w.y
        det = a.nx * b.ny - a.ny * b.nx
        kappa1 = (r0 * b.ny - r1 * b.nx) / det
        kappa2 = (a.nx * r1 - a.ny * r0) / det
    else:
        z1 = _solved(h, N1)
        q1 = _dot(D1, w) + D1.x * f_bar.x + D1.y * f_bar.y
        if sticks or wedged:
            z2 = _solved(h, N2)
            q2 = _dot(D2, w) + D2.x * f_bar.x + D2.y * f_bar.y
            k11 = _dot(D1, z1)
            k12 = _dot(D1, z2)
            k21 = _dot(D2, z1)
            k22 = _dot(D2, z2)
            det = k11 * k22 - k12 * k21
            kappa1 = (k22 * q1 - k12 * q2) / det
            kappa2 = (k11 * q2 - k21 * q1) / det
            w = _less(_less(w, kappa1, z1), kappa2, z2)
            det = D1.x * D2.y - D1.y * D2.x
            alpha1 = (touch.fx * D2.y - touch.fy * D2.x) / det
            alpha2 = (D1.x * touch.fy - D1.y * touch.fx) / det
        else:
            kappa1 = q1 / _dot(D1, z1)
            w = _less(w, kappa1, z1)
            alpha1 = touch.fx * D1.x + touch.fy * D1.y
            alpha1 /= D1.x * D1.x + D1.y * D1.y

    one = Impulse(along_n=along_n, along_t=along_t, alpha=alpha1, kappa=kappa1, tangential=False)
    mu_bar = 0.0 if sticks else sigma * _along_t_bar(a, alpha1, w, f_bar)
    bar = _contact_bar(a, one, touch, w, f_bar)
    finger = _finger_bar(a, bar, mu_bar, s, drive, dt, NO_FINGER)
    if sticks or wedged:
        two = Impulse(
            along_n=0.0 if sticks else -1.0,
            along_t=1.0 if sticks else along_t,
            alpha=alpha2,
            kappa=kappa2,
            tangential=sticks,
        )
        mu_bar = 0.0 if sticks else sigma * _along_t_bar(b, alpha2, w, f_bar)
        bar = _contact_bar(b, two, touch, w, f_bar)
        finger = _finger_bar(b, bar, mu_bar, s, drive, dt, finger)
    return w, finger
