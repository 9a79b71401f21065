"""Playing with an unknown object: a few random pushes that keep it on the table (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pushwise.errors import SimulationError
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.identification.prior import Prior
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.world import World

__all__ = ["explore", "safe_push"]

_MARGIN = 0.03  # m; how near to the table's edge an object may be pushed that nobody knows yet
_GUESSES = 8  # objects it might be
_TRIES = 200


def explore(
    world: World,
    grid: CellGrid,
    pose: Array,
    table: Table,
    finger: Finger,
    *,
    pushes: int,
    prior: Prior,
    seed: int,
    made: Sequence[PushRecord] = (),
    on_push: Callable[[PushRecord], None] | None = None,
) -> tuple[PushRecord, ...]:
    """Push the object of a world, first seen at `pose` (3,), until `pushes` were made.

    Those `made` before count. Push k depends on `seed`, k and where the object is alone. Raises
    SimulationError when the object falls.
    """
    records = list(made)
    for k in range(len(made), pushes):
        rng = np.random.default_rng([seed, k])
        now = records[-1].pose[-1] if records else pose
        push = safe_push(rng, grid, now, table, finger, prior)
        record = world.push(push)
        if record.fell:
            raise SimulationError(f"the object fell off the table in exploration, by push {k}.")
        records.append(record)
        if on_push is not None:
            on_push(record)
    return tuple(records)


def safe_push(
    rng: np.random.Generator,
    grid: CellGrid,
    pose: Array,
    table: Table,
    finger: Finger,
    prior: Prior,
) -> Push:
    """Draw a push that leaves the object at `pose` (3,) well on the table, whatever its masses.

    It is simulated with objects drawn from the prior; none may come within 3 cm of the edge, or
    nearer to it than the object is already.
    """
    guesses = _guesses(rng, grid, prior)
    room = min(_MARGIN, _room(grid, table, pose))
    for _ in range(_TRIES):
        push = draw_push(rng, grid, pose, table, finger)
        ends = (simulate(guess, push, pose, finger=finger).pose[-1] for guess in guesses)
        if all(_room(grid, table, end) >= room for end in ends):
            return push
    raise SimulationError(
        f"no push is safe for the object at ({pose[0]:.3f}, {pose[1]:.3f}) m; "
        "start it nearer to the middle of the table, or use a larger one."
    )


def _guesses(rng: np.random.Generator, grid: CellGrid, prior: Prior) -> list[ObjectModel]:
    """Draw objects with this shape that the prior believes in."""
    mass_root, friction_root = prior.factors(grid)
    guesses = []
    for _ in range(_GUESSES):
        mass = prior.mass / grid.n_cells * np.exp(mass_root @ rng.standard_normal(grid.n_cells))
        friction = prior.friction * np.exp(friction_root @ rng.standard_normal(grid.n_cells))
        guesses.append(ObjectModel(grid, mass, np.minimum(friction, prior.max_friction or np.inf)))
    return guesses


def _room(grid: CellGrid, table: Table, pose: Array) -> float:
    """Return how far the outline at a pose (3,) is from the table's edge [m]; negative beyond."""
    return -max(outline_distance(table.polygon, at) for at in placed(grid.outline, pose))
