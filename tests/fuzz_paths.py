"""Simulate very many random paths of random objects, and look for what must never happen.

    python tests/fuzz_paths.py 1000000

Objects are random blobs, most of them concave; fingers start apart, touching, a little inside or
wedged in a hollow; objects rest or move. No path may end in NaN, an exception or a hang, no finger
may end deep inside an object, and steps without a solution are counted.
"""

import sys
from time import perf_counter
from typing import NamedTuple

import numpy as np

from pushwise import Finger, ObjectModel, Push, simulate_batch
from pushwise.geometry.compiled import nearest_feature
from random_pushes import random_blob

Array = np.ndarray

EACH = 250  # paths of an object
DEEP = 5e-5  # m inside an object at the end of a path


class Count(NamedTuple):
    """What happened."""

    paths: int = 0
    steps: int = 0
    jams: int = 0
    jammed: int = 0  # paths with a jam
    failed: int = 0  # paths that start too far inside
    deep: int = 0  # paths without a jam at whose end the finger is deep inside
    slowest: float = 0.0  # s for the paths of one object

    def plus(self, other: "Count") -> "Count":
        """Add counts; keep the larger time."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in self._fields[:-1]}
        return Count(**sums, slowest=max(self.slowest, other.slowest))


def hollow(rng: np.random.Generator, outline: Array, radius: float) -> Array:
    """Return a place at which a finger is in a hollow of an outline, or about to be."""
    before, after = np.roll(outline, 1, axis=0), np.roll(outline, -1, axis=0)
    a, b = outline - before, after - outline
    inner = np.flatnonzero(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] < 0.0)
    if not len(inner):
        return rng.uniform(-0.15, 0.15, 2)
    k = int(rng.choice(inner))
    way = a[k] / np.hypot(*a[k]) - b[k] / np.hypot(*b[k])
    out = way / max(float(np.hypot(*way)), 1e-9)
    return np.asarray(outline[k] + rng.uniform(0.5, 1.8) * radius * out)


def draw(rng: np.random.Generator, model: ObjectModel, finger: Finger) -> Push:
    """Draw a path that starts anywhere near an object, but not with its centre in it."""
    outline = model.grid.outline
    x, y = np.ascontiguousarray(outline.T)
    while True:
        if rng.random() < 0.3:
            start = hollow(rng, outline, finger.radius)
        else:
            k = int(rng.integers(len(outline)))
            angle = rng.uniform(-np.pi, np.pi)
            start = outline[k] + rng.uniform(0.6, 3.0) * finger.radius * np.array(
                [np.cos(angle), np.sin(angle)]
            )
        if nearest_feature(start[0], start[1], x, y)[1] > 0.55 * finger.radius:
            break
    speed = 10 ** rng.uniform(-3.0, 0.3)
    middle = outline.mean(axis=0) + 0.02 * rng.normal(size=2)
    heading = np.arctan2(*(middle - start)[::-1])
    times, places = [0.0], [start]
    for _ in range(int(rng.integers(1, 5))):
        heading += rng.normal()
        way = rng.uniform(0.002, 0.015)
        times.append(times[-1] + way / speed)
        places.append(places[-1] + way * np.array([np.cos(heading), np.sin(heading)]))
    return Push(times, places, raised=bool(rng.random() < 0.3))


def simulate_many(seed: int, count: int) -> Count:
    """Simulate some paths of one object."""
    rng = np.random.default_rng(seed)
    model = random_blob(rng)
    finger = Finger(rng.uniform(0.004, 0.012), rng.choice([0.0, 0.2, 0.5, 1.0, 2.0]))
    pushes = [draw(rng, model, finger) for _ in range(count)]
    twists = rng.normal(size=(count, 3)) * (0.2, 0.2, 3.0) * (rng.random((count, 1)) < 0.3)
    begin = perf_counter()
    paths = simulate_batch(model, pushes, twists=twists, finger=finger)
    seconds = perf_counter() - begin
    total = Count(slowest=seconds)
    x, y = np.ascontiguousarray(model.grid.outline.T)
    for path, push in zip(paths, pushes, strict=True):
        for array in (path.t, path.pose, path.twist, path.force, path.contact):
            assert np.isfinite(array).all(), (seed, push)
        ex, ey = path.finger[-1] - path.pose[-1, :2]
        cos, sin = np.cos(path.pose[-1, 2]), np.sin(path.pose[-1, 2])
        gap = nearest_feature(cos * ex + sin * ey, cos * ey - sin * ex, x, y)[1] - finger.radius
        jams = int(path.jammed.sum())
        here = not push.raised and path.failure is None
        total = total.plus(
            Count(
                paths=1,
                steps=len(path.mode),
                jams=jams,
                jammed=int(jams > 0),
                failed=int(path.failure is not None),
                deep=int(here and not jams and gap < -DEEP),
            )
        )
    return total


def main() -> None:
    """Simulate as many paths as asked for, and print what happened."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    begin = perf_counter()
    total, seed = Count(), 0
    while total.paths < wanted:
        total = total.plus(simulate_many(seed, EACH))
        seed += 1
        if seed % 100 == 0:
            print(total, f"{perf_counter() - begin:.0f} s", flush=True)
    print(total, f"{perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
