"""One time step: the twist that balances inertia, push and Coulomb friction.

With cells rigidly joined, the twist ``v = (vx, vy, omega)`` of the grid origin gives every
cell's velocity, ``xdot = S v`` with ``S_q = [I, z x r_q]``. That removes the paper's ``J_e``
exactly (its ``X11`` is ``S (S^T M S)^-1 S^T``), and a step minimises over three unknowns

    E(v) = 1/2 (v - u)^T M (v - u) - dt W . v + dt sum_q c_q sqrt(|S_q v|^2 + eps^2)

where ``M = S^T M_cells S`` (3, 3) holds the four moments of mass that planar motion can see,
``u`` is the twist the object arrives with, ``W`` an external wrench about the grid origin and
``c_q = mu_q N_q`` [N] the friction load of point q. The last term is Coulomb friction with its
direction taken at the end of the step (maximum dissipation), smoothed below the stiction speed
``eps``. All vectors are in table axes at the middle of the step, which makes the error of a step
third order in dt where the motion is smooth.

A table may have more friction in one direction than in another: with a symmetric positive definite
matrix A in table axes the last term is ``c_q sqrt(V^T A V + eps^2)`` of the point's velocity
V = S_q v, friction is ``-c A V / sqrt(V^T A V)``, and the coefficient along a principal axis of A
is mu times the root of its eigenvalue. With B the root of A that is Coulomb friction of another
twist, (B (vx, vy), omega), at other points, z x r' = B (z x r): `Board`. An isotropic table is the
special case B = I.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_inline, compiled_part, compiled_sum
from pushwise.physics.constants import STICTION_SPEED
from pushwise.physics.kernels.linear import Symmetric, solve
from pushwise.typing import Array

SPEED_TOLERANCE = 1e-10  # m/s; a Newton step as short as this is the last,
REMAINDER = 1e-12  # m/s; and one that leaves no more than this to go
BENT = 0.6  # half of the third derivative of |V|, 2 / sqrt(3) over |V|^2 at most
MAX_NEWTON = 100


class Board(NamedTuple):
    """The root B of the table's matrix A, in table axes; the identity if it is isotropic."""

    xx: float
    xy: float
    yy: float


ISOTROPIC = Board(xx=1.0, xy=0.0, yy=1.0)


class StepProblem(NamedTuple):
    """Everything ``E`` depends on during one step (SI units, table axes, mid-step)."""

    m: float  # total mass
    sx: float  # first moment of mass about the grid origin
    sy: float
    J: float  # second moment of mass about the grid origin
    ux: float  # arriving twist, carried to mid-step
    uy: float
    uw: float
    guess_x: float  # twist that the solvers start from
    guess_y: float
    guess_w: float
    ix: float  # external impulse dt W
    iy: float
    iw: float
    dt: float
    span: float  # of the time step that this is, or is a part of [s]
    rx: Array  # friction points r' relative to the grid origin, shape (Q,)
    ry: Array
    c: Array  # friction loads, shape (Q,)
    reach: float  # largest |r_q|: turns rad/s into m/s in tolerances
    board: Board


class Energy(NamedTuple):
    """Value, gradient and Hessian of ``E``, or of its friction term, at a twist."""

    value: float
    gx: float
    gy: float
    gw: float
    H: Symmetric
    bend: float  # times the square of a change of all speeds: what H misses of the force at most


@compiled_sum
def friction_energy(vx: float, vy: float, w: float, rx: Array, ry: Array, c: Array) -> Energy:
    """Return ``sum c |S v|`` at a twist, with its gradient and Hessian, and how that bends."""
    eps2 = STICTION_SPEED * STICTION_SPEED
    e = g0 = g1 = g2 = h00 = h01 = h02 = h11 = h12 = h22 = bend = 0.0
    for q in range(rx.size):
        x = rx[q]
        y = ry[q]
        sx = vx - w * y
        sy = vy + w * x
        d2 = sx * sx + sy * sy + eps2
        d = np.sqrt(d2)
        inv = 1.0 / d
        a = c[q] * inv
        fx = a * sx
        fy = a * sy
        e += a * d2
        g0 += fx
        g1 += fy
        g2 += x * fy - y * fx
        k = a * inv * inv
        bend += k * d
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
    H = Symmetric(xx=h00, xy=h01, xw=h02, yy=h11, yw=h12, ww=h22)
    return Energy(value=e, gx=g0, gy=g1, gw=g2, H=H, bend=BENT * bend)


