"""From a simulated push to what sensors would have observed: poses, mean forces, contact.

Contact is a measurement: a finger that touches the object is one radius away from its outline.
However badly a model predicts where an object goes, the finger that pushed it there still touches
it at the end. Seen through a set-up with constant errors (`calibration`) the gap is not zero, which
reveals these errors far more precisely than any prediction does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.physics.prepared import Track
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["GAP_SIGMA", "Touches", "at_samples", "mean_force"]


NEAR = 2e-3  # m; a finger observed farther away at the end has lost contact
GAP_SIGMA = 3e-4  # m; after calibration, gaps in the data of two laboratories are 0.2 to 0.5 mm


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
            for k in (0, -1) if starts else (-1,):
                seen = (record.push, record.pose[k], record.finger[k])
                if k == 0 or self._gap(Calibration(), radius, *seen)[0] < NEAR:
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


def at_samples(values: Array, track: Track, t: Array) -> Array:
    """Interpolate values (T + 1, ...) at the times of a track to times t (k,) [s]."""
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
