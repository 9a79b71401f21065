"""`find_episodes`: the parts of a recording in which the finger moves the object.

An episode begins shortly before an object at rest is set in motion and ends shortly after it rests
again, whatever the finger does in between: it may speed up, turn, let go of the object and touch it
again. A slide after the finger has let go belongs to it. Samples are those of the object, at their
own times; the finger is interpolated in time between its two samples before and after. Where one of
the two was not seen, there is no sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pushwise.geometry.polygon import outline_distance, placed
from pushwise.records.log_file import FASTEST, SLOW
from pushwise.records.recordings.false_samples import too_far
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags

__all__ = ["ContactEpisode", "at_rest_within", "find_episodes", "still_words"]

_ARM = 0.05  # m; displacement equivalent to a rotation by one radian
_WINDOW = 0.25  # s; the mean pose over this time is compared with that over the time before
_REST = 2.0 * _WINDOW  # s; an object that rests for longer ends an episode
_CREEP = 2.5e-4  # m; an object whose mean pose changes by less rests,
_CREEP_SIGMAS = 5.0  # or by less than this many standard deviations of the mean's noise
_SIGMAS = 8.0  # of noise: no sample of an object at rest is farther off
_TRAVEL = 5e-3  # m; a finger that moves less makes no push worth a record
_MOVED = 2e-3  # m; an object that moves less was not pushed
_MARGIN = 0.01  # m of the finger's path kept before the object moves
_ROUNDING = 1e-9  # m
_PAUSE = 0.1  # s in which a finger that rests moves by less than
_PAUSED = 2e-4  # m, or less than its noise
_NEAR = 0.02  # m; a finger that stays farther from the outline did not push
_LOOKS = 100  # number of instants at which a finger's distance from the outline is computed
_FIRST = 0.05  # s at the start of a recording that show whether the object is in motion then,
_FEWEST = 3  # or at least as many samples


@dataclass(frozen=True, eq=False)
class ContactEpisode:
    """The samples from before an object is set in motion until it rests again."""

    recording: Recording
    """Where it comes from."""
    t: Array
    """Stamps of the samples [s], those of the object, shape (k,)."""
    pose: Array
    """Poses of the object [m, m, rad], shape (k, 3)."""
    finger: Array
    """The finger's centre [m] as recorded, interpolated between its samples, shape (k, 2)."""
    twist: Array
    """Twist of the object at the first sample [m/s, m/s, rad/s], shape (3,); zero at rest."""

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        return f"{self.recording.source}, push at {self.t[0]:.2f} s"


def find_episodes(
    recording: Recording, grid: CellGrid | None
) -> tuple[list[ContactEpisode], list[str]]:
    """Return the episodes of a recording, and why others that look like one are left out.

    Args:
        recording: The recording.
        grid: The object's cells, if known: the finger must come near them.

    """
    found, left_out = [], []
    free = 0  # the first sample that belongs to no episode before
    for first, last in _motions(recording.object):
        episode = _episode(recording, free, first, last)
        free = last
        if episode is None:
            continue
        if why := _refused(episode, grid):
            left_out.append(f"{episode.name}: {why}")
        else:
            found.append(episode)
    return found, left_out


def still_words(recording: Recording) -> str:
    """Return why a recording has no episode, and none that was left out, in words."""
    seen = recording.object.values
    moved = float(_distance(seen, seen[0]).max())
    if moved < _MOVED:
        return f"the object moves by {1e3 * moved:.1f} mm, which is no push"
    return (
        f"the object moves by {1e3 * moved:.0f} mm, but not between two of its samples at which "
        "the finger was recorded, too"
    )


def _motions(seen: Stream) -> list[tuple[int, int]]:
    """Return the samples [first, last) of each motion of an object, from rest to rest.

    An object that is at the same pose before and after a gap in the recording rested in it.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], _moving(seen), [False]]).astype(int)))
    after = [np.searchsorted(seen.t, t, side="right") for t, length in seen.gaps if length > _REST]
    still = at_rest_within(seen)
    rested = [int(i) for i in after if _distance(seen.values[i], seen.values[i - 1]) <= still]
    return [
        part
        for first, last in edges.reshape(-1, 2).tolist()
        for part in pairwise([first, *(i for i in rested if first < i < last), last])
    ]


def _moving(seen: Stream) -> Flags:
    """Return at which samples (k,) an object moves, or does so within a quarter of a second."""
    t = seen.t
    before, after = (seen.mean_over(t + shift, t + shift + _WINDOW) for shift in (-_WINDOW, 0.0))
    samples = max(_WINDOW / seen.period, 1.0)
    noise = _noise(seen) * np.sqrt(2.0 / samples)
    moving: Flags = _distance(after, before) > max(_CREEP, _CREEP_SIGMAS * noise)
    # However slowly it moved between two samples that are far apart.
    stepped = _distance(seen.values[1:], seen.values[:-1]) > at_rest_within(seen)
    moving[1:] |= stepped
    moving[:-1] |= stepped
    return moving


def at_rest_within(seen: Stream) -> float:
    """Return how far noise alone may seem to move an object [m]."""
    return max(0.5 * _MOVED, _SIGMAS * _noise(seen))


def _noise(seen: Stream) -> float:
    """Return the noise of an object's poses as a distance [m]."""
    x, y, theta = seen.jitter
    return float(max(x, y) + _ARM * theta)


