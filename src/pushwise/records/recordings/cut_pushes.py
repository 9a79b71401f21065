"""`cut_pushes`: pushes cut out of continuous recordings, by contact and motion.

A push is a straight stretch of the finger's path during which the object moves. If forces are
measured, there must be one; if the object's cells are known, the finger must come near them: an
object that a person puts back between two pushes is not pushed. A path with corners, or on which
the finger accelerates, becomes several pushes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pushwise.checks import finite_array, finite_number
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Push
from pushwise.records.log_file import SLOW
from pushwise.records.record import Noise, PushRecord
from pushwise.records.recordings.findings import Findings, FoundPush
from pushwise.records.recordings.segmentation import fit_line, straight_stretches
from pushwise.records.recordings.sensor_calibration import ForceCalibration, estimate_noise, felt
from pushwise.records.recordings.stream import Recording, Stream, too_far
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["cut_pushes"]


_STRAIGHT = 1e-3  # m a finger may be from a straight path at constant velocity,
_SIGMAS = 8.0  # or this many times its noise: corners are found at outliers
_TRAVEL = 5e-3  # m; a finger that moves less makes no push worth a record
_MOVED = 2e-3  # m; an object that moves less was not pushed
_ARM = 0.05  # m; displacement equivalent to a rotation by one radian
_MARGIN = 0.01  # m of the finger's path kept before the object moves and after it rests
_TAIL = 0.3  # s after the finger stopped in which the object may still slide
_NEAR = 0.02  # m; a finger that stays farther from the outline did not push
_RAMP = 0.2  # times the longest stretch of a path: shorter ones are its start, end or corners
_LATE = 0.02  # s an object may move after the finger stopped,
_SLIPPERY = 0.2  # in addition to sliding by its momentum, with at least this friction
_LOOKS = 100  # number of instants at which a finger's distance from the outline is computed


@dataclass(frozen=True, eq=False)
class _Span:
    """A push without its force."""

    push: Push
    t: Array  # (k,) stamps [s] of the recording
    pose: Array  # (k, 3)
    stray: float  # m; the finger's largest distance from its straight path
    stretch: tuple[int, int]  # first and last sample of that path

    @property
    def travel(self) -> float:
        """Length of the finger's path [m]."""
        return self.push.duration * float(np.hypot(*self.push.velocity))


def cut_pushes(
    recordings: Sequence[Recording],
    *,
    grid: CellGrid | None = None,
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    delay: float = 0.0,
) -> Findings:
    """Find the pushes in recordings of one object.

    Args:
        recordings: The recordings.
        grid: The object's cells, if known; pushes whose finger never comes near them are left
            out.
        offset: Pose (x, y, theta) [m, m, rad] of the grid frame in the tracked frame.
        delay: How late the object's poses are stamped [s], as those of a camera may be.

    """
    shift, delay = finite_array("offset", offset, (3,)), finite_number("delay", delay)
    recordings = [replace(r, object=_moved(r.object, shift, delay)) for r in recordings]
    spans, left_out, notes = [], [], []
    for recording in recordings:
        found, why = _spans(recording, grid)
        spans += [(recording, span) for span in found]
        left_out += why
        notes += [note for note in recording.notes if note not in notes]
    times: list[list[tuple[float, float]]] = [
        [(float(s.t[0]), float(s.t[-1])) for r, s in spans if r is recording]
        for recording in recordings
    ]
    noise = estimate_noise(recordings, times)
    forces = ForceCalibration(recordings, [_still(recording) for recording in recordings])
    silent = [(r, s) for r, s in spans if r.force is not None and not r.force.covers(s.t)]
    left_out += [f"{_named(*pair)}: the force was not recorded" for pair in silent]
    spans = [pair for pair in spans if pair not in silent]
    forces.orient([(recording, span.t, span.push.velocity) for recording, span in spans])
    notes += forces.notes() + _late_note([span for _, span in spans])
    pushes = []
    for recording, span in spans:
        force = forces.during(recording, span.t)
        if force is not None and not felt(force, noise):
            left_out.append(f"{_named(recording, span)}: the object moves without a force")
        else:
            pushes.append(_found(recording, span, force, noise))
    return Findings(tuple(recordings), tuple(pushes), tuple(left_out), noise, tuple(notes))


