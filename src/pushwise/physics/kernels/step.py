"""One time step: the twist that balances inertia, push and Coulomb friction.

With cells rigidly joined, the twist ``v = (vx, vy, omega)`` of the grid origin gives every
cell's velocity, ``xdot = S v`` with ``S_q = [I, z x r_q]``. That removes the paper's ``J_e``
exactly (its ``X11`` is ``S (S^T M S)^-1 S^T``), and a step minimises over three unknowns

    E(v) = 1/2 (v - u)^T M (v - u) - dt W . v + dt sum_q c_q sqrt(|S_q v|^2 + eps^2)

where ``M = S^T M_cells S`` (3, 3) holds the four moments of mass that planar motion can see,
``u`` is the twist the object arrives with, ``W`` an external wrench about the grid origin and
``c_q = mu_q N_q`` [N] the friction load of point q. The last term is Coulomb friction with its
direction taken at the end of the step (maximum dissipation), smoothed below the stiction speed
``eps``. All vectors are in table axes at the middle of the step, which is what makes the error
of a step third order in dt where the motion is smooth.

A board may rub more in one direction than in another: with a symmetric positive definite matrix A
in table axes the last term is ``c_q sqrt(V^T A V + eps^2)`` of the point's velocity V = S_q v, so
that friction is ``-c A V / sqrt(V^T A V)``, and the coefficient along a principal axis of A is mu
times the root of its eigenvalue. With B the root of A that is Coulomb friction of another twist,
(B (vx, vy), omega), at other points, z x r' = B (z x r): `Board`.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_sum
from pushwise.physics.constants import STICTION_SPEED
from pushwise.typing import Array

SPEED_TOLERANCE = 1e-10  # m/s; Newton's next error is this squared over the stiction speed
MAX_NEWTON = 100


class Board(NamedTuple):
    """The root B of the board's matrix A, in table axes."""

    even: bool  # B is one, and nothing is multiplied by it
    xx: float
    xy: float
    yy: float


EVEN_BOARD = Board(True, 1.0, 0.0, 1.0)


class StepProblem(NamedTuple):
    """Everything ``E`` depends on during one step (SI units, table axes, mid-step)."""

    m: float  # total mass
    sx: float  # first moment of mass about the grid origin
    sy: float
    J: float  # second moment of mass about the grid origin
    ux: float  # arriving twist, carried to mid-step
    uy: float
    uw: float
    ix: float  # external impulse dt W
    iy: float
    iw: float
    dt: float
    rx: Array  # friction points relative to the grid origin, shape (Q,); r' if uneven
    ry: Array
    c: Array  # friction loads, shape (Q,)
    reach: float  # largest |r_q|: turns rad/s into m/s in tolerances
    board: Board


class Balance(NamedTuple):
    """Value, gradient and Hessian of ``E`` at a twist."""

    E: float
    g0: float
    g1: float
    g2: float
    h00: float
    h01: float
    h02: float
    h11: float
    h12: float
    h22: float


