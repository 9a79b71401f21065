"""Forces of recordings as forces on the object: with the right sign, and zero in the air."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.records.record import Noise
from pushwise.records.recordings.stream import Recording
from pushwise.typing import Array

__all__ = ["Sensed", "felt"]


_AIR_SPEED = 5e-3  # m/s; a finger this fast beside an object at rest touches nothing
_BESIDE = 0.3  # s before and after in which the object must not have moved either
_FEWEST = 8  # samples in the air that tell what a sensor reads there
_FELT = 0.05  # N; less force than this, or than the noise, is none


class Sensed:
    """The forces on the object in some recordings."""

    def __init__(self, recordings: Sequence[Recording], still: Sequence[float]) -> None:
        """Find what the sensors read in the air.

        still: what each recording's object moves by noise alone [m].
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
        """Find out whose force was measured from recordings, stamps (k,) and velocities (2,).

        A finger that pushes an object over a table does work on it: the force on the object
        points along the finger's way, the reaction on the finger against it.
        """
        power = 0.0
        for recording, t, velocity in pushes:
            force = self.during(recording, t)
            power += 0.0 if force is None else float(np.sum(force @ velocity))
        self._sign = -1.0 if power < 0.0 else 1.0

    def during(self, recording: Recording, t: Array) -> Array | None:
        """Return the mean forces [N] on the object since the stamp before, (k, 2), if measured."""
        if recording.force is None:
            return None
        air = self._air[id(recording)]
        mean = recording.force.mean_between(t)
        return self._sign * (mean if air is None else mean - air)

    def notes(self) -> list[str]:
        """Say what was done to the forces."""
        notes = []
        if self._sign < 0.0:
            notes.append("the force points against the pushes: it is that on the finger, negated")
        known = [air for air in self._air.values() if air is not None]
        if known and np.any(known):
            fx, fy = np.median(known, axis=0)
            notes.append(f"the force reads ({fx:.3g}, {fy:.3g}) N in the air: subtracted")
        if len(known) < len(self._air):
            notes.append(
                "the finger hardly moves in the air: what the force reads there is not known and "
                f"taken for zero, in {len(self._air) - len(known)} of {len(self._air)} recordings"
            )
        return notes


def felt(force: Array, noise: Noise) -> bool:
    """Return whether the finger pushed with any force (k, 2)."""
    strongest = float(np.percentile(np.hypot(*force.T), 90))
    return strongest > max(_FELT, 3.0 * noise.force)


def _air(recording: Recording, still: float) -> Array | None:
    """Return the force [N] read while the finger moves and the object does not, shape (2,).

    None where the recording has hardly any such time.
    """
    assert recording.force is not None
    t = recording.finger.t
    middle = 0.5 * (t[1:] + t[:-1])
    velocity = np.diff(recording.finger.values, axis=0) / np.diff(t)[:, None]
    around = [recording.object.at(middle + shift) for shift in (-_BESIDE, _BESIDE)]
    step = around[1] - around[0]
    free = (np.hypot(*velocity.T) > _AIR_SPEED) & (np.hypot(step[:, 0], step[:, 1]) < still)
    free &= recording.force.seen(middle)
    if free.sum() < _FEWEST:
        return None
    zero: Array = np.median(recording.force.at(middle[free]), axis=0)
    return zero