def _spans(recording: Recording, grid: CellGrid | None) -> tuple[list[_Span], list[str]]:
    """Return the pushes of a recording, and why others that look like one are left out."""
    finger = recording.finger
    tolerance = max(_STRAIGHT, _SIGMAS * float(finger.jitter.max()))
    still = _still(recording)
    spans, left_out = [], []
    for first, last in straight_stretches(finger.t, finger.values, tolerance):
        travel = float(np.hypot(*(finger.values[last] - finger.values[first])))
        if travel < max(_TRAVEL, SLOW * (finger.t[last] - finger.t[first])):
            continue
        span = _span(recording, first, last, still, tolerance)
        if span is None:
            continue
        if why := _refused(recording, span, grid):
            left_out.append(f"{_named(recording, span)}: {why}")
        else:
            spans.append(span)
    kept = [span for span in spans if span.travel > _RAMP * _longest(spans, span)]
    if len(kept) < len(spans):
        left_out.append(
            f"{recording.source}: {len(spans) - len(kept)} short stretches on which the finger "
            "speeds up, slows down or turns during a push"
        )
    return kept, left_out


def _named(recording: Recording, span: _Span) -> str:
    """Return the name of a push in words."""
    return f"{recording.source}, push at {span.t[0]:.2f} s"


def _longest(spans: list[_Span], span: _Span) -> float:
    """Return the longest path [m] in the chain of adjoining pushes that a push belongs to."""
    longest = span.travel
    i = spans.index(span)
    for step in (-1, 1):
        k = i
        while 0 <= k + step < len(spans):
            a, b = sorted((spans[k].stretch, spans[k + step].stretch))
            if a[1] != b[0]:
                break
            k += step
            longest = max(longest, spans[k].travel)
    return longest


def _span(
    recording: Recording, first: int, last: int, still: float, tolerance: float
) -> _Span | None:
    """Return the push along one stretch of the finger's path, None if the object does not move."""
    finger, seen = recording.finger, recording.object
    begin, end = finger.t[first], finger.t[last]
    # The instant at which the finger stops is an additional sample, so that the line ends there.
    stop = [end] if seen.seen(np.array([end]))[0] else []
    t = np.union1d(seen.t[(seen.t >= begin) & (seen.t <= end)], stop)
    t = t[finger.seen(t)]
    if len(t) < 2:
        return None
    pose = seen.at(t)
    if _distance(pose[-1], pose[0]) < max(_MOVED, still):
        return None
    start, velocity = fit_line(finger.t[first : last + 1] - begin, finger.values[first : last + 1])
    speed = float(np.hypot(*velocity))
    if speed < SLOW:
        return None
    # The object rests until it is touched, and again after the finger slips off it.
    onset = int(np.argmax(_distance(pose, pose[0]) > still))
    quiet = _distance(pose, pose[-1]) <= still
    rest = len(t) - int(np.argmin(quiet[::-1]))
    margin = (_MARGIN + still) / speed
    a = min(int(np.searchsorted(t, t[onset] - margin)), onset - 1)
    b = int(np.searchsorted(t, t[rest] + margin, side="right"))
    kept = t[a:b]
    duration = float(kept[-1] - kept[0])
    if b == len(t) and stop:
        kept = np.concatenate([kept, _tail(recording, last, tolerance)])
    pose = seen.at(kept)
    turns = np.round(pose[0, 2] / (2.0 * np.pi))
    pose[:, 2] -= 2.0 * np.pi * turns
    inside = slice(first, last + 1)
    line = start + (finger.t[inside] - begin)[:, None] * velocity
    stray = float(np.hypot(*(finger.values[inside] - line).T).max())
    push = Push.line(start + (kept[0] - begin) * velocity, velocity, duration)
    return _Span(push, kept, pose, stray, (first, last))


