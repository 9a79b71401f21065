"""How far over the edge beliefs go, and whether true objects fall there."""

from dataclasses import replace

import numpy as np
import pytest

import pushwise as pw
from pushwise.experiments.edge_risk import DIRECTIONS, edge_risk
from pushwise.typing import Array

TRUTH = pw.objects.load("hammer").model


def believing(centre: Array, std: float) -> pw.Belief:
    """Return a belief in a hammer with its centre of mass somewhere, known to `std` [m]."""
    x = TRUTH.grid.centres[:, 0] - TRUTH.centre_of_mass[0]
    tilt = (centre - TRUTH.centre_of_mass)[0] * TRUTH.total_mass / (TRUTH.mass @ x**2)
    model = pw.ObjectModel(TRUTH.grid, TRUTH.mass * (1.0 + tilt * x), TRUTH.friction)
    assert model.centre_of_mass[0] == pytest.approx(centre[0], abs=1e-6)
    return replace(pw.Belief.certain(model), centre_covariance=std**2 * np.eye(2))


def test_who_knows_the_truth_stops_short_by_the_uncertainty() -> None:
    """Expect one in a hundred centres of mass 2.57 standard deviations farther out."""
    for std in (2e-3, 5e-3):
        risk = edge_risk(believing(TRUTH.centre_of_mass, std), TRUTH)
        assert risk.fallen == 0
        assert risk.short == pytest.approx(2.57 * std, rel=0.1)


def test_a_wrong_centre_of_mass_falls_on_one_side() -> None:
    """An object that is heavier in front than believed falls where its front goes first."""
    wrong = TRUTH.centre_of_mass - [0.02, 0.0]
    sure, unsure = (edge_risk(believing(wrong, std), TRUTH) for std in (1e-3, 2e-2))
    assert DIRECTIONS // 3 <= sure.fallen <= DIRECTIONS // 2
    assert unsure.fallen == 0
