"""The paper's equations of motion (Fig. 2) as they stand: an LCP in the 3n cell velocities.

    M (xdot_{t+1} - xdot_t) - dt F = J_e^T lambda_e + J_f^T lambda_f,     J_e xdot_{t+1} = 0,
    rho = J_f xdot_{t+1} + gamma >= 0,     xi = mu N dt - lambda_f >= 0,
    lambda_f, gamma >= 0,     rho lambda_f = 0 = xi gamma.

This is the reference that the reduced step is checked against: it shares with `lagged_step.py`
nothing but the rule for the friction direction of a cell at rest. Velocities are ordered
(x, y, theta) cell by cell. Where it differs from the print:

1. J_e has opposite signs and offsets for the two cells of a pair, and a third row: equal angular
   velocity. Without it a handle one cell wide is a chain of hinges.
2. The translation row of J_f carries the minus sign that the text around it describes.
3. The bound on friction is mu m g dt, an impulse (the print lacks g dt), and the bound on torsion
   that times a length, `torsion`. It is zero by default: the forces of the cells already resist
   the rotation of the body, the torsion rows count that friction twice.
"""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order
from scipy.sparse.linalg import SuperLU, splu

from pushwise.physics.constants import GRAVITY
from pushwise.physics.paper.lagged_step import friction_directions
from pushwise.typing import Array, Integers

if TYPE_CHECKING:
    from pushwise.physics.model import ObjectModel

__all__ = ["LcpSolution", "LcpSystem", "assemble_lcp", "joint_jacobian", "lcp_step"]


MAX_ITERATIONS = 100


class LcpSystem(NamedTuple):
    """The matrices of Fig. 2."""

    M: Array
    """Diagonal of the mass matrix, (m, m, m w^2 / 6) per cell, shape (3n,)."""
    J_e: sparse.csr_array
    """Joints along a spanning tree of the cells, shape (3 (n - 1), 3n)."""
    J_f: sparse.csr_array
    """Minus the directions of motion: translation, torsion of each cell, shape (2n, 3n)."""
    bound: Array
    """mu N dt [N s], for torsion times its length [N m s], shape (2n,)."""
    momentum: Array
    """M xdot_t + dt F, shape (3n,)."""


class LcpSolution(NamedTuple):
    """The unknowns of Fig. 2 at the end of the step."""

    twist: Array
    """Of the grid origin, in table axes [m/s, m/s, rad/s], shape (3,)."""
    friction: Array
    """lambda_f of every cell's translation [N s] and torsion [N m s], shape (n, 2)."""
    wrench: Array
    """Friction on the body about the grid origin [N, N, N m], shape (3,)."""
    velocities: Array
    """xdot_{t+1} [m/s, m/s, rad/s], shape (n, 3)."""
    joints: Array
    """lambda_e of the joints of the spanning tree [N s, N s, N m s], shape (n - 1, 3)."""
    gamma: Array
    """Sliding speeds [m/s, rad/s], shape (n, 2)."""
    rho: Array
    """Slack of the speeds [m/s, rad/s], shape (n, 2)."""
    xi: Array
    """Slack of the bounds [N s, N m s], shape (n, 2)."""
    residual: float
    """Largest violation of a row of Fig. 2, relative to the step's momentum, speed and energy."""
    iterations: int
    """Of the interior point method."""
    system: LcpSystem
    """What was solved."""


def joint_jacobian(offsets: Array, pairs: Integers) -> sparse.csr_array:
    """J_e: three rows a pair (i, j), the velocity of j minus that of i at their common edge.

    Args:
        offsets: cell centres in table axes [m], shape (n, 2).
        pairs: of adjacent cells, shape (m, 2).

    """
    n, m = len(offsets), len(pairs)
    edge = offsets[pairs].mean(axis=1)
    J = sparse.lil_array((3 * m, 3 * n))
    for side, sign in ((0, -1.0), (1, 1.0)):
        cell = pairs[:, side]
        sx, sy = (edge - offsets[cell]).T
        row = 3 * np.arange(m)
        for k in range(3):
            J[row + k, 3 * cell + k] = sign
        J[row, 3 * cell + 2] = -sign * sy
        J[row + 1, 3 * cell + 2] = sign * sx
    return J.tocsr()


