"""How far over the edge a belief dares to go, and whether the true object falls there.

An object in one of 24 orientations is moved straight over the edge of a table until the predicted
probability of a fall is 1 %.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pushwise.identification.belief import Belief
from pushwise.physics.model import ObjectModel, Table
from pushwise.planning.stability import Balance
from pushwise.typing import Array, Flags

__all__ = ["DIRECTIONS", "EdgeRisk", "edge_risk"]

DIRECTIONS = 24  # orientations of the object
RISK = 0.01  # predicted probability of a fall
PRECISION = 1e-5  # m
HALF = Table.rectangle(4.0, 4.0, centre=(-2.0, 0.0))  # its edge is the line x = 0


class EdgeRisk(NamedTuple):
    """What happens where the predicted risk is 1 %."""

    fallen: int
    """In how many of the orientations the true object falls."""
    short: float
    """How much farther the true object could go [m], median over the orientations."""


def edge_risk(belief: Belief, truth: ObjectModel) -> EdgeRisk:
    """Compare a belief with the true object at the edge."""
    believed, true = Balance(belief, HALF), Balance(Belief.certain(truth), HALF)
    predicted = _limits(truth, lambda at: np.asarray(believed.fall_probabilities(at) <= RISK))
    possible = _limits(truth, lambda at: np.asarray(true.margins(at) >= 0.0))
    short = possible - predicted
    return EdgeRisk(int(np.sum(short < 0.0)), float(np.median(short)))


def _limits(model: ObjectModel, rests: Callable[[Array], Flags]) -> Array:
    """Return how far the grid origin may be beyond the edge in each orientation [m], by bisection.

    Args:
        model: Any model of the object.
        rests: Whether the object counts as resting at poses (p, 3), shape (p,).

    """
    far = float(np.hypot(*model.grid.outline.T).max())
    safe, falls = np.full(DIRECTIONS, -far), np.full(DIRECTIONS, far)
    theta = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    while (falls - safe).max() > PRECISION:
        middle = 0.5 * (safe + falls)
        fine = rests(np.column_stack([middle, np.zeros(DIRECTIONS), theta]))
        safe, falls = np.where(fine, middle, safe), np.where(fine, falls, middle)
    return safe
