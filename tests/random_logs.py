"""Logs of pushes: straight, curved, flicked, thrown, or only seen before and after."""

from functools import cache

import numpy as np

import pushwise as pw
from pushwise import worlds
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.objects import Thing
from pushwise.sliding.random_push import draw_push
from random_paths import random_path

Array = np.ndarray
KINDS = ("line", "curve", "flick", "ends", "thrown")
WIDE = pw.Table.rectangle(3.0, 3.0)


@cache
def thing_named(name: str) -> Thing:
    """Return one of the library's objects."""
    return pw.objects.load(name)


def flick(rng: np.random.Generator, grid: pw.CellGrid, pose: Array, finger: pw.Finger) -> pw.Push:
    """Accelerate a finger over 80 mm, against the outline, to 0.5 to 1 m/s, and stop it."""
    outline = placed(grid.outline, pose)
    edge = np.roll(outline, -1, axis=0) - outline
    length = np.hypot(*edge.T)
    while True:
        i = int(rng.choice(len(outline), p=length / length.sum()))
        normal = np.array([edge[i, 1], -edge[i, 0]]) / length[i]
        start = outline[i] + rng.random() * edge[i] + (finger.radius + 2e-3) * normal
        if outline_distance(outline, start) > finger.radius + 1e-3:
            break
    speed, way = rng.uniform(0.5, 1.0), 0.08
    t = np.linspace(0.0, 2.0 * way / speed, 25)
    return pw.Push(t, start - np.outer(0.25 * speed**2 / way * t**2, normal))


def random_log(
    seed: int, *, name: str = "", kind: str = "", world: str = "", pushes: int = 5
) -> tuple[pw.CellGrid, list[pw.PushRecord], pw.Finger]:
    """Push an object anywhere on a table, turned by any angle; what is not given is random."""
    rng = np.random.default_rng(seed)
    thing = thing_named(name or str(rng.choice(pw.objects.names))).sample(rng)
    make = worlds.MuJoCo if (world or rng.choice(["Ideal", "MuJoCo"])) == "MuJoCo" else worlds.Ideal
    kind = kind or str(rng.choice(KINDS))
    finger = pw.Finger(float(rng.choice([0.005, 0.01, 0.02])), float(rng.uniform(0.1, 0.8)))
    level = float(rng.choice([0.0, 1.0]))
    rate = float(rng.choice([30.0, 60.0] if kind == "flick" else [10.0, 20.0, 60.0]))
    sensing = worlds.Sensing(pw.Noise(1e-3 * level, 5e-3 * level, 0.03 * level), rate)
    records: list[pw.PushRecord] = []
    while len(records) < pushes:
        pose = np.array([*rng.uniform(-0.25, 0.25, 2), rng.uniform(-3.0, 3.0)])
        there = make(
            thing, WIDE, seed=int(rng.integers(10**9)), pose=pose, finger=finger, sensing=sensing
        )
        twist = np.zeros(3)
        if kind == "curve":
            path = random_path(rng, thing.model, finger, knots=6, length=0.06)
            push = pw.Push(path.times, placed(path.positions, pose), raised=path.raised)
        elif kind == "flick":
            push = flick(rng, thing.grid, pose, finger)
        else:
            push = draw_push(rng, thing.grid, pose, WIDE, finger)
        if kind == "thrown":
            twist = rng.normal(size=3) * (0.3, 0.3, 1.0)
        try:
            record = there.push(push, twist=twist)
        except PushwiseError:  # a tall object that does not even stand
            continue
        if kind == "ends":
            record = pw.PushRecord(push, record.t[[0, -1]], record.pose[[0, -1]])
        if not record.fell:
            records.append(record)
    return thing.grid, records, finger
