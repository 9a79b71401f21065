"""The paper's LCP, and the lagged step in three unknowns that must agree with it."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel
from pushwise.physics.paper.hinge_qp import EXACT, FAILED, minimise_hinges
from pushwise.physics.paper.lagged_step import (
    cell_velocities,
    friction_directions,
    lagged_twist,
    sum_wrenches,
    table_offsets,
)
from pushwise.physics.paper.lcp import joint_jacobian, lcp_step
from pushwise.shape.grid import CellGrid
from random_steps import CELL, Step, hinge_states, kind_of, random_step, solve


def block(
    twist: tuple[float, float, float],
    *,
    shape: tuple[int, int] = (4, 3),
    friction: float = 0.5,
    dt: float = 1e-3,
    force: tuple[float, float] = (0.0, 0.0),
) -> Step:
    """A step of a uniform block, pushed at its first cell."""
    centres = np.argwhere(np.ones(shape)) * CELL
    centres = centres - centres.mean(axis=0)
    n = len(centres)
    model = ObjectModel(CellGrid(centres, CELL), np.full(n, 0.01), np.full(n, friction))
    wrenches = np.zeros((n, 3))
    wrenches[0, :2] = force
    return Step(model, np.zeros(3), cell_velocities(centres, np.array(twist)), wrenches, dt)


@pytest.mark.slow
def test_lagged_step_equals_lcp() -> None:
    """Compare twist, friction wrench and total force on 200 random cases of every kind."""
    rng = np.random.default_rng(0)
    kinds: Counter[str] = Counter()
    moving_kinks = 0
    for case in range(200):
        step, torsion = random_step(rng), 0.004 if case % 4 == 0 else 0.0
        lagged, lcp = solve(step, torsion), lcp_step(*step, torsion=torsion)
        assert lagged.status == EXACT
        kinds[kind_of(lagged)] += 1
        moving_kinks += bool(lagged.twist.any() and (hinge_states(lagged)[:, 0] == 0).any())
        total = lagged.wrench[:2] + step.wrenches[:, :2].sum(axis=0)
        cells = np.sum(step.model.mass[:, None] * (lcp.velocities - step.velocities), axis=0)
        np.testing.assert_allclose(lagged.twist, lcp.twist, rtol=0, atol=1e-8)
        np.testing.assert_allclose(lagged.wrench, lcp.wrench, rtol=0, atol=1e-8)
        np.testing.assert_allclose(total, cells[:2] / step.dt, rtol=0, atol=1e-8)
    assert all(kinds[kind] >= 30 for kind in ("slides", "sticks", "mixed")), kinds
    assert moving_kinks >= 15


def test_lcp_solution_satisfies_every_row_of_figure_2() -> None:
    """Check the rows with the joints of all adjacent pairs, not only of the spanning tree."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        step = random_step(rng)
        s = lcp_step(*step, torsion=0.004)
        M, J_e, J_f, bound, momentum = s.system
        x, lam, gamma = s.velocities.reshape(-1), s.friction.reshape(-1), s.gamma.reshape(-1)
        offsets = table_offsets(step.model.grid.centres, step.pose)
        impulse, speed = np.abs(momentum).max() + bound.max(), np.abs(step.velocities).max() + 1.0
        balance = M * x - momentum - J_e.T @ s.joints.reshape(-1) - J_f.T @ lam
        rho, xi = J_f @ x + gamma, bound - lam
        assert np.abs(balance).max() < 1e-12 * impulse
        assert np.abs(joint_jacobian(offsets, step.model.grid.adjacency) @ x).max() < 1e-12 * speed
        assert min(lam.min(), gamma.min()) >= 0.0
        assert rho.min() > -1e-12 * speed
        assert xi.min() > -1e-12 * impulse
        assert np.abs(rho * lam).max() < 1e-12 * impulse * speed
        assert np.abs(xi * gamma).max() < 1e-12 * impulse * speed
        assert s.residual < 1e-12


