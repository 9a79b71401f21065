"""The solver behind lagged friction: a quadratic in three unknowns plus many hinges.

    minimise over v   1/2 v^T A v - p^T v + sum_q b_q max(0, a_q . v)

Optimal with multipliers lambda_q in [0, b_q] when `A v + sum_q lambda_q a_q = p` and lambda_q is
b_q where a_q . v > 0 (the hinge slides), 0 where a_q . v < 0 (it turned back), anything between
where a_q . v = 0 (it is at its kink). A body at rest has all its hinges at the kink, so Newton's
method with a line search has nothing to hold on to; an interior point method does not mind.
"""

import numpy as np

from pushwise.compilation import compiled_allocating, compiled_part
from pushwise.physics.kernels.linear import (
    Lower,
    Symmetric,
    cholesky,
    solve_lower,
    solve_upper,
)
from pushwise.typing import Array, Integers

__all__ = ["CONVERGED", "EXACT", "FAILED", "minimise_hinges"]

Kinds = Integers

EXACT = 0
"""The state of every hinge is known and the optimality conditions hold to rounding."""
CONVERGED = 1
"""Solved to 1e-9 of |p|; some hinge is so nearly between two states that its own is not known."""
FAILED = 2
"""No solution: the input is not finite, A not positive definite, or the iteration stalled."""

_SLIDES, _KINK, _BACK = 1, 0, -1
_MAX_ITERATIONS = 80
_TOLERANCE = 1e-13
_DEPENDENT = 1e-12
# A bound so far beyond |p| is never reached by friction that opposes one rigid motion (the hinges
# then share a direction v with every a_q . v >= 0), and spoils the balance by rounding.
_STRONGEST = 1e6


@compiled_allocating
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
    L = cholesky(_symmetric(A))
    p = np.empty(3)
    p[0], p[1], p[2] = solve_lower(L, momentum[0], momentum[1], momentum[2])
    P = np.sqrt(_dot(p, p))
    if not (L.definite and np.isfinite(P)):
        return v, lam, FAILED
    if P == 0.0:
        return v, lam, EXACT
    # Coordinates w = L^T v / P, in which A = I and |p| = 1: every tolerance is then relative.
    p /= P
    a, b, length = np.empty((Q, 3)), np.empty(Q), np.empty(Q)
    which = np.empty(Q, np.int64)
    k = 0
    for q in range(Q):
        x, y, z = solve_lower(L, rows[q, 0], rows[q, 1], rows[q, 2])
        norm = np.sqrt(x * x + y * y + z * z)
        if not np.isfinite(norm * bounds[q]):
            return v, lam, FAILED
        # Hinges this weak change nothing in double precision, and [0, b] has no interior for them.
        if bounds[q] * norm > 1e-17 * P:
            a[k, 0], a[k, 1], a[k, 2] = x / norm, y / norm, z / norm
            b[k] = min(bounds[q] * norm / P, _STRONGEST)
            length[k] = norm
            which[k] = q
            k += 1
    w, scaled, status = _interior_point(a[:k], b[:k], p)
    v[0], v[1], v[2] = solve_upper(L, w[0], w[1], w[2])
    for i in range(3):
        v[i] *= P
    for j in range(k):
        q = which[j]
        lam[q] = bounds[q] if scaled[j] == b[j] else min(scaled[j] * P / length[j], bounds[q])
        if scaled[j] == _STRONGEST:
            status = FAILED
    return v, lam, status


