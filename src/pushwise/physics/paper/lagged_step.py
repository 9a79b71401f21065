"""One time step with friction along the motion at its start, in three unknowns.

With `xdot = S v` the paper's LCP (Fig. 2) is the minimisation over the twist `v` of

    1/2 v^T A v - p^T v + sum_q b_q max(0, a_q . v),
    A = S^T M S,   p = S^T (M xdot_t + dt F),   a_q = S_q^T d_q,   b_q = mu_q N_q dt,

where `d_q` is the direction in which point q moved; the multipliers of the hinges are the LCP's
friction impulses lambda_f. `lcp.py` solves the same step in 3n coordinates and checks this one.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.compilation import compiled_allocating
from pushwise.physics.constants import GRAVITY
from pushwise.physics.paper.hinge_qp import minimise_hinges
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.physics.model import ObjectModel

__all__ = [
    "REST_SPEED",
    "LaggedSolution",
    "LaggedStep",
    "cell_velocities",
    "friction_directions",
    "lagged_step",
    "lagged_twist",
    "sum_wrenches",
    "table_offsets",
]


REST_SPEED = 1e-9
"""Speed [m/s], or spin [rad/s], up to which a point counts as at rest: the solver's noise."""


class LaggedStep(NamedTuple):
    """The data of one step, reduced to the twist of the grid origin."""

    offsets: Array
    """Cell centres relative to the grid origin, in table axes [m], shape (n, 2)."""
    A: Array
    """S^T M S, linear in the masses because it is about the grid origin, shape (3, 3)."""
    momentum: Array
    """p = S^T (M xdot_t + dt F) [N s, N s, N m s], shape (3,)."""
    free: Array
    """Twist at the end of the step without friction, A^-1 p, shape (3,)."""
    rows: Array
    """a_q of every cell's translation and torsion, shape (n, 2, 3)."""
    bounds: Array
    """b_q: mu N dt [N s] and, for the torsion, times its length [N m s], shape (n, 2)."""
    velocities: Array
    """xdot_t of the cells [m/s, m/s, rad/s], shape (n, 3)."""
    dt: float
    """Duration of the step [s]."""
    torsion: float
    """Length of the torsion bound [m]."""


class LaggedSolution(NamedTuple):
    """The end of one step."""

    twist: Array
    """Of the grid origin, in table axes [m/s, m/s, rad/s], shape (3,)."""
    friction: Array
    """lambda_f of every cell's translation [N s] and torsion [N m s], shape (n, 2)."""
    wrench: Array
    """Friction on the body about the grid origin [N, N, N m], shape (3,)."""
    status: int
    """EXACT, CONVERGED or FAILED of `hinge_qp.py`."""
    step: LaggedStep
    """What was solved."""


@compiled_allocating
def friction_directions(velocities: Array, free: Array) -> Array:
    """Directions of motion that friction opposes, unit or zero, shape (Q, k).

    `d_q = xdot_q / |xdot_q|`, the paper's J_f. At rest that is 0/0: a point at rest takes the
    direction in which it would move without friction, and none if it would not move.
    `velocities` and `free` [m/s] have shape (Q, k); with k = 1 they are spins [rad/s].
    """
    d = np.zeros(velocities.shape)
    for q in range(velocities.shape[0]):
        speed = np.sqrt(np.sum(velocities[q] ** 2))
        if speed > REST_SPEED:
            d[q] = velocities[q] / speed
        else:
            speed = np.sqrt(np.sum(free[q] ** 2))
            if speed > REST_SPEED:
                d[q] = free[q] / speed
    return d


@compiled_allocating
def lagged_twist(
    offsets: Array, directions: Array, bounds: Array, A: Array, momentum: Array
) -> tuple[Array, Array, int]:
    """Twist at the end of the step, friction impulses and status; allocates, never raises.

    Args:
        offsets: friction points relative to the grid origin, table axes [m], shape (Q, 2).
        directions: d_q, unit or zero, shape (Q, 2).
        bounds: b_q = mu_q N_q dt [N s], shape (Q,).
        A: S^T M S about the grid origin, shape (3, 3).
        momentum: p = S^T (M xdot_t + dt F) [N s, N s, N m s], shape (3,).

    Returns:
        The twist (3,), lambda [N s] of shape (Q,), and EXACT, CONVERGED or FAILED.

    """
    a = np.empty((offsets.shape[0], 3))
    for q in range(offsets.shape[0]):
        a[q, 0] = directions[q, 0]
        a[q, 1] = directions[q, 1]
        a[q, 2] = offsets[q, 0] * directions[q, 1] - offsets[q, 1] * directions[q, 0]
    return minimise_hinges(a, bounds, A, momentum)