@compiled_part
def stretched(board: Board, x: float, y: float) -> tuple[float, float]:
    """Return ``B (x, y)``."""
    return board.xx * x + board.xy * y, board.xy * x + board.yy * y


@compiled_inline
def energy(p: StepProblem, vx: float, vy: float, w: float) -> Energy:
    """Evaluate ``E`` of a step at a twist, with its gradient and Hessian."""
    bx, by = stretched(p.board, vx, vy)
    f = friction_energy(bx, by, w, p.rx, p.ry, p.c)
    gx, gy = stretched(p.board, f.gx, f.gy)
    hxw, hyw = stretched(p.board, f.H.xw, f.H.yw)
    left_x, left_y = stretched(p.board, f.H.xx, f.H.xy)  # B H B, column by column, row by row
    right_x, right_y = stretched(p.board, f.H.xy, f.H.yy)
    hxx, hxy = stretched(p.board, left_x, right_x)
    _, hyy = stretched(p.board, left_y, right_y)
    dx = vx - p.ux
    dy = vy - p.uy
    dw = w - p.uw
    mx = p.m * dx - p.sy * dw
    my = p.m * dy + p.sx * dw
    mw = p.sx * dy - p.sy * dx + p.J * dw
    dt = p.dt
    H = Symmetric(
        xx=p.m + dt * hxx,
        xy=dt * hxy,
        xw=-p.sy + dt * hxw,
        yy=p.m + dt * hyy,
        yw=p.sx + dt * hyw,
        ww=p.J + dt * f.H.ww,
    )
    return Energy(
        value=0.5 * (mx * dx + my * dy + mw * dw) - p.ix * vx - p.iy * vy - p.iw * w + dt * f.value,
        gx=mx - p.ix + dt * gx,
        gy=my - p.iy + dt * gy,
        gw=mw - p.iw + dt * f.gw,
        H=H,
        bend=dt * f.bend * (max(p.board.xx, p.board.yy) + abs(p.board.xy)) ** 3,
    )


@compiled_part
def converged(b: Energy, size: float, inverse: float) -> bool:
    """Return whether a Newton step of some size [m/s] is the last one that is needed.

    inverse: a bound on how much speed an impulse makes [1/kg]. What the step leaves over is known
    beforehand, from how the Hessian bends: it need not be looked at again.
    """
    return size <= SPEED_TOLERANCE or b.bend * size * size * inverse <= REMAINDER


@compiled_part
def free_twist(p: StepProblem) -> tuple[bool, float, float, float]:
    """Minimise ``E`` without a finger: ``(converged, vx, vy, omega)``.

    Newton with a line search. ``E`` is strictly convex, so a step is good once the slope along
    it is still downhill at its end, and otherwise once it decreases ``E`` enough (Armijo).
    """
    vx = p.guess_x
    vy = p.guess_y
    w = p.guess_w
    b = energy(p, vx, vy, w)
    # Friction only makes an object harder to move: the bound is that of its mass alone.
    inverse = 1.0 / p.m + 4.0 * p.reach**2 / (p.J - (p.sx**2 + p.sy**2) / p.m)
    for _ in range(MAX_NEWTON):
        p0, p1, p2 = solve(b.H, -b.gx, -b.gy, -b.gw)
        slope = b.gx * p0 + b.gy * p1 + b.gw * p2
        size = abs(p0) + abs(p1) + abs(p2) * p.reach
        if not size < np.inf:
            return False, vx, vy, w
        if converged(b, size, inverse):
            return True, vx + p0, vy + p1, w + p2
        a = 1.0
        while True:
            new = energy(p, vx + a * p0, vy + a * p1, w + a * p2)
            end = new.gx * p0 + new.gy * p1 + new.gw * p2
            if end <= 0.0 or b.value + 1e-4 * a * slope >= new.value or a < 1e-9:
                break
            # The slope is monotone along the line: aim at its zero, but never stall.
            a *= min(max(-slope / (end - slope), 0.1), 0.7)
        vx += a * p0
        vy += a * p1
        w += a * p2
        b = new
    return False, vx, vy, w
