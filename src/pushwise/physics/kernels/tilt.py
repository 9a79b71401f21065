"""Pushing above the table, and speeding up: the load moves.

A force F of a finger at height h and friction at height zero are a couple h F. The table balances
it by pressing further along the push: the centre of pressure moves by h F / (m g). So does inertia,
-m a at the height z of the centre of mass, which moves it by -z a / g: forwards in an object that
friction slows down. With friction
loads c_q of points at offsets rho_q = r_q - k from their centroid k = sum c_q r_q / C,

    c_q -> c_q (1 + a . rho_q),     a = C S^-1 shift,     S = sum c_q rho_q rho_q^T

keeps the sum C and moves the centroid by just that. For three feet and one coefficient of friction
this is statics; more points are statically indeterminate, and this is the choice that keeps the
pattern of the load. It is about friction loads c and not weights, because slow pushes cannot
separate weight from the coefficient of friction. No point pulls at the table: where 1 + a . rho is
negative the load is zero (and so is its derivative). A slow push never gets there unless it nearly
tips the object; the first touch of a fast one may, for a step. Points in a line cannot balance a
couple across it, so their load stays as it is.

F and a are those of the previous step, so the error is first order in the step.
"""

from typing import NamedTuple

from pushwise.compilation import compiled_part, compiled_sum
from pushwise.geometry.compiled import SE2, rotate, unrotate
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.state import State
from pushwise.typing import Array


class Tilt(NamedTuple):
    """How a load leans under a push (grid frame)."""

    kx: float  # centroid of the load [m]
    ky: float
    C: float  # sum of the load [N]
    ixx: float  # S^-1
    ixy: float
    iyy: float
    shift_x: float  # of the load [m]
    shift_y: float
    push_x: float  # the part of it that is due to the finger, h F / (m g)
    push_y: float
    ax: float  # [1/m]
    ay: float


LEVEL = Tilt(
    kx=0.0,
    ky=0.0,
    C=0.0,
    ixx=0.0,
    ixy=0.0,
    iyy=0.0,
    shift_x=0.0,
    shift_y=0.0,
    push_x=0.0,
    push_y=0.0,
    ax=0.0,
    ay=0.0,
)
"""Of a finger and an object at the height of the table: nothing leans."""


class TiltBar(NamedTuple):
    """Derivatives of a loss in what a tilt depends on, except the loads."""

    m: float  # total mass
    th: float  # angle of the object
    fx: float  # force of the finger, table axes
    fy: float
    height: float  # of that force
    lean_x: float  # shift of the load by inertia, table axes
    lean_y: float


@compiled_sum
def tilt_of(body: Body, c: Array, height: float, s: State, at: SE2) -> Tilt:
    """Return the tilt of loads c (Q,) after the step that led to state s, at a pose.

    height: of the finger above the table [m].
    """
    C = kx = ky = 0.0
    for q in range(c.size):
        C += c[q]
        kx += c[q] * body.bx[q]
        ky += c[q] * body.by[q]
    if C > 0.0:
        kx /= C
        ky /= C
    sxx = sxy = syy = 0.0
    for q in range(c.size):
        x = body.bx[q] - kx
        y = body.by[q] - ky
        sxx += c[q] * x * x
        sxy += c[q] * x * y
        syy += c[q] * y * y
    det = sxx * syy - sxy * sxy
    lever = height / (body.m * GRAVITY)
    push_x, push_y = unrotate(at, lever * s.fx, lever * s.fy)
    lean_x, lean_y = unrotate(at, s.lean_x, s.lean_y)
    shift_x = push_x + lean_x
    shift_y = push_y + lean_y
    ixx = ixy = iyy = 0.0
    if det > 1e-9 * (sxx + syy) ** 2:  # else in a line, or without friction
        ixx = syy / det
        ixy = -sxy / det
        iyy = sxx / det
    return Tilt(
        kx=kx,
        ky=ky,
        C=C,
        ixx=ixx,
        ixy=ixy,
        iyy=iyy,
        shift_x=shift_x,
        shift_y=shift_y,
        push_x=push_x,
        push_y=push_y,
        ax=C * (ixx * shift_x + ixy * shift_y),
        ay=C * (ixy * shift_x + iyy * shift_y),
    )


@compiled_part
def tilted(body: Body, c: Array, tilt: Tilt, out: Array) -> None:
    """Fill `out` (Q,) with the loads c (Q,) as they are under a tilt [N]."""
    for q in range(c.size):
        lean = 1.0 + tilt.ax * (body.bx[q] - tilt.kx) + tilt.ay * (body.by[q] - tilt.ky)
        out[q] = c[q] * max(0.0, lean)


@compiled_sum
def tilt_adjoint(
    body: Body, c: Array, tilt: Tilt, height: float, at: SE2, out_bar: Array, c_bar: Array
) -> TiltBar:
    """Carry derivatives in the tilted loads, out_bar (Q,), back; adds those in c to c_bar (Q,)."""
    a_bar_x = a_bar_y = along = 0.0
    for q in range(c.size):
        x = body.bx[q] - tilt.kx
        y = body.by[q] - tilt.ky
        share = 1.0 + tilt.ax * x + tilt.ay * y
        if share > 0.0:
            c_bar[q] += out_bar[q] * share
            bar = out_bar[q] * c[q]
            along += bar
            a_bar_x += bar * x
            a_bar_y += bar * y
    # a = C S^-1 shift; moving k changes every rho alike, which leaves S as it is.
    wx = tilt.ixx * a_bar_x + tilt.ixy * a_bar_y
    wy = tilt.ixy * a_bar_x + tilt.iyy * a_bar_y
    value = a_bar_x * tilt.ax + a_bar_y * tilt.ay
    if tilt.C > 0.0:
        for q in range(c.size):
            x = body.bx[q] - tilt.kx
            y = body.by[q] - tilt.ky
            lean = tilt.ax * x + tilt.ay * y
            c_bar[q] += (value - along * lean) / tilt.C - (wx * x + wy * y) * lean
    lever = height / (body.m * GRAVITY)
    gx = tilt.C * wx  # derivative in the shift
    gy = tilt.C * wy
    fx, fy = rotate(at, gx, gy)
    pushed = gx * tilt.push_x + gy * tilt.push_y
    return TiltBar(
        m=-pushed / body.m,
        th=gx * tilt.shift_y - gy * tilt.shift_x,
        fx=lever * fx,
        fy=lever * fy,
        height=pushed / height if height > 0.0 else 0.0,
        lean_x=fx,
        lean_y=fy,
    )
