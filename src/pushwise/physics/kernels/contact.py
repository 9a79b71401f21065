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

from pushwise.compilation import compiled
from pushwise.physics.kernels.step import MAX_NEWTON, SPEED_TOLERANCE, StepProblem, balance
from pushwise.typing import Array

# Modes of a step. Plain integers because compiled code carries them; `Mode` names them in public.
SEPARATE = 0
STICK = 1
SLIP_LEFT = 2  # friction on the object along +t (sigma = +1)
SLIP_RIGHT = 3  # friction on the object along -t (sigma = -1)
WEDGE_STICK = 4
WEDGE_LEFT = 5
WEDGE_RIGHT = 6
IMPOSSIBLE = -1


class Contact(NamedTuple):
    """One touching point at mid-step (table axes, relative to the grid origin)."""

    nx: float  # outward normal of the object
    ny: float
    px: float  # touched point rho
    py: float
    b: float  # normal speed of the touched point that closes the gap [m/s]
    ut: float  # tangential speed of the finger [m/s]
    curvature: float  # d(normal angle) / d(tangential travel) [1/m]: 0 on an edge


class Touch(NamedTuple):
    """Twist and impulse of a solved step, and how the finger touches."""

    mode: int
    vx: float
    vy: float
    w: float
    fx: float
    fy: float


@compiled
def nearest_feature(qx: float, qy: float, ox: Array, oy: Array) -> tuple[int, float]:
    """Return the outline feature nearest to a point and its signed distance [m].

    Feature ``2 i`` is the edge from vertex i to i + 1, ``2 i + 1`` is vertex i. The distance is
    negative inside. Points and outline, shapes (k,), are in the grid frame.
    """
    best = np.inf
    feature = -1
    inside = False
    k = ox.size
    ax = ox[k - 1] - qx
    ay = oy[k - 1] - qy
    for i in range(k):
        bx = ox[i] - qx
        by = oy[i] - qy
        ex = bx - ax
        ey = by - ay
        if (ay > 0.0) != (by > 0.0) and ax - ay * ex / ey > 0.0:
            inside = not inside
        s = -(ax * ex + ay * ey)
        e2 = ex * ex + ey * ey
        if s <= 0.0:
            d2 = ax * ax + ay * ay
            f = 2 * ((i + k - 1) % k) + 1
        elif s >= e2:
            d2 = bx * bx + by * by
            f = 2 * i + 1
        else:
            cross = ax * ey - ay * ex
            d2 = cross * cross / e2
            f = 2 * ((i + k - 1) % k)
        if d2 < best:
            best = d2
            feature = f
        ax = bx
        ay = by
    distance = np.sqrt(best)
    return feature, -distance if inside else distance


@compiled
def feature_normal(
    feature: int, qx: float, qy: float, ox: Array, oy: Array
) -> tuple[float, float, float, float]:
    """Return distance, outward normal and curvature of one feature seen from a point."""
    i = feature // 2
    if feature % 2 == 1:
        dx = qx - ox[i]
        dy = qy - oy[i]
        d = np.hypot(dx, dy)
        if d == 0.0:  # a finger centred on a vertex is inside the object: the caller refuses it
            return 0.0, 1.0, 0.0, 0.0
        return d, dx / d, dy / d, 1.0 / d
    j = (i + 1) % ox.size
    ex = ox[j] - ox[i]
    ey = oy[j] - oy[i]
    length = np.hypot(ex, ey)
    nx = ey / length
    ny = -ex / length
    return nx * (qx - ox[i]) + ny * (qy - oy[i]), nx, ny, 0.0


@compiled
def _about_contact(c: Contact, vn: float, vt: float, w: float) -> tuple[float, float]:
    """Return the origin velocity that gives the touched point ``(vn, vt)`` when turning at w."""
    return vn * c.nx - vt * c.ny + w * c.py, vn * c.ny + vt * c.nx - w * c.px


