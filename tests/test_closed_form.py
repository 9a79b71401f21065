"""Gradients of the lagged step against finite differences and the paper's formulas."""

from collections import Counter

import numpy as np

from pushwise.physics.constants import GRAVITY
from pushwise.physics.paper.closed_form_gradients import closed_form_vjp, lagged_vjp
from pushwise.physics.paper.lagged_step import cell_velocities, table_offsets
from pushwise.physics.paper.lcp import lcp_step
from pushwise.typing import Array, Integers
from random_steps import Step, hinge_states, kind_of, random_step, solve, with_parameters


def sliding_step(seed: int, *, low: int = 6, high: int = 10) -> Step:
    """A step in which every cell, and its torsion, slides before and after."""
    rng = np.random.default_rng(seed)
    step = random_step(rng, low, high)
    offsets = table_offsets(step.model.grid.centres, step.pose)
    velocities = cell_velocities(offsets, np.array([0.5, -0.3, 4.0]))
    step = step._replace(velocities=velocities, dt=1e-3)
    assert (hinge_states(solve(step, 0.004)) == 1).all()
    return step


def spread(step: Step) -> Array:
    """S as a dense matrix, shape (3n, 3)."""
    offsets = table_offsets(step.model.grid.centres, step.pose)
    return np.column_stack([cell_velocities(offsets, e).reshape(-1) for e in np.eye(3)])


def finite_difference(
    step: Step, loss: Array, torsion: float, states: Integers, dmass: Array, dfriction: Array
) -> float | None:
    """Central difference of the loss along a change of the parameters; None at a mode change."""
    values = []
    for sign in (1.0, -1.0):
        mass, friction = step.model.mass + sign * dmass, step.model.friction + sign * dfriction
        solution = solve(with_parameters(step, mass, friction), torsion)
        if (hinge_states(solution) != states).any():
            return None
        values.append(loss @ solution.twist)
    return float(values[0] - values[1]) / 2


def test_gradients_equal_finite_differences() -> None:
    """Compare cell by cell and along all cells at once, on 200 random cases of every kind."""
    rng = np.random.default_rng(0)
    kinds: Counter[str] = Counter()
    closed = crossed = 0
    for case in range(200):
        step, torsion = random_step(rng), 0.004 if case % 4 == 0 else 0.0
        n, solution, loss = step.model.grid.n_cells, solve(step, torsion), rng.normal(size=3)
        states = hinge_states(solution)
        dmass, dfriction = lagged_vjp(step.model, solution, loss)
        gradient = np.concatenate([dmass, dfriction])
        size = np.concatenate([step.model.mass, step.model.friction])
        one_by_one = rng.choice(2 * n, 8, replace=False)
        changes = 1e-4 * size * np.vstack([np.eye(2 * n)[one_by_one], rng.normal(size=2 * n) / 9])
        measured = [
            finite_difference(step, loss, torsion, states, *c.reshape(2, n)) for c in changes
        ]
        if None in measured:
            crossed += 1
            continue
        kinds[kind_of(solution)] += 1
        # Relative to the largest of its kind, mass or friction, for each change by itself.
        largest = np.repeat([np.abs(dmass).max(), np.abs(dfriction).max()], n)
        allowed = 1e-6 * np.max(np.abs(changes) * largest, axis=1) + 1e-15
        assert (np.abs(changes @ gradient - measured) <= allowed).all()
        moved = np.hypot(*step.velocities[:, :2].T).min() > 1e-6
        slides = (states[solution.step.bounds > 0.0] == 1).all()
        if moved and slides:
            closed += 1
            paper = np.concatenate(closed_form_vjp(step.model, solution, loss))
            np.testing.assert_allclose(paper, gradient, atol=1e-12 * np.abs(gradient).max())
    assert all(kinds[kind] >= 30 for kind in ("slides", "sticks", "mixed")), kinds
    assert closed >= 30
    assert crossed <= 10


def test_x11_is_the_projection_on_rigid_motion() -> None:
    """Form X11 from J_e as printed and as S (S^T M S)^-1 S^T."""
    step = sliding_step(1)
    M, J_e, *_ = lcp_step(*step).system
    J, S = J_e.toarray(), spread(step)
    printed = np.diag(1 / M) + (J / M).T @ np.linalg.solve(-(J / M) @ J.T, J / M)
    reduced = S @ np.linalg.solve(S.T @ (M[:, None] * S), S.T)
    np.testing.assert_allclose(printed, reduced, atol=1e-10 * np.abs(reduced).max())


