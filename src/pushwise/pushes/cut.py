"""Pushes cut out of continuous recordings, by contact and motion.

A push is a straight stretch of the finger's way during which the object moves. Where a force is
measured it must be felt, and where the object's cells are known the finger must come near them:
an object that a person puts back between two pushes is not pushed. A way with corners, or along
which the finger speeds up, becomes several pushes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import PushwiseError
from pushwise.physics.actions import Push
from pushwise.pushes.findings import Findings, Found
from pushwise.pushes.record import Noise, PushRecord
from pushwise.pushes.rest import air_force, rest_noise
from pushwise.pushes.straight import fit_line, straight_stretches
from pushwise.pushes.stream import Recording, Stream, too_far
from pushwise.shape.grid import CellGrid
from pushwise.shape.polygon import outline_distance, placed

__all__ = ["cut_pushes"]

Array = NDArray[np.float64]

_STRAIGHT = 1e-3  # m a finger may be from a straight way at constant velocity,
_SIGMAS = 6.0  # or this many times its noise
_TRAVEL = 5e-3  # m; a finger that moves less pushes nothing worth a record
_SLOW = 1e-3  # m/s; a finger slower than this rests
_MOVED = 2e-3  # m; an object that moves less was not pushed
_ARM = 0.05  # m: what a turn by one radian counts as
_BESIDE = 0.01  # m of the finger's way kept before the object moves and after it rests
_TAIL = 0.3  # s after the finger stopped in which the object may slide on
_NEAR = 0.02  # m; a finger that comes no nearer to the outline did not push
_FELT = 0.05  # N; less force than this, or than the noise, is none


@dataclass(frozen=True, eq=False)
class _Span:
    """A push, but for its force."""

    push: Push
    t: Array  # (k,) stamps [s] of the recording
    pose: Array  # (k, 3)
    stray: float  # m the finger was off its straight way


def cut_pushes(
    recordings: Sequence[Recording],
    *,
    grid: CellGrid | None = None,
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Findings:
    """Find the pushes in recordings of one object.

    grid: the object's cells, if known; pushes whose finger never comes near them are left out.
    offset: pose (x, y, theta) [m, m, rad] of the grid frame in the frame that was tracked.
    """
    recordings = [replace(r, object=_moved(r.object, np.array(offset))) for r in recordings]
    spans, left_out, notes = [], [], []
    for recording in recordings:
        found, why = _spans(recording, grid)
        spans.append(found)
        left_out += why
        notes += [note for note in recording.notes if note not in notes]
    noise = rest_noise(recordings, [[(s.t[0], s.t[-1]) for s in part] for part in spans])
    sign, air = 1.0, [np.zeros(2)] * len(recordings)
    if any(recording.force is not None for recording in recordings):
        missing = [r.source for r in recordings if r.force is None]
        if missing:
            raise PushwiseError(
                f"{missing[0]} has no force and {len(recordings) - len(missing)} others have; "
                "a log has forces for all of its pushes or for none."
            )
        air = [air_force(r, _still(r)) for r in recordings]
        sign = _sign(recordings, spans, air)
        notes += _force_notes(sign, air)
    pushes = []
    for recording, part, zero in zip(recordings, spans, air, strict=True):
        for span in part:
            found_force = _force(recording, span, sign, zero)
            if found_force is not None and not _felt(found_force, noise):
                at = f"{recording.source}, push at {span.t[0]:.2f} s"
                left_out.append(f"{at}: the object moves but no force is felt")
                continue
            pushes.append(_found(recording, span, found_force, noise))
    return Findings(tuple(recordings), tuple(pushes), tuple(left_out), noise, tuple(notes))


def _spans(recording: Recording, grid: CellGrid | None) -> tuple[list[_Span], list[str]]:
    """Return the pushes of a recording, and why others that look like one are left out."""
    finger = recording.finger
    tolerance = max(_STRAIGHT, _SIGMAS * float(finger.jitter.max()))
    still = _still(recording)
    spans, left_out = [], []
    for first, last in straight_stretches(finger.t, finger.values, tolerance):
        travel = float(np.hypot(*(finger.values[last] - finger.values[first])))
        if travel < max(_TRAVEL, _SLOW * (finger.t[last] - finger.t[first])):
            continue
        span = _span(recording, first, last, still, tolerance)
        if span is None:
            continue
        if why := _refused(recording, span, grid):
            left_out.append(f"{recording.source}, push at {span.t[0]:.2f} s: {why}")
        else:
            spans.append(span)
    return spans, left_out


def _span(
    recording: Recording, first: int, last: int, still: float, tolerance: float
) -> _Span | None:
    """Return the push along one stretch of the finger's way, None if the object does not move."""
    finger, seen = recording.finger, recording.object
    begin, end = finger.t[first], finger.t[last]
    # The instant the finger stops is a sample of its own, so that the line ends where it did.
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
    # The object is quiet until it is touched, and again when the finger slips off it.
    onset = int(np.argmax(_distance(pose, pose[0]) > still))
    quiet = _distance(pose, pose[-1]) <= still
    rest = len(t) - int(np.argmin(quiet[::-1]))
    margin = (_BESIDE + still) / speed
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
    push = Push(start + (kept[0] - begin) * velocity, velocity, duration)
    return _Span(push, kept, pose, stray)


