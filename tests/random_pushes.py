"""Random pushes of random and of library objects, shared by the tests of the physics."""

from functools import cache

import numpy as np

from pushwise import objects
from pushwise.geometry.compiled import nearest_feature
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger, Push
from pushwise.shape.grid import CellGrid


def random_model(rng: np.random.Generator, grid: CellGrid) -> ObjectModel:
    """Give every cell of a grid its own random mass and friction."""
    n = grid.n_cells
    return ObjectModel(grid, rng.uniform(0.001, 0.03, n), rng.uniform(0.1, 0.9, n))


def random_blob(rng: np.random.Generator, low: int = 5, high: int = 60) -> ObjectModel:
    """Grow connected cells at random: ragged outlines, holes, concave corners everywhere."""
    cells = [(0, 0)]
    n = int(rng.integers(low, high + 1))
    while len(cells) < n:
        i, j = cells[rng.integers(len(cells))]
        di, dj = [(0, 1), (1, 0), (0, -1), (-1, 0)][rng.integers(4)]
        if (i + di, j + dj) not in cells:
            cells.append((i + di, j + dj))
    return random_model(rng, CellGrid(np.array(cells) * 0.012, 0.012))


@cache
def _thing(name: str) -> objects.Thing:
    return objects.load(name)


def library_model(
    rng: np.random.Generator, name: str | None = None, *, uneven: bool = True
) -> ObjectModel:
    """Return one of the library's objects, a random one by default, with random properties."""
    return _thing(name or str(rng.choice(objects.names))).sample(rng, uneven=uneven).model


def library_models(rng: np.random.Generator) -> list[ObjectModel]:
    """Return the library's objects, each with random masses and frictions."""
    return [library_model(rng, name) for name in objects.names]


def random_push(
    rng: np.random.Generator,
    model: ObjectModel,
    finger: Finger,
    *,
    length: float,
    speed: float,
    clearance: float = 1e-3,
) -> Push:
    """Aim at a random point of the outline, within 35 degrees of its normal, from just outside."""
    outline = model.grid.outline
    edge = np.roll(outline, -1, axis=0) - outline
    size = np.hypot(edge[:, 0], edge[:, 1])
    i = rng.choice(len(outline), p=size / size.sum())
    point = outline[i] + rng.uniform(0.05, 0.95) * edge[i]
    inward = np.array([-edge[i, 1], edge[i, 0]]) / size[i]
    angle = rng.uniform(-0.6, 0.6)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    heading = turn @ inward
    ox, oy = np.ascontiguousarray(outline[:, 0]), np.ascontiguousarray(outline[:, 1])
    back = finger.radius
    while True:
        x, y = point - back * heading
        if nearest_feature(x, y, ox, oy)[1] >= finger.radius + clearance:
            break
        back += 1e-3
    return Push.line(point - back * heading, speed * heading, (back + length) / speed)