def test_top_right_block_of_inverse_has_the_sign_of_alpha_4() -> None:
    """Invert the printed G: its top right block is -X11 J_f^T D^-1(gamma) (erratum 5)."""
    step = sliding_step(2)
    s = lcp_step(*step, torsion=0.004)
    M, J_e, J_f, bound, _ = s.system
    J_e, J_f, S = J_e.toarray(), J_f.toarray(), spread(step)
    lam, gamma = s.friction.reshape(-1), s.gamma.reshape(-1)
    n, m, k = len(M), len(J_e), len(J_f)
    G = np.zeros((n + m + 2 * k, n + m + 2 * k))
    G[:n] = np.hstack([np.diag(M), J_e.T, J_f.T, np.zeros((n, k))])
    G[n : n + m, :n] = J_e
    G[n + m : -k, :n] = lam[:, None] * J_f
    G[n + m : -k, n + m : -k] = np.diag(-J_f @ s.velocities.reshape(-1) - gamma)
    G[n + m : -k, -k:] = -np.diag(lam)
    G[-k:, n + m : -k] = np.diag(gamma)
    G[-k:, -k:] = np.diag(lam - bound)
    X11 = S @ np.linalg.solve(S.T @ (M[:, None] * S), S.T)
    expected = -X11 @ J_f.T / gamma
    block = np.linalg.inv(G)[:n, -k:]
    np.testing.assert_allclose(block, expected, atol=1e-8 * np.abs(expected).max())


def test_more_friction_slows_as_w_mu_says() -> None:
    """Check the sign of W_mu = X11 J_f^T M g dt by solving again with more friction."""
    step = sliding_step(3)
    M, _, J_f, *_ = lcp_step(*step).system
    S = spread(step)
    A = S.T @ (M[:, None] * S)
    more = np.full(step.model.grid.n_cells, 1e-3)
    changed = with_parameters(step, step.model.mass, step.model.friction + more)
    W_mu = np.linalg.solve(A, S.T @ J_f.toarray()[::2].T) * step.model.mass * GRAVITY * step.dt
    measured = solve(changed).twist - solve(step).twist
    np.testing.assert_allclose(measured, W_mu @ more, atol=1e-12)
    assert np.dot(S @ measured * M, step.velocities.reshape(-1)) < 0.0


def test_loss_of_norms_has_the_gradient_of_norms() -> None:
    """Differentiate Eq. 1; the printed 2 dt (x - x^g) is that of squared norms (erratum 4)."""
    step = sliding_step(4)
    solution, S, dt = solve(step), spread(step), step.dt
    rng = np.random.default_rng(5)
    observed = S @ solution.twist * dt + rng.normal(scale=1e-3, size=len(S))

    def loss(friction: Array) -> float:
        twist = solve(with_parameters(step, step.model.mass, friction)).twist
        return float(np.linalg.norm(S @ twist * dt - observed))

    error = S @ solution.twist * dt - observed
    corrected = dt * error / np.linalg.norm(error)
    _, gradient = lagged_vjp(step.model, solution, S.T @ corrected)
    _, printed = lagged_vjp(step.model, solution, S.T @ (2 * dt * error))
    mu, change = step.model.friction, 1e-3 * rng.normal(size=len(step.model.friction))
    measured = (loss(mu + change) - loss(mu - change)) / 2
    np.testing.assert_allclose(gradient @ change, measured, rtol=1e-6)
    assert abs(printed @ change - measured) > 0.5 * abs(measured)


def test_gradient_at_zero_friction_is_that_of_a_little() -> None:
    """Let a sliding cell without friction feel what the first of it would do."""
    step = sliding_step(6)
    friction = step.model.friction.copy()
    friction[0] = 0.0
    step = with_parameters(step, step.model.mass, friction)
    loss = np.array([1.0, 0.5, 0.02])
    _, gradient = lagged_vjp(step.model, solve(step), loss)
    friction = friction.copy()
    friction[0] = 1e-3
    more = solve(with_parameters(step, step.model.mass, friction)).twist - solve(step).twist
    np.testing.assert_allclose(gradient[0] * 1e-3, loss @ more, rtol=1e-6)
