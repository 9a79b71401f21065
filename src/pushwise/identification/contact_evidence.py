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

from pushwise.geometry.polygon import contains, signed_area
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Finger, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags, Integers

__all__ = ["Body", "Seen", "Stretch", "body_of", "seen_of"]

MANY_PUSHES = 40  # of a longer log, so many are looked at
MANY_SAMPLES = 60  # likewise, of a longer record
BETWEEN = 4e-3  # m of the finger's path between the places at which its distance is looked at
STRIDE = 8e-3  # m; far more than noise: an object that moved so far has moved
SIGMAS = 5.0  # of stated noise: as above
SLIPPERY = 0.08  # friction below which no object is expected
FASTER = 1.5  # what a finger pushes may be this much faster than the finger
FARTHER = 2.0  # a load that is not uniform may move this much less than the cells do on average


@dataclass(frozen=True, eq=False)
class Body:
    """What matters of an object: its outline and its size."""

    outline: Array  # (k, 2)
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
        point = np.stack([cos * dx + sin * dy, cos * dy - sin * dx], axis=1)
        edge = np.roll(self.outline, -1, axis=0) - self.outline
        from_corner = point[:, None] - self.outline
        share = np.sum(from_corner * edge, axis=2) / np.sum(edge**2, axis=1)
        apart = from_corner - share.clip(0.0, 1.0)[..., None] * edge
        square = np.sum(apart**2, axis=2)
        nearest = np.argmin(square, axis=1)
        rows = np.arange(len(point))
        distance = np.sqrt(square[rows, nearest])
        side = np.where(contains(self.outline, point), -1.0, 1.0)
        nx, ny = (side * apart[rows, nearest].T) / np.maximum(distance, 1e-12)
        normal = np.stack([cos * nx - sin * ny, sin * nx + cos * ny], axis=1)
        return side * distance - self.radius, normal

    def gaps(self, pose: Array, finger: Array) -> Array:
        """Return the gap between outline and finger [m], shape (m,); arguments as of `toward`."""
        return self.toward(pose, finger)[0]

    def moved(self, start: Array, pose: Array) -> Array:
        """Return how far cells are from where they were at a pose (3,), for poses (m, 3) [m].

        It is the root mean square over the cells.
        """
        def middles(at: Array) -> Array:
            cos, sin = np.cos(at[..., 2]), np.sin(at[..., 2])
            x, y = self.middle
            return at[..., :2] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)

        shift = np.sum((middles(pose) - middles(start)) ** 2, axis=-1)
        # Angles are compared as numbers, because an object may turn more than once.
        far: Array = np.sqrt(shift + (self.gyration * (pose[..., 2] - start[2])) ** 2)
        return far


def body_of(grid: CellGrid, finger: Finger) -> Body:
    """Return what matters of an object and the finger that pushes it."""
    middle = grid.centres.mean(axis=0)
    square = np.sum((grid.centres - middle) ** 2, axis=1) + grid.cell_size**2 / 6.0
    assert signed_area(grid.outline) > 0.0
    return Body(grid.outline, middle, float(np.sqrt(square.mean())), finger.radius)


class Stretch(NamedTuple):
    """A part of a record in which the object moves by at least a stride."""

    first: int  # instants between which it does
    last: int
    length: float  # m
    gap: float  # smallest gap between finger and object in it [m]


