"""`explore`: random pushes that keep an unknown object on the table (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.errors import SimulationError
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.identification.prior import Prior
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.world import World

__all__ = ["Unexplored", "explore", "safe_push"]

_MARGIN = 0.03  # m; how close to the table's edge an unknown object may be pushed
_GUESSES = 8  # models drawn from the prior
_TRIES = 200


@dataclass(frozen=True, eq=False)
class Unexplored:
    """An object that has not been pushed yet, and its surroundings."""

    grid: CellGrid
    """Its cells."""
    table: Table
    """The table it is on."""
    finger: Finger
    """The finger, with the friction it is assumed to have."""
    prior: Prior
    """What is believed about mass and friction."""


def explore(
    world: World,
    scene: Unexplored,
    pose: Array,
    *,
    pushes: int,
    seed: int,
    made: Sequence[PushRecord] = (),
    progress: OnProgress | None = None,
) -> tuple[PushRecord, ...]:
    """Push the object of a world at random until `pushes` pushes were made.

    Push k depends only on `seed`, k and the object's pose.

    Args:
        world: Where the pushes are made.
        scene: The object and its surroundings.
        pose: Where the object was first seen [m, m, rad], shape (3,).
        pushes: Number of pushes, including those made before.
        seed: Random seed.
        made: Pushes made before.
        progress: Called after each push, with its record as the result.

    Raises:
        SimulationError: If the object falls.

    """
    records = list(made)
    for k in range(len(made), pushes):
        rng = np.random.default_rng([seed, k])
        now = records[-1].pose[-1] if records else pose
        record = world.push(safe_push(rng, scene, now))
        if record.fell:
            raise SimulationError(f"the object fell off the table during exploration, by push {k}.")
        records.append(record)
        if progress is not None:
            progress(Progress("explore", f"push {k + 1}", k + 1, pushes, record))
    return tuple(records)


def safe_push(rng: np.random.Generator, scene: Unexplored, pose: Array) -> Push:
    """Draw a push that leaves the object at `pose` (3,) on the table, whatever its masses.

    It is simulated with models drawn from the prior; none may come within 3 cm of the edge, or
    closer to it than the object already is.
    """
    grid, table, finger = scene.grid, scene.table, scene.finger
    guesses = _guesses(rng, grid, scene.prior)
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
    """Draw models of this shape from the prior."""
    mass_root, friction_root = prior.factors(grid)
    guesses = []
    for _ in range(_GUESSES):
        mass = prior.mass / grid.n_cells * np.exp(mass_root @ rng.standard_normal(grid.n_cells))
        friction = prior.friction * np.exp(friction_root @ rng.standard_normal(grid.n_cells))
        guesses.append(ObjectModel(grid, mass, np.minimum(friction, prior.max_friction or np.inf)))
    return guesses


def _room(grid: CellGrid, table: Table, pose: Array) -> float:
    """Return the distance of the outline at a pose (3,) from the edge [m]; negative beyond it."""
    return -max(outline_distance(table.polygon, at) for at in placed(grid.outline, pose))