def assemble_lcp(
    model: "ObjectModel", pose: Array, velocities: Array, wrenches: Array, dt: float, torsion: float
) -> LcpSystem:
    """The matrices of Fig. 2; arguments as in `lcp_step`."""
    n = model.grid.n_cells
    M = np.outer(model.mass, [1.0, 1.0, model.grid.cell_size**2 / 6]).reshape(-1)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    offsets = model.grid.centres @ np.array([[c, s], [-s, c]])
    # Cells in closed loops make rows of J_e depend on the others and the KKT matrix singular. The
    # joints of a spanning tree imply the rest exactly; regularising would let cells creep apart.
    J_e = joint_jacobian(offsets, _spanning_tree(n, model.grid.adjacency))
    momentum = M * velocities.reshape(-1) + dt * wrenches.reshape(-1)
    kkt = sparse.block_array([[sparse.diags_array(M), J_e.T], [J_e, None]], format="csc")
    free = splu(kkt).solve(np.append(momentum, np.zeros(3 * (n - 1))))[: 3 * n].reshape(n, 3)
    direction = np.zeros((n, 2, 3))
    direction[:, 0, :2] = friction_directions(velocities[:, :2], free[:, :2])
    direction[:, 1, 2:] = friction_directions(velocities[:, 2:], free[:, 2:])
    J_f = sparse.csr_array(-sparse.block_diag(list(direction)))
    bound = np.outer(model.friction * model.mass * GRAVITY * dt, [1.0, torsion]).reshape(-1)
    return LcpSystem(M, J_e, J_f, bound, momentum)


def _spanning_tree(n: int, pairs: Integers) -> Integers:
    """The pairs (parent, child) of a breadth-first tree over the cells, shape (n - 1, 2)."""
    graph = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    order, parent = breadth_first_order(graph, 0, directed=False)
    return np.column_stack([parent[order[1:]], order[1:]]).astype(np.int64)


def lcp_step(
    model: "ObjectModel",
    pose: Array,
    velocities: Array,
    wrenches: Array,
    dt: float,
    *,
    torsion: float = 0.0,
) -> LcpSolution:
    """Advance the velocities by one step of the LCP, with the arguments of `lagged_step`."""
    system = assemble_lcp(model, pose, velocities, wrenches, dt, torsion)
    # A row whose bound is zero has lambda_f = 0 and no interior: it is left out of the solve.
    bounded = system.bound > 0.0
    J_f = system.J_f
    at, iterations = _interior_point(
        system.M, system.J_e, J_f[bounded], system.bound[bounded], system.momentum
    )
    slip = -(J_f @ at.x)
    lam, xi = np.zeros(len(slip)), np.zeros(len(slip))
    gamma, rho = np.maximum(slip, 0.0), np.maximum(-slip, 0.0)
    lam[bounded], gamma[bounded], rho[bounded], xi[bounded] = at.lam, at.gamma, at.rho, at.xi
    at = _Iterate(at.x, at.lam_e, lam, gamma, rho, xi)
    cells, impulse = at.x.reshape(-1, 3), (J_f.T @ lam).reshape(-1, 3)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    rx, ry = (model.grid.centres @ np.array([[c, s], [-s, c]])).T
    vx, vy, omega = cells[0]
    torque = np.sum(rx * impulse[:, 1] - ry * impulse[:, 0] + impulse[:, 2])
    return LcpSolution(
        twist=np.array([vx + omega * ry[0], vy - omega * rx[0], omega]),
        friction=lam.reshape(-1, 2),
        wrench=np.array([*impulse[:, :2].sum(axis=0), torque]) / dt,
        velocities=cells,
        joints=at.lam_e.reshape(-1, 3),
        gamma=gamma.reshape(-1, 2),
        rho=rho.reshape(-1, 2),
        xi=xi.reshape(-1, 2),
        residual=_residual(system, at),
        iterations=iterations,
        system=system,
    )


class _Iterate(NamedTuple):
    """The unknowns of Fig. 2, or a step in them."""

    x: Array
    lam_e: Array
    lam: Array
    gamma: Array
    rho: Array
    xi: Array

    def moved(self, step: "_Iterate", alpha: float) -> "_Iterate":
        return _Iterate(*(z + alpha * dz for z, dz in zip(self, step, strict=True)))

    def room(self, step: "_Iterate") -> float:
        """Largest step in (0, 1] that keeps lam, gamma, rho and xi non-negative."""
        pairs = zip(self[2:], step[2:], strict=True)
        return min(float(np.min(-z[dz < 0] / dz[dz < 0], initial=1.0)) for z, dz in pairs)

    def mean_product(self) -> float:
        return float(self.lam @ self.rho + self.xi @ self.gamma) / (2 * len(self.lam))


