"""`record`: random safe pushes in a world, written to a log that survives being stopped."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pushwise.checks import non_negative_integer
from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.records.log import PushLog, header_path
from pushwise.records.log_file import LogWriter
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.sliding.random_push import draw_push
from pushwise.worlds.world import World

__all__ = ["record"]

_TRIES = 20  # how many pushes in a row may end on the floor


def record(
    world: World,
    path: str | Path,
    *,
    grid: CellGrid,
    pushes: int,
    seed: int,
    table: Table | None = None,
    finger: Finger | None = None,
    noise: Noise | None = None,
    provenance: Mapping[str, Any] | None = None,
    on_push: Callable[[int], None] | None = None,
) -> PushLog:
    """Push an object `pushes` times at random, log it, and return the log.

    The object is put back before each push, as in the paper, so that push k depends on `seed`
    and k alone: a log that was cut short is continued to the same bytes. Pushes that throw the
    object off the table are left out and drawn again. A file that holds another log is refused,
    and one that holds as many pushes or more is left as it is.

    table, finger: what is there; the defaults of a world when not given. noise: what the log
    says about the measurements. on_push: called with the number of pushes done, after each.
    """
    path = Path(path)
    pushes = non_negative_integer("pushes", pushes)
    seed = non_negative_integer("seed", seed)
    table = Table() if table is None else table
    finger = Finger() if finger is None else finger
    told = {**(provenance or {}), "seed": seed}
    log = PushLog((), grid, finger.radius, noise, told)
    with _opened(path, log) as writer:
        for k in range(writer.pushes, pushes):
            writer.append(_one_push(world, grid, table, finger, seed, k))
            if on_push is not None:
                on_push(k + 1)
    return PushLog.load(path)


def _opened(path: Path, log: PushLog) -> LogWriter:
    """Return a writer for a new log, or one that continues the same log."""
    header = header_path(path)
    if not path.exists() and not header.exists():
        return log.writer(path)
    try:
        known = json.loads(header.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = None
    if known != log.header():
        raise PushwiseError(
            f"{path} holds another log, and a log is never overwritten; choose another file."
        )
    return LogWriter(path)


def _one_push(
    world: World, grid: CellGrid, table: Table, finger: Finger, seed: int, k: int
) -> PushRecord:
    """Return push k: one that stays on the table."""
    rng = np.random.default_rng([seed, k])
    for _ in range(_TRIES):
        world.reset(int(rng.integers(2**31)))
        push = draw_push(rng, grid, world.observe().pose, table, finger)
        done = world.push(push)
        if not done.fell:
            return done
    raise SimulationError(
        f"push {k}: {_TRIES} random pushes in a row threw the object off the table; "
        "use a larger table."
    )
