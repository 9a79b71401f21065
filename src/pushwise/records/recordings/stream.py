"""`Stream`: what one sensor said, with its own clock, put in order and counted.

Recordings of real robots have messages that arrive late, twice, or not at all. Nothing is filled
in here: samples are sorted, doubles and what is no number are dropped, and everything is counted,
so that a person can be told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.typing import Array, Flags

__all__ = ["Recording", "Stream", "seen_at", "too_far"]


_FAR = 5.0  # m; as in a log: nothing on a table is farther from its origin
_TURNED = 20.0  # rad; the same angle in degrees is more
_GAP = 5.0  # of the usual time between samples: longer is a gap
_STEPS = 10  # changes of value that show how long a sensor holds one
_JUMP = np.array([0.02, 0.2])  # m, rad; a single sample farther from both its neighbours,
_JUMP_RATE = np.array([5.0, 30.0])  # m/s, rad/s; and faster than this, is no motion


@dataclass(frozen=True, eq=False)
class Stream:
    """Samples of one thing over time; make one with `Stream.ordered`."""

    name: str
    """What it is of: object, finger or force."""
    origin: str
    """Where it comes from, in words: a topic and its type, or columns."""
    t: Array
    """Times of the samples [s], shape (k,), increasing, k >= 2."""
    values: Array
    """(x, y, theta) [m, m, rad] of an object, (x, y) [m] of a finger, (fx, fy) [N] of a force,
    shape (k, 3) or (k, 2). theta is unwrapped: it goes the shorter way from sample to sample."""
    unsorted: int = 0
    """How many samples came after one with a later stamp."""
    duplicates: int = 0
    """How many samples had the stamp of another and were dropped."""
    held: int = 0
    """How many samples only repeated the one before, as a slow sensor read often does."""
    not_finite: int = 0
    """How many samples were no numbers and were dropped."""
    jumps: int = 0
    """How many single samples were far from both their neighbours and were dropped."""
    not_planar: int = 0
    """How many samples had the object lifted or tilted and were dropped."""
    not_placed: int = 0
    """How many samples were in a frame that nothing placed at the time and were dropped."""

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
        """Sort samples (k,) and (k, d) by time, drop what cannot be used, and count it."""
        finite = np.isfinite(t) & np.isfinite(values).all(axis=1)
        not_finite = int((~finite).sum())
        t, values = t[finite], values[finite]
        unsorted = int((t < np.maximum.accumulate(t)).sum()) if len(t) else 0
        order = np.argsort(t, kind="stable")
        t, values = t[order], values[order]
        first = np.diff(t, prepend=-np.inf) > 0.0
        duplicates = int((~first).sum())
        t, values = t[first], values[first]
        if name == "object":
            _check_angle(origin, values[:, 2])
            values = np.column_stack([values[:, :2], np.unwrap(values[:, 2])])
        held = np.zeros(len(t), bool) if name == "force" else _held(values)
        t, values = t[~held], values[~held]
        jumped = np.zeros(len(t), bool) if name == "force" else _jumps(t, values)
        t, values = t[~jumped], values[~jumped]
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
            unsorted,
            duplicates,
            int(held.sum()),
            not_finite,
            int(jumped.sum()),
            not_planar,
            not_placed,
        )

    @property
    def period(self) -> float:
        """The usual time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """Where samples are missing: when each gap begins [s] and how long it is [s]."""
        step = np.diff(self.t)
        at = np.flatnonzero(step > _GAP * self.period)
        return [(float(self.t[i]), float(step[i])) for i in at]

    @property
    def jitter(self) -> Array:
        """Standard deviation of each value about a smooth motion, shape (d,).

        From second differences, which a constant velocity leaves at zero and white noise makes
        six times its variance; the median does not see the few samples where motion changes.
        """
        if len(self.t) < 3:
            return np.zeros(self.values.shape[1])
        bend = np.diff(self.values, n=2, axis=0)
        jitter: Array = 1.4826 * np.median(np.abs(bend), axis=0) / np.sqrt(6.0)
        return jitter

    def at(self, t: Array) -> Array:
        """Interpolate to times (k,), shape (k, d); before and after all samples they hold."""
        return np.column_stack([np.interp(t, self.t, column) for column in self.values.T])

    def seen(self, t: Array) -> Flags:
        """Return which of the times (k,) lie between samples and not in a gap."""
        return seen_at(self.t, t)

    def covers(self, t: Array) -> bool:
        """Return whether samples go on at all of the times (k,), none of them in a gap.

        Sensors start and stop at slightly different times: a time before the first sample or
        after the last is covered as long as waiting for the next one would not be a gap.
        """
        inside = np.clip(t, self.t[0], self.t[-1])
        near = np.abs(t - inside).max() <= _GAP * self.period
        return bool(near and self.seen(inside).all())

    def mean_between(self, t: Array) -> Array:
        """Return the mean since the time before, shape (k, d), for increasing times (k,).

        Of the straight lines from sample to sample; the first is the value at that time.
        """
        knots = np.union1d(self.t, t)
        values = self.at(knots)
        area = 0.5 * (values[1:] + values[:-1]) * np.diff(knots)[:, None]
        total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(area, axis=0)])
        at = total[np.searchsorted(knots, t)]
        mean: Array = np.diff(at, axis=0) / np.diff(t)[:, None]
        return np.concatenate([self.at(t[:1]), mean])


