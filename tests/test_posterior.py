"""What identification believes: its derivatives, its errors, and how sure it is."""

from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushed import SIGMA, pushed
from pushwise.errors import PushwiseError
from pushwise.identification.noise import Errors, Walk, innovations, whitened
from pushwise.identification.objective import (
    DRIFTS,
    ForceErrors,
    centre_off,
    cost_of,
    errors_at,
    evidence,
    force_errors_of,
    normal_equations,
)
from pushwise.identification.problem import Problem
from pushwise.records.record import PushRecord


def test_the_jacobian_agrees_with_finite_differences() -> None:
    """Differentiate poses and forces of two pushes along random directions."""
    rng = np.random.default_rng(0)
    thing = pw.objects.load("box").sample(rng)
    world = pw.worlds.Ideal(thing, sensing=pw.worlds.Sensing(rate=10.0))
    # Off centre, and sticking: away from the changes of mode where there is no derivative.
    pushes = [
        pw.Push.line((-0.2, 0.03), (0.1, 0.0), 1.0),
        pw.Push.line((0.1, -0.12), (0.0, 0.1), 1.0),
    ]
    records = []
    for push in pushes:
        world.reset(0)
        records.append(world.push(push))
    problem = Problem(thing.grid, records, pw.Finger(), pw.Prior())
    u = 0.1 * rng.standard_normal(problem.unknowns)
    fit = problem.fit(u, SIGMA)
    assert len(fit.force_residual) > 10
    for _ in range(5):
        along = rng.standard_normal(problem.unknowns)
        h = 1e-5
        high, low = (problem.fit(u + s * h * along, SIGMA) for s in (1.0, -1.0))
        slope = (high.residual - low.residual) / (2.0 * h)
        scale = np.abs(slope).max(axis=0)
        assert (np.abs(fit.jacobian @ along - slope) < 1e-3 * scale).all()
        slope = (high.force_residual - low.force_residual) / (2.0 * h)
        scale = np.abs(slope).max()
        assert np.median(np.abs(fit.force_jacobian @ along - slope)) < 1e-3 * scale


def test_innovations_of_a_random_walk_are_white() -> None:
    """Whiten walks that grow, plus noise, to uncorrelated numbers of variance one."""
    rng = np.random.default_rng(0)
    shares = np.sort(rng.uniform(0.0, 1.0, 12))
    growth = np.where(np.arange(12) < 6, 1.0, rng.uniform(1.0, 2.0, 12))
    sigma, drift, count = 1e-3, 4e-3, 200_000
    steps = drift * np.sqrt(np.diff(shares, prepend=0.0))
    rows, walk = np.empty((12, count)), np.zeros(count)
    for k in range(12):
        walk = growth[k] * walk + steps[k] * rng.standard_normal(count)
        rows[k] = walk + sigma * rng.standard_normal(count)
    covariance = np.cov(rows)
    logs = innovations(shares, growth, sigma, drift, sigma, rows, np.empty(count))
    np.testing.assert_allclose(np.cov(rows), np.eye(12), atol=0.02)
    assert logs == pytest.approx(0.5 * np.linalg.slogdet(covariance)[1], abs=0.05)


def test_errors_grow_near_a_point_of_balance() -> None:
    """Expect a push across the middle of a bar to make an error grow, and a steady one not to."""
    bar = pw.CellGrid.from_outline(
        [(-0.1, -0.02), (0.1, -0.02), (0.1, 0.02), (-0.1, 0.02)], cell_size=0.02
    )
    model = pw.ObjectModel(bar, np.full(bar.n_cells, 0.02), 0.3)
    world = pw.worlds.Ideal(model, sensing=pw.worlds.Sensing(rate=10.0))
    grown = []
    for place in (0.0, 0.06):
        world.reset(0)
        record = world.push(pw.Push.line((place, -0.04), (0.0, 0.1), 1.5))
        problem = Problem(bar, [record], pw.Finger(), pw.Prior())
        grown.append(float(np.prod(problem.fit(np.zeros(problem.unknowns), SIGMA).growth)))
    assert grown[0] > 10.0 and grown[1] < 2.0


