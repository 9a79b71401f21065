"""`record`: random pushes in a world, written to a log that can be interrupted and resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pushwise.checks import non_negative_integer
from pushwise.errors import SimulationError
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.progress import OnProgress, Progress
from pushwise.records.log import PushLog
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.random_push import draw_push
from pushwise.worlds.world import World, checked_world, observed, pushed

__all__ = ["RecordOptions", "record"]

_TRIES = 20  # pushes in a row that may be refused, or throw the object off the table


@dataclass(frozen=True, eq=False)
class RecordOptions:
    """What `record` pushes with, and what the log says about it."""

    table: Table = field(default_factory=Table)
    """The table that the object must stay on."""
    finger: Finger = field(default_factory=Finger)
    """The finger."""
    noise: Noise | None = None
    """Standard deviations of the measurements, for the log's header."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Anything else for the log's header, such as names of the world and the object."""


def record(
    world: World,
    path: str | Path,
    *,
    grid: CellGrid,
    pushes: int,
    seed: int,
    options: RecordOptions = RecordOptions(),
    progress: OnProgress | None = None,
) -> PushLog:
    """Push an object at random and log the pushes.

    The object is put back before each push, as in the paper, so that push k depends only on `seed`
    and k: an interrupted log is continued to the same bytes. Pushes that throw the object off the
    table, or that the world refuses because the finger would start inside the object, are drawn
    again. A file that holds another log is refused, and one that already holds as many pushes is
    left as it is.

    Args:
        world: Where the pushes are made.
        path: CSV file of the log; its header is a JSON file next to it.
        grid: The cells of the object.
        pushes: Number of pushes in the log.
        seed: Random seed.
        options: Table, finger, and the header of the log.
        progress: Called after each push, with its record as the result.

    Returns:
        The log.

    """
    path = Path(path)
    pushes = non_negative_integer("pushes", pushes)
    seed = non_negative_integer("seed", seed)
    provenance = {**options.provenance, "seed": seed}
    log = PushLog((), grid, options.finger.radius, options.noise, provenance)
    with log.writer(path, resume=True) as writer:
        if writer.pushes < pushes:
            checked_world(world)
        for k in range(writer.pushes, pushes):
            made = _one_push(world, grid, options, seed, k)
            writer.append(made)
            if progress is not None:
                progress(Progress("record", f"push {k + 1}", k + 1, pushes, made))
    return PushLog.load(path)


def _one_push(
    world: World, grid: CellGrid, options: RecordOptions, seed: int, k: int
) -> PushRecord:
    """Return push k, one that leaves the object on the table."""
    rng = np.random.default_rng([seed, k])
    why = ""
    for _ in range(_TRIES):
        world.reset(int(rng.integers(2**31)))
        push = draw_push(rng, grid, observed(world).pose, options.table, options.finger)
        try:
            made = pushed(world, push)
        except SimulationError as error:  # noise or the arm put the finger into the object
            why = str(error)
            continue
        if not made.fell:
            return made
        why = "it threw the object off the table; use a larger table."
    raise SimulationError(f"push {k}: none of {_TRIES} random pushes was good; the last: {why}")
