"""What sensors read when nothing happens: noise estimation and force calibration.

`estimate_noise` measures the noise while the object rests. `ForceCalibration` turns measured
forces into forces on the object: with the right sign, and zero while the finger is in the air.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.records.record import Noise
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.typing import Array

__all__ = ["ForceCalibration", "estimate_noise", "felt"]

_WINDOW = 0.5  # s; long enough for slow jitter, short enough to fit between pushes
_FEWEST = 8  # samples that a window, or the time in the air, must have
_GUESS = 5e-4, 5e-4, 2.5e-3  # m, m, rad; noise of poses that are seen too rarely to show it
_MARGIN = 0.3  # s before and after: a push there is not rest, and an object that moves is pushed
_AIR_SPEED = 5e-3  # m/s; a finger this fast near an object at rest touches nothing
_FELT = 0.05  # N; a force below this, or below the noise, counts as none
_STRONGEST = 97  # percentile of the forces: a flick touches the object for a short time


def estimate_noise(
    recordings: Sequence[Recording], pushes: Sequence[Sequence[tuple[float, float]]]
) -> tuple[Noise, list[str]]:
    """Return the noise of poses and forces while nothing is pushed, and notes on assumptions.

    It is the median over short windows of the standard deviation in each, which is insensitive to
    a window in which a person moves the object. Without any rest it is the jitter of the motion, of
    which a few poses show nothing.

    Args:
        recordings: The recordings.
        pushes: Start and end [s] of the pushes of each recording.

    """
    poses, forces = [], []
    for recording, spans in zip(recordings, pushes, strict=True):
        poses.append(_deviations(recording.object, spans))
        if recording.force is not None:
            forces.append(_deviations(recording.force, spans))
    seen = _typical(poses, [r.object for r in recordings])
    felt = _typical(forces, [r.force for r in recordings if r.force is not None])
    (x, y, theta), (fx, fy) = _GUESS if seen is None else seen, (0.0, 0.0) if felt is None else felt
    noise = Noise(
        float(np.hypot(x, y) / np.sqrt(2.0)), float(theta), float(np.hypot(fx, fy) / np.sqrt(2.0))
    )
    if seen is not None:
        return noise, []
    return noise, [
        "the object is seen too rarely to show the noise of its poses, which is taken to be "
        f"{1e3 * x:g} mm and {np.degrees(theta):.2g} degrees"
    ]


def _deviations(stream: Stream, pushes: Sequence[tuple[float, float]]) -> Array:
    """Return the standard deviation of each value in each window at rest, shape (windows, d)."""
    rest = np.ones(len(stream.t), bool)
    for begin, end in pushes:
        rest &= (stream.t < begin - _MARGIN) | (stream.t > end + _MARGIN)
    t, values = stream.t[rest], stream.values[rest]
    window = np.floor((t - stream.t[0]) / _WINDOW)
    parts = np.split(values, np.flatnonzero(np.diff(window)) + 1)
    found = [part.std(axis=0, ddof=1) for part in parts if len(part) >= _FEWEST]
    return np.array(found).reshape(-1, values.shape[1])


def _typical(deviations: list[Array], streams: Sequence[Stream]) -> Array | None:
    """Return the median over all windows, or else the streams' jitter; None if that is unknown."""
    windows = [each for recording in deviations for each in recording]
    found = windows or [stream.jitter for stream in streams if len(stream.t) >= _FEWEST]
    return np.median(found, axis=0) if found else None


class ForceCalibration:
    """The forces on the object in some recordings."""

    def __init__(self, recordings: Sequence[Recording], still: Sequence[float]) -> None:
        """Find what the sensors read in the air.

        Args:
            recordings: The recordings, all with forces or all without.
            still: How far noise alone moves each recording's object [m].

        """
        without = [r.source for r in recordings if r.force is None]
        if 0 < len(without) < len(recordings):
            raise PushwiseError(
                f"{without[0]} has no force, but others have; a log has forces for all of its "
                "pushes or for none."
            )
        pairs = zip(recordings, still, strict=True)
        # By identity: two files in two folders may have the same name.
        self._air = {} if without else {id(r): _air(r, far) for r, far in pairs}
        self._sign = 1.0

    def orient(self, pushes: Sequence[tuple[Recording, Array, Array]]) -> None:
        """Determine whether the force on the object or that on the finger was measured.

        A finger that pushes an object over a table does work on it: the force on the object
        points along the finger's path, the reaction on the finger against it.

        Args:
            pushes: Recording, stamps (k,) [s] and finger positions (k, 2) [m] of each push.

        """
        work = 0.0
        for recording, t, finger in pushes:
            force = self.during(recording, t)
            work += 0.0 if force is None else float(np.sum(force[1:] * np.diff(finger, axis=0)))
        self._sign = -1.0 if work < 0.0 else 1.0

    def during(self, recording: Recording, t: Array) -> Array | None:
        """Return the mean forces [N] on the object since the previous stamp, (k, 2), if any."""
        if recording.force is None:
            return None
        air = self._air[id(recording)]
        mean = recording.force.mean_between(t)
        return self._sign * (mean if air is None else mean - air)

    def notes(self) -> list[str]:
        """Return sentences that describe what was done to the forces."""
        notes = []
        if self._sign < 0.0:
            notes.append(
                "the force points against the pushes: it acts on the finger and was negated"
            )
        known = [air for air in self._air.values() if air is not None]
        if known and np.any(known):
            fx, fy = np.median(known, axis=0)
            notes.append(f"the force reads ({fx:.3g}, {fy:.3g}) N in the air: subtracted")
        if len(known) < len(self._air):
            notes.append(
                "the finger hardly moves in the air, so the zero of the force is unknown and "
                f"taken as 0 in {len(self._air) - len(known)} of {len(self._air)} recordings"
            )
        return notes


def felt(force: Array, noise: Noise) -> bool:
    """Return whether the finger pushed with a noticeable force (k, 2) [N]."""
    strongest = float(np.percentile(np.hypot(*force.T), _STRONGEST))
    return strongest > max(_FELT, 3.0 * noise.force)


def _air(recording: Recording, still: float) -> Array | None:
    """Return the force [N] measured while the finger moves and the object does not, shape (2,).

    None if the recording has too few such samples.
    """
    assert recording.force is not None
    t = recording.finger.t
    middle = 0.5 * (t[1:] + t[:-1])
    velocity = np.diff(recording.finger.values, axis=0) / np.diff(t)[:, None]
    around = [recording.object.at(middle + shift) for shift in (-_MARGIN, _MARGIN)]
    step = around[1] - around[0]
    free = (np.hypot(*velocity.T) > _AIR_SPEED) & (np.hypot(step[:, 0], step[:, 1]) < still)
    # Between two samples far apart the object may have moved however slowly.
    seen = recording.object
    after = np.clip(np.searchsorted(seen.t, middle), 1, len(seen.t) - 1)
    moved = np.hypot(*(seen.values[after] - seen.values[after - 1])[:, :2].T)
    free &= (moved < still) & recording.force.seen(middle)
    if free.sum() < _FEWEST:
        return None
    zero: Array = np.median(recording.force.at(middle[free]), axis=0)
    return zero
