"""What sensors say when nothing happens: their noise, and the force read in the air."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pushwise.pushes.record import Noise
from pushwise.pushes.stream import Recording, Stream

__all__ = ["air_force", "rest_noise"]

Array = NDArray[np.float64]

_WINDOW = 0.5  # s; long enough for slow jitter, short enough to fit between pushes
_FEWEST = 8  # samples a window must have
_BESIDE = 0.3  # s before and after a push that are not rest
_AIR_SPEED = 5e-3  # m/s; a finger this fast beside an object at rest touches nothing


def rest_noise(
    recordings: Sequence[Recording], pushes: Sequence[Sequence[tuple[float, float]]]
) -> Noise:
    """Return the noise of poses and forces while nothing is pushed.

    pushes: begin and end [s] of the pushes of each recording. The median over windows of the
    standard deviation within each does not see a window in which a person moves the object.
    Where there is no rest, the jitter of the motion is the noise.
    """
    poses, forces = [], []
    for recording, spans in zip(recordings, pushes, strict=True):
        poses.append(_deviations(recording.object, spans))
        if recording.force is not None:
            forces.append(_deviations(recording.force, spans))
    x, y, theta = _typical(poses, [r.object for r in recordings])
    fx, fy = _typical(forces, [r.force for r in recordings if r.force is not None])[:2]
    return Noise(
        float(np.hypot(x, y) / np.sqrt(2.0)), float(theta), float(np.hypot(fx, fy) / np.sqrt(2.0))
    )


def air_force(recording: Recording, still: float) -> Array:
    """Return the force [N] read while the finger moves and the object does not, shape (2,).

    Zero where the recording has no such time. still: what the object moves by noise alone [m].
    """
    assert recording.force is not None
    t = recording.finger.t
    middle = 0.5 * (t[1:] + t[:-1])
    velocity = np.diff(recording.finger.values, axis=0) / np.diff(t)[:, None]
    around = np.stack([recording.object.at(middle + s * _BESIDE) for s in (-1.0, 1.0)])
    step = around[1] - around[0]
    free = (np.hypot(*velocity.T) > _AIR_SPEED) & (np.hypot(step[:, 0], step[:, 1]) < still)
    free &= recording.force.seen(middle)
    if free.sum() < _FEWEST:
        return np.zeros(2)
    zero: Array = np.median(recording.force.at(middle[free]), axis=0)
    return zero


def _deviations(stream: Stream, pushes: Sequence[tuple[float, float]]) -> Array:
    """Return the standard deviation of each value in each window at rest, shape (windows, d)."""
    rest = np.ones(len(stream.t), bool)
    for begin, end in pushes:
        rest &= (stream.t < begin - _BESIDE) | (stream.t > end + _BESIDE)
    t, values = stream.t[rest], stream.values[rest]
    window = np.floor((t - stream.t[0]) / _WINDOW)
    parts = np.split(values, np.flatnonzero(np.diff(window)) + 1)
    found = [part.std(axis=0, ddof=1) for part in parts if len(part) >= _FEWEST]
    return np.array(found).reshape(-1, values.shape[1])


def _typical(deviations: list[Array], streams: Sequence[Stream]) -> Array:
    """Return the median over all windows, or the streams' jitter where there are none."""
    if not streams:
        return np.zeros(2)
    windows = np.concatenate(deviations)
    if len(windows) == 0:
        windows = np.array([stream.jitter for stream in streams])
    typical: Array = np.median(windows, axis=0)
    return typical