@dataclass(frozen=True, eq=False)
class Seen:
    """A record at many instants: those of the samples, and others between them."""

    record: PushRecord
    pose: Array  # (m, 3), linear between the samples
    finger: Array  # (m, 2)
    sample: Integers  # indices of the instants that are samples
    there: Flags  # whether the finger is on the table, (m,)
    t: Array  # (m,)
    noise: float  # of the position of the outline [m]

    def closeness(self, body: Body) -> Array:
        """Return the gap between finger and object at each instant [m], shape (m,).

        Samples do not show when an object began to move between them, so the finger is compared
        with the poses seen before and after an instant, too. It is infinite for a finger in the air.
        """
        after = np.searchsorted(self.sample, np.arange(len(self.t)))
        before = np.searchsorted(self.sample, np.arange(len(self.t)), side="right") - 1
        ways = (self.pose, self.pose[self.sample[before]], self.pose[self.sample[after]])
        gap: Array = np.minimum.reduce([body.gaps(way, self.finger) for way in ways])
        gap[~self.there] = np.inf
        return gap

    def strides(self, body: Body) -> list[Stretch]:
        """Return the parts of the record in which the object moves, in order of time."""
        found = []
        gap = self.closeness(body)
        first = int(self.sample[0])
        step = max(STRIDE, SIGMAS * self.noise)
        for at in self.sample[1:].tolist():
            far = float(body.moved(self.pose[first], self.pose[at]))
            if far >= step:
                found.append(Stretch(first, at, far, float(gap[first : at + 1].min())))
                first = at
        return found

    def violation(self, body: Body) -> float:
        """Return by how much the record contradicts what a finger can do [m]; about 0 if it does not."""
        return max(self.depth(body), *self.apart(body))

    def depth(self, body: Body) -> float:
        """Return how far the finger is inside the object [m], but for one wild sample."""
        at = self.sample[self.there[self.sample]]
        if not len(at):
            return 0.0
        inside = np.sort(-body.gaps(self.pose[at], self.finger[at]))
        return float(inside[-2 if len(inside) > 4 else -1])

    def apart(self, body: Body) -> tuple[float, float, float]:
        """Return three distances [m]: how far away the finger was when the object set out, how far while it
        moved on, and how much farther the object moved than the finger."""
        strides = self.strides(body)
        if not strides:
            return 0.0, 0.0, 0.0
        thrown = self.record.twist
        at_once = float(np.hypot(*thrown[:2])) + body.gyration * abs(float(thrown[2]))
        push = self.record.push
        assert isinstance(push, Push)
        set_out = 0.0 if at_once > 0.0 else strides[0].gap
        quick = max(
            (one.length / (self.t[one.last] - self.t[one.first]) for one in strides), default=0.0
        )
        speed = FASTER * max(min(quick, 2.0), push.top_speed, at_once)
        free = speed**2 / (2.0 * SLIPPERY * GRAVITY) + STRIDE
        alone, on = 0.0, 0.0
        for one in sorted(strides, key=lambda one: -one.gap):
            alone += one.length
            if alone > free:
                on = one.gap
                break
        way = sum(one.length for one in strides)
        return set_out, on, way - FARTHER * push.length - free


def seen_of(records: Sequence[PushRecord], reach: float) -> list[Seen]:
    """Return what can be looked at of records; pushes without a finger and falls cannot.

    Args:
        records: The records.
        reach: Distance of the outline from the object's middle [m], over which angles are noisy.

    """
    usable = [r for r in records if isinstance(r.push, Push) and not r.fell]
    some = np.unique(np.linspace(0, len(usable) - 1, MANY_PUSHES).round().astype(int))
    return [_seen(usable[i], reach) for i in some.tolist()] if usable else []


def _seen(record: PushRecord, reach: float) -> Seen:
    """Return one record at many instants."""
    push = record.push
    assert isinstance(push, Push)
    chosen = np.unique(np.linspace(0, len(record.t) - 1, MANY_SAMPLES).round().astype(int))
    seen = record.t[chosen]
    steps = int(np.clip(np.ceil(push.length / BETWEEN), 2, 100))
    even = np.linspace(record.t[0], record.t[-1], steps)
    inside = push.times[(push.times > record.t[0]) & (push.times < record.t[-1])]
    t = np.union1d(np.union1d(even, seen), inside[:: len(inside) // 40 + 1])
    pose = np.stack([np.interp(t, record.t, column) for column in record.pose.T], axis=1)
    there = (t <= push.duration) | (not push.raised)
    noise = record.noise
    sigma = float(np.hypot(noise.position, reach * noise.angle)) if noise is not None else 0.0
    return Seen(record, pose, push.at(t), np.searchsorted(t, seen), there, t, sigma)