@compiled_allocating
def _interior_point(a: Array, b: Array, p: Array) -> tuple[Array, Array, int]:
    """Mehrotra's predictor-corrector method for A = I, |p| = 1 and unit rows, O(Q) an iteration.

    w + sum_q lam_q a_q = p,   a_q . w = gamma_q - rho_q,   lam rho = 0 = xi gamma,   xi = b - lam.
    The Newton matrix condenses to I + sum_q W_q a_q a_q^T with 1 / W = gamma / xi + rho / lam.
    It ends as soon as the states of the hinges it suggests prove optimal to rounding.
    """
    Q = b.shape[0]
    # Columns: lam, xi, gamma, rho, all kept positive.
    z, dz, W = np.zeros((Q, 4)), np.zeros((Q, 4)), np.empty(Q)
    kind = np.full(Q, _SLIDES)
    w, lam, optimal = _solve_for_kinds(a, b, p, kind, z)
    if optimal:
        return w, lam, EXACT
    w = p.copy()
    share = 1.0 / max(2.0, b.sum())
    for q in range(Q):
        s = _along(a, q, w)
        z[q, 0], z[q, 1] = share * b[q], (1.0 - share) * b[q]
        z[q, 2], z[q, 3] = max(s, 0.0) + 0.3, max(-s, 0.0) + 0.3
    residual, G = np.empty(3), np.empty((3, 3))
    best, best_w = np.inf, w.copy()
    for _ in range(_MAX_ITERATIONS):
        mean = _mean_product(z, dz, 0.0)
        for i in range(3):
            residual[i] = w[i] - p[i]
            for j in range(3):
                G[i, j] = 1.0 if i == j else 0.0
        for q in range(Q):
            W[q] = 1.0 / (z[q, 2] / z[q, 1] + z[q, 3] / z[q, 0])
            for i in range(3):
                residual[i] += z[q, 0] * a[q, i]
                for j in range(3):
                    G[i, j] += W[q] * a[q, i] * a[q, j]
        error = max(mean, abs(residual[0]), abs(residual[1]), abs(residual[2]))
        L = cholesky(_symmetric(G))
        if not (np.isfinite(error) and L.definite):
            break
        if error < best:
            best, best_w = error, w.copy()
            lam[:] = z[:, 0]
        if mean < 1e-3:
            for q in range(Q):
                if z[q, 2] > z[q, 3]:
                    kind[q] = _SLIDES if z[q, 2] > z[q, 1] / b[q] else _KINK
                else:
                    kind[q] = _BACK if z[q, 3] > z[q, 0] / b[q] else _KINK
            vertex, impulses, optimal = _solve_for_kinds(a, b, p, kind, z)
            if optimal:
                return vertex, impulses, EXACT
            if mean < 1e-19:
                break
        dz[:] = 0.0
        _newton_step(L, a, residual, W, z, 0.0, dz)
        after = _mean_product(z, dz, _room(z, dz))
        dw = _newton_step(L, a, residual, W, z, mean * min(1.0, after / mean) ** 3, dz)
        alpha = 0.995 * _room(z, dz)
        if not _mean_product(z, dz, alpha) < mean:
            # The second-order correction can overshoot, and Mehrotra's method then cycles.
            dz[:] = 0.0
            dw = _newton_step(L, a, residual, W, z, 0.1 * mean, dz)
            alpha = 0.995 * _room(z, dz)
        for i in range(3):
            w[i] += alpha * dw[i]
        for q in range(Q):
            for k in range(4):
                z[q, k] += alpha * dz[q, k]
    return best_w, lam, CONVERGED if best < 1e-9 else FAILED


@compiled_allocating
def _newton_step(
    L: Lower, a: Array, residual: Array, W: Array, z: Array, target: float, dz: Array
) -> Array:
    """Newton step dw, with dz in place, that brings every product lam rho and xi gamma to target.

    On entry dz is the predictor's step, whose second-order error is corrected, or zero.
    """
    rhs = -residual
    for q in range(W.shape[0]):
        c_gamma = (target - dz[q, 1] * dz[q, 2]) / z[q, 1] - z[q, 2]
        c_rho = (target - dz[q, 0] * dz[q, 3]) / z[q, 0] - z[q, 3]
        dz[q, 2], dz[q, 3] = c_gamma, c_rho
        for i in range(3):
            rhs[i] -= W[q] * (c_rho - c_gamma) * a[q, i]
    x, y, w = solve_lower(L, rhs[0], rhs[1], rhs[2])
    dw = np.empty(3)
    dw[0], dw[1], dw[2] = solve_upper(L, x, y, w)
    for q in range(W.shape[0]):
        dlam = W[q] * (dz[q, 3] - dz[q, 2] + _along(a, q, dw))
        dz[q, 0], dz[q, 1] = dlam, -dlam
        dz[q, 2] += z[q, 2] * dlam / z[q, 1]
        dz[q, 3] -= z[q, 3] * dlam / z[q, 0]
    return dw


