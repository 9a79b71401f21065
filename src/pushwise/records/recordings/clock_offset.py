"""How late the object's poses are stamped, compared with the finger's, by how both move together.

A finger that touches a flat side of an object keeps its distance from that side,

    n . R(theta)^T (finger + error - position) = constant,

with a normal n fixed to the object and a constant error of the finger's position. If the two clocks
differ by tau, this holds for the finger at t + tau. At a constant velocity any tau will do, but a
finger that speeds up, slows down or turns reveals it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.records.recordings.episodes import ContactEpisode
from pushwise.typing import Array, Integers

__all__ = ["ClockOffset", "clock_offset", "stated_words"]

_SEARCH = 1.0  # s; larger offsets are not looked for
_STEP = 0.01  # s between the offsets that are tried
_ERROR = 5e-3  # m; how large the constant error of a finger's position may well be,
_SCATTER = 3e-4  # m; if the distance from the side varies by this much
_NORMALS = np.radians(np.arange(-60.0, 61.0, 5.0))  # of a side, from where the finger is going
_TOGETHER = 3e-3  # m; a distance that varies more is not that of a finger from a flat side
_CLEAR = 1.5  # times as much variation one tenth of a second away: otherwise nothing is known
_AWAY = 0.1  # s
_CLEARER = 2.0  # times as much variation as stamped: otherwise no offset is believed
_SAME = 0.04  # s; clocks that differ by less count as the same: a tip that is off feigns as much
_BETTER = 5e-4  # m by which variation must decrease to believe in an offset
_MOST = 300  # samples of an episode that are looked at,
_SLOWEST = 0.1  # those at which the object is as fast as this, compared with its greatest speed,
_NEARBY = 0.1  # s before and after,
_ENDS = 0.2  # s after the first and before the last of these: where contact begins and ends
_LONG = 0.5  # s; what is left of a flick is shorter than this,
_FOLLOWS = 0.3  # times the speed of the object: a slower finger does not push it
_FEWEST = 10  # samples of an episode that says anything
_SEEN = 0.8  # of the samples must have a moving finger when its clock is shifted


@dataclass(frozen=True)
class ClockOffset:
    """What the motion of finger and object says about their clocks."""

    delay: float
    """How late the object's poses are stamped [s]; zero unless the clocks clearly differ."""
    best: float
    """The delay at which they agree best [s]."""

    @property
    def words(self) -> str:
        """What was found, in words."""
        if self.delay == 0.0 and abs(self.best) > _SAME:
            return (
                f"the object's poses may be stamped {_late(self.best)} compared with the finger's, "
                "by how the two move together, but that is not certain enough for a correction; "
                "state the delay if you know it"
            )
        if self.delay == 0.0:
            return (
                f"finger and object move together as stamped, within {_SAME:g} s (best with the "
                f"object's stamps {_late(self.best)})"
            )
        return (
            f"the object's poses are stamped {_late(self.delay)} compared with the finger's, by "
            "how the two move together: corrected"
        )


def stated_words(delay: float, found: ClockOffset | None) -> str:
    """Return what was done with a delay that the user states, and whether the motion agrees."""
    words = "the object's poses are taken to be stamped "
    words += f"{_late(delay)} compared with the finger's" if delay else "by the finger's clock"
    words += ", as stated"
    if found is None or abs(found.best - delay) <= _SAME:
        return words
    return f"{words}, but the two move together best if they are stamped {_late(found.best)}"


def _late(seconds: float) -> str:
    """Return a delay in words; a negative one is early."""
    return f"{abs(seconds):.2f} s {'late' if seconds >= 0.0 else 'early'}"


