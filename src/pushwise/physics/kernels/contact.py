"""The finger against the object: separate, stick, slip, or wedged in a concave corner.

The finger is a disc of radius ``radius`` and friction ``mu`` that moves as prescribed and does
not turn. It touches the outline at the point ``rho`` (relative to the grid origin) with outward
normal ``n`` and tangent ``t = z x n``; the impulse on the object is ``f``. With
``A = [I, z x rho]`` the velocity of the touched point is ``A v`` and the step must satisfy

    grad E(v) = A^T f,      n . A v = b,      -n . f >= 0,      |t . f| <= mu (-n . f)

``b`` is the normal speed that closes the gap exactly at the end of the step. Sticking adds
``t . A v = t . (finger velocity)`` and leaves one unknown, the rotation about the contact, a
convex problem. Slipping replaces it by ``t . f = sigma mu (-n . f)``: two unknowns and no
minimisation, so that Newton is guarded by a search on the slip speed alone.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_inline, compiled_part
from pushwise.physics.kernels.linear import times
from pushwise.physics.kernels.step import MAX_NEWTON, StepProblem, converged, energy

# Modes of a step. Plain integers because compiled code carries them; `Mode` names them in public.
SEPARATE = 0
STICK = 1
SLIP_LEFT = 2  # friction on the object along +t (sigma = +1)
SLIP_RIGHT = 3  # friction on the object along -t (sigma = -1)
WEDGE_STICK = 4
WEDGE_LEFT = 5
WEDGE_RIGHT = 6
JAMMED = 7  # no mode has a solution: finger and object move as one
IMPOSSIBLE = -1

BRACKET = 1e-10  # m/s; how closely a search on the slip speed brackets it


class Contact(NamedTuple):
    """One touching point at mid-step (table axes, relative to the grid origin)."""

    nx: float  # outward normal of the object
    ny: float
    px: float  # touched point rho
    py: float
    b: float  # normal speed of the touched point that closes the gap [m/s]
    ut: float  # tangential speed of the finger [m/s]
    curvature: float  # d(normal angle) / d(tangential travel) [1/m]: 0 on an edge
    feature: int  # of the outline


class Touch(NamedTuple):
    """Twist and impulse of a solved step, and how the finger touches."""

    mode: int
    first: int  # outline features touched, -1 for none
    second: int
    vx: float
    vy: float
    w: float
    fx: float
    fy: float


@compiled_part
def _about_contact(c: Contact, vn: float, vt: float, w: float) -> tuple[float, float]:
    """Return the origin velocity that gives the touched point ``(vn, vt)`` when turning at w."""
    return vn * c.nx - vt * c.ny + w * c.py, vn * c.ny + vt * c.nx - w * c.px


@compiled_part
def stick(p: StepProblem, c: Contact, slip: float, w: float) -> tuple[bool, Touch]:
    """Solve for the rotation when the touched point moves at ``(b, ut + slip)``.

    The moment of grad E about the contact is monotone in omega: Newton inside a bracket.
    """
    lo = -np.inf
    hi = np.inf
    before = np.inf
    vx = 0.0
    vy = 0.0
    reach = p.reach + np.hypot(c.px, c.py)
    for _ in range(MAX_NEWTON):
        vx, vy = _about_contact(c, c.b, c.ut + slip, w)
        g = energy(p, vx, vy, w)
        moment = c.py * g.gx - c.px * g.gy + g.gw
        h0, h1, h2 = times(g.H, c.py, -c.px, 1.0)
        stiff = c.py * h0 - c.px * h1 + h2
        step = -moment / stiff
        if not abs(step) < np.inf:
            break
        if converged(g, abs(step) * reach, reach * reach / stiff):
            return True, Touch(
                mode=STICK,
                first=c.feature,
                second=-1,
                vx=vx + step * c.py,
                vy=vy - step * c.px,
                w=w + step,
                fx=g.gx + step * h0,
                fy=g.gy + step * h1,
            )
        if moment > 0.0:
            hi = w
        else:
            lo = w
        new = w + step
        slow = abs(moment) > 0.5 * before
        if not lo < new < hi or (slow and hi - lo < np.inf):
            new = 0.5 * (lo + hi)
        before = abs(moment)
        w = new
    return False, Touch(mode=IMPOSSIBLE, first=-1, second=-1, vx=vx, vy=vy, w=w, fx=0.0, fy=0.0)


@compiled_inline
def _slip_newton(
    p: StepProblem, c: Contact, e0: float, e1: float, slip: float, w: float
) -> tuple[bool, float, Touch]:
    """Newton on ``(omega, slip)``: no moment about the contact, no impulse along ``e``."""
    reach = p.reach + np.hypot(c.px, c.py)
    vx, vy = _about_contact(c, c.b, c.ut + slip, w)
    g = energy(p, vx, vy, w)
    r0 = (c.py * g.gx - c.px * g.gy + g.gw) / reach
    r1 = e0 * g.gx + e1 * g.gy
    for _ in range(MAX_NEWTON):
        # Columns of H along d v / d omega = (py, -px, 1) and d v / d slip = (t, 0).
        a0, a1, a2 = times(g.H, c.py, -c.px, 1.0)
        b0, b1, b2 = times(g.H, -c.ny, c.nx, 0.0)
        j00 = (c.py * a0 - c.px * a1 + a2) / reach
        j01 = (c.py * b0 - c.px * b1 + b2) / reach
        j10 = e0 * a0 + e1 * a1
        j11 = e0 * b0 + e1 * b1
        det = j00 * j11 - j01 * j10
        if det == 0.0:
            break
        dw = -(j11 * r0 - j01 * r1) / det
        ds = -(j00 * r1 - j10 * r0) / det
        size = abs(dw) * reach + abs(ds)
        if not size < np.inf:
            break
        inverse = ((abs(j01) + abs(j11)) * reach + abs(j00) + abs(j10)) / abs(det)
        if converged(g, size, inverse * (abs(e0) + abs(e1))):
            return (
                True,
                slip + ds,
                Touch(
                    mode=SLIP_LEFT,
                    first=c.feature,
                    second=-1,
                    vx=vx + dw * c.py - ds * c.ny,
                    vy=vy - dw * c.px + ds * c.nx,
                    w=w + dw,
                    fx=g.gx + dw * a0 + ds * b0,
                    fy=g.gy + dw * a1 + ds * b1,
                ),
            )
        merit = r0 * r0 + r1 * r1
        a = 1.0
        while True:
            vx, vy = _about_contact(c, c.b, c.ut + slip + a * ds, w + a * dw)
            g = energy(p, vx, vy, w + a * dw)
            r0 = (c.py * g.gx - c.px * g.gy + g.gw) / reach
            r1 = e0 * g.gx + e1 * g.gy
            if r0 * r0 + r1 * r1 <= (1.0 - 1e-3 * a) * merit:
                break
            a *= 0.4
            if a < 1e-4:  # a kink, not a descent direction: leave it to the guarded search
                return (
                    False,
                    slip,
                    Touch(mode=IMPOSSIBLE, first=-1, second=-1, vx=vx, vy=vy, w=w, fx=0.0, fy=0.0),
                )
        slip += a * ds
        w += a * dw
    return (
        False,
        slip,
        Touch(mode=IMPOSSIBLE, first=-1, second=-1, vx=vx, vy=vy, w=w, fx=0.0, fy=0.0),
    )


@compiled_part
def slip(
    p: StepProblem, c: Contact, mu: float, sigma: float, speed: float, w: float
) -> tuple[bool, Touch]:
    """Solve for slipping with friction on the object along ``sigma t``; valid or not."""
    e0 = -c.ny + sigma * mu * c.nx
    e1 = c.nx + sigma * mu * c.ny
    ok, speed, touch = _slip_newton(p, c, e0, e1, speed, w)
    if not ok:
        # Along the edge of the cone the friction excess falls as the slip speed grows: bracket.
        inner = 0.0
        outer = -sigma * 1e-3
        ok_outer, touch = stick(p, c, outer, w)
        while ok_outer and sigma * (e0 * touch.fx + e1 * touch.fy) > 0.0:
            inner = outer
            outer *= 4.0
            if abs(outer) > 1e4:
                return False, touch
            ok_outer, touch = stick(p, c, outer, touch.w)
        for _ in range(MAX_NEWTON):
            speed = 0.5 * (inner + outer)
            ok_inner, touch = stick(p, c, speed, touch.w)
            if not (ok_inner and ok_outer):
                return False, touch
            if sigma * (e0 * touch.fx + e1 * touch.fy) > 0.0:
                inner = speed
            else:
                outer = speed
            if abs(outer - inner) <= BRACKET:
                break
        ok, polished, better = _slip_newton(p, c, e0, e1, speed, touch.w)
        if ok and abs(polished - speed) <= 1e-6:
            speed = polished
            touch = better
    pressing = -(c.nx * touch.fx + c.ny * touch.fy) >= 0.0
    mode = SLIP_LEFT if sigma > 0.0 else SLIP_RIGHT
    return pressing and sigma * speed <= 0.0, Touch(
        mode=mode,
        first=c.feature,
        second=-1,
        vx=touch.vx,
        vy=touch.vy,
        w=touch.w,
        fx=touch.fx,
        fy=touch.fy,
    )


@compiled_part
def slip_sign(mode: int) -> float:
    """Return sigma of a mode that slips, zero of any other."""
    if mode == SLIP_LEFT:
        return 1.0
    return -1.0 if mode == SLIP_RIGHT else 0.0


@compiled_inline
def single_contact(p: StepProblem, c: Contact, mu: float, before: float) -> Touch:
    """Solve one contact: stick if the force fits its cone, else slip, else ``IMPOSSIBLE``.

    before: sigma of the step before, zero if it did not slip.
    """
    if before != 0.0:
        # Slipping as before is the likely case, and saves the sticking solve.
        x = p.guess_x - p.guess_w * c.py
        y = p.guess_y + p.guess_w * c.px
        valid, touch = slip(p, c, mu, before, c.nx * y - c.ny * x - c.ut, p.guess_w)
        if valid:
            return touch
    ok, touch = stick(p, c, 0.0, p.guess_w)
    if not ok:
        return touch
    normal = -(c.nx * touch.fx + c.ny * touch.fy)
    tangential = -c.ny * touch.fx + c.nx * touch.fy
    if abs(tangential) <= mu * normal:
        return touch
    sigma = 1.0 if tangential > 0.0 else -1.0
    valid, first = slip(p, c, mu, sigma, 0.0, touch.w)
    if valid:
        return first
    if normal < 0.0:
        valid, second = slip(p, c, mu, -sigma, 0.0, touch.w)
        if valid:
            return second
    return Touch(
        mode=IMPOSSIBLE,
        first=-1,
        second=-1,
        vx=touch.vx,
        vy=touch.vy,
        w=touch.w,
        fx=0.0,
        fy=0.0,
    )
