"""Random paths of a finger near an object: around corners, letting go, touching again."""

import numpy as np

from pushwise import Finger, ObjectModel, Push
from pushwise.geometry.compiled import nearest_feature
from random_pushes import random_push

Array = np.ndarray


def random_path(
    rng: np.random.Generator,
    model: ObjectModel,
    finger: Finger,
    *,
    knots: int = 4,
    length: float = 0.04,
) -> Push:
    """Draw a path that begins as a random push and goes on in random directions and speeds."""
    speed = float(10 ** rng.uniform(-2.0, -0.5))
    first = random_push(rng, model, finger, length=length, speed=speed)
    times, places = [0.0, first.duration], [first.start, first.end]
    heading = np.arctan2(*(first.end - first.start)[::-1])
    for _ in range(knots):
        heading += rng.uniform(-2.0, 2.0)
        way = rng.uniform(0.2, 1.0) * length
        times.append(times[-1] + way / (speed * rng.uniform(0.5, 2.0)))
        places.append(places[-1] + way * np.array([np.cos(heading), np.sin(heading)]))
        if rng.random() < 0.2:  # it waits
            times.append(times[-1] + 0.1)
            places.append(places[-1])
    return Push(times, places, raised=bool(rng.random() < 0.3))


def clear_of(model: ObjectModel, point: Array, radius: float) -> bool:
    """Return whether a finger at a point is clear of an object at the origin."""
    x, y = np.ascontiguousarray(model.grid.outline.T)
    return bool(nearest_feature(point[0], point[1], x, y)[1] > radius)
