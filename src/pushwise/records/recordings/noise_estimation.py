"""What sensors say when nothing happens: their noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.records.record import Noise
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.typing import Array

__all__ = ["rest_noise"]


_WINDOW = 0.5  # s; long enough for slow jitter, short enough to fit between pushes
_FEWEST = 8  # samples a window must have
_BESIDE = 0.3  # s before and after a push that are not rest


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
