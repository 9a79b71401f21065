"""Free slides: what an object does after the finger has let go of it.

In a free slide friction alone slows the object down. Nothing else has to be known: no impact, no
finger, no law by which the load shifts under a push. It shows the inertia of the object, and with
it the centre of mass, which slow pushes show only as far as friction is uniform. Therefore of a
record that has one, only the slide is learned from; its starting pose and twist are unknowns.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.geometry.compiled import nearest_feature
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import ForcePush, Push
from pushwise.records.finger_path import kept_up_speed
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags

__all__ = [
    "LEAN",
    "LEAN_DOUBT",
    "TWIST_DOUBT",
    "free_slide",
    "is_flick",
    "is_free",
    "lacks_slide",
    "lying",
]

LEAN = 0.25  # of the mean height of the cells: half of where the centre of mass is, because
LEAN_DOUBT = 0.8  # log; not every object shifts its load when it slows down, a soft one hardly
TWIST_DOUBT = np.array([0.3, 0.3, 3.0])  # m/s, m/s, rad/s: more than samples leave in doubt

FAST = 0.25  # m/s; a finger that speeds up to more than this flicks the object
APART = 3e-3  # m; a finger farther away than this, noise included, does not touch
CALM = 0.05  # s after the finger has let go, in which an object may rock
SHORTEST = 0.015  # m of sliding from which inertia can be learned
STOPPING = 0.006  # m of sliding, rocking included, that at least shows how strong friction is
FEWEST = 5  # samples
RARE = 25.0  # Hz; a slide is over before as many samples are taken at a lower rate
SLIPPERY = 0.05  # friction; what slows down by less than this makes it do is pushed after all
STILL = 3e-3  # m from where an object comes to rest: no motion that noise could not feign
LIFTED = 5e-4  # m; an object lifted by less, or by less than noise, lies on the table
TILTED = 5e-3  # rad; likewise
SURE = 3.7  # standard deviations of noise that one sample in a thousand exceeds
AFTER = 3  # samples that are kept of the rest


def is_free(record: PushRecord) -> bool:
    """Return whether a record is a free slide: nothing pushes."""
    return isinstance(record.push, ForcePush) and not record.push.force.any()


def is_flick(push: Push) -> bool:
    """Return whether the finger speeds up in a push to a speed at which inertia counts."""
    top = kept_up_speed(push)
    return bool(top > FAST and np.hypot(*push.velocities[0]) < 0.5 * top)


def free_slide(grid: CellGrid, record: PushRecord, radius: float) -> PushRecord | None:
    """Return the longest free slide of a record as a record of its own; None if there is none.

    The finger is apart, and the object lies flat, as far as that was measured. The beginning, in
    which it may rock, is left out, unless the object stops so soon that nothing else is left: then
    the slide shows little more than that friction is strong, and that the next flick may be faster.

    Args:
        grid: The object's cells.
        record: A push.
        radius: Radius of the finger [m].

    """
    flicked = isinstance(record.push, Push) and is_flick(record.push)
    for calm, shortest in ((CALM, SHORTEST), (0.0, STOPPING if flicked else SHORTEST)):
        found = _longest(grid, record, radius, calm)
        if found is not None and found.last - found.first >= FEWEST and found.way >= shortest:
            return _slide(record, found.first, found.last)
    return None


def lacks_slide(grid: CellGrid, record: PushRecord, radius: float) -> str:
    """Return why a flick has no free slide to learn from, as a clause; arguments as above."""
    found = _longest(grid, record, radius, 0.0)
    if found is None:
        return "the object does not slide on after the finger has let go; flick it faster"
    rate = (len(record.t) - 1) / (record.t[-1] - record.t[0])
    if found.way < STOPPING and rate > RARE:
        return (
            f"the object slides on for no more than {1e3 * found.way:.0f} mm after it; flick it "
            "faster"
        )
    return (
        f"at {rate:.0f} Hz only {found.last - found.first} poses of its free slide are measured; "
        "measure more often"
    )


class _Run(NamedTuple):
    """Samples [first, last) of a free slide, and how far the object slides in it [m]."""

    first: int
    last: int
    way: float


def _longest(grid: CellGrid, record: PushRecord, radius: float, calm: float) -> _Run | None:
    """Return the longest free slide of a record, however short; None where nothing moves.

    calm: time after the finger has let go that is left out [s].
    """
    if not isinstance(record.push, Push) or record.fell:
        return None
    size = 0.5 * np.sqrt(grid.area)
    best = None
    for begin, end in _runs(_apart(grid, record, radius) & lying(record)):
        first = begin
        if begin == 0 and not record.twist.any():
            continue  # nothing has set it in motion
        if begin > 0:
            first = int(np.searchsorted(record.t, record.t[begin] + calm))
        way = _size_of(record.pose[first:end] - record.pose[end - 1], size)
        moving = np.flatnonzero(way > STILL)
        if not len(moving) or not _slows_down(record.t[first:end], way, int(moving[-1])):
            continue
        if best is None or way[0] > best.way:
            best = _Run(first, min(first + int(moving[-1]) + 1 + AFTER, end), float(way[0]))
    return best


def _slows_down(t: Array, way: Array, last: int) -> bool:
    """Return whether friction slows an object down, as it would if nothing pushed it.

    If not, the finger is not where the record has it: it only seems to be apart. A few samples do
    not show it.

    Args:
        t: Times of samples [s], shape (k,).
        way: How far it is from where it comes to rest [m], shape (k,).
        last: The last sample at which it moves.

    """
    if last < FEWEST:
        return True
    half = 0.5 * float(t[last] - t[0])
    middle = float(np.interp(t[0] + half, t, way))
    # In equal times it goes half^2 times the deceleration less far.
    return bool((way[0] - middle) - (middle - way[last]) >= SLIPPERY * GRAVITY * half**2)


def _size_of(motion: Array, size: float) -> Array:
    """Return how far motions (k, 3) [m, m, rad] move an object of some radius [m], shape (k,)."""
    moved: Array = np.hypot(motion[:, 0], motion[:, 1]) + size * np.abs(motion[:, 2])
    return moved


def _apart(grid: CellGrid, record: PushRecord, radius: float) -> Flags:
    """Return at which samples the finger does not touch the object, shape (T,)."""
    assert isinstance(record.push, Push) and record.finger is not None
    ox, oy = (np.ascontiguousarray(column) for column in grid.outline.T)
    apart = np.empty(len(record.t), bool)
    for k, (place, (x, y, theta)) in enumerate(zip(record.finger, record.pose, strict=True)):
        cos, sin = np.cos(theta), np.sin(theta)
        dx, dy = place - (x, y)
        gap = nearest_feature(cos * dx + sin * dy, cos * dy - sin * dx, ox, oy)[1] - radius
        apart[k] = gap > APART
    if record.push.raised:
        apart |= record.t > record.push.duration
    return apart


def lying(record: PushRecord) -> Flags:
    """Return at which samples the object lies flat on the table, shape (T,).

    A lifted or tilted object slides on a part of its support. All samples count as flat if height
    and tilt were not measured, or are within their noise, which is estimated unless it is stated.
    """
    if record.lift is None:
        return np.ones(len(record.t), bool)
    height, tilt = np.abs(record.lift - [np.median(record.lift[:, 0]), 0.0]).T
    if record.noise is not None:
        sigma, angle = record.noise.position, record.noise.angle
    else:
        # Most samples are of an object that lies. Heights are normal; tilts are the lengths of two
        # normal angles. These are the ratios of their medians to the standard deviations.
        sigma, angle = np.median(height) / 0.6745, np.median(tilt) / 1.1774
    flat: Flags = (height <= LIFTED + SURE * sigma) & (tilt <= TILTED + SURE * angle)
    return flat


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """Return where flags are set, as ranges: first and one after the last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _slide(record: PushRecord, first: int, last: int) -> PushRecord:
    """Return the samples [first, last) as a record of an object that nothing pushes."""
    t, pose = record.t[first:last] - record.t[first], record.pose[first:last]
    few = min(len(t), max(FEWEST, int(np.searchsorted(t, 0.1))))
    twist = np.polynomial.polynomial.polyfit(t[:few], pose[:few], 2)[1]
    return PushRecord(
        ForcePush(0, (0.0, 0.0), float(t[-1])),
        t,
        pose,
        twist=twist,
        noise=record.noise,
        source=record.source,
    )
