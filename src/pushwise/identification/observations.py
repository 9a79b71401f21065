"""From a simulated push to what sensors would have observed: poses, mean forces, contact.

Contact is a measurement: a finger that touches the object is one radius away from its outline.
However badly a model predicts where an object goes, the finger that pushed it there still touches
it at the end. Seen through a set-up with constant errors (`calibration`) the gap is not zero, which
reveals these errors far more precisely than any prediction does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.physics.prepared import Track
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["GAP_SIGMA", "Fit", "Residuals", "Touches", "at_samples", "mean_force"]


NEAR = 2e-3  # m; a finger observed farther away at the end has lost contact
RETREATS = 0.5  # of its speed: a finger that moves away from the outline faster has let go
GAP_SIGMA = 3e-4  # m; after calibration, gaps in the data of two laboratories are 0.2 to 0.5 mm


@dataclass(frozen=True, eq=False)
class Residuals:
    """Predictions at one point, compared with all that was observed."""

    residual: Array
    """Predicted minus observed pose [m, m, rad], shape (samples, 3)."""
    force_residual: Array
    """Predicted minus observed mean force [N], shape (forces, 2); steady measured forces only."""
    gap: Array
    """Gap between finger and outline where they touch [m], shape (touches, 1); empty where the
    set-up is not in doubt."""
    gap_count: Array
    """How much each gap counts, shape (touches,)."""


@dataclass(frozen=True, eq=False)
class Fit(Residuals):
    """Residuals and their derivatives in u."""

    jacobian: Array
    """Derivatives of `residual` in u, shape (samples, 3, unknowns)."""
    force_jacobian: Array
    """Derivatives of `force_residual` in u, shape (forces, 2, unknowns)."""
    gap_jacobian: Array
    """Derivatives of `gap` in u, shape (touches, 1, unknowns)."""
    growth: Array
    """By which factor errors of the pose grow before each sample, shape (samples,)."""


class Touches:
    """The ends of pushes, and their starts if the finger touches then, as equations gap = 0."""

    def __init__(
        self, grid: CellGrid, records: Sequence[PushRecord], radius: float, *, starts: bool
    ) -> None:
        """Collect the samples at which the finger touches.

        Args:
            grid: The object.
            records: Its pushes.
            radius: Radius of the finger [m].
            starts: Whether the finger touches the object when a record starts.

        """
        self._outline = tuple(np.ascontiguousarray(column) for column in grid.outline.T)
        self._seen: list[tuple[Push, Array, Array]] = []
        for record in records:
            if not isinstance(record.push, Push) or record.finger is None:
                continue
            if starts:
                self._seen.append((record.push, record.pose[0], record.finger[0]))
            last = -1
            if record.push.raised:  # it touches no longer than it is there
                last = int(np.searchsorted(record.t, record.push.duration, side="right")) - 1
            seen = (record.push, record.pose[last], record.finger[last])
            gap, by_setup = self._gap(Calibration(), radius, *seen)
            # The derivative in the tip is the normal of the outline, which points at the finger.
            if gap < NEAR and float(by_setup[:2] @ _heading(record.push)) < RETREATS:
                self._seen.append(seen)

    def __len__(self) -> int:
        """Return the number of equations."""
        return len(self._seen)

    def fit(self, calibration: Calibration, radius: float) -> tuple[Array, Array]:
        """Return the gaps [m], shape (g,), and their derivatives in the set-up, shape (g, 8)."""
        gaps = np.empty(len(self))
        by_setup = np.empty((len(self), NUISANCES))
        for i, seen in enumerate(self._seen):
            gaps[i], by_setup[i] = self._gap(calibration, radius, *seen)
        return gaps, by_setup

    def _gap(
        self, calibration: Calibration, radius: float, push: Push, tracked: Array, finger: Array
    ) -> tuple[float, Array]:
        """Return the gap at one sample [m] and its derivatives in the set-up, shape (8,)."""
        pose = calibration.pose(tracked)
        arm = finger + calibration.offset(push) - pose[:2]
        cos, sin = np.cos(pose[2]), np.sin(pose[2])
        turn = np.array([[cos, -sin], [sin, cos]])
        q = turn.T @ arm
        feature, distance = nearest_feature(q[0], q[1], *self._outline)
        _, nx, ny, _ = feature_normal(feature, q[0], q[1], *self._outline)
        n = turn @ np.array([nx, ny])
        by_pose = np.array([-n[0], -n[1], n[0] * arm[1] - n[1] * arm[0]])
        offset_by, pose_by = calibration.placed(push, tracked)
        derivative: Array = n @ offset_by + by_pose @ pose_by
        derivative[7] = -radius
        return float(distance) - radius, derivative


def _heading(push: Push) -> Array:
    """Return the direction (2,) in which a finger moves last; zero if it never moves."""
    speeds = np.hypot(*push.velocities.T)
    moves = np.flatnonzero(speeds)
    heading: Array = push.velocities[moves[-1]] / speeds[moves[-1]] if len(moves) else np.zeros(2)
    return heading


def at_samples(values: Array, track: Track, t: Array) -> Array:
    """Interpolate values (T + 1, ...) at the times of a track to times t (k,) [s].

    After a track that ends early, values stay what they were at its end.
    """
    if len(track.t) == 1:
        return np.repeat(values, len(t), axis=0)
    after = np.clip(np.searchsorted(track.t, t), 1, len(track.t) - 1)
    before = after - 1
    share = np.clip((t - track.t[before]) / (track.t[after] - track.t[before]), 0.0, 1.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    mixed: Array = (1.0 - share) * values[before] + share * values[after]
    return mixed


def mean_force(impulse: Array, track: Track, t: Array) -> Array:
    """Return the mean forces between times 0, t_1 ... t_k [s] from impulses (T, ...) per step."""
    total = np.concatenate([np.zeros((1, *impulse.shape[1:])), np.cumsum(impulse, axis=0)])
    at = at_samples(total, track, np.concatenate([[0.0], t]))
    span = np.diff(t, prepend=0.0).reshape(-1, *[1] * (impulse.ndim - 1))
    mean: Array = np.diff(at, axis=0) / span
    return mean
