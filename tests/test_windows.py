"""Long pushes, which are learned from window by window."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import pushwise as pw
from pushwise.identification.contact_evidence import pushed_outline
from pushwise.identification.noise import Errors, Walk, whitened
from pushwise.identification.objective import ForceErrors, errors_at, linearize
from pushwise.identification.problem import Problem
from pushwise.identification.windows import windows_of
from pushwise.records.record import Noise, PushRecord

BAR = pw.CellGrid.from_outline(
    [(-0.06, -0.02), (0.06, -0.02), (0.06, 0.02), (-0.06, 0.02)], cell_size=0.02
)
MASS = np.where(BAR.centres[:, 0] > 0.0, 0.06, 0.02)
MODEL = pw.ObjectModel(BAR, MASS, 0.3)
BODY = pushed_outline(BAR, pw.Finger())
PRECISE = Noise(3e-5, 3e-4)


def pushed(
    place: float, length: float, *, rate: float = 50.0, noise: Noise = PRECISE
) -> PushRecord:
    """Return a push of the bar at 50 mm/s across its length at a place [m], in the Ideal world."""
    world = pw.worlds.Ideal(MODEL, sensing=pw.worlds.Sensing(noise, rate=rate))
    world.reset(0)
    return world.push(pw.Push.line((place, -0.031), (0.0, 0.05), (length + 1e-3) / 0.05))


def test_a_long_push_is_cut_so_that_each_sample_counts_once() -> None:
    """Cut 160 mm into four windows that share the samples between them and nothing else."""
    record = pushed(0.016, 0.16)
    windows = [window.record for window in windows_of(BODY, record)]
    assert len(windows) == 4
    assert [*windows[0].t, *(t for one in windows[1:] for t in one.t[1:])] == list(record.t)
    for before, after in pairwise(windows):
        assert (before.pose[-1] == after.pose[0]).all()
        assert after.twist[1] == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize(
    "record",
    [
        pushed(0.02, 0.055),
        pushed(0.02, 0.16, rate=5.0),
        pushed(0.02, 0.16, noise=Noise(1e-3, 5e-3)),
    ],
    ids=["short", "seen rarely", "noisy"],
)
def test_other_pushes_stay_in_one_piece(record: PushRecord) -> None:
    """Simulate a push as a whole if it is short, or if too little would be known of a window."""
    (window,) = windows_of(BODY, record)
    assert window.record is record and window.twist_std is None


def test_linked_windows_say_what_one_piece_says() -> None:
    """Learn the same of a number from two windows, the start of one unknown, as from one piece."""
    share = np.linspace(0.1, 1.0, 10)
    cut, nothing = 4, np.zeros(3)
    errors = Errors(np.full(3, 1e-3), np.full(3, 2e-3))
    effect = np.repeat(share[:, None], 3, axis=1)[..., None]  # what the number does to each pose
    whole = [Walk(share, nothing, 1.0, linked=False)]
    rows = whitened(whole, np.ones(10), np.zeros((10, 3)), effect, errors)[1].reshape(-1, 1)
    walks = [
        Walk(share[: cut + 1], nothing, 1.0, linked=True),
        Walk(share[cut + 1 :] - share[cut], nothing, 1.0, linked=False),
    ]
    by_start = np.zeros((10, 3, 3))
    by_start[cut], by_start[cut + 1 :] = -1e-3 * np.eye(3), 1e-3 * np.eye(3)
    effect = np.concatenate([effect, by_start], axis=2)
    effect[cut + 1 :, :, 0] -= share[cut]
    linked = whitened(walks, np.ones(10), np.zeros((10, 3)), effect, errors)[1].reshape(-1, 4)
    information = linked.T @ linked + np.diag([0.0, 1.0, 1.0, 1.0])
    known = 1.0 / np.linalg.inv(information)[0, 0]
    assert known == pytest.approx(float((rows.T @ rows)[0, 0]), rel=1e-9)


def test_a_push_that_is_left_out_counts_nothing() -> None:
    """Find the same evidence for each drift as if it were not there, windows or not."""
    records = [pushed(0.016, 0.05), pushed(0.02, 0.05), pushed(0.016, 0.12)]
    sigma, prior = np.array([1e-4, 1e-4, 1e-3]), pw.Prior(tip_doubt=2e-3)
    whole = Problem(BAR, records, pw.Finger(), prior)
    assert whole.order.windows == (1, 1, 3)
    found = []
    for problem in (
        Problem(BAR, records[:1], pw.Finger(), prior),
        whole.without(frozenset({1, 2})),
        replace(whole, flaws={1: "wrong", 2: "wrong"}),
    ):
        u = np.zeros(problem.unknowns)
        fit = problem.fit(u, sigma)
        forces = ForceErrors(0.1, 0.1)
        levels = [linearize(problem, u, fit, errors_at(problem, sigma, i), forces) for i in (0, 3)]
        found.append([level.evidence for level in levels])
    np.testing.assert_allclose(found[1:], found[:1] * 2, rtol=1e-9)


def test_derivatives_of_windows() -> None:
    """Compare the Jacobian of a push in windows with finite differences, the set-up in doubt."""
    prior = pw.Prior(tip_doubt=2e-3, frame_doubt=1e-3, frame_angle_doubt=0.01, radius_doubt=0.1)
    problem = Problem(BAR, [pushed(0.016, 0.12)], pw.Finger(), prior)
    assert problem.order.windows == (3,)
    sigma = np.array([1e-4, 1e-4, 1e-3])
    u = 0.2 * np.random.default_rng(1).standard_normal(problem.unknowns)
    fit = problem.fit(u, sigma)
    for k in (0, *range(problem.order.starts[0].start, problem.unknowns)):
        step = 1e-4 * np.eye(problem.unknowns)[k]
        after, before = problem.fit(u + step, sigma), problem.fit(u - step, sigma)
        for found, one, other in (
            (fit.jacobian, after.residual, before.residual),
            (fit.gap_jacobian, after.gap, before.gap),
        ):
            slope = (one - other) / 2e-4
            close = 0.02 * max(float(np.abs(slope).max()), 1e-7)
            np.testing.assert_allclose(found[..., k], slope, atol=close)


def test_a_long_push_near_a_point_of_balance_is_learned_from() -> None:
    """Find an uneven bar in pushes that are chaotic, with a finger that is 3 mm off."""
    off = np.array([0.003, -0.002])
    records = []
    for place in (0.014, 0.017):
        record = pushed(place, 0.2)
        push = record.push
        assert isinstance(push, pw.Push)
        seen = replace_push(record, push.moved(-off))
        records.append(seen)
    found = pw.identify(BAR, records, finger=pw.Finger())
    assert found.posterior.problem.has_windows and found.calibration is not None
    miss = found.model.centre_of_mass - MODEL.centre_of_mass
    covariance = found.posterior.centre_of_mass_covariance
    assert miss @ np.linalg.solve(covariance, miss) < 9.0
    assert np.hypot(*miss) < 0.6 * np.hypot(*MODEL.centre_of_mass)


def replace_push(record: PushRecord, push: pw.Push) -> PushRecord:
    """Return a record with another path of the finger."""
    return PushRecord(push, record.t, record.pose, record.force, noise=record.noise)
