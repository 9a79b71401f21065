"""Setting the stage: an object with masses nobody knows, somewhere on a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pushwise import objects, worlds
from pushwise.checks import non_negative_integer
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, placed
from pushwise.object_files import read_object
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.records.record import Noise
from pushwise.shape.files import IMAGES
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import scan_file
from pushwise.typing import Array
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["WORLDS", "stage"]

WORLDS = {"mujoco": "MuJoCo", "ideal": "Ideal", "bullet": "Bullet"}
"""The worlds an object can be put in, and their classes."""

NOISE = Noise(position=1e-3, angle=5e-3)
_RATE = 10.0  # Hz; of a camera that tracks the object
_MARGIN = 0.06  # m from the object to the table's edge at the start
_TRIES = 1000
_LOPSIDED = 2.5  # how much heavier one end of a scanned object is than even, and the other lighter
_FRICTION = (0.2, 0.5)


def stage(what: str, table: Table, *, world: str = "mujoco", seed: int = 0) -> SimulatedWorld:
    """Return a world with an object in it, seen by a camera alone (1 mm, 5 mrad, 10 Hz).

    what: one of the nine objects, which gets random masses and frictions; a scan, a grid, or a
    file `pushwise scan` reads, which gets random ones too; or a model, which keeps its own.
    world: of `WORLDS`. seed: decides masses, frictions, the pose and the noise.
    """
    rng = np.random.default_rng([non_negative_integer("seed", seed), 7])
    thing = _hidden(what, rng)
    outline = thing.outline if isinstance(thing, Thing) else thing.grid.outline
    made: SimulatedWorld = getattr(worlds, WORLDS[world])(
        thing,
        table,
        seed=seed,
        pose=_pose(rng, outline, table),
        noise=NOISE,
        rate=_RATE,
        forces=False,
    )
    return made


def _hidden(what: str, rng: np.random.Generator) -> Thing | ObjectModel:
    """Return the truth about the object."""
    if what in objects.names:
        return objects.load(what).sample(rng)
    path = Path(what)
    if not path.exists():
        raise PushwiseError(
            f"{what} is neither a file nor an object; the objects are {', '.join(objects.names)}."
        )
    if path.suffix.lower() in IMAGES:
        raise PushwiseError(
            f"{what} is a depth image: make a grid of it with pushwise scan, and slide that."
        )
    if path.suffix.lower() != ".json":
        return _uneven(scan_file(path)[0].grid, rng)
    known = read_object(path)
    if isinstance(known, ObjectModel):
        return known
    return _uneven(known if isinstance(known, CellGrid) else known.grid, rng)


def _uneven(grid: CellGrid, rng: np.random.Generator) -> ObjectModel:
    """Return an object of this shape that is heavier at one end, and rubs alike everywhere."""
    if grid.n_cells < 2:
        raise PushwiseError("an object of one cell has no ends: give its grid a smaller cell_size.")
    angle = rng.uniform(-np.pi, np.pi)
    along = (grid.centres - grid.centres.mean(axis=0)) @ [np.cos(angle), np.sin(angle)]
    mass = _LOPSIDED ** (along / np.abs(along).max())
    total = rng.uniform(0.2, 1.0)
    return ObjectModel(grid, total * mass / mass.sum(), rng.uniform(*_FRICTION))


def _pose(rng: np.random.Generator, outline: Array, table: Table) -> Array:
    """Return a random pose (3,) with the whole outline (k, 2) well on the table."""
    low, high = table.polygon.min(axis=0), table.polygon.max(axis=0)
    middle = 0.5 * (low + high)
    # As much smaller a table as the margin takes on either side.
    inner = middle + (table.polygon - middle) * (1.0 - 2.0 * _MARGIN / (high - low))
    for _ in range(_TRIES):
        pose = np.append(rng.uniform(low, high), rng.uniform(-np.pi, np.pi))
        if contains(inner, placed(outline, pose)).all():
            return pose
    raise PushwiseError("the object does not fit on the table; use a larger one.")
