"""Cholesky factors of 3 x 3 matrices, compiled: LAPACK takes longer to call than to compute."""

import numpy as np

from pushwise.compilation import compiled
from pushwise.typing import Array

__all__ = ["cholesky", "solve_lower", "solve_upper"]


@compiled
def cholesky(A: Array) -> tuple[Array, bool]:
    """Lower triangular L with A = L L^T, shape (3, 3), and whether A is positive definite."""
    L = np.eye(3)
    for j in range(3):
        d = A[j, j]
        for k in range(j):
            d -= L[j, k] * L[j, k]
        if not 0.0 < d < np.inf:
            return np.eye(3), False
        L[j, j] = np.sqrt(d)
        for i in range(j + 1, 3):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    return L, True


@compiled
def solve_lower(L: Array, y: Array) -> Array:
    """L^-1 y."""
    x = np.empty(3)
    x[0] = y[0] / L[0, 0]
    x[1] = (y[1] - L[1, 0] * x[0]) / L[1, 1]
    x[2] = (y[2] - L[2, 0] * x[0] - L[2, 1] * x[1]) / L[2, 2]
    return x


@compiled
def solve_upper(L: Array, y: Array) -> Array:
    """L^-T y."""
    x = np.empty(3)
    x[2] = y[2] / L[2, 2]
    x[1] = (y[1] - L[2, 1] * x[2]) / L[1, 1]
    x[0] = (y[0] - L[1, 0] * x[1] - L[2, 0] * x[2]) / L[0, 0]
    return x
