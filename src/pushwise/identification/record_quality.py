"""Which records, samples and forces can be used: refuse some, ignore some, leave some out.

Records that contain no information about an object are left out, with a sentence that says why;
only if nothing remains is that an error. Forces of an impact are ignored. Pushes that contradict
the others can be recognised by the weights of their samples in the fit (see `objective.weights`):
close to one where they fit, and small where they do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_feature
from pushwise.identification.free_slide import is_flick, lacks_slide
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags

__all__ = ["check_moved", "contradicts", "flaw_of", "jumps", "misses", "steady_samples"]


MOVED = 2e-3  # m; anything less is no motion
MISSED = 0.02  # m; a finger that stays this far away touched nothing
STRIDE = 5e-3  # m of the finger's path between places at which its distance is looked at
JUMP = 0.2  # of the greatest force: one that changes more from sample to sample is an impact
FEW = 4  # samples; in shorter records each sample counts as much as a whole push
OUTLIER = 0.3  # mean weight below which a push known by few poses contradicts the others
MANY = 0.15  # of a trajectory's samples: if more than this do not fit, it is no accident
WILD = 0.1  # weight of a sample ten sigma off
JUMPS = 2  # a pose that jumps away and back; more are no accident either
MISSES = 0.01  # m; a model that is farther off than this at the end of a slow push, and
MISSES_SHARE = 0.1  # of how far it moved the object, does not predict it


def flaw_of(grid: CellGrid, record: PushRecord, finger: Finger, name: str) -> str:
    """Return why nothing can be learned about this object from a record; empty if it can.

    Args:
        grid: The object's cells.
        record: The record.
        finger: The finger.
        name: What the sentence calls the record.

    """
    push = record.push
    turn = np.abs(np.diff(record.pose[:, 2]))
    if turn.max() > np.pi:
        at = int(np.argmax(turn))
        return (
            f"{name} turns the object by {turn[at]:.2f} rad from sample {at} to the next; "
            "theta must be unwrapped, so that it continues beyond pi (use np.unwrap)."
        )
    if record.fell:
        return (
            f"{name} lets the object fall off the table; pushes reveal what an object is like only "
            "while all of it is on the table."
        )
    if isinstance(push, ForcePush):
        if push.cell < grid.n_cells:
            return ""
        return (
            f"{name} acts on cell {push.cell}, but the grid has {grid.n_cells} cells; is this the "
            "log of another object?"
        )
    if is_flick(push):
        return f"{name} is a flick, but {lacks_slide(grid, record, finger.radius)}."
    travel = _travel(grid, record)
    if travel > 5.0 * MOVED and not record.twist.any():
        gap = _closest(grid, record, push) - finger.radius
        if gap > MISSED:
            return (
                f"{name} moved the object {travel * 1e3:.0f} mm although the finger stays at least "
                f"{gap * 1e3:.0f} mm away from its outline; is this the log of another object, or "
                "in another frame, or did the object start in motion?"
            )
    return ""


def check_moved(grid: CellGrid, records: Sequence[PushRecord]) -> None:
    """Raise `PushwiseError` if there are no records, or the object moves in none of them."""
    if not records:
        raise PushwiseError("there are no pushes to learn from; give at least one record.")
    if max(_travel(grid, record) for record in records) <= MOVED:
        far = f"the object by more than {MOVED * 1e3:.0f} mm, so nothing can be learned from"
        raise PushwiseError(
            f"{records[0].called(0)} did not move {far} it."
            if len(records) == 1
            else f"none of the {len(records)} pushes moved {far} them."
        )


def _travel(grid: CellGrid, record: PushRecord) -> float:
    """Return how far an object is from its first pose at most [m], turns included."""
    shift = record.pose - record.pose[0]
    turned = 0.5 * np.sqrt(grid.area) * np.abs(shift[:, 2])
    return float((np.hypot(shift[:, 0], shift[:, 1]) + turned).max())


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


def misses(error: float, moved: float) -> bool:
    """Return whether an error [m] at the end of a push that moved the object [m] is a large one."""
    return error > max(MISSES, MISSES_SHARE * moved)


def jumps(weight: Array) -> int:
    """Return how many samples, by their weights (k,), are where no push could bring the object."""
    return int(np.sum(weight < WILD))


def _closest(grid: CellGrid, record: PushRecord, push: Push) -> float:
    """Return the smallest distance [m] between the finger's centre and the outline.

    The object is taken to be at its first pose, because few samples do not show when it began to
    move, and where it is seen at the same time.
    """
    ox, oy = (np.ascontiguousarray(column) for column in grid.outline.T)
    even = np.linspace(record.t[0], record.t[-1], max(200, int(np.ceil(push.length / STRIDE))))
    t = np.union1d(even, push.times.clip(record.t[0], record.t[-1]))
    seen = np.stack([np.interp(t, record.t, column) for column in record.pose.T], axis=1)
    closest = np.inf
    for place, there in zip(push.at(t), seen, strict=True):
        for x, y, theta in (record.pose[0], there):
            cos, sin = np.cos(theta), np.sin(theta)
            dx, dy = place - (x, y)
            near = nearest_feature(cos * dx + sin * dy, -sin * dx + cos * dy, ox, oy)[1]
            closest = min(closest, near)
    return float(closest)
