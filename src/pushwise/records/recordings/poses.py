"""Stamped poses in space: their clocks, their interpolation, and their projection on the table.

A pose is a row (x, y, z, qx, qy, qz, qw): the position of a frame in its parent and its rotation
as a unit quaternion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pushwise.errors import PushwiseError
from pushwise.records.recordings.stream import seen_at
from pushwise.typing import Array, Flags

__all__ = [
    "Clocks",
    "Poses",
    "ahead",
    "clock_notes",
    "compose",
    "here",
    "interpolated",
    "inverse",
    "placed",
    "planar",
    "sorted_poses",
    "times",
    "unit_rows",
]

Clocks = Mapping[str, float | None]
"""How long after its stamp a fast message of each source arrives [s]; None without stamps.

It is negative for stamps that are ahead of the recorder's clock.
"""

_FAST = 5.0  # percentile of the delays: others are due to queues, which say nothing about a clock
_AHEAD = 5e-3  # s; stamps that are this far ahead of their arrival are of another clock
_LATE = 0.1  # s by which the delays of two sources may differ

_LIFTED = 0.02  # m above or below the usual height
_TILTED = np.radians(10.0)  # from the usual vertical
_UPRIGHT = 0.9  # vertical component of an axis that has no heading
_HERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Poses:
    """A frame's poses in another frame over time."""

    parent: str
    """The frame they are given in."""
    child: str
    """The frame that moves; empty when the messages do not name it."""
    t: Array
    """Stamps [s], shape (k,), in the order of the messages."""
    rows: Array
    """(x, y, z, qx, qy, qz, qw) [m], shape (k, 7)."""
    clocks: Clocks = field(default_factory=dict)
    """Clocks of all sources the poses were computed from."""
    not_placed: int = 0
    """How many more there were, at times when the pose of their frame is unknown."""

    @property
    def fixed(self) -> bool:
        """Whether the pose never changes, so that its stamps do not matter."""
        return bool((self.rows == self.rows[:1]).all())


def times(arrivals: list[int], headers: list[Any]) -> tuple[Array, float | None]:
    """Return the times [s] of messages that arrived [ns] with headers, and their clock.

    Without stamps, the times are those of arrival and the clock is None.
    """
    arrived = np.array([1e-9 * arrival for arrival in arrivals])
    # Accurate to a quarter of a microsecond this long after 1970.
    stamps = np.array([float(h.stamp.sec) + 1e-9 * float(h.stamp.nanosec) for h in headers])
    if not stamps.any():
        return arrived, None
    return stamps, float(np.percentile(arrived - stamps, _FAST))


def ahead(clocks: Clocks) -> dict[str, float]:
    """Return how far the stamps of each source are ahead of its arrival [s], if they are.

    No message arrives before it is sent, so such stamps are of another clock than the recorder's.
    If that is so for all sources, it is the recorder's clock that is late, and none is returned:
    what their stamps say about each other is better than what their arrivals do.
    """
    known = {name: clock for name, clock in clocks.items() if clock is not None}
    found = {name: -clock for name, clock in known.items() if clock < -_AHEAD}
    return found if len(found) < len(clocks) else {}


def clock_notes(clocks: Clocks, taken_back: Mapping[str, float]) -> list[str]:
    """Return sentences about sources without stamps, stamps taken back, and clocks that disagree.

    Args:
        clocks: The clocks of all sources, as stamped.
        taken_back: By how much the stamps of some were taken back [s]; see `ahead`.

    """
    notes = [
        f"{name} has no stamps: its times are those of arrival"
        for name, clock in clocks.items()
        if clock is None
    ]
    notes += [
        f"{name} is stamped {early:.3f} s ahead of its arrival: its stamps were taken back by that"
        for name, early in taken_back.items()
    ]
    late = {
        name: clock + taken_back.get(name, 0.0)
        for name, clock in clocks.items()
        if clock is not None
    }
    if len(late) > 1 and max(late.values()) - min(late.values()) > _LATE:
        words = ", ".join(f"{name} {clock:.3f} s" for name, clock in late.items())
        notes.append(f"delays of arrival differ, are the clocks the same? {words}")
    return notes


def here(count: int) -> Array:
    """Return the poses (count, 7) of a frame in itself."""
    return np.tile(_HERE, (count, 1))


