"""The paper's LCP (Fig. 2) in PyTorch: its `autograd` baseline for mass and friction gradients.

The interior point method runs without a graph. One Newton step on the full KKT system from its
solution then carries the graph: the residual is zero in value, but its derivative by mass and
friction is what the implicit function theorem asks for. Unrolling would keep the matrices of every
iteration in the graph and differentiate the last ones, which are ill-conditioned by design. What
autograd does here is to differentiate the assembly of M, J_f and the bounds.
"""

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from pushwise.extras import require
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel
from pushwise.physics.paper.lagged_step import REST_SPEED, table_offsets
from pushwise.physics.paper.lcp import lcp_step
from pushwise.typing import Array

if TYPE_CHECKING:
    from torch import Tensor

    from pushwise.shape.grid import CellGrid

__all__ = ["lcp_twist"]


def lcp_twist(
    grid: "CellGrid",
    mass: "Tensor",
    friction: "Tensor",
    pose: Array,
    velocities: Array,
    wrenches: Array,
    dt: float,
    *,
    torsion: float = 0.0,
) -> "Tensor":
    """Twist at the end of one step, shape (3,), differentiable by mass and friction.

    Args:
        grid: the cells.
        mass: of the cells [kg], double precision, shape (n,).
        friction: of the cells, double precision, shape (n,).
        pose: of the grid frame at the start of the step [m, m, rad], shape (3,).
        velocities: xdot_t of the cells, table axes [m/s, m/s, rad/s], shape (n, 3).
        wrenches: F_t on the cells, about their centres, table axes [N, N, N m], shape (n, 3).
        dt: duration of the step [s].
        torsion: length [m] that makes mu N a bound on each cell's torque.

    """
    torch = _import_torch()
    model = ObjectModel(grid, mass.detach().numpy(), friction.detach().numpy())
    solution = lcp_step(model, pose, velocities, wrenches, dt, torsion=torsion)
    J_e = torch.from_numpy(solution.system.J_e.toarray())
    x, lam_e, lam, gamma, rho, xi = (
        torch.from_numpy(z.reshape(-1))
        for z in (
            solution.velocities,
            solution.joints,
            solution.friction,
            solution.gamma,
            solution.rho,
            solution.xi,
        )
    )
    xdot, impulse = torch.from_numpy(velocities), torch.from_numpy(dt * wrenches)

    inertia = torch.tensor([1.0, 1.0, grid.cell_size**2 / 6], dtype=torch.float64)
    M = torch.outer(mass, inertia).reshape(-1)
    momentum = M * xdot.reshape(-1) + impulse.reshape(-1)
    length = torch.tensor([1.0, torsion], dtype=torch.float64)
    bound = torch.outer(friction * mass * GRAVITY * dt, length).reshape(-1)
    J_f = torch.from_numpy(solution.system.J_f.toarray())
    at_rest = np.hypot(velocities[:, 0], velocities[:, 1]) <= REST_SPEED
    if at_rest.any():
        free = _free_motion(M, J_e, momentum)
        J_f = _turn_with_free_motion(J_f, free, torch.from_numpy(at_rest))

    r1 = momentum - M * x + J_e.T @ lam_e + J_f.T @ lam
    r3 = J_f @ x + gamma - rho
    r4 = lam + xi - bound
    # lam rho = 0 = xi gamma, differentiated: dlam + W J_f dx = -follow r4 - W r3. A row without
    # friction (lam = xi = 0) follows its bound where it slides, as the limit of a small one.
    product = gamma * lam + rho * xi
    follow = torch.where(product > 0.0, gamma * lam / product, (gamma > 0.0).double())
    W = torch.where(product > 0.0, lam * xi / product, 0.0)
    # W is zero off the kink and infinite at it. The limit of 1e10 cell masses keeps the matrix
    # regular where a body sticks with more hinges than it has freedoms.
    typical = mass.detach().mean()
    W = W.clamp(max=1e10 * typical)
    scale = 1.0 / (1.0 + W / typical)
    K = _kkt(M.detach(), J_e, J_f.detach(), scale, scale * W)
    dx = torch.linalg.solve(K, torch.cat([r1, -(J_e @ x), -scale * (follow * r4 + W * r3)]))
    vx, vy, omega = (x + dx[: len(x)])[:3]
    rx, ry = table_offsets(grid.centres, pose)[0]
    twist: Tensor = torch.stack([vx + omega * ry, vy - omega * rx, omega])
    return twist


def _kkt(
    M: "Tensor",
    J_e: "Tensor",
    J_f: "Tensor",
    scale: "Tensor",
    W: "Tensor",
) -> "Tensor":
    """Matrix of the Newton step in (dx, dlambda_e, dlambda_f)."""
    torch = _import_torch()
    n, m, k = len(M), len(J_e), len(J_f)
    K: Tensor = torch.zeros(n + m + k, n + m + k, dtype=M.dtype)
    K[:n] = torch.cat([torch.diag(M), -J_e.T, -J_f.T], dim=1)
    K[n : n + m, :n] = J_e
    K[n + m :, :n] = W[:, None] * J_f
    K[n + m :, n + m :] = torch.diag(scale)
    return K


def _free_motion(M: "Tensor", J_e: "Tensor", momentum: "Tensor") -> "Tensor":
    """Velocities without friction [m/s, m/s, rad/s], shape (n, 3)."""
    torch = _import_torch()
    none = torch.zeros(0, dtype=M.dtype)
    K = _kkt(M, J_e, torch.zeros(0, len(M), dtype=M.dtype), none, none)
    rhs = torch.cat([momentum, torch.zeros(len(J_e), dtype=M.dtype)])
    free: Tensor = torch.linalg.solve(K, rhs)[: len(M)].reshape(-1, 3)
    return free


def _turn_with_free_motion(J_f: "Tensor", free: "Tensor", at_rest: "Tensor") -> "Tensor":
    """J_f with the translation rows of the cells at rest as functions of the free motion."""
    torch = _import_torch()
    n = len(free)
    speed = torch.linalg.vector_norm(free[:, :2], dim=1)
    turned = torch.nonzero(at_rest & (speed > REST_SPEED))[:, 0]
    J = J_f.reshape(n, 2, n, 3).clone()
    J[turned, 0, turned, :2] = -free[turned, :2] / speed[turned, None]
    return J.reshape(2 * n, 3 * n)


def _import_torch() -> ModuleType:
    module: ModuleType = require(
        "torch", extra="torch", purpose="automatic differentiation through the LCP"
    )
    return module
