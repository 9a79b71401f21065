"""How well a model predicts pushes it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import counted, finite_number
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.calibration import Calibration
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["end_distance", "predicted_ends", "split", "uniform_model"]


def end_distance(model: ObjectModel, records: Sequence[PushRecord], finger: Finger) -> float:
    """Return the mean distance [m] of predicted and observed cells at the ends of pushes."""
    distances = [
        mean_cell_error(model.grid, predicted, record.pose[-1])
        for predicted, record in zip(predicted_ends(model, records, finger), records, strict=True)
    ]
    return float(np.mean(distances))


def predicted_ends(
    model: ObjectModel,
    records: Sequence[PushRecord],
    finger: Finger,
    calibration: Calibration | None = None,
    anisotropy: ArrayLike | None = None,
) -> Array:
    """Return where pushes are predicted to end from where they were seen to start, (k, 3)."""
    problem = Problem(model.grid, records, finger, Prior(), checked=False, anisotropy=anisotropy)
    ends = [
        record.pose[-1] + problem.residual(i, model, finger, np.zeros(3), calibration)[-1]
        for i, record in enumerate(records)
    ]
    return np.array(ends)


def split(
    records: Sequence[PushRecord], share: float
) -> tuple[Sequence[PushRecord], Sequence[PushRecord]]:
    """Return the pushes to learn from and the last share of them, to test with."""
    if not 0.0 <= finite_number("holdout", share) < 1.0:
        raise PushwiseError(f"holdout must be a share from 0 up to but not 1; got {share:g}.")
    held = round(share * len(records))
    if share > 0.0 and not 0 < held < len(records):
        which = "none to learn from" if held else "none to test with"
        pushes = counted(len(records), "push", "pushes")
        raise PushwiseError(f"a holdout of {share:g} of {pushes} leaves {which}.")
    learn = len(records) - held
    return records[:learn], records[learn:]


def uniform_model(grid: CellGrid, prior: Prior) -> ObjectModel:
    """Return the model of somebody who knows nothing: the same stuff everywhere."""
    return ObjectModel(grid, np.full(grid.n_cells, prior.mass / grid.n_cells), prior.friction)
