"""`step_paths`: many states advanced along paths of several control steps, in one call.

Without walls the result is that of `step_batch` once per control step, to the last bit. What is
saved is the time between control steps, and objects at rest that no finger is near.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.physics.kernels.path_steps import FingerPaths, advance_paths, new_path_work
from pushwise.physics.motion_state import MotionState, frozen_state
from pushwise.physics.simulator import Simulator
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Integers

__all__ = ["NO_WALLS", "Walls", "step_paths"]

_SQUEEZED = 0.25  # of the finger's radius: how far an object may reach into it at a wall
_CORES = os.cpu_count() or 1
_LEAST = 8  # states for which another thread is worth while


class Walls(NamedTuple):
    """Four walls around a square part of the table: stops, without friction."""

    low: float  # where their faces are [m], the same along x and y
    high: float


NO_WALLS = Walls(-np.inf, np.inf)


class _Share(NamedTuple):
    """What one thread does: some states of one simulator."""

    simulator: Simulator
    of: Integers  # indices of the states


def step_paths(
    simulators: Sequence[Simulator],
    states: MotionState,
    paths: Array,
    dt: float,
    walls: Walls = NO_WALLS,
    pool: Executor | None = None,
) -> tuple[MotionState, Integers]:
    """Return many states after several control steps, and how many of these each finger made.

    A finger that would squeeze an object against a wall stops before that control step.

    Args:
        simulators: one for each state, with a `Physics.dt`; states that share one are the quickest.
        states: before the first step, B of them.
        paths: where the finger's centre goes in each step [m], shape (S, B, 2).
        dt: how long each step takes [s].
        walls: where objects stop.
        pool: threads to use; without it, this one alone.

    """
    rows = np.array(np.atleast_2d(states.numbers))
    size = len(rows)
    seconds = positive_number("dt", dt)
    fingers = finite_array("paths", paths, ("S", size, 2))
    if len(simulators) != size:
        raise PushwiseError(
            f"step_paths needs one simulator for each state; got {len(simulators)} for {size}."
        )
    stopped = np.empty(size, np.int64)

    def advance(share: _Share) -> None:
        prepared, of = share.simulator.prepared, share.of
        mine, made = rows[of], stopped[of]
        given = _finger_paths(share.simulator, np.array(fingers[:, of]), seconds, walls)
        work = new_path_work(prepared.body)
        advance_paths(prepared.body, prepared.ground, given, mine, made, work)
        rows[of], stopped[of] = mine, made

    def advance_all(mine: list[_Share]) -> None:
        for share in mine:
            advance(share)

    cores = _CORES if pool else 1
    shares = _shares(simulators, cores)
    # This thread takes its part, too: waking another one takes as long as a few states do.
    parts = [shares[k::cores] for k in range(1, min(cores, len(shares)))]
    others = [] if pool is None else [pool.submit(advance_all, part) for part in parts]
    advance_all(shares[::cores])
    for other in others:
        other.result()
    return frozen_state(rows), stopped


def _finger_paths(simulator: Simulator, fingers: Array, dt: float, walls: Walls) -> FingerPaths:
    """Return paths as the kernels take them."""
    step = simulator.physics.dt
    if step is None:
        raise PushwiseError("step_paths needs a time step; make the Simulator with a Physics.dt.")
    count = int(np.ceil(dt / step * (1.0 - 1e-9)))
    circle = _circle(simulator.model.grid)
    finger = simulator.finger
    return FingerPaths(
        fingers=fingers,
        counts=np.full(fingers.shape[1], max(count, 1), np.int64),
        down=True,
        dt=dt,
        radius=finger.radius,
        mu=finger.friction,
        height=finger.height,
        low=walls.low,
        high=walls.high,
        squeezed=_SQUEEZED * finger.radius,
        circle_x=circle[0],
        circle_y=circle[1],
        circle_radius=circle[2],
    )


@lru_cache(maxsize=256)
def _circle(grid: CellGrid) -> tuple[float, float, float]:
    """Return centre and radius of a circle around an outline [m]."""
    outline = grid.outline
    centre = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    return float(centre[0]), float(centre[1]), float(np.hypot(*(outline - centre).T).max())


def _shares(simulators: Sequence[Simulator], cores: int) -> list[_Share]:
    """Divide states among cores, those of one simulator together."""
    groups: dict[int, list[int]] = {}
    for i, one in enumerate(simulators):
        groups.setdefault(id(one), []).append(i)
    found = []
    for group in groups.values():
        simulator, of = simulators[group[0]], np.array(group, np.int64)
        # One part per core: making one costs about as much as simulating a few states.
        count = min(cores, max(len(of) // _LEAST, 1))
        found += [_Share(simulator, part) for part in np.array_split(of, count)]
    return found
