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
from pushwise.typing import Integers

__all__ = ["ClockOffset", "clock_offset"]

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
_BETTER = 1e-3  # m by which variation must decrease to believe in an offset
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
        if self.delay == 0.0:
            return (
                f"finger and object move together as stamped, within {_SAME:g} s (best with the "
                f"object's stamps {self.best:+.2f} s late)"
            )
        late = "late" if self.delay > 0.0 else "early"
        return (
            f"the object's poses are stamped {abs(self.delay):.2f} s {late} compared with the "
            "finger's, by how the two move together: corrected"
        )


def clock_offset(episodes: Sequence[ContactEpisode]) -> ClockOffset | None:
    """Return how the clocks of finger and object in one recording differ; None if that is unclear.

    Args:
        episodes: The episodes of the recording, as stamped.

    """
    shifts = _STEP * np.arange(-round(_SEARCH / _STEP), round(_SEARCH / _STEP) + 1)
    touching = [(one, _moving(one)) for one in episodes if len(one.t) >= _FEWEST]
    touching = [(one, some) for one, some in touching if len(some) >= _FEWEST]
    if not touching:
        return None
    squares = np.mean(
        [[_variance(one, some, shift) for shift in shifts] for one, some in touching], axis=0
    )
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
    return ClockOffset(delay if differs else 0.0, delay)


def _variance(episode: ContactEpisode, some: Integers, shift: float) -> float:
    """Return how much a finger's distance from a side varies [m^2].

    It includes the square of the finger's constant error, weighted: a large one is not likely.

    Args:
        episode: The episode.
        some: Samples at which the finger is in contact.
        shift: How much later than stamped to take the finger [s].

    """
    finger = episode.recording.finger
    t, pose = episode.t[some], episode.pose[some]
    known = finger.seen(t + shift)
    goes = finger.at(t + shift + _NEARBY) - finger.at(t + shift - _NEARBY)
    moved = episode.recording.object.at(t + _NEARBY) - episode.recording.object.at(t - _NEARBY)
    pushes = known & (np.hypot(*goes.T) > _FOLLOWS * np.hypot(moved[:, 0], moved[:, 1]))
    if pushes.sum() < _SEEN * len(t):
        return float("inf")
    t, pose = t[known], pose[known]
    cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    dx, dy = (finger.at(t + shift) - pose[:, :2]).T
    inside = np.column_stack([cos * dx + sin * dy, cos * dy - sin * dx])
    goes = np.diff(finger.at(t), axis=0)
    along = np.arctan2(
        np.sum(cos[1:] * goes[:, 1] - sin[1:] * goes[:, 0]),
        np.sum(cos[1:] * goes[:, 0] + sin[1:] * goes[:, 1]),
    )
    weight = len(t) * (_SCATTER / _ERROR) ** 2
    least = np.inf
    for angle in along + _NORMALS:
        nx, ny = np.cos(angle), np.sin(angle)
        # Unknown are the error (2) and the distance from the side.
        A = np.column_stack([cos * nx - sin * ny, sin * nx + cos * ny, np.ones(len(t))])
        y = inside @ (nx, ny)
        x = np.linalg.solve(A.T @ A + np.diag([weight, weight, 0.0]), A.T @ y)
        square = float(np.sum((y - A @ x) ** 2) + weight * np.sum(x[:2] ** 2))
        least = min(least, square / len(t))
    return least


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
