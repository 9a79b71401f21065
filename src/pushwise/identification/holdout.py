"""How well a model predicts pushes it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pushwise.checks import counted, finite_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.calibration import Calibration
from pushwise.identification.contact_evidence import pushed_outline
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.identification.push_fit import piece_end, predicted_end
from pushwise.identification.push_start import Believed
from pushwise.identification.windows import pieces_of
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "PIECES",
    "PieceErrors",
    "PredictedEnds",
    "end_distance",
    "piece_errors",
    "predicted_ends",
    "split",
    "uniform_model",
]

PIECES = 0.01, 0.05  # m; long pushes are predicted over pieces of these lengths, too


class PredictedEnds(NamedTuple):
    """Where pushes end in a simulation."""

    pose: Array
    """Final poses [m, m, rad], shape (k, 3)."""
    impossible: tuple[int, ...]
    """Indices of pushes that start with the finger too far inside the object to simulate them;
    these end where they start."""


class PieceErrors(NamedTuple):
    """How far pieces of long pushes are predicted off, each from where it was seen to start."""

    length: float
    """Way of the finger in a piece [m]."""
    pieces: int
    """Number of pieces."""
    position: float
    """Mean distance between predicted and observed position at their ends [m]."""
    angle: float
    """Mean difference between predicted and observed angle there [rad]."""


def piece_errors(
    model: ObjectModel,
    records: Sequence[PushRecord],
    finger: Finger,
    calibration: Calibration | None = None,
) -> list[PieceErrors]:
    """Return the errors over pieces of each of the `PIECES` lengths; none if no push is long.

    Near a point of balance a long push is chaotic: whatever the model, its end is off by
    centimetres, and only pieces show how good the model is. Arguments as for `predicted_ends`.
    """
    body = pushed_outline(model.grid, finger)
    problem = Problem(model.grid, records, finger, Prior())
    believed = Believed(model, finger, calibration)
    found = []
    for length in PIECES:
        off = [
            _off(problem, piece, believed)
            for record in records
            for piece in pieces_of(body, record, length)
        ]
        if off:
            error = np.mean(np.abs(off), axis=0)
            found.append(PieceErrors(length, len(off), float(error[0]), float(error[1])))
    return found


def _off(problem: Problem, piece: PushRecord, believed: Believed) -> tuple[float, float]:
    """Return by how much [m, rad] the end of a piece is predicted off."""
    try:
        end = piece_end(problem, piece, believed)
    except SimulationError:  # as with whole pushes, it ends where it starts
        end = piece.pose[0]
    x, y, angle = end - piece.pose[-1]
    return float(np.hypot(x, y)), float(angle)


def end_distance(
    model: ObjectModel,
    records: Sequence[PushRecord],
    finger: Finger,
    calibration: Calibration | None = None,
) -> float:
    """Return the mean distance [m] between predicted and observed cells at the ends of pushes.

    Arguments as for `predicted_ends`.
    """
    ends = predicted_ends(model, records, finger, calibration).pose
    distances = [
        mean_cell_error(model.grid, end, record.pose[-1])
        for end, record in zip(ends, records, strict=True)
    ]
    return float(np.mean(distances))


def predicted_ends(
    model: ObjectModel,
    records: Sequence[PushRecord],
    finger: Finger,
    calibration: Calibration | None = None,
    physics: Physics = Physics(),
) -> PredictedEnds:
    """Predict the final poses of pushes.

    Args:
        model: The object.
        records: The pushes; each prediction starts at the first observed pose.
        finger: The finger.
        calibration: Errors of the set-up, if any.
        physics: How pushes are simulated.

    """
    problem = Problem(model.grid, records, finger, Prior(), physics)
    believed = Believed(model, finger, calibration)
    found = [predicted_end(problem, i, believed) for i in range(len(records))]
    impossible = tuple(i for i, (_, possible) in enumerate(found) if not possible)
    return PredictedEnds(np.array([end for end, _ in found]), impossible)


def split(
    records: Sequence[PushRecord], share: float
) -> tuple[Sequence[PushRecord], Sequence[PushRecord]]:
    """Split pushes into those to learn from and a last share of them to test with."""
    if not 0.0 <= finite_number("holdout", share) < 1.0:
        raise PushwiseError(f"holdout must be at least 0 and below 1; got {share:g}.")
    held = round(share * len(records))
    if share > 0.0 and not 0 < held < len(records):
        which = "none to learn from" if held else "none to test with"
        pushes = counted(len(records), "push", "pushes")
        raise PushwiseError(f"a holdout of {share:g} of {pushes} leaves {which}.")
    learn = len(records) - held
    return records[:learn], records[learn:]


def uniform_model(grid: CellGrid, prior: Prior) -> ObjectModel:
    """Return the uniform baseline: the prior's mass and friction, the same for every cell."""
    return ObjectModel(grid, np.full(grid.n_cells, prior.mass / grid.n_cells), prior.friction)
