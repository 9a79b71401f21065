"""The finger in a concave corner, touching two sides at once.

Two normals fix the finger's centre in the object, so only the rotation about that centre is
left. The finger does not turn: rotation makes both contacts slip the same way, with speed
``-radius omega`` along each tangent. Either the object does not rotate and the two contact
forces are anywhere in their cones, or both lie on the same edge of their cones.
"""

import numpy as np

from pushwise.compilation import compiled_part
from pushwise.physics.kernels.contact import (
    IMPOSSIBLE,
    WEDGE_LEFT,
    WEDGE_RIGHT,
    WEDGE_STICK,
    Contact,
    Touch,
)
from pushwise.physics.kernels.linear import times
from pushwise.physics.kernels.step import MAX_NEWTON, SPEED_TOLERANCE, Energy, StepProblem, energy

PARALLEL = 1e-3  # sine of the angle below which two normals are one


@compiled_part
def _pair(a0: float, a1: float, b0: float, b1: float, r0: float, r1: float) -> tuple[float, float]:
    """Solve ``x a + y b = r`` for two vectors of the plane."""
    det = a0 * b1 - a1 * b0
    return (r0 * b1 - r1 * b0) / det, (a0 * r1 - a1 * r0) / det


@compiled_part
def _cones_hold(g: Energy, a: Contact, b: Contact, moment: float, radius: float, mu: float) -> bool:
    """Return whether two forces in their cones give the force ``(g0, g1)`` and the moment.

    The tangential forces share ``-moment / radius``; the share of the first, alpha, is free
    (statics leaves it open). Normal forces are linear in alpha, so each bound is a half-line.
    """
    total = -moment / radius
    # f = -n N + t T at each contact: N_a n_a + N_b n_b = T_a t_a + T_b t_b - g.
    u0, v0 = _pair(a.nx, a.ny, b.nx, b.ny, -total * b.ny - g.gx, total * b.nx - g.gy)
    u1, v1 = _pair(a.nx, a.ny, b.nx, b.ny, b.ny - a.ny, a.nx - b.nx)
    lo = -np.inf
    hi = np.inf
    # Each row: constant + slope * alpha >= 0.
    rows = (
        (u0, u1),
        (v0, v1),
        (mu * u0, mu * u1 - 1.0),
        (mu * u0, mu * u1 + 1.0),
        (mu * v0 - total, mu * v1 + 1.0),
        (mu * v0 + total, mu * v1 - 1.0),
    )
    for constant, slope in rows:
        if slope > 0.0:
            lo = max(lo, -constant / slope)
        elif slope < 0.0:
            hi = min(hi, -constant / slope)
        elif constant < 0.0:
            return False
    return lo <= hi


@compiled_part
def wedge(
    p: StepProblem, a: Contact, b: Contact, yx: float, yy: float, radius: float, mu: float
) -> Touch:
    """Solve a step with two contacts; ``(yx, yy)`` is the finger's centre from the grid origin."""
    impossible = Touch(mode=IMPOSSIBLE, first=-1, second=-1, vx=0.0, vy=0.0, w=0.0, fx=0.0, fy=0.0)
    det = a.nx * b.ny - a.ny * b.nx
    if abs(det) < PARALLEL:
        return impossible
    cx = (a.b * b.ny - b.b * a.ny) / det
    cy = (a.nx * b.b - b.nx * a.b) / det
    g = energy(p, cx, cy, 0.0)
    moment = yy * g.gx - yx * g.gy + g.gw
    if _cones_hold(g, a, b, moment, radius, mu):
        return Touch(
            mode=WEDGE_STICK,
            first=a.feature,
            second=b.feature,
            vx=cx,
            vy=cy,
            w=0.0,
            fx=g.gx,
            fy=g.gy,
        )

    # Turning: friction acts along sigma t at both contacts, sigma the sign of omega.
    sigma = -1.0 if moment > 0.0 else 1.0
    dax = -a.nx - sigma * mu * a.ny
    day = -a.ny + sigma * mu * a.nx
    dbx = -b.nx - sigma * mu * b.ny
    dby = -b.ny + sigma * mu * b.nx
    cross = dax * dby - day * dbx
    if abs(cross) < PARALLEL:
        return impossible
    # Row k with k . f = radius sigma mu (N_a + N_b), added to the moment about the centre.
    k0 = radius * sigma * mu * (dby - day) / cross
    k1 = radius * sigma * mu * (dax - dbx) / cross
    w = 0.0
    lo = -np.inf
    hi = np.inf
    reach = p.reach + np.hypot(yx, yy)
    for _ in range(MAX_NEWTON):
        vx = cx + w * yy
        vy = cy - w * yx
        g = energy(p, vx, vy, w)
        h0, h1, h2 = times(g.H, yy, -yx, 1.0)
        r = (yy + k0) * g.gx - (yx - k1) * g.gy + g.gw
        step = -r / ((yy + k0) * h0 - (yx - k1) * h1 + h2)
        if not abs(step) < np.inf:
            return impossible
        if abs(step) * reach <= SPEED_TOLERANCE:
            fx = g.gx + step * h0
            fy = g.gy + step * h1
            na, nb = _pair(dax, day, dbx, dby, fx, fy)
            if na < 0.0 or nb < 0.0 or sigma * (w + step) < 0.0:
                return impossible
            mode = WEDGE_LEFT if sigma > 0.0 else WEDGE_RIGHT
            return Touch(
                mode=mode,
                first=a.feature,
                second=b.feature,
                vx=vx + step * yy,
                vy=vy - step * yx,
                w=w + step,
                fx=fx,
                fy=fy,
            )
        if r > 0.0:
            hi = w
        else:
            lo = w
        new = w + step
        w = new if lo < new < hi else 0.5 * (lo + hi)
        if not abs(w) < np.inf:
            return impossible
    return impossible
