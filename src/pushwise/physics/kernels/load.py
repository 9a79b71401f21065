"""How the object's weight rests on the table: the normal load of each friction point.

A rigid object on a rigid table is statically indeterminate. Two ways to settle it:

- ``"own"`` (the paper's): each cell carries its own weight, ``N_i = m_i g``;
- ``"rigid"``: a slightly compliant table makes the load affine in position, with the right
  total and its centroid under the centre of mass.

Both are ``N_q = max(0, base_q + alpha . (1, x_q, y_q))`` with base the own weight or zero, and
alpha such that force and moments balance. Points beyond the table's edge carry nothing; the
others take over. When no alpha exists the centre of mass is beyond the support: it tips.
"""

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.constants import GRAVITY
from pushwise.typing import Array, Flags


@compiled
def inside_polygon(x: float, y: float, ox: Array, oy: Array) -> bool:
    """Tell whether a point lies in a polygon of any shape (crossing number)."""
    inside = False
    j = ox.size - 1
    for i in range(ox.size):
        if (oy[i] > y) != (oy[j] > y):
            t = (y - oy[i]) / (oy[j] - oy[i])
            if x < ox[i] + t * (ox[j] - ox[i]):
                inside = not inside
        j = i
    return inside


@compiled
def solve3(A: Array, r: Array) -> tuple[bool, Array]:
    """Solve a symmetric positive definite (3, 3) system; False when it is not one."""
    d0 = A[0, 0]
    l10 = A[1, 0] / d0
    l20 = A[2, 0] / d0
    d1 = A[1, 1] - l10 * A[1, 0]
    t = A[2, 1] - l20 * A[1, 0]
    l21 = t / d1
    d2 = A[2, 2] - l20 * A[2, 0] - l21 * t
    x = np.empty(3)
    if not (d0 > 0.0 and d1 > 1e-12 * A[1, 1] and d2 > 1e-12 * A[2, 2]):
        return False, x
    z1 = r[1] - l10 * r[0]
    z2 = r[2] - l20 * r[0] - l21 * z1
    x[2] = z2 / d2
    x[1] = z1 / d1 - l21 * x[2]
    x[0] = r[0] / d0 - l10 * x[1] - l20 * x[2]
    return True, x


@compiled
def carried(x: Array, y: Array, supported: Flags, cx: float, cy: float) -> bool:
    """Tell whether the convex hull of the supported points holds the centre of mass.

    It does not when they all lie on one side of a line through it: seen from there, when their
    directions, measured from that of any one of them, span less than half a turn.
    """
    count = 0
    low = 0.0
    high = 0.0
    ax = 0.0
    ay = 0.0
    for q in range(x.size):
        if supported[q]:
            dx = x[q] - cx
            dy = y[q] - cy
            if count == 0:
                ax = dx
                ay = dy
            angle = np.arctan2(ax * dy - ay * dx, ax * dx + ay * dy)
            low = min(low, angle)
            high = max(high, angle)
            count += 1
    return count >= 3 and high - low > np.pi


@compiled
def spread(
    x: Array, y: Array, base: Array, supported: Flags, m: float, sx: float, sy: float, N: Array
) -> bool:
    """Fill ``N`` (Q,) [N] with the loads of the supported points; False when it tips.

    x, y, base are of shape (Q,); m, (sx, sy) are total mass and first moment about the origin
    of x, y. ``alpha`` minimises a convex function, ``1/2 sum N_q^2 - W . alpha``: Newton.
    """
    if not carried(x, y, supported, sx / m, sy / m):
        return False
    alpha = np.zeros(3)
    A = np.empty((3, 3))
    r = np.empty(3)
    scale = GRAVITY * m
    extent = 0.0
    for q in range(x.size):
        extent = max(extent, np.hypot(x[q], y[q]))
    value = np.inf
    step = np.zeros(3)
    for iteration in range(200):
        a = 1.0
        while True:
            trial = alpha + a * step
            new = -GRAVITY * (m * trial[0] + sx * trial[1] + sy * trial[2])
            for q in range(x.size):
                load = base[q] + trial[0] + trial[1] * x[q] + trial[2] * y[q]
                N[q] = load if supported[q] and load > 0.0 else 0.0
                new += 0.5 * N[q] * N[q]
            if new <= value + 1e-14 * scale * scale or a < 1e-6:
                break
            a *= 0.5
        alpha = trial
        value = new
        A[:] = 0.0
        r[0] = GRAVITY * m
        r[1] = GRAVITY * sx
        r[2] = GRAVITY * sy
        for q in range(x.size):
            # At first all of them press: without own weights nothing would.
            if N[q] > 0.0 or (iteration == 0 and supported[q]):
                A[0, 0] += 1.0
                A[1, 0] += x[q]
                A[2, 0] += y[q]
                A[1, 1] += x[q] * x[q]
                A[2, 1] += x[q] * y[q]
                A[2, 2] += y[q] * y[q]
                r[0] -= N[q]
                r[1] -= N[q] * x[q]
                r[2] -= N[q] * y[q]
        if max(abs(r[0]), abs(r[1]) / extent, abs(r[2]) / extent) <= 1e-13 * scale:
            return True
        ok, step = solve3(A, r)
        if not ok:
            # Fewer than three points in general position press: let the others back in.
            for i in range(3):
                A[i, i] += 1.0 if i == 0 else extent * extent
            ok, step = solve3(A, r)
    missing: float = max(abs(r[0]), abs(r[1]) / extent, abs(r[2]) / extent)
    return missing <= 1e-9 * scale


@compiled
def spread_adjoint(x: Array, y: Array, N: Array, N_bar: Array) -> tuple[bool, float, float, float]:
    """Turn ``dL/dN`` (Q,) into ``dL/dbase`` (in place) and ``y`` with ``dL = y . d(weight)``.

    The weight is ``g (m, sx, sy)``. Points that do not press have no derivative.
    """
    A = np.zeros((3, 3))
    r = np.zeros(3)
    for q in range(x.size):
        if N[q] > 0.0:
            A[0, 0] += 1.0
            A[1, 0] += x[q]
            A[2, 0] += y[q]
            A[1, 1] += x[q] * x[q]
            A[2, 1] += x[q] * y[q]
            A[2, 2] += y[q] * y[q]
            r[0] += N_bar[q]
            r[1] += N_bar[q] * x[q]
            r[2] += N_bar[q] * y[q]
    ok, s = solve3(A, r)
    for q in range(x.size):
        if N[q] > 0.0:
            N_bar[q] -= s[0] + s[1] * x[q] + s[2] * y[q]
        else:
            N_bar[q] = 0.0
    return ok, s[0], s[1], s[2]
