"""The one solver of the physics: symmetric positive definite systems in three unknowns.

LAPACK takes longer to call than this takes to compute.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_part

__all__ = ["Lower", "Symmetric", "cholesky", "solve", "solve_lower", "solve_upper", "times"]


class Symmetric(NamedTuple):
    """A symmetric matrix, named by the coordinates (x, y, omega) of a twist."""

    xx: float
    xy: float
    xw: float
    yy: float
    yw: float
    ww: float


class Lower(NamedTuple):
    """A lower triangular matrix, named alike; `definite` is False where there is no factor."""

    xx: float
    yx: float
    yy: float
    wx: float
    wy: float
    ww: float
    definite: bool


@compiled_part
def cholesky(A: Symmetric) -> Lower:
    """Return L with ``A = L L^T``; numbers that are not finite where A is not definite."""
    xx = np.sqrt(A.xx)
    yx = A.xy / xx
    wx = A.xw / xx
    yy = np.sqrt(A.yy - yx * yx)
    wy = (A.yw - wx * yx) / yy
    ww = np.sqrt(A.ww - wx * wx - wy * wy)
    # A root of a negative number is nan, of zero 0: neither passes, nor does what follows of them.
    definite = 0.0 < xx < np.inf and 0.0 < yy < np.inf and 0.0 < ww < np.inf
    return Lower(xx=xx, yx=yx, yy=yy, wx=wx, wy=wy, ww=ww, definite=definite)


@compiled_part
def solve_lower(L: Lower, x: float, y: float, w: float) -> tuple[float, float, float]:
    """Return ``L^-1 (x, y, w)``."""
    a = x / L.xx
    b = (y - L.yx * a) / L.yy
    return a, b, (w - L.wx * a - L.wy * b) / L.ww


@compiled_part
def solve_upper(L: Lower, x: float, y: float, w: float) -> tuple[float, float, float]:
    """Return ``L^-T (x, y, w)``."""
    c = w / L.ww
    b = (y - L.wy * c) / L.yy
    return (x - L.yx * b - L.wx * c) / L.xx, b, c


@compiled_part
def solve(A: Symmetric, x: float, y: float, w: float) -> tuple[float, float, float]:
    """Return ``A^-1 (x, y, w)``; numbers that are not finite where A is not definite."""
    L = cholesky(A)
    a, b, c = solve_lower(L, x, y, w)
    return solve_upper(L, a, b, c)


@compiled_part
def times(A: Symmetric, x: float, y: float, w: float) -> tuple[float, float, float]:
    """Return ``A (x, y, w)``."""
    return (
        A.xx * x + A.xy * y + A.xw * w,
        A.xy * x + A.yy * y + A.yw * w,
        A.xw * x + A.yw * y + A.ww * w,
    )
