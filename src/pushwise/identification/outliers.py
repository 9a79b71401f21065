"""Which pushes contradict the others, and which have a pose that jumps.

Records that cannot tell anything about an object are refused, with a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["check_records", "contradicts", "jumps"]


FEW = 4  # samples; of fewer each counts as much as a whole push
OUTLIER = 0.3  # mean weight below which a push known by few poses contradicts the others
MANY = 0.15  # of a trajectory's samples: so many that do not fit are no accident
WILD = 0.1  # weight of a sample ten sigma off
JUMPS = 2  # a pose that jumps away and back; more are no accident either


def contradicts(weight: Array) -> bool:
    """Return whether a push whose samples count `weight` (k,) does not fit the others."""
    if len(weight) < FEW:
        return bool(np.mean(weight) < OUTLIER)
    return bool(np.mean(weight < 0.5) > MANY) or jumps(weight) > JUMPS


def jumps(weight: Array) -> int:
    """Return how many samples of weight (k,) are where no push could have brought the object."""
    return int(np.sum(weight < WILD))


MOVED = 2e-3  # m; less than this is no motion
MISSED = 0.02  # m; a finger that stays this far away touched nothing


def check_records(grid: CellGrid, records: Sequence[PushRecord], finger: Finger) -> None:
    """Refuse pushes that cannot tell anything about this object, with a sentence."""
    if not records:
        raise PushwiseError("there are no pushes to learn from; give at least one record.")
    grid.refuse_one_cell_wide()
    moved = 0
    for i, record in enumerate(records):
        name = record.called(i)
        shift = record.pose[-1] - record.pose[0]
        travel = float(np.hypot(shift[0], shift[1])) + abs(shift[2]) * 0.5 * np.sqrt(grid.area)
        if travel > MOVED:
            moved += 1
        turn = np.abs(np.diff(record.pose[:, 2]))
        if turn.max() > np.pi:
            at = int(np.argmax(turn))
            raise PushwiseError(
                f"{name} turns the object by {turn[at]:.2f} rad from sample {at} to the next; "
                "theta must be unwrapped, so that it counts on past pi (np.unwrap does that)."
            )
        if isinstance(record.push, ForcePush) and record.push.cell >= grid.n_cells:
            raise PushwiseError(
                f"{name} acts on cell {record.push.cell}, but the grid has {grid.n_cells} "
                "cells; is this the log of another object?"
            )
        if isinstance(record.push, Push) and travel > 5.0 * MOVED:
            gap = _closest(grid, record, finger)
            if gap > MISSED:
                raise PushwiseError(
                    f"{name} moved the object {travel * 1e3:.0f} mm although the finger comes "
                    f"no nearer to its outline than {gap * 1e3:.0f} mm; is this the log of "
                    "another object, or in another frame?"
                )
    if not moved:
        far = f"the object by more than {MOVED * 1e3:.0f} mm, so"
        raise PushwiseError(
            f"{records[0].called(0)} did not move {far} it tells nothing about it."
            if len(records) == 1
            else f"none of the {len(records)} pushes moved {far} they tell nothing about it."
        )


def _closest(grid: CellGrid, record: PushRecord, finger: Finger) -> float:
    """Return the smallest gap [m] between finger and outline, were the object to stay put."""
    push = record.push
    assert isinstance(push, Push)
    ox, oy = (np.ascontiguousarray(column) for column in grid.outline.T)
    x, y, theta = record.pose[0]
    cos, sin = np.cos(theta), np.sin(theta)
    gap = np.inf
    for s in np.linspace(0.0, push.duration, 200):
        dx, dy = push.start + s * push.velocity - (x, y)
        near = nearest_feature(cos * dx + sin * dy, -sin * dx + cos * dy, ox, oy)[1]
        gap = min(gap, near - finger.radius)
    return float(gap)