def _tail(recording: Recording, last: int, tolerance: float) -> Array:
    """Return the object's stamps after the finger stopped, until it moves away, shape (k,)."""
    finger, seen = recording.finger, recording.object
    away = np.hypot(*(finger.values[last:] - finger.values[last]).T) > tolerance
    leaves = finger.t[last + int(np.argmax(away))] if away.any() else finger.t[-1]
    end = finger.t[last]
    tail: Array = seen.t[(seen.t > end) & (seen.t < min(end + _TAIL, leaves))]
    return tail[finger.seen(tail)]


def _refused(recording: Recording, span: _Span, grid: CellGrid | None) -> str:
    """Return why a push cannot be one, empty if it can."""
    step, dt = np.diff(span.pose, axis=0), np.diff(span.t)
    jumped = too_far(step, dt)
    if jumped.any():
        i = int(np.argmax(jumped))
        return (
            f"the tracked object jumps by {1e3 * np.hypot(*step[i, :2]):.0f} mm and "
            f"{np.degrees(abs(step[i, 2])):.0f} degrees at {span.t[i + 1]:.2f} s"
        )
    if grid is not None:
        finger = recording.finger.at(span.t)
        pairs = zip(span.pose, finger, strict=True)
        gap = min(outline_distance(placed(grid.outline, pose), at) for pose, at in pairs)
        if gap > _NEAR:
            return f"the finger comes no nearer to the object than {1e3 * gap:.0f} mm"
    return ""


def _moved(stream: Stream, offset: Array) -> Stream:
    """Return the object's stream for another frame of it, at `offset` (3,) in the tracked one."""
    x, y, theta = stream.values.T
    cos, sin = np.cos(theta), np.sin(theta)
    values = np.column_stack(
        [
            x + cos * offset[0] - sin * offset[1],
            y + sin * offset[0] + cos * offset[1],
            theta + offset[2],
        ]
    )
    return replace(stream, values=values)


def _distance(pose: Array, other: Array) -> Array:
    """Return how far poses (..., 3) are apart [m], turns counted in."""
    step = pose - other
    distance: Array = np.hypot(step[..., 0], step[..., 1]) + _ARM * np.abs(step[..., 2])
    return distance


def _still(recording: Recording) -> float:
    """Return how far [m] noise alone may take the object."""
    x, y, theta = recording.object.jitter
    return max(0.5 * _MOVED, _SIGMAS * float(max(x, y) + _ARM * theta))


def _force(recording: Recording, span: _Span, sign: float, zero: Array) -> Array | None:
    """Return the mean forces on the object since the sample before (k, 2), if measured."""
    if recording.force is None:
        return None
    return sign * (recording.force.mean_between(span.t) - zero)


def _felt(force: Array, noise: Noise) -> bool:
    """Return whether the finger pushed with any force (k, 2)."""
    strongest = float(np.percentile(np.hypot(*force.T), 90))
    return strongest > max(_FELT, 3.0 * noise.force)


def _sign(recordings: Sequence[Recording], spans: list[list[_Span]], air: list[Array]) -> float:
    """Return -1 when what was measured is the reaction on the finger, else 1.

    A finger that pushes an object over a table does work on it: the force on the object points
    along the finger's way.
    """
    power = 0.0
    for recording, part, zero in zip(recordings, spans, air, strict=True):
        for span in part:
            force = _force(recording, span, 1.0, zero)
            assert force is not None
            power += float(np.sum(force @ span.push.velocity))
    return -1.0 if power < 0.0 else 1.0


def _force_notes(sign: float, air: list[Array]) -> list[str]:
    """Say what was done to the forces."""
    notes = []
    if sign < 0.0:
        notes.append("the force points against the pushes: taken as that on the finger, negated")
    fx, fy = np.median(air, axis=0)
    if np.hypot(fx, fy) > 0.0:
        notes.append(f"the force reads ({fx:.3g}, {fy:.3g}) N in the air: subtracted")
    return notes


def _found(recording: Recording, span: _Span, force: Array | None, noise: Noise) -> Found:
    """Return a push as a record."""
    source = f"{recording.source} at {span.t[0]:.3f} s"
    t = span.t - span.t[0]
    record = PushRecord(span.push, t, span.pose, force, noise=noise, source=source)
    return Found(record, recording.source, float(span.t[0]), span.stray)