@compiled_sum
def friction_terms(
    vx: float, vy: float, w: float, rx: Array, ry: Array, c: Array
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """Return ``sum c |S v|``, its gradient (3) and its Hessian (6 entries) at a twist."""
    eps2 = STICTION_SPEED * STICTION_SPEED
    e = g0 = g1 = g2 = h00 = h01 = h02 = h11 = h12 = h22 = 0.0
    for q in range(rx.size):
        x = rx[q]
        y = ry[q]
        sx = vx - w * y
        sy = vy + w * x
        d2 = sx * sx + sy * sy + eps2
        inv = 1.0 / np.sqrt(d2)
        a = c[q] * inv
        fx = a * sx
        fy = a * sy
        e += a * d2
        g0 += fx
        g1 += fy
        g2 += x * fy - y * fx
        k = a * inv * inv
        hxx = k * (sy * sy + eps2)
        hyy = k * (sx * sx + eps2)
        hxy = -k * sx * sy
        tx = x * hxy - y * hxx
        ty = x * hyy - y * hxy
        h00 += hxx
        h01 += hxy
        h11 += hyy
        h02 += tx
        h12 += ty
        h22 += x * ty - y * tx
    return e, g0, g1, g2, h00, h01, h02, h11, h12, h22


@compiled
def stretched(board: Board, x: float, y: float) -> tuple[float, float]:
    """Return ``B (x, y)``."""
    if board.even:
        return x, y
    return board.xx * x + board.xy * y, board.xy * x + board.yy * y


@compiled
def balance(p: StepProblem, vx: float, vy: float, w: float) -> Balance:
    """Evaluate ``E`` of a ``StepProblem`` with its gradient and Hessian."""
    bx, by = stretched(p.board, vx, vy)
    e, g0, g1, g2, h00, h01, h02, h11, h12, h22 = friction_terms(bx, by, w, p.rx, p.ry, p.c)
    if not p.board.even:
        g0, g1 = stretched(p.board, g0, g1)
        h02, h12 = stretched(p.board, h02, h12)
        left = stretched(p.board, h00, h01)  # B H B, column by column and then row by row
        right = stretched(p.board, h01, h11)
        h00, h01 = stretched(p.board, left[0], right[0])
        _, h11 = stretched(p.board, left[1], right[1])
    dx = vx - p.ux
    dy = vy - p.uy
    dw = w - p.uw
    mx = p.m * dx - p.sy * dw
    my = p.m * dy + p.sx * dw
    mw = p.sx * dy - p.sy * dx + p.J * dw
    dt = p.dt
    return Balance(
        0.5 * (mx * dx + my * dy + mw * dw) - p.ix * vx - p.iy * vy - p.iw * w + dt * e,
        mx - p.ix + dt * g0,
        my - p.iy + dt * g1,
        mw - p.iw + dt * g2,
        p.m + dt * h00,
        dt * h01,
        -p.sy + dt * h02,
        p.m + dt * h11,
        p.sx + dt * h12,
        p.J + dt * h22,
    )


@compiled
def solve_symmetric(b: Balance, r0: float, r1: float, r2: float) -> tuple[float, float, float]:
    """Solve ``H x = r`` for the positive definite Hessian of a ``Balance`` (Cholesky)."""
    l00 = np.sqrt(b.h00)
    l10 = b.h01 / l00
    l20 = b.h02 / l00
    l11 = np.sqrt(b.h11 - l10 * l10)
    l21 = (b.h12 - l20 * l10) / l11
    l22 = np.sqrt(b.h22 - l20 * l20 - l21 * l21)
    z0 = r0 / l00
    z1 = (r1 - l10 * z0) / l11
    z2 = (r2 - l20 * z0 - l21 * z1) / l22
    x2 = z2 / l22
    x1 = (z1 - l21 * x2) / l11
    x0 = (z0 - l10 * x1 - l20 * x2) / l00
    return x0, x1, x2


@compiled
def free_twist(p: StepProblem, vx: float, vy: float, w: float) -> tuple[bool, float, float, float]:
    """Minimise ``E`` without a finger: ``(converged, vx, vy, omega)``, from a first guess.

    Newton with a line search. ``E`` is strictly convex, so a step is good once the slope along
    it is still downhill at its end, and otherwise once it decreases ``E`` enough (Armijo).
    """
    b = balance(p, vx, vy, w)
    for _ in range(MAX_NEWTON):
        p0, p1, p2 = solve_symmetric(b, -b.g0, -b.g1, -b.g2)
        slope = b.g0 * p0 + b.g1 * p1 + b.g2 * p2
        size = abs(p0) + abs(p1) + abs(p2) * p.reach
        if not size < np.inf:
            return False, vx, vy, w
        if size <= SPEED_TOLERANCE:
            return True, vx + p0, vy + p1, w + p2
        a = 1.0
        while True:
            new = balance(p, vx + a * p0, vy + a * p1, w + a * p2)
            end = new.g0 * p0 + new.g1 * p1 + new.g2 * p2
            if end <= 0.0 or b.E + 1e-4 * a * slope >= new.E or a < 1e-9:
                break
            # The slope is monotone along the line: aim at its zero, but never stall.
            a *= min(max(-slope / (end - slope), 0.1), 0.7)
        vx += a * p0
        vy += a * p1
        w += a * p2
        b = new
    return False, vx, vy, w