@compiled_part
def _mean_product(z: Array, dz: Array, alpha: float) -> float:
    """Mean of lam rho and xi gamma after a step alpha dz."""
    total = 0.0
    for q in range(z.shape[0]):
        for k in range(2):
            total += (z[q, k] + alpha * dz[q, k]) * (z[q, 3 - k] + alpha * dz[q, 3 - k])
    return float(total / (2 * z.shape[0]))


@compiled_part
def _room(z: Array, dz: Array) -> float:
    """Largest step in (0, 1] that keeps z non-negative."""
    alpha = 1.0
    for q in range(z.shape[0]):
        for k in range(4):
            if -dz[q, k] * alpha > z[q, k]:
                alpha = -z[q, k] / dz[q, k]
    return float(alpha)


@compiled_allocating
def _solve_for_kinds(
    a: Array, b: Array, p: Array, kind: Kinds, z: Array
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
    w = load.copy()
    _subtract_rows(w, B, rank)
    if rank == 3 or max(abs(w[0]), abs(w[1]), abs(w[2])) < _TOLERANCE:
        w[:] = 0.0
    for q in range(Q):
        s = _along(a, q, w)
        if (abs(s) if kind[q] == _KINK else -kind[q] * s) > _TOLERANCE:
            return w, out, False
    if rank == 0:
        return w, out, True
    excess, H, D = load - w, np.zeros((3, 3)), np.eye(3)
    for q in range(Q):
        if kind[q] == _KINK:
            for i in range(3):
                excess[i] -= z[q, 0] * a[q, i]
                for j in range(3):
                    H[i, j] += z[q, 0] * z[q, 1] / b[q] * a[q, i] * a[q, j]
    rhs, y = np.zeros(3), np.zeros(3)
    for r in range(rank):
        rhs[r] = _along(B, r, excess)
        for k in range(rank):
            D[r, k] = 0.0
            for i in range(3):
                D[r, k] += B[r, i] * _along(H, i, B[k])
    L = cholesky(_symmetric(D))
    if not L.definite:
        return w, out, False
    c = np.empty(3)
    c0, c1, c2 = solve_lower(L, rhs[0], rhs[1], rhs[2])
    c[0], c[1], c[2] = solve_upper(L, c0, c1, c2)
    for r in range(rank):
        for i in range(3):
            y[i] += c[r] * B[r, i]
    residual = w - load
    for q in range(Q):
        if kind[q] == _KINK:
            out[q] = z[q, 0] + z[q, 0] * z[q, 1] / b[q] * _along(a, q, y)
            for i in range(3):
                residual[i] += out[q] * a[q, i]
            if not 0.0 < out[q] < b[q]:
                return w, out, False
    return w, out, max(abs(residual[0]), abs(residual[1]), abs(residual[2])) < _TOLERANCE


@compiled_allocating
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
                _subtract_rows(row, B, rank)
                norm = np.sqrt(row[0] ** 2 + row[1] ** 2 + row[2] ** 2)
                if norm > longest:
                    longest = norm
                    B[rank] = row
        if longest == _DEPENDENT:
            return B, rank
        length = np.sqrt(_along(B, rank, B[rank]))
        for i in range(3):
            B[rank, i] /= length
        _subtract_rows(B[rank], B, rank)
    return B, 3


@compiled_allocating
def _subtract_rows(x: Array, B: Array, rank: int) -> None:
    """Project x off the rows of B in place; twice, because once leaves rounding along them."""
    for _ in range(2):
        for r in range(rank):
            along = _along(B, r, x)
            for i in range(3):
                x[i] -= along * B[r, i]


@compiled_part
def _along(rows: Array, q: int, y: Array) -> float:
    """rows[q] . y, without the cost of a slice."""
    return float(rows[q, 0] * y[0] + rows[q, 1] * y[1] + rows[q, 2] * y[2])


@compiled_part
def _dot(x: Array, y: Array) -> float:
    return float(x[0] * y[0] + x[1] * y[1] + x[2] * y[2])


@compiled_part
def _symmetric(A: Array) -> Symmetric:
    """Return a symmetric matrix (3, 3) as the solver takes it."""
    return Symmetric(xx=A[0, 0], xy=A[1, 0], xw=A[2, 0], yy=A[1, 1], yw=A[2, 1], ww=A[2, 2])
