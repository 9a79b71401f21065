"""Which records, samples and forces can be used: refuse some, ignore some, leave some out.

Records that contain no information about an object are refused with a message. Forces of an impact
are ignored. Pushes that contradict the others can be recognised by the weights of their samples in
the fit (see `objective.weights`): close to one where they fit, and small where they do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags

__all__ = ["check_records", "contradicts", "jumps", "steady_samples"]


MOVED = 2e-3  # m; anything less is no motion
MISSED = 0.02  # m; a finger that stays this far away touched nothing
JUMP = 0.2  # of the greatest force: one that changes more from sample to sample is an impact
FEW = 4  # samples; in shorter records each sample counts as much as a whole push
OUTLIER = 0.3  # mean weight below which a push known by few poses contradicts the others
MANY = 0.15  # of a trajectory's samples: if more than this do not fit, it is no accident
WILD = 0.1  # weight of a sample ten sigma off
JUMPS = 2  # a pose that jumps away and back; more are no accident either


def check_records(grid: CellGrid, records: Sequence[PushRecord], finger: Finger) -> None:
    """Raise `PushwiseError` for pushes that contain no information about this object."""
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
                "theta must be unwrapped, so that it continues beyond pi (use np.unwrap)."
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
                    f"{name} moved the object {travel * 1e3:.0f} mm although the finger stays "
                    f"at least {gap * 1e3:.0f} mm away from its outline; is this the log of "
                    "another object, or in another frame?"
                )
    if not moved:
        far = f"the object by more than {MOVED * 1e3:.0f} mm, so nothing can be learned from"
        raise PushwiseError(
            f"{records[0].called(0)} did not move {far} it."
            if len(records) == 1
            else f"none of the {len(records)} pushes moved {far} them."
        )


def steady_samples(record: PushRecord) -> Flags:
    """Return where a measured force neither sets in nor ends, (k,) for the samples after the first.

    Whether the impulse of an impact belongs to one sample or to the next depends on the instant of
    contact, which neither the sensor nor a time step resolves. Fitting such forces gave masses off
    by a third, with small error bars.
    """
    if record.force is None:
        return np.zeros(len(record.t) - 1, bool)
    size = np.hypot(record.force[:, 0], record.force[:, 1]).max()
    jump = np.hypot(*np.diff(record.force, axis=0).T)
    calm: Flags = jump < JUMP * size
    # The first sample has no force before it, the last none after it.
    calm[0] = False
    steady: Flags = calm & np.append(calm[1:], True)
    return steady


def contradicts(weight: Array) -> bool:
    """Return whether a push whose samples have these weights (k,) does not fit the others."""
    if len(weight) < FEW:
        return bool(np.mean(weight) < OUTLIER)
    return bool(np.mean(weight < 0.5) > MANY) or jumps(weight) > JUMPS


def jumps(weight: Array) -> int:
    """Return how many samples, by their weights (k,), are where no push could bring the object."""
    return int(np.sum(weight < WILD))


def _closest(grid: CellGrid, record: PushRecord, finger: Finger) -> float:
    """Return the smallest gap [m] between finger and outline if the object did not move."""
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