def test_the_posterior_knows_which_directions_it_knows() -> None:
    """Order the spectrum, narrow the prior everywhere, and draw centres that agree with it."""
    thing, records = pushed("box", 3)
    found = pw.identify(thing.grid, records[:5])
    posterior = found.posterior
    spectrum = posterior.spectrum
    assert (np.diff(spectrum) <= 1e-9).all()
    assert 3 <= posterior.determined <= thing.grid.n_cells + 4
    n = thing.grid.n_cells
    assert np.linalg.eigvalsh(posterior.covariance[: 2 * n, : 2 * n]).max() <= 1.0 + 1e-9
    drawn = found.belief.centres_of_mass(40_000, np.random.default_rng(0))
    size = np.trace(posterior.centre_of_mass_covariance)
    np.testing.assert_allclose(
        np.cov(drawn.T), posterior.centre_of_mass_covariance, atol=0.1 * size
    )


@pytest.mark.slow
def test_cells_are_as_doubtful_as_samples_scatter() -> None:
    """Draw masses and frictions whose logs scatter as the standard deviations say."""
    thing, records = pushed("box", 3)
    posterior = pw.identify(thing.grid, records[:5]).posterior
    mass, friction = posterior.samples(20_000, np.random.default_rng(0))
    assert mass.shape == friction.shape == (20_000, thing.grid.n_cells)
    np.testing.assert_allclose(np.log(mass).std(axis=0), posterior.log_mass_std, rtol=0.03)
    np.testing.assert_allclose(np.log(friction).std(axis=0), posterior.log_friction_std, rtol=0.03)
    log_load = np.log(mass * friction / np.sum(mass * friction, axis=1, keepdims=True))
    np.testing.assert_allclose(log_load.std(axis=0), posterior.log_load_std, rtol=0.2)


def test_no_sample_is_beyond_the_bounds_of_the_prior() -> None:
    """Clip what the Gaussian would draw above the largest mass or friction."""
    thing, records = pushed("box", 3)
    prior = pw.Prior(max_mass=2.0 * pw.Prior().mass / thing.grid.n_cells, max_friction=0.5)
    posterior = pw.identify(thing.grid, records[:5], prior=prior).posterior
    mass, friction = posterior.samples(1000, np.random.default_rng(0))
    assert mass.max() == prior.max_mass
    assert friction.max() <= 0.5


def test_a_push_that_jumps_leaves_the_picture_whole() -> None:
    """Keep prior and data summable where derivatives are those of a jump."""
    rng = np.random.default_rng(0)
    errors = Errors(SIGMA, np.array([1e-3, 1e-3, 1e-2]))
    walks = [Walk(np.linspace(0.01, 1.0, 400), np.zeros(3), 1.0, linked=False)]
    jacobian = 1e8 * rng.standard_normal((400, 3, 20))
    level = np.ones(400)
    _, rows, _ = whitened(walks, level, np.zeros((400, 3)), jacobian, errors)
    flat = rows.reshape(-1, 20)
    np.linalg.cholesky(np.eye(20) + flat.T @ flat)
    smooth = whitened(walks, level, np.zeros((400, 3)), 1e-8 * jacobian, errors)[1]
    np.testing.assert_allclose(
        rows / np.linalg.norm(rows, axis=2, keepdims=True),
        smooth / np.linalg.norm(smooth, axis=2, keepdims=True),
        rtol=1e-9,
    )


def test_pushes_that_do_not_fit_make_the_model_drift() -> None:
    """Weigh drifts by the probability that is maximised, also where some pushes stray far."""
    rng = np.random.default_rng(0)
    model = pw.objects.load("box").model
    strayed = []
    for i in range(12):
        world = pw.worlds.Ideal(model, sensing=pw.worlds.Sensing(rate=5.0))
        record = world.push(pw.Push.line((-0.2, 0.03), (0.1, 0.0), 1.0))
        step = np.array([1e-3, 1e-3, 0.0]) * (12.0 if i % 4 == 0 else 1.0)
        walk = np.cumsum(step * rng.standard_normal(record.pose.shape), axis=0)
        strayed.append(PushRecord(record.push, record.t, record.pose + walk - walk[0]))
    problem = Problem(model.grid, strayed, pw.Finger(), pw.Prior())
    u = problem.unknowns_of(model)
    fit = problem.fit(u, SIGMA)
    likely = []
    for level in range(len(DRIFTS)):
        errors = errors_at(problem, SIGMA, level)
        H, g, value = normal_equations(problem, u, fit, errors, ForceErrors(1.0, 1.0))
        logs = whitened(problem.walks, fit.growth, fit.residual, None, errors)[2]
        cost = cost_of(problem, u, fit, fit.growth, errors, ForceErrors(1.0, 1.0))
        assert value == pytest.approx(-cost - logs)
        likely.append(evidence(H, g, value))
    # Most pushes stray by 2 mm, five steps of 1 mm.
    assert DRIFTS[int(np.argmax(likely))] >= 2e-3


