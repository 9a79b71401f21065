"""Pushes of an object in the Ideal world that several tests learn from, made once."""

from functools import cache

import numpy as np

import pushwise as pw
from pushwise.objects import Thing
from pushwise.records.record import Noise
from pushwise.sliding.random_push import draw_push

NOISE = Noise(1e-3, 5e-3)
SIGMA = np.array([1e-3, 1e-3, 5e-3])  # the same, of a pose


EVEN = pw.Prior(friction_spread=0.05)  # what holds for the objects of `pushed`


@cache
def pushed(name: str, seed: int, pushes: int = 10) -> tuple[Thing, tuple[pw.PushRecord, ...]]:
    """Push an object at random in the Ideal world; poses alone are seen.

    Its masses are random, its friction is nearly uniform.
    """
    rng = np.random.default_rng(seed)
    thing = pw.objects.load(name).sample(rng, uneven=False)
    world = pw.worlds.Ideal(thing, seed=seed, sensing=pw.worlds.Sensing(NOISE))
    records = []
    pose = np.zeros(3)
    for _ in range(pushes):
        push = draw_push(rng, thing.grid, pose, world.table, world.finger)
        seen = world.push(push)
        pose = seen.pose[-1]
        records.append(pw.PushRecord(push, seen.t, seen.pose, noise=NOISE))
    return thing, tuple(records)