def _tail(recording: Recording, last: int, tolerance: float) -> Array:
    """Return the object's stamps from the finger's stop until it moves away, shape (k,)."""
    finger, seen = recording.finger, recording.object
    away = np.hypot(*(finger.values[last:] - finger.values[last]).T) > tolerance
    leaves = finger.t[last + int(np.argmax(away))] if away.any() else finger.t[-1]
    end = finger.t[last]
    tail: Array = seen.t[(seen.t > end) & (seen.t < min(end + _TAIL, leaves))]
    return tail[finger.seen(tail)]


def _refused(recording: Recording, span: _Span, grid: CellGrid | None) -> str:
    """Return why a stretch cannot be a push, empty if it can."""
    step, dt = np.diff(span.pose, axis=0), np.diff(span.t)
    jumped = too_far(step, dt)
    if jumped.any():
        i = int(np.argmax(jumped))
        return (
            f"the tracked object jumps by {1e3 * np.hypot(*step[i, :2]):.0f} mm and "
            f"{np.degrees(abs(step[i, 2])):.0f} degrees at {span.t[i + 1]:.2f} s"
        )
    if grid is not None:
        some = np.unique(np.linspace(0, len(span.t) - 1, _LOOKS).astype(int))
        pairs = zip(span.pose[some], recording.finger.at(span.t[some]), strict=True)
        gap = min(outline_distance(placed(grid.outline, pose), at) for pose, at in pairs)
        if gap > _NEAR:
            return f"the finger stays at least {1e3 * gap:.0f} mm from the object"
    return ""


def _late_note(spans: list[_Span]) -> list[str]:
    """Return a sentence if the object moves for too long after the finger stopped.

    An object pushed at a speed v slides no farther than v^2 / (2 mu g). Any motion beyond that
    happened earlier: the poses are stamped late.
    """
    late = []
    for span in spans:
        t = span.t - span.t[0]
        tail = t >= span.push.duration
        before = t >= span.push.duration - _TAIL
        if tail.sum() < 2 or (before & ~tail).sum() < 2:
            continue
        at_stop, pace = fit_line(
            t[before & ~tail] - span.push.duration, span.pose[before & ~tail, :2]
        )
        speed = float(np.hypot(*pace))
        if speed < SLOW:
            continue
        on = float(np.median((span.pose[tail, :2] - at_stop) @ pace)) / speed
        late.append((on / speed - speed / (2.0 * _SLIPPERY * GRAVITY), on / speed))
    least, most = np.median(late, axis=0) if late else (0.0, 0.0)
    if least < _LATE:
        return []
    return [
        "the object moves after the finger stops, farther than its momentum explains: its poses "
        f"may be {least:.2f} to {most:.2f} s late, which a delay would correct"
    ]


def _moved(stream: Stream, offset: Array, delay: float) -> Stream:
    """Return the stream of a frame at `offset` (3,) in the tracked one, `delay` [s] earlier."""
    x, y, theta = stream.values.T
    cos, sin = np.cos(theta), np.sin(theta)
    values = np.column_stack(
        [
            x + cos * offset[0] - sin * offset[1],
            y + sin * offset[0] + cos * offset[1],
            theta + offset[2],
        ]
    )
    return replace(stream, t=stream.t - delay, values=values)


def _distance(pose: Array, other: Array) -> Array:
    """Return the distance [m] between poses (..., 3), including rotation."""
    step = pose - other
    distance: Array = np.hypot(step[..., 0], step[..., 1]) + _ARM * np.abs(step[..., 2])
    return distance


def _still(recording: Recording) -> float:
    """Return how far noise alone may seem to move the object [m]."""
    x, y, theta = recording.object.jitter
    return max(0.5 * _MOVED, _SIGMAS * float(max(x, y) + _ARM * theta))


def _found(recording: Recording, span: _Span, force: Array | None, noise: Noise) -> FoundPush:
    """Return a push as a record."""
    source = f"{recording.source} at {span.t[0]:.3f} s"
    t = span.t - span.t[0]
    record = PushRecord(span.push, t, span.pose, force, noise=noise, source=source)
    return FoundPush(record, recording.source, float(span.t[0]), span.stray)
