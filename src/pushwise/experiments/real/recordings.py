"""Long pushes that were recorded all along, cut into short ones.

While the finger is at the outline its way is divided into pieces `PIECE` long. A piece, from where
object and finger were seen at its start to where they were seen at its end, is a push like those
of other tables. Pieces that cannot be one straight push are left out, and counted.
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


PIECE = 0.01  # m of the finger's way
TOUCH = 2e-3  # m; a finger seen nearer to the outline than this, inside or outside, touches
BENT = 5e-4  # m; a way that strays farther from its chord is not straight
STILL = 1e-3  # m; an object whose middle moves less was not pushed


@dataclass(frozen=True)
class Recorded:
    """What a recording holds, and how exact it is."""

    set: str
    seconds: float
    pieces: int
    thrown: int  # pieces left out because the object moved farther than a finger can push it,
    still: int  # because it rested,
    bent: int  # because the finger turned
    inside_percent: float  # samples that show the finger more than `TOUCH` inside the object
    gap_mm: float  # scatter of the gap between finger and object: truly none, whatever the set-up
    gap_change_mm: float  # its mean change over a piece
    jitter_mm: float  # of the tracked place about a smooth motion
    jitter_deg: float
    turn_deg: float  # mean turn of a piece: the error of who says that nothing turns


def cut_pieces(
    recording: Recording, outline: Array, radius: float
) -> tuple[list[PushRecord], Recorded]:
    """Return the pieces of a recording in order of time, and what there is to say of it.

    outline: of the object [m] in the tracked frame, (k, 2); radius: of the finger [m].
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
            push = Push(tip[a], (tip[b] - tip[a]) / duration, duration)
            source = f"{recording.source} at {t[a]:.3f} s"
            records.append(PushRecord(push, [0.0, duration], pose[[a, b]], source=source))
            gaps.append(gap[[a, b]])
    if not records:
        raise PushwiseError(
            f"{recording.source}: nowhere is the finger within {1e3 * TOUCH:g} mm of the outline "
            f"while it pushes the object {1e3 * PIECE:g} mm straight on; it comes as near as "
            f"{1e3 * np.abs(gap).min():.1f} mm. Are outline, radius and units right?"
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
    """Return the first and last sample of each stretch on which the finger is seen to touch."""
    t = recording.finger.t
    lost = [begin for begin, _ in recording.finger.gaps + recording.object.gaps]
    number = np.searchsorted(np.sort(lost), t) + np.cumsum(~touching)
    at = np.flatnonzero(touching)
    for some in np.split(at, np.flatnonzero(np.diff(number[at])) + 1):
        if len(some) > 1:
            yield int(some[0]), int(some[-1])


def _pieces(tip: Array, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Return the first and last sample of each piece of a stretch; a rest of it remains."""
    while True:
        far = np.hypot(*(tip[first : last + 1] - tip[first]).T) >= PIECE
        if not far.any():
            return
        end = first + int(np.argmax(far))
        yield first, end
        first = end


def _no_push(outline: Array, tip: Array, start: Array, end: Array) -> str:
    """Return why a piece is no straight push of the finger (k, 2) alone, empty if it is.

    A finger does no more work on an object than its way times the largest friction force, and
    friction takes the mean way of the load times that force: the load moves, in the mean, no
    farther than the finger. An object all of which does was hit, or its poses are late.
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
