"""Whether recorded poses and finger positions can belong to one object that a finger pushes.

No model of the object is needed. A finger is never inside an object; an object at rest stays so
until the finger touches it, and soon rests again when the finger leaves; and slowly pushed, it
moves on average no farther than the finger, because the work of the finger is what friction
dissipates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.geometry.compiled import nearest_normals
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags, Integers

__all__ = ["PushedOutline", "Seen", "Stride", "Violation", "pushed_outline", "seen_of"]

TOLERANCE = 6e-3  # m; correct logs of simulations and of two laboratories stay below 4 mm
MANY_PUSHES = 40  # pushes of a longer log that are looked at
MANY_SAMPLES = 60  # likewise, samples of a longer record
MANY_PLACES = 100  # likewise, places along a longer path of the finger
SOME_SAMPLES = 5  # with this many samples or more, one may be wild
BETWEEN = 4e-3  # m of the finger's path between the places at which its distance is looked at
STRIDE = 8e-3  # m; an object that is seen this far from where it was has moved
SIGMAS = 5.0  # likewise, where more noise is stated
SLIPPERY = 0.08  # friction below which no object is expected
FASTER = 1.5  # what a finger pushes may be this much faster than the finger
FAST = 2.0  # m/s; faster objects are not seen on a table, but wrong units are
FARTHER = 2.0  # times as far as the load, which is not uniform, cells may move on average


class Violation(NamedTuple):
    """By how much a record contradicts what a finger can do [m]; not above zero if it agrees."""

    inside: float
    """How far the finger is inside the object."""
    away: float
    """How far away it is while it moves the object."""
    surplus: float
    """How much farther the object moves than the finger can have pushed it."""


@dataclass(frozen=True, eq=False)
class PushedOutline:
    """What matters of an object: its outline and its size."""

    outline: tuple[Array, Array]  # its corners, x and y, (k,) each
    middle: Array  # mean cell (2,), grid frame
    gyration: float  # root mean square distance of the cells from it [m]
    radius: float  # of the finger [m]

    def toward(self, pose: Array, finger: Array) -> tuple[Array, Array]:
        """Return the finger's distance and direction from the object at m instants.

        Args:
            pose: Poses of the object [m, m, rad], shape (m, 3).
            finger: The finger's centre [m], shape (m, 2).

        Returns:
            Gap between outline and finger [m], negative where they overlap, shape (m,), and the
            outward normal of the outline there, table axes, shape (m, 2).

        """
        cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        dx, dy = (finger - pose[:, :2]).T
        found = np.empty((3, len(pose)))
        x, y = self.outline
        nearest_normals(cos * dx + sin * dy, cos * dy - sin * dx, x, y, found)
        distance, nx, ny = found
        normal = np.stack([cos * nx - sin * ny, sin * nx + cos * ny], axis=1)
        return distance - self.radius, normal

    def gaps(self, pose: Array, finger: Array) -> Array:
        """Return the gap between outline and finger [m], shape (m,); arguments as for `toward`."""
        return self.toward(pose, finger)[0]

    def moved(self, start: Array, pose: Array) -> Array:
        """Return how far cells are from where they were at a pose (3,), for poses (m, 3) [m].

        It is the root mean square over the cells.
        """

        def middles(at: Array) -> Array:
            cos, sin = np.cos(at[..., 2]), np.sin(at[..., 2])
            x, y = self.middle
            there: Array = at[..., :2] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)
            return there

        shift = np.sum((middles(pose) - middles(start)) ** 2, axis=-1)
        # Angles are compared as numbers, because an object may turn more than once.
        far: Array = np.sqrt(shift + (self.gyration * (pose[..., 2] - start[2])) ** 2)
        return far


def pushed_outline(grid: CellGrid, finger: Finger) -> PushedOutline:
    """Return what matters of an object and the finger that pushes it."""
    middle = grid.centres.mean(axis=0)
    square = np.sum((grid.centres - middle) ** 2, axis=1) + grid.cell_size**2 / 6.0
    x, y = grid.outline.T.copy()
    return PushedOutline((x, y), middle, float(np.sqrt(square.mean())), finger.radius)


class Stride(NamedTuple):
    """A part of a record in which the object moves by at least a stride."""

    first: int  # instants between which it does
    last: int
    length: float  # m
    before: float  # smallest gap between the finger in it and the object where it set out [m]
    after: float  # and the object where it arrived [m]


@dataclass(frozen=True, eq=False)
class Seen:
    """A record at many instants: those of its samples, and others between them."""

    name: str  # of the record, for use in a sentence
    t: Array  # (m,) [s]
    pose: Array  # (m, 3), linear between the samples
    finger: Array  # (m, 2)
    there: Flags  # whether the finger is on the table, (m,)
    sample: Integers  # indices of the instants that are samples
    record: PushRecord
    sigma: float  # stated noise of the outline's position [m]

    @property
    def tolerance(self) -> float:
        """Distance [m] beyond which `Violation` contradicts the record, however noisy it is."""
        return max(TOLERANCE, 2e-3 + 3.0 * self.sigma)

    def violation(self, body: PushedOutline) -> Violation:
        """Return by how much the record contradicts what a finger can do."""
        strides = self.strides(body)
        depth = self._depth(body)
        if not strides:
            return Violation(depth, 0.0, 0.0)
        push = self.record.push
        assert isinstance(push, Push)
        free = self.free_slide(body, strides)
        # An object in motion needs no finger; one at rest needs it to start and to keep moving.
        gaps = [] if self.record.twist.any() else [strides[0].before]
        alone = 0.0
        for one in sorted(strides, key=lambda one: -max(one.before, one.after)):
            alone += one.length
            if alone > free:
                slide = push.top_speed**2 / (2.0 * SLIPPERY * GRAVITY)
                gaps.append(max(one.before, one.after) - slide)
                break
        length = sum(one.length for one in strides)
        surplus = length - FARTHER * push.length - free
        return Violation(depth, max(gaps, default=0.0), surplus)

    def free_slide(self, body: PushedOutline, strides: list[Stride]) -> float:
        """Return how far the object may slide without the finger [m], generously."""
        push, twist = self.record.push, self.record.twist
        assert isinstance(push, Push)
        thrown = float(np.hypot(*twist[:2])) + body.gyration * abs(float(twist[2]))
        seen = max(one.length / (self.t[one.last] - self.t[one.first]) for one in strides)
        speed = FASTER * max(min(seen, FAST), push.top_speed, thrown)
        return float(speed**2 / (2.0 * SLIPPERY * GRAVITY) + STRIDE)

    def strides(self, body: PushedOutline) -> list[Stride]:
        """Return the parts of the record in which the object moves, in order of time."""
        found: list[Stride] = []
        left = self.sample
        step = max(STRIDE, SIGMAS * self.sigma)
        while True:
            far = body.moved(self.pose[left[0]], self.pose[left])
            end = int(np.argmax(far >= step))
            if end == 0:
                return found
            first, last = int(left[0]), int(left[end])
            found.append(Stride(first, last, float(far[end]), *self._gaps(body, first, last)))
            left = left[end:]

    def _gaps(self, body: PushedOutline, first: int, last: int) -> tuple[float, float]:
        """Return how close the finger comes between two instants to the poses at these [m].

        Where it sets an object in motion it comes to where that was, and where it lets go of it, or
        holds it, to where that is. A raised finger comes nowhere.
        """
        finger = self.finger[first : last + 1][self.there[first : last + 1]]
        if not len(finger):
            return np.inf, np.inf
        ends = np.repeat(self.pose[[first, last]], len(finger), axis=0)
        gaps = body.gaps(ends, np.concatenate([finger, finger]))
        return float(gaps[: len(finger)].min()), float(gaps[len(finger) :].min())

    def usual_depth(self, body: PushedOutline) -> float:
        """Return how far inside the object the centre of the finger is [m]; negative outside.

        It is that deep in a tenth of the samples: single ones may be wrong.
        """
        on_it = self.sample[self.there[self.sample]]
        if not len(on_it):
            return -np.inf
        gaps = body.gaps(self.pose[on_it], self.finger[on_it])
        return float(np.percentile(-gaps - body.radius, 90.0))

    def _depth(self, body: PushedOutline) -> float:
        """Return how far the finger is inside the object at a sample [m], but for a wild one."""
        at = self.sample[self.there[self.sample]]
        if not len(at):
            return 0.0
        inside = np.sort(-body.gaps(self.pose[at], self.finger[at]))
        return float(inside[-1 if len(inside) < SOME_SAMPLES else -2])


def seen_of(records: Sequence[PushRecord], body: PushedOutline) -> list[Seen]:
    """Return what can be looked at of records; pushes without a finger and falls cannot."""
    usable = [i for i, r in enumerate(records) if isinstance(r.push, Push) and not r.fell]
    return [_seen(records[usable[i]], usable[i], body) for i in _some(len(usable), MANY_PUSHES)]


def _some(count: int, limit: int) -> list[int]:
    """Return the indices of things, or of `limit` of them, evenly distributed."""
    chosen: list[int] = np.linspace(0, count - 1, min(count, limit)).astype(int).tolist()
    return chosen


def _seen(record: PushRecord, index: int, body: PushedOutline) -> Seen:
    """Return a record, number `index` of several, at many instants."""
    push = record.push
    assert isinstance(push, Push)
    begin, end = record.t[0], record.t[-1]
    samples = record.t[_some(len(record.t), MANY_SAMPLES)]
    even = np.linspace(begin, end, int(np.clip(push.length / BETWEEN, 2, MANY_PLACES)))
    bends = push.times[_some(len(push.times), MANY_SAMPLES)]
    t = np.unique(np.concatenate([samples, even, bends.clip(begin, end)]))
    x, y, theta = record.pose.T
    # Angles that jump at pi are named elsewhere (`record_quality`).
    pose = np.stack([np.interp(t, record.t, values) for values in (x, y, np.unwrap(theta))], axis=1)
    noise = record.noise or Noise()
    return Seen(
        record.called(index),
        t,
        pose,
        push.at(t),
        (t <= push.duration) | (not push.raised),
        np.searchsorted(t, samples),
        record,
        float(np.hypot(noise.position, body.gyration * noise.angle)),
    )
