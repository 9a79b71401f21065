"""A centre of mass that is stated: what it adds, and what is said of it."""

from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushed import EVEN, pushed
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import end_distance
from pushwise.identification.objective import centre_off
from pushwise.identification.problem import Problem


def test_its_derivatives_are_those_of_the_centre() -> None:
    """Compare with differences; no statement adds nothing."""
    thing, records = pushed("hammer", seed=3)
    prior = replace(EVEN, centre=(0.01, -0.02), centre_doubt=2e-3)
    problem = Problem(thing.grid, records[:2], pw.Finger(), prior)
    rng = np.random.default_rng(0)
    u = rng.standard_normal(problem.unknowns)
    off, J = centre_off(problem, u)
    assert off.shape == (1, 2) and J.shape == (1, 2, problem.unknowns)
    assert prior.centre is not None
    assert off[0] == pytest.approx((problem.model(u).centre_of_mass - prior.centre) / 2e-3)
    step = 1e-5 * rng.standard_normal(problem.unknowns)
    change = centre_off(problem, u + step)[0] - centre_off(problem, u - step)[0]
    assert 2.0 * (J @ step) == pytest.approx(change, rel=1e-6, abs=1e-9)
    silent = Problem(thing.grid, records[:2], pw.Finger(), pw.Prior())
    assert centre_off(silent, u)[0].size == 0


def test_a_load_on_spots_leaves_the_mass_where_it_usually_is() -> None:
    """Believe of the centre of mass what masses say that differ as usual, drawn from the prior."""
    thing, records = pushed("box", seed=3)
    prior = pw.Prior(load_spread=3.0, mass_spread=0.3)
    believed = prior.believed_centre(thing.grid)
    assert believed is not None
    centre, root = believed
    rng = np.random.default_rng(0)
    factor, _ = replace(prior, load_spread=None).factors(thing.grid)
    masses = np.exp(factor @ rng.standard_normal((thing.grid.n_cells, 20_000)))
    drawn = (thing.grid.centres.T @ masses / masses.sum(axis=0)).T
    size = np.trace(root @ root.T)
    np.testing.assert_allclose(drawn.mean(axis=0), centre, atol=0.1 * np.sqrt(size))
    np.testing.assert_allclose(np.cov(drawn.T), root @ root.T, atol=0.05 * size)
    problem = Problem(thing.grid, records[:2], pw.Finger(), prior)
    u = rng.standard_normal(problem.unknowns)
    off, J = centre_off(problem, u)
    assert root @ off[0] == pytest.approx(problem.model(u).centre_of_mass - centre)
    step = 1e-5 * rng.standard_normal(problem.unknowns)
    change = centre_off(problem, u + step)[0] - centre_off(problem, u - step)[0]
    assert 2.0 * (J @ step) == pytest.approx(change, rel=1e-6, abs=1e-9)
    # A load that differs no more than the mass says nothing of its own.
    assert replace(prior, load_spread=0.3).believed_centre(thing.grid) is None
    assert replace(prior, centre=(0.0, 0.0)).believed_centre(thing.grid)[1][0, 1] == 0.0  # type: ignore[index]


@pytest.mark.slow
def test_one_push_tells_more_of_an_object_whose_centre_is_stated() -> None:
    """Predict other pushes better, and do not count the statement as told by pushes."""
    thing, records = pushed("hammer", seed=3)
    x, y = thing.model.centre_of_mass
    alone = pw.identify(thing.grid, records[:1], prior=EVEN)
    found = pw.identify(thing.grid, records[:1], prior=replace(EVEN, centre=(x, y)))
    assert found.model.centre_of_mass == pytest.approx((x, y), abs=2e-3)
    assert np.sqrt(found.posterior.centre_of_mass_covariance.trace()) < 2e-3
    others = records[5:]
    error, before = (end_distance(one.model, others, one.finger) for one in (found, alone))
    assert error < 0.2 * before
    assert 1 <= found.posterior.determined <= alone.posterior.determined == 2
    assert found.posterior.centre_learned < 0.3
    assert found.statements()[0].endswith("standard error 1.0 mm; the pushes add nothing to that.")
    assert found.facts()["centre_of_mass_stated"] == (x, y)


@pytest.mark.slow
def test_pushes_tell_more_of_a_centre_that_is_stated_roughly() -> None:
    """Say where it is with them, and that one stated to half the object is not known."""
    thing, records = pushed("hammer", seed=3)
    x, y = thing.model.centre_of_mass
    rough = replace(EVEN, centre=(x + 0.004, y), centre_doubt=0.01)
    found = pw.identify(thing.grid, records, prior=rough)
    assert found.posterior.centre_learned > 0.5
    assert "standard error 10.0 mm; together with the pushes, at" in found.statements()[0]
    vague = replace(EVEN, centre=(x, y), centre_doubt=0.1)
    said = pw.identify(thing.grid, records[:1], prior=vague).statements()[0]
    assert said.startswith("centre of mass not determined: at")


@pytest.mark.slow
def test_pushes_contradict_a_wrong_statement() -> None:
    """Believe ten pushes rather than a centre 30 mm off, and say so."""
    thing, records = pushed("hammer", seed=3)
    centre = thing.model.centre_of_mass
    wrong = centre + 0.03 * np.sign(thing.grid.centres.mean(axis=0) - centre)
    found = pw.identify(thing.grid, records, prior=replace(EVEN, centre=(wrong[0], wrong[1])))
    assert np.linalg.norm(found.model.centre_of_mass - centre) < 0.01
    assert "is the statement wrong" in found.statements()[0]
    # A statement that the pushes overrule hides little of what they tell.
    alone = pw.identify(thing.grid, records, prior=EVEN)
    assert abs(found.posterior.determined - alone.posterior.determined) <= 1
    known, told = (np.median(one.posterior.load_known) for one in (found, alone))
    assert known > 0.5 * told > 0.1


def test_methods_that_cannot_take_it_say_so() -> None:
    """Refuse it where it would be ignored."""
    thing, records = pushed("hammer", seed=3)
    with pytest.raises(PushwiseError, match="method convex cannot take a stated centre"):
        prior = replace(EVEN, centre=(0.0, 0.0))
        pw.identify(thing.grid, records[:2], method="convex", prior=prior)


@pytest.mark.parametrize("centre", [(0.3, 0.0), (float("nan"), 0.0)])
def test_a_centre_outside_the_object_is_refused(centre: tuple[float, float]) -> None:
    """Name it and the frame."""
    with pytest.raises(PushwiseError, match="prior centre"):
        thing, records = pushed("hammer", seed=3)
        pw.identify(thing.grid, records[:2], prior=replace(EVEN, centre=centre))
