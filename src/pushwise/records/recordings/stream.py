"""`Stream`: the samples of one sensor with its own clock, sorted and cleaned.

Recordings of real robots have messages that arrive late, twice, or not at all. Nothing is filled
in here: samples are sorted, duplicates and values that are not finite are dropped, and all of it
is counted for the report.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.records.recordings.false_samples import (
    frozen_samples,
    held_samples,
    jumping_samples,
)
from pushwise.typing import Array, Flags

__all__ = ["Recording", "Stream", "seen_at"]


_FAR = 5.0  # m; as in a log: nothing on a table is farther from its origin
_TURNED = 20.0  # rad; a larger angle is in degrees
_GAP = 5.0  # times the usual time between samples: a longer one is a gap
_BRIEF = 0.1  # s; a gap in the force that is no longer loses nothing
_QUEUED = 0.1  # times the usual time: a sample so close before another waited in a queue


@dataclass(frozen=True, eq=False)
class Stream:
    """Samples of one quantity over time; make one with `Stream.ordered`."""

    name: str
    """What is measured: "object", "finger" or "force"."""
    origin: str
    """Where it comes from, in words: a topic and its type, or columns."""
    t: Array
    """Times of the samples [s], shape (k,), increasing, k >= 2."""
    values: Array
    """(x, y, theta) [m, m, rad] of an object, (x, y) [m] of a finger, (fx, fy) [N] of a force,
    shape (k, 3) or (k, 2). theta is unwrapped: it takes the shorter way from sample to sample."""
    unsorted: int = 0
    """Number of samples that came after one with a later stamp."""
    duplicates: int = 0
    """Number of samples dropped because another had the same stamp."""
    queued: int = 0
    """Number of samples dropped because the next one followed at once: their stamps are late."""
    held: int = 0
    """Number of samples dropped because a sensor that had nothing new repeated its value."""
    not_finite: int = 0
    """Number of samples dropped because a value was not finite."""
    jumps: int = 0
    """Number of samples dropped because they were far from those before and after, which agree."""
    not_planar: int = 0
    """Number of samples dropped because the object was lifted or tilted."""
    not_placed: int = 0
    """Number of samples dropped because the pose of their frame was unknown at the time."""

    @classmethod
    def ordered(
        cls,
        name: str,
        origin: str,
        t: Array,
        values: Array,
        *,
        not_planar: int = 0,
        not_placed: int = 0,
    ) -> Stream:
        """Sort samples by time, drop those that cannot be used, and count them.

        Args:
            name: What is measured: "object", "finger" or "force".
            origin: Where it comes from, in words.
            t: Stamps [s], shape (k,), in any order.
            values: The samples in SI units, shape (k, d).
            not_planar: Number of samples already dropped as lifted or tilted.
            not_placed: Number of samples already dropped because their frame was unknown.

        """
        finite = np.isfinite(t) & np.isfinite(values).all(axis=1)
        not_finite = int((~finite).sum())
        t, values = t[finite], values[finite]
        unsorted = int((t < np.maximum.accumulate(t)).sum()) if len(t) else 0
        order = np.argsort(t, kind="stable")
        t, values = t[order], values[order]
        first = np.diff(t, prepend=-np.inf) > 0.0
        duplicates = int((~first).sum())
        t, values = t[first], values[first]
        queued = np.zeros(len(t), bool)
        if name != "force" and len(t) > 2:
            step = np.diff(t)
            queued[1:-1] = step[1:] < _QUEUED * np.median(step)
        t, values = t[~queued], values[~queued]
        if name == "object":
            _check_angle(origin, values[:, 2])
        held = jumps = 0
        if name != "force":
            for repeats in (held_samples, frozen_samples):
                repeated = repeats(t, values)
                t, values = t[~repeated], values[~repeated]
                held += int(repeated.sum())
            jumped = jumping_samples(t, values)
            t, values = t[~jumped], values[~jumped]
            jumps = int(jumped.sum())
        if name == "object":
            values = np.column_stack([values[:, :2], np.unwrap(values[:, 2])])
        if len(t) < 2:
            raise PushwiseError(
                f"{origin} must have at least two samples of the {name}, with numbers and at "
                f"different times; it has {len(t)}."
            )
        if name != "force":
            _check_length(name, origin, values[:, :2])
        return cls(
            name,
            origin,
            t,
            values,
            unsorted=unsorted,
            duplicates=duplicates,
            queued=int(queued.sum()),
            held=held,
            not_finite=not_finite,
            jumps=jumps,
            not_planar=not_planar,
            not_placed=not_placed,
        )

    @property
    def period(self) -> float:
        """The usual time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Where samples are missing: start [s] and length [s] of each gap."""
        step = np.diff(self.t)
        at = np.flatnonzero(step > _GAP * self.period)
        return [(float(self.t[i]), float(step[i])) for i in at]

    @property
    def jitter(self) -> Array:
        """Standard deviation of each value about a smooth motion, shape (d,).

        It comes from second differences, which are zero at constant velocity and have six times
        the variance of white noise; the median ignores the few samples where the motion changes.
        """
        if len(self.t) < 3:
            return np.zeros(self.values.shape[1])
        bend = np.diff(self.values, n=2, axis=0)
        jitter: Array = 1.4826 * np.median(np.abs(bend), axis=0) / np.sqrt(6.0)
        return jitter

    def at(self, t: Array) -> Array:
        """Interpolate to times (k,), shape (k, d), constant before the first and after the last."""
        return np.column_stack([np.interp(t, self.t, column) for column in self.values.T])

    def seen(self, t: Array) -> Flags:
        """Return which of the times (k,) lie between samples and not in a gap."""
        return seen_at(self.t, t)

    def covers(self, t: Array) -> bool:
        """Return whether there are samples around all of the times (k,), none of them in a gap.

        Sensors start and stop at slightly different times: a time before the first sample or
        after the last is covered if the wait is too short to be a gap. A tenth of a second is too
        short in any case, and so are a few messages that are lost.
        """
        inside = np.clip(t, self.t[0], self.t[-1])
        longest = max(_GAP * self.period, _BRIEF)
        near = np.abs(t - inside).max() <= longest
        return bool(near and _between(self.t, inside, longest).all())

    def mean_between(self, t: Array) -> Array:
        """Return the mean since the previous time, shape (k, d), for increasing times (k,).

        Samples are interpolated linearly; the first mean is the value at the first time.
        """
        return np.concatenate([self.at(t[:1]), self.mean_over(t[:-1], t[1:])])

    def mean_over(self, begin: Array, end: Array) -> Array:
        """Return the means between times (k,) and later ones (k,), shape (k, d).

        Samples are interpolated linearly.
        """
        knots = np.unique(np.concatenate([self.t, begin, end]))
        values = self.at(knots)
        area = 0.5 * (values[1:] + values[:-1]) * np.diff(knots)[:, None]
        total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(area, axis=0)])
        since, until = (total[np.searchsorted(knots, t)] for t in (begin, end))
        mean: Array = (until - since) / (end - begin)[:, None]
        return mean


@dataclass(frozen=True, eq=False)
class Recording:
    """A continuous recording: the streams of an object, a finger and, if measured, a force."""

    source: str
    """Where it comes from, in words."""
    object: Stream
    """Pose of the tracked frame of the object in the table frame."""
    finger: Stream
    """Position of the finger's centre in the table frame."""
    force: Stream | None = None
    """Force in the table frame, on the object or, with the opposite sign, on the finger."""
    notes: tuple[str, ...] = ()
    """Assumptions that had to be made, one sentence each."""
    clocks: str = ""
    """What the motion of finger and object shows about their clocks, in words, if anything."""

    def __post_init__(self) -> None:
        """Refuse streams that were never recorded at the same time."""
        for other in (self.finger, self.force):
            if other is None:
                continue
            a, b = self.object.t, other.t
            if a[0] > b[-1] or b[0] > a[-1]:
                raise PushwiseError(
                    f"{self.source}: the object is seen from {a[0]:.3f} to {a[-1]:.3f} s and the "
                    f"{other.name} from {b[0]:.3f} to {b[-1]:.3f} s, never together; check their "
                    "clocks."
                )


