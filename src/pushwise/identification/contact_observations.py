"""Contact as a measurement: a finger that touches is as far from the outline as its radius.

However badly a model predicts where an object goes, the finger that pushed it there still touches
it at the end. Seen through a set-up with constant errors (`calibration`) the gap is not zero: that
tells the errors, far more exactly than any prediction does.

What a simulated push says at the times of a record's samples, and which samples count.
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
from pushwise.typing import Array, Flags

__all__ = ["GAP_SIGMA", "Touches", "at_samples", "mean_force", "steady_samples"]


NEAR = 2e-3  # m; a finger seen farther away at the end has lost the object
GAP_SIGMA = 3e-4  # m; what is left of the gaps of two laboratories, calibrated, is 0.2 to 0.5 mm


class Touches:
    """The ends of pushes, and their starts if the finger touches then, as equations."""

    def __init__(
        self, grid: CellGrid, records: Sequence[PushRecord], radius: float, *, starts: bool
    ) -> None:
        """Keep the samples at which the finger touches, as far as can be seen."""
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
        """Return how many equations there are."""
        return len(self._seen)

    def fit(self, calibration: Calibration, radius: float) -> tuple[Array, Array]:
        """Return gaps [m], (g,), and their derivatives in the numbers of a set-up, (g, 8)."""
        gaps = np.empty(len(self))
        by_setup = np.empty((len(self), NUISANCES))
        for i, seen in enumerate(self._seen):
            gaps[i], by_setup[i] = self._gap(calibration, radius, *seen)
        return gaps, by_setup

    def _gap(
        self, calibration: Calibration, radius: float, push: Push, tracked: Array, finger: Array
    ) -> tuple[float, Array]:
        """Return the gap at one sample and its derivatives (8,)."""
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


JUMP = 0.2  # of the greatest force: a force that changes more from sample to sample is an impact


def at_samples(values: Array, track: Track, t: Array) -> Array:
    """Interpolate values (T + 1, ...) at a track's instants to times t (k,): (k, ...)."""
    after = np.clip(np.searchsorted(track.t, t), 1, len(track.t) - 1)
    before = after - 1
    share = np.clip((t - track.t[before]) / (track.t[after] - track.t[before]), 0.0, 1.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    mixed: Array = (1.0 - share) * values[before] + share * values[after]
    return mixed


def mean_force(impulse: Array, track: Track, t: Array) -> Array:
    """Return mean forces between times 0, t_1 ... t_k from impulses (T, ...) of steps: (k, ...)."""
    total = np.concatenate([np.zeros((1, *impulse.shape[1:])), np.cumsum(impulse, axis=0)])
    at = at_samples(total, track, np.concatenate([[0.0], t]))
    span = np.diff(t, prepend=0.0).reshape(-1, *[1] * (impulse.ndim - 1))
    mean: Array = np.diff(at, axis=0) / span
    return mean


def steady_samples(record: PushRecord) -> Flags:
    """Return where a measured force neither sets in nor ends, (k,) for the samples after the first.

    The impulse of an impact falls into one sample or the next by the instant of contact, which
    neither the sensor nor a time step tells: fitted, it gave masses wrong by a third, surely.
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