@pytest.mark.parametrize("rate", [10.0, 40.0])
def test_forces_that_the_model_misses_count_as_one_for_each_push(rate: float) -> None:
    """Let the scatter of forces say as little as their values: four times as many say no more."""
    model = pw.objects.load("box").model
    world = pw.worlds.Ideal(model, sensing=pw.worlds.Sensing(rate=rate))
    records = []
    for y in (0.03, -0.02):
        world.reset(0)
        records.append(world.push(pw.Push.line((-0.2, y), (0.1, 0.0), 1.5)))
    problem = Problem(model.grid, records, pw.Finger(), pw.Prior())
    heavier = pw.ObjectModel(model.grid, 1.3 * model.mass, model.friction)
    seen = problem.fit(problem.unknowns_of(heavier), SIGMA)
    errors = force_errors_of(problem, seen, None)
    assert errors.sigma > 2.0 * errors.scatter > 0.1
    counted = len(seen.force_residual) * (errors.scatter / errors.sigma) ** 2
    assert counted == pytest.approx(len(records), rel=0.1)
    noisy = force_errors_of(problem, seen, force_noise=10.0)
    assert noisy.log_norm == pytest.approx(np.log(10.0), rel=0.01)
    assert noisy.scatter == pytest.approx(noisy.sigma, rel=0.01)


@pytest.mark.parametrize("bound", ["max_mass", "max_friction"])
def test_the_jacobian_knows_the_bounds_of_the_prior(bound: str) -> None:
    """Leave a cell at its bound there: neither motion nor the centre follows its unknowns."""
    thing, records = pushed("box", 3)
    n = thing.grid.n_cells
    problem = Problem(thing.grid, records[:2], pw.Finger(), pw.Prior(centre=(0.0, 0.0)))
    rng = np.random.default_rng(3)
    u = rng.standard_normal(problem.unknowns)
    u[[0, n]] = 1.0  # above what is typical, where bounds must be
    u[2 * n :] = 0.0
    value = getattr(problem.model(u), bound.removeprefix("max_"))
    middle = float(np.median(value))
    if bound == "max_mass":
        prior = replace(problem.prior, max_mass=middle)
    else:
        prior = replace(problem.prior, max_friction=middle)
    problem = replace(problem, prior=prior)
    model = problem.model(u)
    assert (getattr(model, bound.removeprefix("max_")) == middle).sum() >= n // 2
    rows, step = problem.log_slopes(model), 1e-6 * rng.standard_normal(problem.unknowns)
    moved = [problem.model(u + s * step) for s in (1.0, -1.0)]
    for slope, part, name in zip(
        rows, (step[:n], step[n : 2 * n]), ("mass", "friction"), strict=True
    ):
        change = np.log(getattr(moved[0], name) / getattr(moved[1], name))
        np.testing.assert_allclose(2.0 * slope @ part, change, rtol=1e-6, atol=1e-12)
    change = centre_off(problem, u + step)[0] - centre_off(problem, u - step)[0]
    np.testing.assert_allclose(2.0 * (centre_off(problem, u)[1] @ step), change, rtol=1e-5)
    fit = problem.fit(u, SIGMA)
    high, low = (problem.fit(u + s * step, SIGMA) for s in (1.0, -1.0))
    change = (high.residual - low.residual).ravel()
    off = np.abs(2.0 * (fit.jacobian @ step).ravel() - change)
    assert np.median(off) < 1e-3 * np.abs(change).max()


def test_a_covariance_may_be_symmetric_up_to_rounding_only() -> None:
    """Take what a push straight through a symmetric box reveals, whose axes are uncoupled."""
    outline = [(-0.06, -0.04), (0.06, -0.04), (0.06, 0.04), (-0.06, 0.04)]
    grid = pw.CellGrid.from_outline(outline, cell_size=0.02)
    model = pw.ObjectModel(grid, np.full(grid.n_cells, 0.02), 0.3)
    world = pw.worlds.Ideal(model, sensing=pw.worlds.Sensing(rate=10.0))
    record = world.push(pw.Push.line((-0.1, 0.0), (0.1, 0.0), 1.0))
    belief = pw.identify(grid, [record]).belief
    assert belief.centre_covariance is not None
    skewed = belief.centre_covariance + np.array([[0.0, 1e-5], [0.0, 0.0]])
    with pytest.raises(PushwiseError, match="symmetric"):
        replace(belief, centre_covariance=skewed, posterior=None)