def seen_at(samples: Array, t: Array) -> Flags:
    """Return which of the times (k,) lie between samples, increasing, (n,), and not in a gap."""
    return _between(samples, t, _GAP * float(np.median(np.diff(samples))))


def _between(samples: Array, t: Array, longest: float) -> Flags:
    """Return which of the times (k,) lie between samples (n,) that are not farther apart [s]."""
    after = np.clip(np.searchsorted(samples, t), 1, len(samples) - 1)
    near = np.diff(samples)[after - 1] <= longest
    on = (t == samples[after]) | (t == samples[after - 1])
    inside = (t >= samples[0]) & (t <= samples[-1])
    seen: Flags = inside & (near | on)
    return seen


def _check_length(name: str, origin: str, places: Array) -> None:
    """Refuse positions (k, 2) that are not metres on a table."""
    far = float(np.abs(places).max())
    if far > _FAR:
        raise PushwiseError(
            f"{origin}: the {name} must be in metres, within {_FAR:g} m of the table frame's "
            f"origin; {far:.6g} looks like millimetres, or like another frame."
        )


def _check_angle(origin: str, theta: Array) -> None:
    """Refuse angles (k,) that are not radians."""
    turned = float(np.abs(theta).max(initial=0.0))
    if turned > _TURNED:
        raise PushwiseError(
            f"{origin}: the object's angle must be in radians; {turned:.6g} looks like degrees."
        )