def placed(poses: Poses, t: Array) -> Flags:
    """Return at which of the times (k,) the frame of sorted poses has a known pose.

    It is known between two poses that are not separated by a gap. One that never changes is always
    valid.
    """
    return np.ones(len(t), bool) if poses.fixed else seen_at(poses.t, t)


def interpolated(poses: Poses, t: Array) -> Array:
    """Return sorted poses interpolated to times (k,), shape (k, 7), NaN where they are unknown."""
    rows = np.column_stack([np.interp(t, poses.t, column) for column in poses.rows.T])
    # Linear between two quaternions, then normalized: samples are close together.
    rows[:, 3:] /= np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    rows[~placed(poses, t)] = np.nan
    return rows


def unit_rows(rows: Array) -> Array:
    """Return poses (k, 7) with unit quaternions, NaN where a quaternion has length zero."""
    norm = np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    there = norm > 1e-6
    unit: Array = rows.copy()
    unit[:, 3:] = np.where(there, rows[:, 3:] / np.where(there, norm, 1.0), np.nan)
    return unit


def planar(origin: str, poses: Poses) -> tuple[Array, Flags]:
    """Return poses (k, 7) on the table as (x, y, theta), shape (k, 3), and which lie on it.

    theta is the heading of the frame's x axis, or of its y axis if the x axis is upright. However
    the frame is attached to the object, sliding keeps its height and the direction in it that
    points up; where one of them differs from its usual value, the object is lifted or tilted.
    """
    finite = np.isfinite(poses.rows.sum(axis=1))
    if not finite.any():
        raise PushwiseError(f"{origin}: the object has no orientation: every quaternion is zero.")
    rows = np.where(finite[:, None], poses.rows, _HERE)
    matrix = Rotation.from_quat(rows[:, 3:]).as_matrix()
    height = rows[:, 2] - np.median(rows[finite, 2])
    up = matrix[:, 2, :]
    typical = np.median(up[finite], axis=0)
    typical /= max(float(np.linalg.norm(typical)), 1e-9)
    tilt = np.arccos(np.clip(up @ typical, -1.0, 1.0))
    flat = (np.abs(height) < _LIFTED) & (tilt < _TILTED)
    if flat[finite].mean() < 0.5:
        raise PushwiseError(
            f"{origin}: the object does not slide on a table: in frame {poses.parent!r} its height "
            f"varies by {np.ptp(height[finite]):.3f} m and its tilt by "
            f"{np.degrees(tilt[finite].max()):.0f} degrees; choose a frame whose z axis is up."
        )
    axis = 0 if abs(typical[0]) < _UPRIGHT else 1
    theta = np.arctan2(matrix[:, 1, axis], matrix[:, 0, axis])
    values = np.column_stack([rows[:, :2], theta])
    values[~finite] = np.nan
    return values, flat | ~finite


def sorted_poses(poses: Poses) -> Poses:
    """Return poses sorted by time, each instant once, with quaternions of consistent sign.

    Poses that are not finite are dropped.
    """
    t, first = np.unique(poses.t, return_index=True)
    rows = poses.rows[first]
    good = np.isfinite(rows).all(axis=1)
    t, rows = t[good], rows[good]
    # q and -q are the same rotation; interpolation must not go through zero.
    flip = np.cumprod(np.where(np.sum(rows[1:, 3:] * rows[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
    rows[1:, 3:] *= flip[:, None]
    return Poses(poses.parent, poses.child, t, rows)


def compose(outer: Array, inner: Array) -> Array:
    """Return the poses (k, 7) `inner` expressed in the parent of the poses (k, 7) `outer`.

    An unknown rotation stays unknown.
    """
    turn = Rotation.from_quat(outer[:, 3:])
    place = outer[:, :3] + turn.apply(inner[:, :3])
    known = np.isfinite(inner[:, 3:]).all(axis=1, keepdims=True)
    turned = (turn * Rotation.from_quat(np.where(known, inner[:, 3:], _HERE[3:]))).as_quat()
    return np.column_stack([place, np.where(known, turned, np.nan)])


def inverse(rows: Array) -> Array:
    """Return the poses (k, 7) of the parent in the child."""
    turn = Rotation.from_quat(rows[:, 3:]).inv()
    return np.column_stack([-turn.apply(rows[:, :3]), turn.as_quat()])