@compiled
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
        g = balance(p, vx, vy, w)
        moment = c.py * g.g0 - c.px * g.g1 + g.g2
        h0 = g.h00 * c.py - g.h01 * c.px + g.h02
        h1 = g.h01 * c.py - g.h11 * c.px + g.h12
        h2 = g.h02 * c.py - g.h12 * c.px + g.h22
        step = -moment / (c.py * h0 - c.px * h1 + h2)
        if not abs(step) < np.inf:
            break
        if abs(step) * reach <= SPEED_TOLERANCE:
            return True, Touch(
                STICK,
                vx + step * c.py,
                vy - step * c.px,
                w + step,
                g.g0 + step * h0,
                g.g1 + step * h1,
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
    return False, Touch(IMPOSSIBLE, vx, vy, w, 0.0, 0.0)


@compiled
def _slip_newton(
    p: StepProblem, c: Contact, e0: float, e1: float, slip: float, w: float
) -> tuple[bool, float, Touch]:
    """Newton on ``(omega, slip)``: no moment about the contact, no impulse along ``e``."""
    reach = p.reach + np.hypot(c.px, c.py)
    vx, vy = _about_contact(c, c.b, c.ut + slip, w)
    g = balance(p, vx, vy, w)
    r0 = (c.py * g.g0 - c.px * g.g1 + g.g2) / reach
    r1 = e0 * g.g0 + e1 * g.g1
    for _ in range(MAX_NEWTON):
        # Columns of H along d v / d omega = (py, -px, 1) and d v / d slip = (t, 0).
        a0 = g.h00 * c.py - g.h01 * c.px + g.h02
        a1 = g.h01 * c.py - g.h11 * c.px + g.h12
        a2 = g.h02 * c.py - g.h12 * c.px + g.h22
        b0 = -g.h00 * c.ny + g.h01 * c.nx
        b1 = -g.h01 * c.ny + g.h11 * c.nx
        b2 = -g.h02 * c.ny + g.h12 * c.nx
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
        if size <= SPEED_TOLERANCE:
            return (
                True,
                slip + ds,
                Touch(
                    SLIP_LEFT,
                    vx + dw * c.py - ds * c.ny,
                    vy - dw * c.px + ds * c.nx,
                    w + dw,
                    g.g0 + dw * a0 + ds * b0,
                    g.g1 + dw * a1 + ds * b1,
                ),
            )
        merit = r0 * r0 + r1 * r1
        a = 1.0
        while True:
            vx, vy = _about_contact(c, c.b, c.ut + slip + a * ds, w + a * dw)
            g = balance(p, vx, vy, w + a * dw)
            r0 = (c.py * g.g0 - c.px * g.g1 + g.g2) / reach
            r1 = e0 * g.g0 + e1 * g.g1
            if r0 * r0 + r1 * r1 <= (1.0 - 1e-3 * a) * merit:
                break
            a *= 0.4
            if a < 1e-4:  # a kink, not a descent direction: leave it to the guarded search
                return False, slip, Touch(IMPOSSIBLE, vx, vy, w, 0.0, 0.0)
        slip += a * ds
        w += a * dw
    return False, slip, Touch(IMPOSSIBLE, vx, vy, w, 0.0, 0.0)


@compiled
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
            if abs(outer - inner) <= SPEED_TOLERANCE:
                break
        ok, polished, better = _slip_newton(p, c, e0, e1, speed, touch.w)
        if ok and abs(polished - speed) <= 1e-6:
            speed = polished
            touch = better
    pressing = -(c.nx * touch.fx + c.ny * touch.fy) >= 0.0
    mode = SLIP_LEFT if sigma > 0.0 else SLIP_RIGHT
    return pressing and sigma * speed <= 0.0, Touch(
        mode, touch.vx, touch.vy, touch.w, touch.fx, touch.fy
    )


@compiled
def single_contact(p: StepProblem, c: Contact, mu: float, last_mode: int) -> Touch:
    """Solve one contact: stick if the force fits its cone, else slip, else ``IMPOSSIBLE``."""
    speed = -c.ny * (p.ux - p.uw * c.py) + c.nx * (p.uy + p.uw * c.px) - c.ut
    if last_mode in (SLIP_LEFT, SLIP_RIGHT):
        # Going on as before is the likely case, and saves the sticking solve.
        valid, touch = slip(p, c, mu, 1.0 if last_mode == SLIP_LEFT else -1.0, speed, p.uw)
        if valid:
            return touch
    ok, touch = stick(p, c, 0.0, p.uw)
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
    return Touch(IMPOSSIBLE, touch.vx, touch.vy, touch.w, 0.0, 0.0)