def _episode(recording: Recording, free: int, first: int, last: int) -> ContactEpisode | None:
    """Return the episode of the moving samples [first, last); None if too little moves.

    free: the first sample that belongs to no episode before.
    """
    seen, finger = recording.object, recording.finger
    t = seen.t[free:last]
    t = t[finger.seen(t)]
    begin = int(np.searchsorted(t, seen.t[first]))
    if len(t) - begin < 2:
        return None
    pose, place = seen.at(t), finger.at(t)
    still = at_rest_within(seen)
    moved = _distance(pose, pose[begin]) > still
    if not moved[begin:].any() or _distance(pose[begin:], pose[begin]).max() < _MOVED:
        return None
    onset = begin + int(np.argmax(moved[begin:]))
    start = _start(finger, t, place, onset, _MARGIN + still)
    # After the object has come to rest, a finger that goes away may be raised.
    rest = len(t) - int(np.argmin((_distance(pose, pose[-1]) <= still)[::-1]))
    gone = np.hypot(*(place[rest:] - place[min(rest, len(t) - 1)]).T) > _MARGIN
    end = rest + int(np.argmax(gone)) if gone.any() else len(t)
    t, pose, place = t[start:end], pose[start:end], place[start:end]
    pose[:, 2] -= 2.0 * np.pi * np.round(pose[0, 2] / (2.0 * np.pi))
    # Nothing is known of what was before the first sample: it may have been in motion.
    unknown = start == 0 and (first == 0 or t[0] > seen.t[first])
    twist = _twist(t, pose, _noise(seen)) if unknown else np.zeros(3)
    return ContactEpisode(recording, t, pose, place, twist)


def _start(finger: Stream, t: Array, place: Array, onset: int, margin: float) -> int:
    """Return the first sample of an episode, before the onset of the object's motion.

    It is where the finger comes as near as the margin, or sets out after a rest: before that it may
    have been above the object.

    Args:
        finger: The finger as recorded.
        t: Stamps [s], shape (k,).
        place: The finger's centre then [m], shape (k, 2).
        onset: The first sample at which the object has moved.
        margin: How much of the finger's path to keep before it [m].

    """
    far = np.hypot(*(place[:onset] - place[onset]).T) > margin - _ROUNDING
    earlier = t[:onset] - _PAUSE
    paused = np.hypot(*(place[:onset] - finger.at(earlier)).T) < max(
        _PAUSED, _SIGMAS * float(finger.jitter.max())
    )
    # At the start of a recording nothing is known of a rest.
    paused &= earlier >= finger.t[0]
    before = np.flatnonzero(far | paused)
    return int(before[-1]) if len(before) else 0


def _twist(t: Array, pose: Array, noise: float) -> Array:
    """Return the twist (3,) of an object at the first of its samples, zero if it seems to rest."""
    if len(t) < _FEWEST or t[_FEWEST - 1] - t[0] > _REST:
        return np.zeros(3)
    some = t <= max(t[0] + _FIRST, t[_FEWEST - 1])
    _, slope = np.polynomial.polynomial.polyfit(t[some] - t[0], pose[some], 1)
    moved = float(_distance(slope * (t[some][-1] - t[0]), np.zeros(3)))
    rests = moved < max(_CREEP, _CREEP_SIGMAS * noise / np.sqrt(float(some.sum())))
    twist: Array = np.zeros(3) if rests else slope
    return twist


def _refused(episode: ContactEpisode, grid: CellGrid | None) -> str:
    """Return why an episode cannot be a push, empty if it can."""
    t, pose = episode.t, episode.pose
    travel = float(np.hypot(*(episode.finger - episode.finger[0]).T).max())
    if travel < max(_TRAVEL, SLOW * (t[-1] - t[0])):
        return f"the object moves while the finger moves by {1e3 * travel:.0f} mm"
    step = np.diff(pose, axis=0)
    jumped = too_far(step, np.diff(t))
    if jumped.any():
        i = int(np.argmax(jumped))
        return (
            f"the tracked object jumps by {1e3 * np.hypot(*step[i, :2]):.0f} mm and "
            f"{np.degrees(abs(step[i, 2])):.0f} degrees at {t[i + 1]:.2f} s"
        )
    for what, places in (("object", pose[:, :2]), ("finger", episode.finger)):
        far = np.hypot(*np.diff(places, axis=0).T)
        if (fast := far > FASTEST * np.diff(t)).any():
            i = int(np.argmax(fast))
            return f"the tracked {what} jumps by {1e3 * far[i]:.0f} mm at {t[i + 1]:.2f} s"
    if seconds := _unseen(episode):
        far = 1e3 * np.hypot(*(pose[-1] - pose[0])[:2])
        return f"the object moves by {far:.0f} mm while nothing was recorded for {seconds:.2f} s"
    if grid is not None:
        some = np.unique(np.linspace(0, len(t) - 1, _LOOKS).astype(int))
        pairs = zip(pose[some], episode.finger[some], strict=True)
        gap = min(outline_distance(placed(grid.outline, at), finger) for at, finger in pairs)
        if gap > _NEAR:
            return f"the finger stays at least {1e3 * gap:.0f} mm from the object"
    return ""


def _unseen(episode: ContactEpisode) -> float:
    """Return the length of a gap [s] in which all of the motion is; zero if there is none.

    Object and finger have no samples in it, and the object rests before and after.
    """
    t, pose, finger = episode.t, episode.pose, episode.recording.finger
    i = int(np.argmax(_distance(pose[1:], pose[:-1])))
    still = at_rest_within(episode.recording.object)
    rests = max(_distance(pose[: i + 1], pose[0]).max(), _distance(pose[i + 1 :], pose[-1]).max())
    gap = float(t[i + 1] - t[i])
    lost = gap > _REST / 2 and not finger.seen(t[i : i + 1] + 0.5 * gap).any()
    return gap if lost and rests <= still else 0.0


def _distance(pose: Array, other: Array) -> Array:
    """Return the distance [m] between poses (..., 3), including rotation."""
    step = pose - other
    distance: Array = np.hypot(step[..., 0], step[..., 1]) + _ARM * np.abs(step[..., 2])
    return distance