def test_lcp_equals_bounded_least_squares() -> None:
    """Solve the dual, a box-constrained least squares problem, with an active set method."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        step = random_step(rng, 2, 8)
        n, dt = step.model.grid.n_cells, step.dt
        r = table_offsets(step.model.grid.centres, step.pose)
        S = np.zeros((n, 3, 3)) + np.eye(3)
        S[:, 0, 2], S[:, 1, 2] = -r[:, 1], r[:, 0]
        S = S.reshape(-1, 3)
        s = lcp_step(*step)
        M, _, J_f, bound, momentum = s.system
        A, rows = S.T @ (M[:, None] * S), (J_f @ S)[::2]
        root = np.linalg.inv(np.linalg.cholesky(A))
        dual = lsq_linear(-root @ rows.T, root @ S.T @ momentum, (0.0, bound[::2]), method="bvls")
        expected = np.linalg.solve(A, S.T @ momentum + rows.T @ dual.x)
        np.testing.assert_allclose(s.twist, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(s.wrench, rows.T @ dual.x / dt, rtol=0, atol=1e-8)


def test_two_cells_do_not_hinge() -> None:
    """Twist one end of a chain: with only two rows a pair it folds (erratum 1)."""
    step = block((0.0, 0.0, 0.0), shape=(2, 1), friction=0.0)
    step.wrenches[0, 2] = 0.001
    s = lcp_step(*step)
    rigid = cell_velocities(step.model.grid.centres, s.twist)
    np.testing.assert_allclose(s.velocities, rigid, atol=1e-12)
    M, J, _, _, momentum = s.system
    J = J.toarray()[:2]
    gap = np.linalg.solve(J / M @ J.T, J @ (momentum / M))
    folded = ((momentum - J.T @ gap) / M).reshape(2, 3)
    assert abs(folded[0, 2] - folded[1, 2]) > 1.0


def test_translating_block_decelerates_with_mu_g() -> None:
    """Friction opposes the motion (erratum 2) with the impulse mu m g dt (erratum 3)."""
    step = block((0.3, -0.4, 0.0))
    slowed = 1.0 - 0.5 * GRAVITY * step.dt / 0.5
    for s in (lcp_step(*step), solve(step)):
        np.testing.assert_allclose(s.twist, [0.3 * slowed, -0.4 * slowed, 0.0], atol=1e-13)
        weight = 0.5 * step.model.total_mass * GRAVITY
        np.testing.assert_allclose(s.wrench[:2], [-0.6 * weight, 0.8 * weight], atol=1e-12)


def test_torsion_rows_count_friction_twice() -> None:
    """Slow a spinning block more with torsion rows than without; by default there are none."""
    step = block((0.0, 0.0, 3.0))
    plain, doubled = lcp_step(*step), lcp_step(*step, torsion=0.004)
    assert plain.friction[:, 1].max() == 0.0
    assert doubled.twist[2] < plain.twist[2] < 3.0


@pytest.mark.parametrize("twist", [(0.0, 0.0, 0.0), (1e-3, 0.0, 0.0), (0.0, 0.0, 0.05)])
def test_slow_block_comes_to_rest_exactly(twist: tuple[float, float, float]) -> None:
    """Leave no residue of motion whose direction the next step would take for real."""
    assert not solve(block(twist)).twist.any()
    np.testing.assert_allclose(lcp_step(*block(twist)).twist, 0.0, atol=1e-12)


def test_weak_push_does_not_move_resting_block() -> None:
    """Balance a push at rest by friction, though the cells have no velocity to oppose."""
    step = block((0.0, 0.0, 0.0), force=(0.05, 0.02))
    s = solve(step)
    assert not s.twist.any()
    np.testing.assert_allclose(s.wrench[:2], [-0.05, -0.02], atol=1e-12)
    np.testing.assert_allclose(lcp_step(*step).wrench, s.wrench, atol=1e-10)


def test_cells_without_friction_slide_freely() -> None:
    """Accept bounds of zero, which leave an interior point method no interior."""
    step = block((0.1, 0.2, 3.0), friction=0.0)
    for s in (lcp_step(*step), solve(step)):
        np.testing.assert_allclose(s.twist, [0.1, 0.2, 3.0], atol=1e-13)
        assert not s.wrench.any()


def test_lagged_twist_is_the_step_without_torsion() -> None:
    """Give the compiled kernel the points themselves."""
    step = random_step(np.random.default_rng(3))
    s = solve(step)
    directions, bounds = s.step.rows[:, 0, :2].copy(), s.step.bounds[:, 0].copy()
    problem = (s.step.offsets, directions, bounds, s.step.A, s.step.momentum)
    twist, impulses, status = lagged_twist(*problem)
    assert status == EXACT
    np.testing.assert_allclose(twist, s.twist, atol=1e-12)
    np.testing.assert_array_less(-1e-15, bounds - impulses)


def test_hinges_never_return_nan() -> None:
    """Solve degenerate hinges of every scale; refuse what is not a problem."""
    rng = np.random.default_rng(4)
    for _ in range(2000):
        Q = int(rng.integers(1, 30))
        offsets = rng.integers(-3, 4, size=(Q, 2)).astype(float) * CELL
        moved = cell_velocities(offsets, rng.integers(-1, 2, size=3) * np.array([1, 1, 1 / CELL]))
        directions = friction_directions(moved[:, :2], np.zeros((Q, 2)))
        bounds = 10.0 ** rng.uniform(-12, 6) * rng.integers(0, 3, size=Q)
        A = np.diag([1.0, 1.0, 1e-4]) * 10.0 ** rng.uniform(-4, 2)
        momentum = rng.integers(-2, 3, size=3) * 10.0 ** rng.uniform(-12, 3)
        v, lam, status = lagged_twist(offsets, directions, bounds, A, momentum)
        assert status != FAILED
        assert (lam >= 0.0).all()
        assert (lam <= bounds).all()
        impulses = np.column_stack([lam[:, None] * directions, np.zeros(Q)])
        missing = A @ v + sum_wrenches(offsets, impulses) - momentum
        assert np.abs(missing).max() <= 1e-9 * np.abs(momentum).max()
    rows, A, bounds, momentum, bad = (
        np.eye(3),
        np.eye(3),
        np.ones(3),
        np.ones(3),
        np.full(3, np.nan),
    )
    for problem in ((rows, bounds, A, bad), (rows, bounds, -A, momentum), (rows, bad, A, momentum)):
        v, lam, status = minimise_hinges(*problem)
        assert status == FAILED
        assert not v.any()
        assert not lam.any()