@dataclass(frozen=True, eq=False)
class Recording:
    """A continuous recording: the streams of an object, a finger and, if measured, a force."""

    source: str
    """Where it comes from, in words."""
    object: Stream
    """Pose of the tracked frame of the object in the table frame."""
    finger: Stream
    """Place of the finger's centre in the table frame."""
    force: Stream | None = None
    """Force in the table frame, on the object or, of the opposite sign, on the finger."""
    notes: tuple[str, ...] = ()
    """What had to be assumed, a sentence each."""

    def __post_init__(self) -> None:
        """Refuse streams that were never recorded at the same time."""
        for other in (self.finger, self.force):
            if other is None:
                continue
            a, b = self.object.t, other.t
            if a[0] > b[-1] or b[0] > a[-1]:
                raise PushwiseError(
                    f"{self.source}: the object is seen from {a[0]:.3f} to {a[-1]:.3f} s and the "
                    f"{other.name} from {b[0]:.3f} to {b[-1]:.3f} s, never together; are their "
                    "clocks the same?"
                )


def seen_at(samples: Array, t: Array) -> Flags:
    """Return which of the times (k,) lie between samples, increasing, (n,), and not in a gap."""
    step = np.diff(samples)
    after = np.clip(np.searchsorted(samples, t), 1, len(samples) - 1)
    near = step[after - 1] <= _GAP * np.median(step)
    on = (t == samples[after]) | (t == samples[after - 1])
    inside = (t >= samples[0]) & (t <= samples[-1])
    seen: Flags = inside & (near | on)
    return seen


def _held(values: Array) -> Flags:
    """Return which samples a sensor that is read more often than it measures only repeats.

    Its values (k, d) go in steps. While they change, every one of them holds for about as many
    samples; a longer hold is rest, of which a sample as often as the others is kept.
    """
    first = np.flatnonzero(np.append(True, np.any(np.diff(values, axis=0) != 0.0, axis=1)))
    length = np.diff(np.append(first, len(values)))
    held = np.zeros(len(values), bool)
    if len(first) < _STEPS or (hold := int(np.median(length))) < 2:
        return held
    since = np.arange(len(values)) - np.repeat(first, length)
    rests = np.repeat(length >= 2 * hold, length)
    held |= (since > 0) & ~(rests & (since % hold == 0))
    return held


def _jumps(t: Array, values: Array) -> Flags:
    """Return which single samples are nowhere near the two beside them, which agree."""
    jumped = np.zeros(len(t), bool)
    if len(t) < 3:
        return jumped
    before = too_far(values[1:-1] - values[:-2], t[1:-1] - t[:-2])
    after = too_far(values[2:] - values[1:-1], t[2:] - t[1:-1])
    across = too_far(values[2:] - values[:-2], t[2:] - t[:-2])
    jumped[1:-1] = before & after & ~across
    return jumped


def too_far(step: Array, dt: Array) -> Flags:
    """Return which steps (k, d) over times (k,) no pushed object makes."""
    size = np.hypot(step[:, 0], step[:, 1])
    far: Flags = size > np.maximum(_JUMP[0], _JUMP_RATE[0] * dt)
    if step.shape[1] == 3:
        far |= np.abs(step[:, 2]) > np.maximum(_JUMP[1], _JUMP_RATE[1] * dt)
    return far


def _check_length(name: str, origin: str, places: Array) -> None:
    """Refuse places (k, 2) that are not metres on a table."""
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
