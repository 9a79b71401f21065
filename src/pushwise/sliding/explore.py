"""`explore`: random pushes that keep an unknown object on the table (Algorithm 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pushwise.errors import SimulationError
from pushwise.geometry.polygon import outline_distances, placed
from pushwise.identification.belief import Belief
from pushwise.identification.prior import Prior
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.stability import Balance
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.follow import make_push
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.world import World

__all__ = ["Unexplored", "explore", "safe_push"]

_MARGIN = 0.03  # m; how close to the table's edge an unknown object may be pushed
_GUESSES = 8  # models drawn from the prior
_GUESSES_AMONG = 32  # likewise among obstacles, which a push may meet on any side of its path
# Pushed near its point of balance, an object may turn the other way than all models of the prior:
# among obstacles their deviations are multiplied by this, if there is room.
_WIDTHS = (2.0, 1.0)
_TRIES = 200
_TRIES_AMONG = 66  # likewise among obstacles, for each kind of caution
_REFUSED = 5  # pushes that a world may refuse
_LOOKS = 20  # at a push, for obstacles on its way
_FINGER_GAP = 0.005  # m between the finger and obstacles
_SHARES = (1.0, 0.6, 0.35, 0.2)  # of a push that are tried among obstacles
_GAPS = (_MARGIN, 0.02, 0.01)  # m between the object and obstacles, the widest possible


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
    obstacles: Sequence[ArrayLike] = ()
    """Polygons on the table that nothing may touch [m], shape (k, 2) each."""


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
        record = _explored(world, scene, now, rng)
        if record.fell:
            raise SimulationError(
                f"the object fell off the table during exploration, by push {k + 1}."
            )
        records.append(record)
        if progress is not None:
            progress(Progress("explore", f"push {k + 1}", k + 1, pushes, record))
    return tuple(records)


def _explored(world: World, scene: Unexplored, pose: Array, rng: np.random.Generator) -> PushRecord:
    """Make a push, or another one where the finger does not fit.

    A hollow may be narrower than it was seen to be.
    """
    for _ in range(_REFUSED):
        push = safe_push(rng, scene, pose)
        try:
            return make_push(world, push)
        except SimulationError as error:
            last = error
    raise last


def safe_push(rng: np.random.Generator, scene: Unexplored, pose: Array) -> Push:
    """Draw a push that leaves the object at `pose` (3,) on the table, whatever its masses.

    It is simulated with models drawn from the prior; none may end within 3 cm of the edge, or
    closer than the object already is. Among obstacles a push may be shorter. There the models are
    farther apart than the prior says, and the object stays 3 cm away; where no such push is found,
    it comes as close as 1 cm, and then the models are those of the prior.
    """
    grid, table, finger = scene.grid, scene.table, scene.finger
    room = min(_MARGIN, _room(grid, table, pose))
    clear = _Clearance(scene, pose) if scene.obstacles else None
    for width, gap in [(1.0, 0.0)] if clear is None else clear.cautions:
        count = _GUESSES if clear is None else _GUESSES_AMONG
        guesses = _guesses(rng, grid, scene.prior, count, width)
        for _ in range(_TRIES if clear is None else _TRIES_AMONG):
            drawn = draw_push(rng, grid, pose, table, finger)
            for share in (1.0,) if clear is None else _SHARES:
                push = drawn
                if share < 1.0:
                    push = Push.line(drawn.start, drawn.velocities[0], share * drawn.duration)
                if clear is not None and not clear.of_finger(push):
                    continue
                paths = (simulate(guess, push, pose, finger=finger).pose for guess in guesses)
                if all(
                    _room(grid, table, path[-1]) >= room
                    and (clear is None or clear.of_object(path, gap))
                    for path in paths
                ):
                    return push
    raise SimulationError(
        f"no push is safe for the object at ({pose[0]:.3f}, {pose[1]:.3f}) m; start it nearer to "
        f"the middle of the table{', away from obstacles' if clear else ''}, or use a larger one."
    )


class _Clearance:
    """Whether the object and the finger stay away from obstacles."""

    def __init__(self, scene: Unexplored, pose: Array) -> None:
        """Note how close to the obstacles an object at a pose (3,) is already."""
        some = ObjectModel(
            scene.grid, np.full(scene.grid.n_cells, scene.prior.mass), scene.prior.friction
        )
        self._free = FreeSpace(Balance(Belief.certain(some), scene.table), scene.obstacles)
        self._radius = scene.finger.radius
        gaps = [gap for gap in _GAPS if self._free(pose[None], clearance=gap).all()] or [0.0]
        self.cautions = [(width, gap) for width in _WIDTHS for gap in gaps]
        """How far apart models are, and their distance from obstacles [m], most careful first."""

    def of_finger(self, push: Push) -> bool:
        """Return whether the finger keeps its distance during a push."""
        places = push.at(np.linspace(0.0, push.duration, _LOOKS))
        nearest = min(
            float(outline_distances(block, places).min()) for block in self._free.obstacles
        )
        return nearest > self._radius + _FINGER_GAP

    def of_object(self, path: Array, gap: float) -> bool:
        """Return whether the object keeps its distance [m] on a path of poses (t, 3)."""
        some = np.vstack([path[:: max(1, len(path) // _LOOKS)], path[-1:]])
        return bool(self._free.leading(some, clearance=gap) == len(some))


def _guesses(
    rng: np.random.Generator, grid: CellGrid, prior: Prior, count: int, width: float
) -> list[ObjectModel]:
    """Draw models of this shape from the prior, or farther apart if the width is above 1."""
    mass_root, friction_root = (width * root for root in prior.factors(grid))
    guesses = []
    for _ in range(count):
        mass = prior.mass / grid.n_cells * np.exp(mass_root @ rng.standard_normal(grid.n_cells))
        friction = prior.friction * np.exp(friction_root @ rng.standard_normal(grid.n_cells))
        guesses.append(ObjectModel(grid, mass, np.minimum(friction, prior.max_friction or np.inf)))
    return guesses


def _room(grid: CellGrid, table: Table, pose: Array) -> float:
    """Return the distance of the outline at a pose (3,) from the edge [m]; negative beyond it."""
    return -float(outline_distances(table.polygon, placed(grid.outline, pose)).max())
