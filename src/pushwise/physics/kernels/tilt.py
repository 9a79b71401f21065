"""Pushing above the table: the load moves in the direction of the push.

A force F of a finger at height h and friction at height zero are a couple h F. The table balances
it by pressing further along the push: the centre of pressure moves by h F / (m g). With friction
loads c_q of points at offsets rho_q = r_q - k from their centroid k = sum c_q r_q / C,

    c_q -> c_q (1 + a . rho_q),     a = (h C / (m g)) S^-1 F,     S = sum c_q rho_q rho_q^T

keeps the sum C and moves the centroid by just that. For three feet and one coefficient of friction
this is statics; more points are statically indeterminate, and this is the choice that keeps the
pattern of the load. It speaks of friction loads c and not of weights, because slow pushes do not
tell weight and coefficient of friction apart. No point pulls at the table: where 1 + a . rho is
negative the load is zero (and so is its derivative). A slow push never gets there unless it nearly
tips the object; the first touch of a fast one may, for a step. Points in a line cannot balance a
couple across it, so their load stays as it is.

F is the force of the previous step, so the error is first order in the step.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.substep import Body
from pushwise.typing import Array


class Tilt(NamedTuple):
    """How a load leans under a push (grid frame)."""

    kx: float  # centroid of the load [m]
    ky: float
    C: float  # sum of the load [N]
    ixx: float  # S^-1
    ixy: float
    iyy: float
    shift_x: float  # h F / (m g) [m]
    shift_y: float
    ax: float  # [1/m]
    ay: float


class TiltBar(NamedTuple):
    """Derivatives of a loss in what a tilt depends on, but for the loads."""

    m: float  # total mass
    th: float  # angle of the object
    fx: float  # force of the finger, table axes
    fy: float


@compiled
def force_before(t: Array, impulse: Array, k: int) -> tuple[float, float]:
    """Return the finger's mean force [N] in the step before step k; zero before the first."""
    if k == 0:
        return 0.0, 0.0
    h = t[k] - t[k - 1]
    return impulse[k - 1, 0] / h, impulse[k - 1, 1] / h


@compiled
def tilt_of(
    bx: Array, by: Array, c: Array, m: float, height: float, fx: float, fy: float, th: float
) -> Tilt:
    """Return the tilt of loads c (Q,) at points bx, by (Q,) under a force in table axes.

    m: total mass [kg]; height: of the force above the table [m]; th: angle of the object [rad].
    """
    C = kx = ky = 0.0
    for q in range(c.size):
        C += c[q]
        kx += c[q] * bx[q]
        ky += c[q] * by[q]
    if C > 0.0:
        kx /= C
        ky /= C
    sxx = sxy = syy = 0.0
    for q in range(c.size):
        x = bx[q] - kx
        y = by[q] - ky
        sxx += c[q] * x * x
        sxy += c[q] * x * y
        syy += c[q] * y * y
    det = sxx * syy - sxy * sxy
    lever = height / (m * GRAVITY)
    cos = np.cos(th)
    sin = np.sin(th)
    shift_x = lever * (cos * fx + sin * fy)
    shift_y = lever * (cos * fy - sin * fx)
    if det <= 1e-9 * (sxx + syy) ** 2:  # in a line, or without friction
        return Tilt(kx, ky, C, 0.0, 0.0, 0.0, shift_x, shift_y, 0.0, 0.0)
    ixx = syy / det
    ixy = -sxy / det
    iyy = sxx / det
    return Tilt(
        kx,
        ky,
        C,
        ixx,
        ixy,
        iyy,
        shift_x,
        shift_y,
        C * (ixx * shift_x + ixy * shift_y),
        C * (ixy * shift_x + iyy * shift_y),
    )


@compiled
def tilted(bx: Array, by: Array, c: Array, tilt: Tilt, out: Array) -> None:
    """Fill `out` (Q,) with the loads c (Q,) as they are under a tilt [N]."""
    for q in range(c.size):
        out[q] = c[q] * max(0.0, 1.0 + tilt.ax * (bx[q] - tilt.kx) + tilt.ay * (by[q] - tilt.ky))


@compiled
def tilt_before(
    body: Body, c: Array, height: float, t: Array, impulse: Array, k: int, th: float, out: Array
) -> Tilt:
    """Fill `out` (Q,) with the loads c (Q,) as the force before step k tilts them."""
    fx, fy = force_before(t, impulse, k)
    tilt = tilt_of(body.bx, body.by, c, body.m, height, fx, fy, th)
    tilted(body.bx, body.by, c, tilt, out)
    return tilt


@compiled
def tilt_adjoint(
    bx: Array,
    by: Array,
    c: Array,
    tilt: Tilt,
    m: float,
    height: float,
    th: float,
    out_bar: Array,
    c_bar: Array,
) -> TiltBar:
    """Carry derivatives in the tilted loads, out_bar (Q,), back; adds those in c to c_bar (Q,)."""
    a_bar_x = a_bar_y = along = 0.0
    for q in range(c.size):
        x = bx[q] - tilt.kx
        y = by[q] - tilt.ky
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
            x = bx[q] - tilt.kx
            y = by[q] - tilt.ky
            lean = tilt.ax * x + tilt.ay * y
            c_bar[q] += (value - along * lean) / tilt.C - (wx * x + wy * y) * lean
    lever = height / (m * GRAVITY)
    gx = tilt.C * wx  # derivative in the shift
    gy = tilt.C * wy
    cos = np.cos(th)
    sin = np.sin(th)
    return TiltBar(
        -value / m,
        gx * tilt.shift_y - gy * tilt.shift_x,
        lever * (cos * gx - sin * gy),
        lever * (sin * gx + cos * gy),
    )
