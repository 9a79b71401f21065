"""Random single steps of random blobs, shared by the tests of the LCP and of its gradients."""

from typing import NamedTuple

import numpy as np

from pushwise.physics.model import ObjectModel
from pushwise.physics.paper.lagged_step import (
    LaggedSolution,
    cell_velocities,
    lagged_step,
    table_offsets,
)
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Integers

CELL = 0.012


class Step(NamedTuple):
    """The arguments of `lagged_step` and `lcp_step`."""

    model: ObjectModel
    pose: Array
    velocities: Array
    wrenches: Array
    dt: float


def random_blob(rng: np.random.Generator, n: int) -> Array:
    """Centres of n connected lattice cells, grown at random, shape (n, 2)."""
    cells = [(0, 0)]
    while len(cells) < n:
        i, j = cells[rng.integers(len(cells))]
        di, dj = [(0, 1), (1, 0), (0, -1), (-1, 0)][rng.integers(4)]
        if (i + di, j + dj) not in cells:
            cells.append((i + di, j + dj))
    return np.array(cells) * CELL + rng.normal(scale=0.02, size=2)


def random_step(rng: np.random.Generator, low: int = 28, high: int = 88) -> Step:
    """A step from rest, from a slow or from a fast motion, with a force at a random cell."""
    n = int(rng.integers(low, high + 1))
    grid = CellGrid(random_blob(rng, n), CELL)
    model = ObjectModel(grid, rng.uniform(0.002, 0.02, n), rng.uniform(0.05, 0.8, n))
    pose = np.array([*rng.normal(size=2), rng.uniform(-np.pi, np.pi)])
    speed = rng.choice([0.0, 1e-3, 1e-2, 0.3])
    twist = speed * rng.normal(size=3) * np.array([1.0, 1.0, rng.choice([0.0, 20.0])])
    weight = 9.81 * model.mass @ model.friction
    strength, angle = rng.choice([0.2, 1.0, 3.0]) * rng.uniform(), rng.uniform(-np.pi, np.pi)
    wrenches = np.zeros((n, 3))
    wrenches[rng.integers(n), :2] = strength * weight * np.array([np.cos(angle), np.sin(angle)])
    velocities = cell_velocities(table_offsets(grid.centres, pose), twist)
    return Step(model, pose, velocities, wrenches, float(rng.choice([1e-3, 1e-2])))


def hinge_states(solution: LaggedSolution) -> Integers:
    """1 for a hinge that slides, -1 for one turned back, 0 for one at its kink, shape (n, 2)."""
    lam, bound = solution.friction, solution.step.bounds
    states: Integers = (lam == bound).astype(int) - (lam == 0.0).astype(int)
    return states


def kind_of(solution: LaggedSolution) -> str:
    """What the body does: "slides" with all cells, "sticks", or "mixed"."""
    states = hinge_states(solution)[:, 0]
    if not solution.twist.any():
        return "sticks"
    return "slides" if (states == 1).all() else "mixed"


def with_parameters(step: Step, mass: Array, friction: Array) -> Step:
    """The same step of another object."""
    return step._replace(model=ObjectModel(step.model.grid, mass, friction))


def solve(step: Step, torsion: float = 0.0) -> LaggedSolution:
    """Solve the step in three unknowns."""
    return lagged_step(*step, torsion=torsion)
