"""Three feet found from the ends of pushes, and the sampler that finds them."""

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import predicted_ends, uniform_model
from pushwise.identification.identify import average
from pushwise.identification.methods.feet import ThreeFeet, load_of_feet
from pushwise.identification.methods.tempering import tempered
from pushwise.identification.problem import Problem

GRID = pw.CellGrid.from_outline([(-0.05, -0.05), (0.1, -0.05), (-0.05, 0.1)], cell_size=0.025)
FINGER = pw.Finger(0.005, 0.3)
FEET = np.array([(-0.0375, -0.0375), (0.0625, -0.0375), (-0.0375, 0.0625)])
SHARES = np.array([0.4, 0.3, 0.3])


def _records(count: int, seed: int, noise: float = 0.0) -> list[pw.PushRecord]:
    """Push a triangle that stands on three points; only first and last poses are seen.

    noise: of last positions [m]; ten times that of angles [rad].
    """
    rng, off = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    load = 1e-4 + load_of_feet(GRID, FEET, SHARES)
    model = pw.ObjectModel(GRID, load / load.sum(), 0.3)
    records = []
    for k in range(count):
        a, b = GRID.outline[k % 3], GRID.outline[(k + 1) % 3]
        inward = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
        start = a + rng.uniform(0.15, 0.85) * (b - a) - (FINGER.radius + 1e-9) * inward
        push = pw.Push.line(start, 0.02 * inward, 1.5)
        end = pw.simulate(model, push, finger=FINGER, until=1.5).pose[-1]
        end = end + noise * off.standard_normal(3) * (1.0, 1.0, 10.0)
        records.append(pw.PushRecord(push, [0.0, 1.5], np.array([np.zeros(3), end])))
    return records


@pytest.mark.slow
def test_feet_are_found_and_averaged_with_cells() -> None:
    """Find feet from nine pushes, predict others; a mean of two loads is their mean."""
    records = _records(9, 0, noise=3e-4)
    feet = pw.identify(GRID, records, method="feet", finger=FINGER, search=pw.SearchOptions(seed=1))
    load = feet.model.mass / feet.model.total_mass
    near = np.linalg.norm(GRID.centres[:, None] - FEET, axis=2).min(axis=1) < 0.03
    assert load[near].sum() > 0.6 > near.mean()
    others = _records(9, 7)
    seen = np.array([record.pose[-1] for record in others])

    def error(model: pw.ObjectModel, finger: pw.Finger) -> float:
        off = predicted_ends(model, others, finger).pose - seen
        return float(np.mean(np.hypot(off[:, 0], off[:, 1]) + 0.07 * np.abs(off[:, 2])))

    even = uniform_model(GRID, pw.Prior())
    assert error(feet.model, feet.finger) < 0.5 * error(even, FINGER)
    cells = pw.identify(GRID, records, finger=FINGER)
    both = average([cells, feet])
    loads = [one.model.mass * one.model.friction for one in (cells, feet, both)]
    shares = [one / one.sum() for one in loads]
    np.testing.assert_allclose(shares[2], 0.5 * (shares[0] + shares[1]), rtol=1e-6)
    assert both.method == "refine and feet"
    assert both.finger.friction == pytest.approx(
        np.sqrt(cells.finger.friction * feet.finger.friction)
    )


@pytest.mark.slow
def test_feet_balance_under_a_stated_centre() -> None:
    """Share the weight by statics, and find the feet from fewer pushes for it."""
    records = _records(4, 0, noise=5e-4)
    x, y = SHARES @ FEET
    near = np.linalg.norm(GRID.centres[:, None] - FEET, axis=2).min(axis=1) < 0.03
    alone, stated = (
        pw.identify(GRID, records, method="feet", finger=FINGER, prior=prior).model
        for prior in (pw.Prior(), pw.Prior(centre=(x, y)))
    )
    assert stated.centre_of_mass == pytest.approx((x, y), abs=3e-3)
    assert np.linalg.norm(alone.centre_of_mass - (x, y)) > 4e-3
    assert stated.mass[near].sum() / stated.total_mass > 0.75
    assert alone.mass[near].sum() / alone.total_mass < 0.65


@pytest.mark.slow
def test_feet_are_drawn_for_a_centre_near_the_rim() -> None:
    """Draw its error again with the feet, so that there always is a triple."""
    x, y = GRID.outline.mean(axis=0) * (1.0, 0.0) + (0.0, -0.0495)
    prior = pw.Prior(centre=(x, y), centre_doubt=0.01)
    problem = Problem(GRID, _records(2, 0), FINGER, prior)
    feet = ThreeFeet(problem, np.zeros(3))
    points = feet.draw(200, np.random.default_rng(0))
    assert np.isfinite([feet.log_prior(point) for point in points]).all()
    shares = np.array([feet.split(point)[1] for point in points])
    assert (shares > 0.0).all() and shares.sum(axis=1) == pytest.approx(1.0)
    places = np.array([feet.split(point)[0] for point in points])
    centres = np.einsum("ij,ijk->ik", shares, places)
    off = (centres - prior.centre) / prior.centre_doubt
    assert off == pytest.approx(points[:, 6:8])
    assert off[:, 1].min() > -0.05 and off[:, 1].mean() > 0.5  # inside the outline alone


def test_forces_on_cells_are_refused() -> None:
    """Say what feet need."""
    poses = np.array([(0.0, 0.0, 0.0), (0.02, 0.0, 0.1)])
    records = [pw.PushRecord(pw.ForcePush(0, (0.5, 0.0), 0.1), [0.0, 0.1], poses)]
    with pytest.raises(PushwiseError, match="needs pushes by a finger"):
        pw.identify(GRID, records, method="feet", finger=FINGER)


def test_feet_lie_on_the_cells_around_them() -> None:
    """Keep centroid and total of feet inside, and take the nearest cell at the rim."""
    places, shares = np.array([(-0.02, -0.01), (0.02, -0.02)]), np.array([0.25, 0.75])
    load = load_of_feet(GRID, places, shares)
    assert load.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(load @ GRID.centres, shares @ places, atol=1e-12)
    rim = load_of_feet(GRID, np.array([(0.0999, -0.0499)]), np.array([1.0]))
    assert rim.sum() == pytest.approx(1.0)


def test_both_peaks_of_a_posterior_are_found() -> None:
    """Draw from two peaks, one of weight a quarter, ten deviations apart."""

    def log_likelihood(x: np.ndarray) -> float:
        a, b = np.sum(((x - 0.5) / 0.1) ** 2), np.sum(((x + 0.5) / 0.1) ** 2)
        return float(np.logaddexp(np.log(0.75) - 0.5 * a, np.log(0.25) - 0.5 * b))

    rng = np.random.default_rng(0)
    points = tempered(
        rng.standard_normal((400, 2)),
        lambda x: -0.5 * float(x @ x),
        log_likelihood,
        rng,
        moves=4,
        after_level=lambda _: None,
        expired=lambda: False,
    )
    right = points[:, 0] > 0.0
    assert 0.6 < right.mean() < 0.9
    np.testing.assert_allclose(points[right].std(axis=0), 0.1, rtol=0.25)


def test_nothing_possible_is_said() -> None:
    """Refuse to draw where no point can be simulated."""
    with pytest.raises(PushwiseError, match="none of 10 guesses"):
        tempered(
            np.zeros((10, 1)),
            lambda _: 0.0,
            lambda _: -np.inf,
            np.random.default_rng(0),
            moves=1,
            after_level=lambda _: None,
            expired=lambda: False,
        )
