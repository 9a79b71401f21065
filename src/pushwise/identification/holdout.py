"""How well a model predicts pushes it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.checks import finite_number
from pushwise.errors import PushwiseError
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.physics.actions import Finger
from pushwise.physics.model import ObjectModel
from pushwise.pushes.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.shape.metric import mean_cell_error

__all__ = ["end_distance", "split", "uniform_model"]


def end_distance(model: ObjectModel, records: Sequence[PushRecord], finger: Finger) -> float:
    """Return the mean distance [m] of predicted and observed cells at the ends of pushes."""
    problem = Problem(model.grid, records, finger, Prior(), checked=False)
    distances = []
    for i, record in enumerate(records):
        seen = record.pose[-1]
        predicted = seen + problem.residual(i, model, finger, np.zeros(3))[-1]
        distances.append(mean_cell_error(model.grid, predicted, seen))
    return float(np.mean(distances))


def split(
    records: Sequence[PushRecord], share: float
) -> tuple[Sequence[PushRecord], Sequence[PushRecord]]:
    """Return the pushes to learn from and the last share of them, to test with."""
    if not 0.0 <= finite_number("holdout", share) < 1.0:
        raise PushwiseError(f"holdout must be a share from 0 up to but not 1; got {share:g}.")
    held = round(share * len(records))
    if share > 0.0 and not 0 < held < len(records):
        which = "none to learn from" if held else "none to test with"
        raise PushwiseError(f"a holdout of {share:g} of {len(records)} pushes leaves {which}.")
    learn = len(records) - held
    return records[:learn], records[learn:]


def uniform_model(grid: CellGrid, prior: Prior) -> ObjectModel:
    """Return the model of somebody who knows nothing: the same stuff everywhere."""
    return ObjectModel(grid, np.full(grid.n_cells, prior.mass / grid.n_cells), prior.friction)
