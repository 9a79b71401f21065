"""How the object's weight rests on the table: the normal load of each friction point.

A rigid object on a rigid table is statically indeterminate. Two ways to settle it:

- ``"own"`` (the paper's): each cell carries its own weight, ``N_i = m_i g``;
- ``"rigid"``: a slightly compliant table makes the load affine in position, with the right
  total and its centroid under the centre of mass.

Both are ``N_q = max(0, base_q + alpha . (1, x_q, y_q))`` with base the own weight or zero, and
alpha such that force and moments balance. Points beyond the table's edge carry nothing; the
others take over. When no alpha exists the centre of mass is beyond the support: the object tips.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_inline, compiled_part
from pushwise.geometry.compiled import inside_polygon, nearest_feature, place, se2
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.linear import Symmetric, cholesky, solve
from pushwise.physics.kernels.step import Board
from pushwise.typing import Array, Flags


class Body(NamedTuple):
    """What the kernels know of an object (SI units, grid frame)."""

    m: float  # total mass
    cx: float  # centre of mass
    cy: float
    J: float  # second moment of mass about the grid origin
    bx: Array  # friction points, shape (Q,)
    by: Array
    ox: Array  # outline, counter-clockwise, shape (k,)
    oy: Array
    reach: float  # largest distance of outline and friction points from the grid origin
    z: float  # height of the centre of mass above the table; 0 if inertia does not shift the load


class Ground(NamedTuple):
    """Where friction comes from: own weights and coefficients of the points, and the table."""

    base: Array  # own weight of each friction point [N], shape (Q,); zero in the rigid model
    mu: Array  # coefficient of friction of each point, shape (Q,)
    tx: Array  # table polygon [m], shape (k,); empty for a table without an edge
    ty: Array
    own: bool  # the load is `base` wherever everything is supported
    board: Board


@compiled_part
def find_support(
    body: Body, ground: Ground, x: float, y: float, th: float, supported: Flags
) -> bool:
    """Update which friction points (Q,) lie on the table at a pose; return whether any changed."""
    changed = False
    clear = ground.tx.size == 0
    if not clear:
        _, d = nearest_feature(x, y, ground.tx, ground.ty)
        clear = -d > body.reach
    at = se2(x, y, th)
    for q in range(supported.size):
        now = clear
        if not clear:
            qx, qy = place(at, body.bx[q], body.by[q])
            now = inside_polygon(qx, qy, ground.tx, ground.ty)
        if now != supported[q]:
            supported[q] = now
            changed = True
    return changed


@compiled_inline
def find_load(body: Body, ground: Ground, supported: Flags, pressing: Flags, N: Array) -> bool:
    """Fill the normal loads N (Q,) of the supported points; False when the object tips.

    pressing: filled in, shape (Q,), unless every cell carries its own weight.
    """
    whole = ground.own
    for q in range(N.size):
        N[q] = ground.base[q]
        whole = whole and supported[q]
    return whole or spread(body, ground.base, supported, pressing, N)


@compiled_part
def _carried(body: Body, supported: Flags) -> bool:
    """Return whether the convex hull of the supported points holds the centre of mass.

    It does not when they all lie on one side of a line through it: seen from there, when their
    directions, measured from that of any one of them, span less than half a turn.
    """
    count = 0
    low = 0.0
    high = 0.0
    ax = 0.0
    ay = 0.0
    for q in range(supported.size):
        if supported[q]:
            dx = body.bx[q] - body.cx
            dy = body.by[q] - body.cy
            if count == 0:
                ax = dx
                ay = dy
            angle = np.arctan2(ax * dy - ay * dx, ax * dx + ay * dy)
            low = min(low, angle)
            high = max(high, angle)
            count += 1
    return count >= 3 and high - low > np.pi


class Moments(NamedTuple):
    """Moments of the points that press, ``sum (1, x, y) (1, x, y)^T``, as a matrix."""

    A: Symmetric
    regular: bool  # whether three of the points are in general position


@compiled_part
def _moments(body: Body, pressing: Flags) -> Moments:
    """Return the moments of some of the friction points."""
    count = sx = sy = sxx = sxy = syy = 0.0
    for q in range(pressing.size):
        if pressing[q]:
            x = body.bx[q]
            y = body.by[q]
            count += 1.0
            sx += x
            sy += y
            sxx += x * x
            sxy += x * y
            syy += y * y
    A = Symmetric(xx=count, xy=sx, xw=sy, yy=sxx, yw=sxy, ww=syy)
    L = cholesky(A)
    regular = L.definite and L.yy * L.yy > 1e-12 * A.yy and L.ww * L.ww > 1e-12 * A.ww
    return Moments(A=A, regular=regular)


@compiled_part
def spread(body: Body, base: Array, supported: Flags, pressing: Flags, N: Array) -> bool:
    """Fill ``N`` (Q,) [N] with the loads of the supported points; False when the object tips.

    base: own weights [N], shape (Q,); pressing: which points press, filled in. ``alpha`` minimises
    a convex function, ``1/2 sum N_q^2 - W . alpha``: Newton.
    """
    if not _carried(body, supported):
        return False
    m = body.m
    sx = m * body.cx
    sy = m * body.cy
    a0 = a1 = a2 = 0.0
    d0 = d1 = d2 = 0.0
    missing = np.inf
    scale = GRAVITY * m
    extent = 0.0
    for q in range(N.size):
        extent = max(extent, np.hypot(body.bx[q], body.by[q]))
    value = np.inf
    for iteration in range(200):
        a = 1.0
        while True:
            t0 = a0 + a * d0
            t1 = a1 + a * d1
            t2 = a2 + a * d2
            new = -GRAVITY * (m * t0 + sx * t1 + sy * t2)
            for q in range(N.size):
                load = base[q] + t0 + t1 * body.bx[q] + t2 * body.by[q]
                N[q] = load if supported[q] and load > 0.0 else 0.0
                new += 0.5 * N[q] * N[q]
            if new <= value + 1e-14 * scale * scale or a < 1e-6:
                break
            a *= 0.5
        a0 = t0
        a1 = t1
        a2 = t2
        value = new
        r0 = GRAVITY * m
        r1 = GRAVITY * sx
        r2 = GRAVITY * sy
        for q in range(N.size):
            # At first all of them press: without own weights nothing would.
            pressing[q] = N[q] > 0.0 or (iteration == 0 and supported[q])
            r0 -= N[q]
            r1 -= N[q] * body.bx[q]
            r2 -= N[q] * body.by[q]
        missing = max(abs(r0), abs(r1) / extent, abs(r2) / extent)
        if missing <= 1e-13 * scale:
            return True
        A, regular = _moments(body, pressing)
        if not regular:
            # Fewer than three points in general position press: let the others back in.
            square = extent * extent
            A = Symmetric(
                xx=A.xx + 1.0, xy=A.xy, xw=A.xw, yy=A.yy + square, yw=A.yw, ww=A.ww + square
            )
        d0, d1, d2 = solve(A, r0, r1, r2)
    return missing <= 1e-9 * scale


class WeightBar(NamedTuple):
    """Derivatives of a loss in total mass and centre of mass, through the load."""

    m: float
    cx: float
    cy: float
    ok: bool  # False where the load has no derivative: too few points press


@compiled_part
def load_adjoint(
    body: Body,
    ground: Ground,
    supported: Flags,
    pressing: Flags,
    N: Array,
    c_bar: Array,
    friction_bar: Array,
) -> WeightBar:
    """Turn the derivative in the friction loads, c_bar (Q,), into that in own weights, in place.

    Adds the derivative in the coefficients of friction of the cells to friction_bar (n,).
    """
    each = c_bar.size // friction_bar.size
    whole = ground.own
    for q in range(c_bar.size):
        friction_bar[q // each] += c_bar[q] * N[q]
        c_bar[q] *= ground.mu[q]
        whole = whole and supported[q]
    if whole:
        return WeightBar(m=0.0, cx=0.0, cy=0.0, ok=True)
    # Spread: N = base + s . (1, x, y) where it presses, s from the balance of force and moments.
    r0 = r1 = r2 = 0.0
    for q in range(N.size):
        pressing[q] = N[q] > 0.0
        if pressing[q]:
            r0 += c_bar[q]
            r1 += c_bar[q] * body.bx[q]
            r2 += c_bar[q] * body.by[q]
    A, regular = _moments(body, pressing)
    s0, s1, s2 = solve(A, r0, r1, r2)
    for q in range(N.size):
        if pressing[q]:
            c_bar[q] -= s0 + s1 * body.bx[q] + s2 * body.by[q]
        else:
            c_bar[q] = 0.0
    weight = GRAVITY * body.m
    return WeightBar(
        m=GRAVITY * (s0 + s1 * body.cx + s2 * body.cy), cx=weight * s1, cy=weight * s2, ok=regular
    )
