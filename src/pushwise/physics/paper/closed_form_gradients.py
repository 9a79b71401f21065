"""Gradients of one lagged step with respect to every cell's mass and friction.

The paper's closed form (section V) holds when all cells keep sliding. Its matrix

    X11 = M^-1 - M^-1 J_e^T (J_e M^-1 J_e^T)^-1 J_e M^-1 = S (S^T M S)^-1 S^T

needs no J_e, and with `u = (S^T M S)^-1 dloss/dtwist`, so that dloss/dxdot X11 = S u, the weights

    W_mu = X11 J_f^T M g dt,     W_M = X11 (J_f^T mu g dt - D(xdot_{t+1} - xdot_t))

cost O(n). `closed_form_vjp` is that; `lagged_vjp` is the general case. Where they differ from the
print:

3. The friction bound is mu m g dt; the print lacks g dt in both weights.
4. Eq. 1 is a sum of norms; the printed 2 dt (x - x^g) is the gradient of squared norms. The loss
   is not formed here: pass its own gradient, dt (x - x^g) / |x - x^g| for Eq. 1.
5. The top right block of G^-1 is -X11 J_f^T D^-1(gamma). The printed matrix has the other sign,
   the line for alpha_4 this one; the printed weights follow from alpha_4 and are right.
6. The updates of Algorithm 1 use x_{t+1} where the prediction made is x_{t+2}: the twist at the
   end of this step moves x_{t+1} to x_{t+2}, and dloss/dtwist must be taken there.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pushwise.physics.constants import GRAVITY
from pushwise.physics.paper.lagged_step import (
    REST_SPEED,
    LaggedSolution,
    cell_velocities,
    sum_wrenches,
)
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.physics.model import ObjectModel

__all__ = ["closed_form_vjp", "lagged_vjp"]


def closed_form_vjp(
    model: "ObjectModel", solution: LaggedSolution, dloss_dtwist: Array
) -> tuple[Array, Array]:
    """The paper's gradient, (dloss/dmass [1/kg], dloss/dfriction), shape (n,) each.

    Right when every cell moved before the step and still slides after it.

    Args:
        model: the cells.
        solution: of `lagged_step`.
        dloss_dtwist: gradient of the loss by the twist at the end of the step, shape (3,).

    """
    u: Array = cho_solve(cho_factor(solution.step.A), dloss_dtwist)
    return _weigh(model, solution, u, np.ones_like(solution.friction))


def lagged_vjp(
    model: "ObjectModel", solution: LaggedSolution, dloss_dtwist: Array
) -> tuple[Array, Array]:
    """The gradient of any lagged step; arguments and result as in `closed_form_vjp`.

    The implicit function theorem on the optimality conditions, a_K the rows of the hinges at their
    kink, which stay there (a_K v = 0), and a_s those of the hinges that slide:

        A v + sum_s b_s a_s + a_K^T lambda_K = p,         a_K v = 0,
        A u + a_K^T eta = dloss/dtwist,                   a_K u = 0,
        dloss = u^T (dp - dA v - sum_s db_s a_s) - sum_q (lambda_q u + eta_q v)^T da_q.

    The rows move only for cells that were at rest: their direction is that of the free motion.
    """
    step, v, lam = solution.step, solution.twist, solution.friction
    kink = (lam > 0.0) & (lam < step.bounds)
    # A sliding cell without friction would slow the object at once if it had some.
    slides = (lam == step.bounds) & ((step.bounds > 0.0) | (step.rows @ v > 0.0))
    u, eta = _adjoint(step.A, step.rows[kink], dloss_dtwist)
    dmass, dfriction = _weigh(model, solution, u, slides.astype(float))

    free = cell_velocities(step.offsets, step.free)[:, :2]
    speed = np.hypot(free[:, 0], free[:, 1])
    moved = np.hypot(step.velocities[:, 0], step.velocities[:, 1]) > REST_SPEED
    turned = ~moved & (speed > REST_SPEED)
    if turned.any():
        pull = np.zeros_like(lam)
        pull[kink] = eta
        w = -lam[:, :1] * cell_velocities(step.offsets, u)
        w -= pull[:, :1] * cell_velocities(step.offsets, v)
        d = step.rows[:, 0, :2]
        ahead = np.sum(w[:, :2] * d, axis=1)
        w[:, :2] -= ahead[:, None] * d
        w[:, 2] = 0.0
        w[~turned] = 0.0
        w[turned] /= speed[turned, None]
        u_free: Array = cho_solve(cho_factor(step.A), sum_wrenches(step.offsets, w))
        dmass = dmass + _inertial(model, solution, u_free, step.free)
    return dmass, dfriction


def _weigh(
    model: "ObjectModel", solution: LaggedSolution, u: Array, slides: Array
) -> tuple[Array, Array]:
    """u^T (dp - dA v - sum_s db_s a_s) by mass and friction; J_f is minus the rows a."""
    step = solution.step
    drag = ((step.rows @ u) * slides) @ np.array([1.0, step.torsion]) * GRAVITY * step.dt
    dmass = _inertial(model, solution, u, solution.twist) - drag * model.friction
    return dmass, -drag * model.mass


def _inertial(model: "ObjectModel", solution: LaggedSolution, u: Array, v: Array) -> Array:
    """u^T (dp - dA v) by mass: (S_i u)^T diag(1, 1, w^2 / 6) (xdot_i - S_i v), shape (n,)."""
    step = solution.step
    slowing = step.velocities - cell_velocities(step.offsets, v)
    slowing[:, 2] *= model.grid.cell_size**2 / 6
    inertial: Array = np.sum(cell_velocities(step.offsets, u) * slowing, axis=1)
    return inertial


def _adjoint(A: Array, a: Array, g: Array) -> tuple[Array, Array]:
    """Solve A u + a^T eta = g, a u = 0; rows of a may depend on each other: the least eta."""
    L = np.linalg.cholesky(A)
    U, s, Vt = np.linalg.svd(np.linalg.solve(L, a.T), full_matrices=False)
    rank = int(np.sum(s > 1e-11 * s.max(initial=0.0)))
    along = U[:, :rank].T @ np.linalg.solve(L, g)
    eta: Array = Vt[:rank].T @ (along / s[:rank])
    if rank == 3:
        return np.zeros(3), eta
    u: Array = np.linalg.solve(L.T, np.linalg.solve(L, g) - U[:, :rank] @ along)
    return u, eta