def lagged_step(
    model: "ObjectModel",
    pose: Array,
    velocities: Array,
    wrenches: Array,
    dt: float,
    *,
    torsion: float = 0.0,
) -> LaggedSolution:
    """Advance the velocities by one step; same arguments and result as `lcp.lcp_step`.

    Args:
        model: masses [kg] and friction coefficients of the cells; each carries its own weight.
        pose: of the grid frame at the start of the step [m, m, rad], shape (3,).
        velocities: xdot_t of the cells, table axes [m/s, m/s, rad/s], shape (n, 3).
        wrenches: F_t on the cells, about their centres, table axes [N, N, N m], shape (n, 3).
        dt: duration of the step [s].
        torsion: length [m] that makes mu N a bound on each cell's torque. Zero by default: the
            torque of the cells' forces about the body's centre already is its torsion friction.

    """
    step = _reduce(model, pose, velocities, wrenches, dt, torsion)
    a, b = step.rows.reshape(-1, 3), step.bounds.reshape(-1)
    twist, lam, status = minimise_hinges(a, b, step.A, step.momentum)
    return LaggedSolution(twist, lam.reshape(-1, 2), -(lam @ a) / dt, status, step)


def _reduce(
    model: "ObjectModel", pose: Array, velocities: Array, wrenches: Array, dt: float, torsion: float
) -> LaggedStep:
    m, mu, w = model.mass, model.friction, model.grid.cell_size
    r = table_offsets(model.grid.centres, pose)
    M = m[:, None] * np.array([1.0, 1.0, w**2 / 6])
    sx, sy = m @ r
    A = np.array([
        [m.sum(), 0.0, -sy],
        [0.0, m.sum(), sx],
        [-sy, sx, m @ np.sum(r * r, axis=1) + M[:, 2].sum()],
    ])  # fmt: skip
    p = sum_wrenches(r, M * velocities + dt * wrenches)
    free = np.linalg.solve(A, p)
    moving = cell_velocities(r, free)
    rows = np.zeros((len(m), 2, 3))
    rows[:, 0, :2] = d = friction_directions(velocities[:, :2], moving[:, :2])
    rows[:, 0, 2] = r[:, 0] * d[:, 1] - r[:, 1] * d[:, 0]
    rows[:, 1, 2:] = friction_directions(velocities[:, 2:], moving[:, 2:])
    bounds = (mu * m * GRAVITY * dt)[:, None] * np.array([1.0, torsion])
    return LaggedStep(r, A, p, free, rows, bounds, velocities, dt, torsion)


def table_offsets(centres: Array, pose: Array) -> Array:
    """Cell centres relative to the grid origin in table axes, R(theta) c [m], shape (n, 2)."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    offsets: Array = centres @ np.array([[c, s], [-s, c]])
    return offsets


def cell_velocities(offsets: Array, twist: Array) -> Array:
    """S v: velocities of the cells [m/s, m/s, rad/s], shape (n, 3), of a rigid body's twist."""
    vx, vy, omega = twist
    spin = np.full(len(offsets), omega)
    return np.column_stack([vx - omega * offsets[:, 1], vy + omega * offsets[:, 0], spin])


def sum_wrenches(offsets: Array, wrenches: Array) -> Array:
    """S^T F: the sum of wrenches (n, 3) on the cells, moved to the grid origin, shape (3,)."""
    torque = offsets[:, 0] @ wrenches[:, 1] - offsets[:, 1] @ wrenches[:, 0]
    fx, fy, own = wrenches.sum(axis=0)
    return np.array([fx, fy, torque + own])