def _interior_point(
    M: Array, J_e: sparse.csr_array, J_f: sparse.csr_array, bound: Array, momentum: Array
) -> tuple[_Iterate, int]:
    """Mehrotra's predictor-corrector method; also returns the number of its iterations."""
    n, m = len(M), J_e.shape[0]
    free = _factorise(M, J_e).solve(np.append(momentum, np.zeros(m)))
    x, lam_e = free[:n], -free[n:]
    slip = J_f @ x
    speed = 0.3 * np.abs(slip).max(initial=0.0)
    if speed == 0.0:
        zero = np.zeros(len(bound))
        return _Iterate(x, lam_e, zero, zero, zero, bound), 0
    gamma, rho = np.maximum(-slip, 0.0) + speed, np.maximum(slip, 0.0) + speed
    at = _Iterate(x, lam_e, bound / 2, gamma, rho, bound / 2)
    enough = 1e-19 * float(momentum @ x)
    for iteration in range(MAX_ITERATIONS):
        mean = at.mean_product()
        if mean < enough:
            return at, iteration
        W = 1.0 / (at.gamma / at.xi + at.rho / at.lam)
        K = _factorise(M, J_e, J_f, W)
        r1 = momentum - M * at.x + J_e.T @ at.lam_e + J_f.T @ at.lam
        r2, r3 = J_e @ at.x, J_f @ at.x + at.gamma - at.rho
        newton = partial(_newton_step, _Newton(K, J_f, W, r1, r2, r3), at)
        predictor = newton(-at.rho, -at.gamma)
        after = at.moved(predictor, at.room(predictor)).mean_product()
        target = mean * min(1.0, after / mean) ** 3
        step = newton(
            (target - predictor.lam * predictor.rho) / at.lam - at.rho,
            (target - predictor.xi * predictor.gamma) / at.xi - at.gamma,
        )
        after = at.moved(step, 0.995 * at.room(step)).mean_product()
        if not after < mean:
            # The second-order correction can overshoot, and Mehrotra's method then cycles.
            step = newton(0.1 * mean / at.lam - at.rho, 0.1 * mean / at.xi - at.gamma)
        at = at.moved(step, 0.995 * at.room(step))
    return at, MAX_ITERATIONS


class _Newton(NamedTuple):
    """The linear system of an iteration: factors, weights, and the residuals of its rows."""

    K: SuperLU
    J_f: sparse.csr_array
    W: Array
    r1: Array
    r2: Array
    r3: Array


def _newton_step(system: _Newton, at: _Iterate, c_rho: Array, c_gamma: Array) -> _Iterate:
    """Step that closes the linear rows and lam drho + rho dlam = lam c_rho, xi, gamma alike."""
    K, J_f, W, r1, r2, r3 = system
    h = c_rho - c_gamma - r3
    solution = K.solve(np.concatenate([r1 + J_f.T @ (W * h), -r2]))
    dx = solution[: len(r1)]
    dlam = W * (h - J_f @ dx)
    dgamma, drho = c_gamma + at.gamma * dlam / at.xi, c_rho - at.rho * dlam / at.lam
    return _Iterate(dx, -solution[len(r1) :], dlam, dgamma, drho, -dlam)


def _factorise(
    M: Array, J_e: sparse.csr_array, J_f: sparse.csr_array | None = None, W: Array | None = None
) -> SuperLU:
    """LU factors of [[M + J_f^T W J_f, J_e^T], [J_e, 0]]."""
    H = sparse.diags_array(M)
    if J_f is not None:
        H = H + J_f.T @ sparse.diags_array(W) @ J_f
    return splu(sparse.block_array([[H, J_e.T], [J_e, None]], format="csc"))


def _residual(system: LcpSystem, at: _Iterate) -> float:
    M, J_e, J_f, bound, momentum = system
    impulse = max(np.abs(momentum).max(), bound.max()) or 1.0
    speed = np.abs(momentum / M).max() or 1.0
    balance = momentum - M * at.x + J_e.T @ at.lam_e + J_f.T @ at.lam
    impulses = [balance, at.lam + at.xi - bound]
    speeds = [J_e @ at.x, J_f @ at.x + at.gamma - at.rho]
    rows = [row / impulse for row in impulses] + [row / speed for row in speeds]
    rows += [at.lam * at.rho / (impulse * speed), at.xi * at.gamma / (impulse * speed)]
    return max(float(np.abs(row).max(initial=0.0)) for row in rows)
