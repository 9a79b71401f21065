"""The solver behind lagged friction: a quadratic in three unknowns plus many hinges.

    minimise over v   1/2 v^T A v - p^T v + sum_q b_q max(0, a_q . v)

Optimal with multipliers lambda_q in [0, b_q] when `A v + sum_q lambda_q a_q = p` and lambda_q is
b_q where a_q . v > 0 (the hinge slides), 0 where a_q . v < 0 (it turned back), anything between
where a_q . v = 0 (it is at its kink). A body at rest has all its hinges at the kink, so Newton's
method with a line search has nothing to hold on to; an interior point method does not mind.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["CONVERGED", "EXACT", "FAILED", "minimise_hinges"]

Array = NDArray[np.float64]
Kinds = NDArray[np.int64]

EXACT = 0
"""The state of every hinge is known and the optimality conditions hold to rounding."""
CONVERGED = 1
"""Solved to tolerance; some hinge is so nearly between two states that its own is not known."""
FAILED = 2
"""No solution: the input is not finite or A is not positive definite."""

_SLIDES, _KINK, _BACK = 1, 0, -1
_MAX_ITERATIONS = 80
_TOLERANCE = 1e-13
_DEPENDENT = 1e-12


@njit(cache=True, nogil=True)
def minimise_hinges(
    rows: Array, bounds: Array, A: Array, momentum: Array
) -> tuple[Array, Array, int]:
    """Minimiser v, multipliers lambda and status.

    Args:
        rows: a_q, shape (Q, 3); a zero row takes no part (lambda = 0).
        bounds: b_q >= 0, shape (Q,).
        A: symmetric positive definite, shape (3, 3).
        momentum: p, shape (3,).

    Returns:
        v (3,), lambda (Q,) and EXACT, CONVERGED or FAILED. Where EXACT, lambda_q is exactly b_q
        for a sliding hinge, exactly 0 for one turned back, and strictly between at the kink.

    """
    Q = rows.shape[0]
    v, lam = np.zeros(3), np.zeros(Q)
    L, definite = _cholesky(A)
    p = _forward(L, momentum)
    P = np.sqrt(np.sum(p * p))
    if not (definite and np.isfinite(P)):
        return v, lam, FAILED
    if P == 0.0:
        return v, lam, EXACT
    # Coordinates w = L^T v / P, in which A = I and |p| = 1: every tolerance is then relative.
    p /= P
    a, b, length = np.empty((Q, 3)), np.empty(Q), np.empty(Q)
    which = np.empty(Q, np.int64)
    k = 0
    for q in range(Q):
        x = rows[q, 0] / L[0, 0]
        y = (rows[q, 1] - L[1, 0] * x) / L[1, 1]
        z = (rows[q, 2] - L[2, 0] * x - L[2, 1] * y) / L[2, 2]
        norm = np.sqrt(x * x + y * y + z * z)
        if not np.isfinite(norm * bounds[q]):
            return v, lam, FAILED
        # Hinges this weak change nothing in double precision, and [0, b] has no interior for them.
        if bounds[q] * norm > 1e-17 * P:
            a[k, 0], a[k, 1], a[k, 2] = x / norm, y / norm, z / norm
            b[k] = bounds[q] * norm / P
            length[k] = norm
            which[k] = q
            k += 1
    w, scaled, status = _interior_point(a[:k], b[:k], p)
    v = _backward(L, w) * P
    for j in range(k):
        q = which[j]
        lam[q] = bounds[q] if scaled[j] == b[j] else scaled[j] * P / length[j]
    return v, lam, status


@njit(cache=True, nogil=True)
def _interior_point(a: Array, b: Array, p: Array) -> tuple[Array, Array, int]:
    """Mehrotra's predictor-corrector method for A = I, |p| = 1 and unit rows, O(Q) an iteration.

    w + sum_q lam_q a_q = p,   a_q . w = gamma_q - rho_q,   lam rho = 0 = xi gamma,   xi = b - lam.
    The Newton matrix condenses to I + sum_q W_q a_q a_q^T with 1 / W = gamma / xi + rho / lam.
    It ends as soon as the states of the hinges it suggests prove optimal to rounding.
    """
    Q = b.shape[0]
    kind = np.full(Q, _SLIDES)
    w, lam, optimal = _solve_for_kinds(a, b, p, kind, b, b)
    if optimal:
        return w, lam, EXACT
    w = p.copy()
    share = 1.0 / max(2.0, np.sum(b))
    lam, xi = share * b, (1.0 - share) * b
    gamma, rho = np.empty(Q), np.empty(Q)
    for q in range(Q):
        s = _dot(a, q, w)
        gamma[q] = max(s, 0.0) + 0.3
        rho[q] = max(-s, 0.0) + 0.3
    best_w, best_lam, best = w.copy(), lam.copy(), np.inf
    for _ in range(_MAX_ITERATIONS):
        mean = (np.sum(lam * rho) + np.sum(xi * gamma)) / (2 * Q)
        W = 1.0 / (gamma / xi + rho / lam)
        residual, G = w - p, np.eye(3)
        for q in range(Q):
            for i in range(3):
                residual[i] += lam[q] * a[q, i]
                for j in range(3):
                    G[i, j] += W[q] * a[q, i] * a[q, j]
        error = max(np.max(np.abs(residual)), mean)
        L, definite = _cholesky(G)
        if not (np.isfinite(error) and definite):
            break
        if error < best:
            best_w, best_lam, best = w.copy(), lam.copy(), error
        if mean < 1e-3:
            for q in range(Q):
                if gamma[q] > rho[q]:
                    kind[q] = _SLIDES if gamma[q] > xi[q] / b[q] else _KINK
                else:
                    kind[q] = _BACK if rho[q] > lam[q] / b[q] else _KINK
            vertex, impulses, optimal = _solve_for_kinds(a, b, p, kind, lam, xi)
            if optimal:
                return vertex, impulses, EXACT
            if mean < 1e-19:
                break
        # Predictor: how far would the plain Newton step go?
        dw, dlam, dgamma, drho = _direction(L, a, residual, W, gamma, rho, lam, xi, -rho, -gamma)
        alpha = _room(lam, dlam, xi, gamma, dgamma, rho, drho)
        after = np.sum((lam + alpha * dlam) * (rho + alpha * drho))
        after += np.sum((xi - alpha * dlam) * (gamma + alpha * dgamma))
        target = mean * min(1.0, after / (2 * Q * mean)) ** 3
        # Corrector: centre by what the predictor missed, with its second-order term.
        c_rho = (target - dlam * drho) / lam - rho
        c_gamma = (target + dlam * dgamma) / xi - gamma
        dw, dlam, dgamma, drho = _direction(L, a, residual, W, gamma, rho, lam, xi, c_rho, c_gamma)
        alpha = 0.995 * _room(lam, dlam, xi, gamma, dgamma, rho, drho)
        w += alpha * dw
        lam += alpha * dlam
        xi -= alpha * dlam
        gamma += alpha * dgamma
        rho += alpha * drho
    return best_w, best_lam, CONVERGED if best < _TOLERANCE else FAILED


@njit(cache=True, nogil=True)
def _direction(
    L: Array,
    a: Array,
    residual: Array,
    W: Array,
    gamma: Array,
    rho: Array,
    lam: Array,
    xi: Array,
    c_rho: Array,
    c_gamma: Array,
) -> tuple[Array, Array, Array, Array]:
    """Newton step (dw, dlam, dgamma, drho) towards lam drho = lam c_rho - rho dlam and so on."""
    rhs = -residual
    for q in range(W.shape[0]):
        for i in range(3):
            rhs[i] -= W[q] * (c_rho[q] - c_gamma[q]) * a[q, i]
    dw = _backward(L, _forward(L, rhs))
    dlam = np.empty_like(W)
    for q in range(W.shape[0]):
        dlam[q] = W[q] * (c_rho[q] - c_gamma[q] + _dot(a, q, dw))
    return dw, dlam, c_gamma + gamma * dlam / xi, c_rho - rho * dlam / lam


@njit(cache=True, nogil=True)
def _room(
    lam: Array, dlam: Array, xi: Array, gamma: Array, dgamma: Array, rho: Array, drho: Array
) -> float:
    """Largest step in (0, 1] that keeps lam, xi = b - lam, gamma and rho non-negative."""
    alpha = 1.0
    for q in range(lam.shape[0]):
        if -dlam[q] * alpha > lam[q]:
            alpha = -lam[q] / dlam[q]
        if dlam[q] * alpha > xi[q]:
            alpha = xi[q] / dlam[q]
        if -dgamma[q] * alpha > gamma[q]:
            alpha = -gamma[q] / dgamma[q]
        if -drho[q] * alpha > rho[q]:
            alpha = -rho[q] / drho[q]
    return alpha


@njit(cache=True, nogil=True)
def _solve_for_kinds(
    a: Array, b: Array, p: Array, kind: Kinds, lam: Array, xi: Array
) -> tuple[Array, Array, bool]:
    """Solve with the states of the hinges given; whether the solution is optimal comes last.

    With B an orthonormal basis of the kinks' rows, w = (I - B^T B) (p - sum_slides b_q a_q). The
    kinks' lambda are those of the interior point, moved the least (in the metric of its barrier)
    that balances the rest: where the body sticks they are statically indeterminate.
    """
    Q = b.shape[0]
    load, out = p.copy(), np.zeros(Q)
    for q in range(Q):
        if kind[q] == _SLIDES:
            out[q] = b[q]
            for i in range(3):
                load[i] -= b[q] * a[q, i]
    B, rank = _kink_basis(a, kind)
    w = load.copy() if rank < 3 else np.zeros(3)
    for _ in range(2 if rank < 3 else 0):
        for r in range(rank):
            w -= _dot(B, r, w) * B[r]
    for q in range(Q):
        s = _dot(a, q, w)
        if (abs(s) if kind[q] == _KINK else -kind[q] * s) > _TOLERANCE:
            return w, out, False
    if rank == 0:
        return w, out, True
    excess, H = load - w, np.zeros((3, 3))
    for q in range(Q):
        if kind[q] == _KINK:
            for i in range(3):
                excess[i] -= lam[q] * a[q, i]
                for j in range(3):
                    H[i, j] += lam[q] * xi[q] / b[q] * a[q, i] * a[q, j]
    H = B @ H @ B.T
    for r in range(rank, 3):
        H[r, r] = 1.0
    L, definite = _cholesky(H)
    if not definite:
        return w, out, False
    y = B.T @ _backward(L, _forward(L, B @ excess))
    residual = w - load
    for q in range(Q):
        if kind[q] == _KINK:
            out[q] = lam[q] + lam[q] * xi[q] / b[q] * _dot(a, q, y)
            for i in range(3):
                residual[i] += out[q] * a[q, i]
            if not 0.0 < out[q] < b[q]:
                return w, out, False
    return w, out, np.max(np.abs(residual)) < _TOLERANCE


@njit(cache=True, nogil=True)
def _kink_basis(a: Array, kind: Kinds) -> tuple[Array, int]:
    """Orthonormal basis of the kinks' rows, shape (3, 3) with zeros below the rank, and the rank.

    The rows are often dependent (cells in one line along the motion share theirs), so each
    vector is the row that the basis so far explains least.
    """
    B, row = np.zeros((3, 3)), np.empty(3)
    for rank in range(3):
        longest = _DEPENDENT
        for q in range(a.shape[0]):
            if kind[q] == _KINK:
                row[:] = a[q]
                for r in range(rank):
                    along = _dot(B, r, row)
                    for i in range(3):
                        row[i] -= along * B[r, i]
                norm = np.sqrt(row[0] ** 2 + row[1] ** 2 + row[2] ** 2)
                if norm > longest:
                    longest = norm
                    B[rank] = row
        if longest == _DEPENDENT:
            return B, rank
        for r in range(rank):
            B[rank] -= _dot(B, r, B[rank]) * B[r]
        B[rank] /= np.sqrt(_dot(B, rank, B[rank]))
    return B, 3


@njit(cache=True, nogil=True)
def _dot(rows: Array, q: int, y: Array) -> float:
    """rows[q] . y, without the cost of a slice."""
    return float(rows[q, 0] * y[0] + rows[q, 1] * y[1] + rows[q, 2] * y[2])


@njit(cache=True, nogil=True)
def _cholesky(A: Array) -> tuple[Array, bool]:
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


@njit(cache=True, nogil=True)
def _forward(L: Array, y: Array) -> Array:
    """L^-1 y."""
    x = np.empty(3)
    x[0] = y[0] / L[0, 0]
    x[1] = (y[1] - L[1, 0] * x[0]) / L[1, 1]
    x[2] = (y[2] - L[2, 0] * x[0] - L[2, 1] * x[1]) / L[2, 2]
    return x


@njit(cache=True, nogil=True)
def _backward(L: Array, y: Array) -> Array:
    """L^-T y."""
    x = np.empty(3)
    x[2] = y[2] / L[2, 2]
    x[1] = (y[1] - L[2, 1] * x[2]) / L[1, 1]
    x[0] = (y[0] - L[1, 0] * x[1] - L[2, 0] * x[2]) / L[0, 0]
    return x
