"""What the model says a push should do, beside what was seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.physics.actions import Finger
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.prepare import Settings, action_of, body_of
from pushwise.physics.simulate import Path, simulate
from pushwise.physics.start import clear_start
from pushwise.pushes.record import PushRecord
from pushwise.shape.metric import mean_cell_error

__all__ = ["Compared", "compared"]


@dataclass(frozen=True, eq=False)
class Compared:
    """A push that was made and the same push in the model, from the same pose."""

    record: PushRecord
    """What was seen."""
    path: Path
    """What the model says."""
    apart: float
    """Mean distance of the cells at the end [m]."""
    turned: float
    """Angle between the two ends [rad], zero or more."""


def compared(
    model: ObjectModel, record: PushRecord, finger: Finger, table: Table | None = None
) -> Compared:
    """Simulate a push that was made, from the pose it was seen to start at.

    Raises SimulationError when the finger starts further inside the object than noise can tell.
    """
    action = action_of(model, record.push, finger)
    start = clear_start("the push", record.pose[0].copy(), body_of(model, Settings()), action)
    path = simulate(model, record.push, start.pose, finger=finger, table=table)
    seen, said = record.pose[-1], path.pose_at(record.t[-1])
    turned = np.remainder(said[2] - seen[2] + np.pi, 2.0 * np.pi) - np.pi
    return Compared(record, path, mean_cell_error(model.grid, said, seen), abs(float(turned)))