def clock_offset(episodes: Sequence[ContactEpisode]) -> ClockOffset | None:
    """Return how the clocks of finger and object in one recording differ; None if that is unclear.

    Args:
        episodes: The episodes of the recording, as stamped.

    """
    count = round(_SEARCH / _STEP)
    shifts = _STEP * np.arange(-count, count + 1, dtype=np.float64)
    touching = [(one, _moving(one)) for one in episodes if len(one.t) >= _FEWEST]
    touching = [(one, some) for one, some in touching if len(some) >= _FEWEST]
    if not touching:
        return None
    squares = np.mean([_variances(one, some, shifts) for one, some in touching], axis=0)
    scatter = np.sqrt(squares)
    best = int(np.argmin(scatter))
    away = round(_AWAY / _STEP)
    around = scatter[max(best - away, 0)], scatter[min(best + away, len(shifts) - 1)]
    if scatter[best] > _TOGETHER or min(around) < _CLEAR * scatter[best]:
        return None
    delay = -float(shifts[best])
    now = scatter[len(shifts) // 2]
    differs = (
        abs(delay) > _SAME and now > _CLEARER * scatter[best] and now - scatter[best] > _BETTER
    )
    if abs(delay) > _SAME and now < _CLEAR * scatter[best]:
        return None
    return ClockOffset(delay if differs else 0.0, delay)


def _variances(episode: ContactEpisode, some: Integers, shifts: Array) -> list[float]:
    """Return how much a finger's distance from a side varies [m^2], at each of the shifts.

    It includes the square of the finger's constant error, weighted: a large one is not likely.

    Args:
        episode: The episode.
        some: Samples at which the finger is in contact.
        shifts: How much later than stamped to take the finger [s], shape (k,).

    """
    finger, thing = episode.recording.finger, episode.recording.object
    t, pose = episode.t[some], episode.pose[some]
    later = (t + shifts[:, None]).ravel()
    shape = len(shifts), len(t)
    known = finger.seen(later).reshape(shape)
    goes = finger.at(later + _NEARBY) - finger.at(later - _NEARBY)
    moved = thing.at(t + _NEARBY) - thing.at(t - _NEARBY)
    pushes = known & (
        np.hypot(*goes.T).reshape(shape) > _FOLLOWS * np.hypot(moved[:, 0], moved[:, 1])
    )
    places, stamped = finger.at(later).reshape(*shape, 2), finger.at(t)
    return [
        _variance(pose[known[i]], places[i, known[i]], stamped[known[i]])
        if pushes[i].sum() >= _SEEN * len(t)
        else float("inf")
        for i in range(len(shifts))
    ]


def _variance(pose: Array, finger: Array, stamped: Array) -> float:
    """Return how much a finger's distance from a side varies [m^2], that of the best side.

    Args:
        pose: Of the object [m, m, rad], shape (k, 3).
        finger: Where the finger is [m] with its clock shifted, shape (k, 2).
        stamped: Where it is as stamped, which says what way it goes.

    """
    cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    dx, dy = (finger - pose[:, :2]).T
    goes = np.diff(stamped, axis=0)
    along = np.arctan2(
        np.sum(cos[1:] * goes[:, 1] - sin[1:] * goes[:, 0]),
        np.sum(cos[1:] * goes[:, 0] + sin[1:] * goes[:, 1]),
    )
    weight = len(pose) * (_SCATTER / _ERROR) ** 2
    nx, ny = np.cos(along + _NORMALS)[:, None], np.sin(along + _NORMALS)[:, None]
    # Unknown are the error (2) and the distance from the side, for every normal.
    A = np.ones((len(_NORMALS), len(pose), 3))
    A[:, :, 0] = cos * nx - sin * ny
    A[:, :, 1] = sin * nx + cos * ny
    y = (nx * (cos * dx + sin * dy) + ny * (cos * dy - sin * dx))[:, :, None]
    At = A.transpose(0, 2, 1)
    x = np.linalg.solve(At @ A + np.diag([weight, weight, 0.0]), At @ y)
    squares = np.sum((y - A @ x) ** 2, axis=(1, 2)) + weight * np.sum(x[:, :2] ** 2, axis=(1, 2))
    return float(squares.min()) / len(pose)


def _moving(episode: ContactEpisode) -> Integers:
    """Return samples at which the object moves in contact with the finger, at most `_MOST`."""
    t, x, y = episode.t, *episode.pose[:, :2].T
    step = [np.interp(t + _NEARBY, t, one) - np.interp(t - _NEARBY, t, one) for one in (x, y)]
    far = np.hypot(*step)
    fast = t[far > _SLOWEST * far.max()]
    moving = np.flatnonzero((t > fast[0] + _ENDS) & (t < fast[-1] - _ENDS))
    if not len(moving) or t[moving[-1]] - t[moving[0]] < _LONG:
        return moving[:0]
    some: Integers = moving[np.linspace(0, len(moving) - 1, min(_MOST, len(moving))).astype(int)]
    return some
