"""What a simulated push says at the times of a record's samples, and which samples count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pushwise.physics.rollout import Track
from pushwise.pushes.record import PushRecord

__all__ = ["at_samples", "mean_force", "steady_samples"]

Array = NDArray[np.float64]

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


def steady_samples(record: PushRecord) -> NDArray[np.bool_]:
    """Return where a measured force neither sets in nor ends, (k,) for the samples after the first.

    The impulse of an impact falls into one sample or the next by the instant of contact, which
    neither the sensor nor a time step tells: fitted, it gave masses wrong by a third, surely.
    """
    if record.force is None:
        return np.zeros(len(record.t) - 1, bool)
    size = np.hypot(record.force[:, 0], record.force[:, 1]).max()
    jump = np.hypot(*np.diff(record.force, axis=0).T)
    calm: NDArray[np.bool_] = jump < JUMP * size
    # The first sample has no force before it, the last none after it.
    calm[0] = False
    steady: NDArray[np.bool_] = calm & np.append(calm[1:], True)
    return steady
