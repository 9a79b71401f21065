"""Cut recordings of long pushes into short ones.

While the finger is at the outline, its path is divided into pieces of length `PIECE`. A piece, with
the poses seen at its start and at its end, is a push like those of other tables. Pieces that cannot
be one straight push are dropped and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.records.recordings.stream import Recording
from pushwise.typing import Array, Flags

__all__ = ["Recorded", "cut_pieces"]


PIECE = 0.01  # m of the path of the finger
TOUCH = 2e-3  # m; a finger closer to the outline than this, inside or outside, touches it
BENT = 5e-4  # m; a path that deviates more from its chord is not straight
STILL = 1e-3  # m; an object whose centre moves less was not pushed


@dataclass(frozen=True)
class Recorded:
    """The content of a recording, and how accurate it is."""

    set: str
    seconds: float
    pieces: int
    thrown: int  # pieces dropped because the object moved farther than a finger can push it
    still: int  # pieces dropped because the object rested
    bent: int  # pieces dropped because the finger changed direction
    inside_percent: float  # samples that show the finger more than `TOUCH` inside the object
    gap_mm: float  # standard deviation of the gap between finger and object, ideally zero
    gap_change_mm: float  # mean change of the gap over a piece
    jitter_mm: float  # noise of the tracked position about a smooth motion
    jitter_deg: float
    turn_deg: float  # mean rotation over a piece: the error of predicting no rotation


def cut_pieces(
    recording: Recording, outline: Array, radius: float
) -> tuple[list[PushRecord], Recorded]:
    """Cut a recording into pieces.

    Args:
        recording: Poses of the object and positions of the finger.
        outline: Outline of the object [m] in the tracked frame, (k, 2).
        radius: Radius of the finger [m].

    Returns:
        The pieces in order of time, and statistics of the recording.

    """
    t, tip = recording.finger.t, recording.finger.values
    pose = recording.object.at(t)
    pairs = zip(pose, tip, strict=True)
    gap = np.array([outline_distance(placed(outline, at), p) - radius for at, p in pairs])
    seen = recording.object.seen(t)
    touching = seen & (np.abs(gap) <= TOUCH)
    records, left_out, gaps = [], {"thrown": 0, "still": 0, "bent": 0}, []
    for first, last in _stretches(recording, touching):
        for a, b in _pieces(tip, first, last):
            if why := _no_push(outline, tip[a : b + 1], pose[a], pose[b]):
                left_out[why] += 1
                continue
            duration = float(t[b] - t[a])
            push = Push.line(tip[a], (tip[b] - tip[a]) / duration, duration)
            source = f"{recording.source} at {t[a]:.3f} s"
            records.append(PushRecord(push, [0.0, duration], pose[[a, b]], source=source))
            gaps.append(gap[[a, b]])
    if not records:
        raise PushwiseError(
            f"{recording.source}: the finger never stays within {1e3 * TOUCH:g} mm of the outline "
            f"while it moves {1e3 * PIECE:g} mm straight ahead; the smallest distance is "
            f"{1e3 * np.abs(gap).min():.1f} mm. Check the outline, the radius and the units."
        )
    x, y, theta = recording.object.jitter
    turns = [abs(record.pose[1, 2] - record.pose[0, 2]) for record in records]
    return records, Recorded(
        recording.source,
        float(t[-1] - t[0]),
        len(records),
        **left_out,
        inside_percent=100.0 * float(np.mean(gap[seen] < -TOUCH)),
        gap_mm=1e3 * float(np.std(gaps)),
        gap_change_mm=1e3 * float(np.mean(np.abs(np.diff(gaps)))),
        jitter_mm=1e3 * float(np.hypot(x, y) / np.sqrt(2.0)),
        jitter_deg=float(np.degrees(theta)),
        turn_deg=float(np.degrees(np.mean(turns))),
    )


def _stretches(recording: Recording, touching: Flags) -> Iterator[tuple[int, int]]:
    """Yield the first and last sample of each stretch in which the finger touches the object."""
    t = recording.finger.t
    lost = [begin for begin, _ in recording.finger.gaps + recording.object.gaps]
    number = np.searchsorted(np.sort(lost), t) + np.cumsum(~touching)
    at = np.flatnonzero(touching)
    for some in np.split(at, np.flatnonzero(np.diff(number[at])) + 1):
        if len(some) > 1:
            yield int(some[0]), int(some[-1])


def _pieces(tip: Array, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last sample of each piece of a stretch; a remainder is dropped."""
    while True:
        far = np.hypot(*(tip[first : last + 1] - tip[first]).T) >= PIECE
        if not far.any():
            return
        end = first + int(np.argmax(far))
        yield first, end
        first = end


def _no_push(outline: Array, tip: Array, start: Array, end: Array) -> str:
    """Return why a piece is not a straight push by the finger (k, 2) alone; empty if it is one.

    The work of a finger on an object is at most the length of its path times the largest friction
    force, and friction dissipates the mean path of the load times that force. So the load moves on
    average no farther than the finger. If every point of an object does, the object was hit, or
    its poses are delayed.
    """
    way = float(np.hypot(*np.diff(tip, axis=0).T).sum())
    middle = outline.mean(axis=0)
    moved = float(np.hypot(*(placed(middle[None], end) - placed(middle[None], start))[0]))
    turned = abs(end[2] - start[2]) * float(np.hypot(*(outline - middle).T).max())
    if moved - turned > way + TOUCH:
        return "thrown"
    if moved + turned < STILL:
        return "still"
    chord, (x, y) = tip[-1] - tip[0], (tip - tip[0]).T
    stray = np.abs(chord[0] * y - chord[1] * x).max() / np.hypot(*chord)
    return "bent" if stray > BENT else ""
