"""`PathBatch`: many states advanced along paths of several control steps, in one call.

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
from pushwise.physics.kernels.path_steps import (
    FingerPaths,
    PathWork,
    advance_paths,
    new_path_work,
)
from pushwise.physics.motion_state import MotionState, frozen_state
from pushwise.physics.simulator import Simulator
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags, Integers

__all__ = ["NO_WALLS", "PathBatch", "Walls"]

_SQUEEZED = 0.25  # of the finger's radius: how far an object may reach into it at a wall
_CORES = os.cpu_count() or 1


class Walls(NamedTuple):
    """Four walls around a square part of the table: stops, without friction."""

    low: float  # where their faces are [m], the same along x and y
    high: float


NO_WALLS = Walls(-np.inf, np.inf)


class _Alike(NamedTuple):
    """The states of one simulator, ready for the kernel."""

    simulator: Simulator
    of: Integers  # which they are, shape (n,)
    paths: FingerPaths  # where their fingers go is filled in for each step
    work: list[PathWork]  # for each thread


class PathBatch:
    """B objects that are advanced together, each with a finger of its own."""

    def __init__(
        self,
        simulators: Sequence[Simulator],
        dt: float,
        walls: Walls = NO_WALLS,
        pool: Executor | None = None,
    ) -> None:
        """Prepare objects.

        Args:
            simulators: one for each object, with a `Physics.dt`; objects that share one are the
                quickest.
            dt: how long a control step takes [s].
            walls: where objects stop.
            pool: threads to use; without it, this one alone.

        """
        seconds = positive_number("dt", dt)
        self._size = len(simulators)
        self._pool = pool
        self._threads = _CORES if pool else 1
        groups: dict[int, list[int]] = {}
        for i, one in enumerate(simulators):
            groups.setdefault(id(one), []).append(i)
        self._groups = []
        for group in groups.values():
            simulator = simulators[group[0]]
            paths = _finger_paths(simulator, self._size, seconds, walls)
            work = [new_path_work(simulator.prepared.body) for _ in range(self._threads)]
            self._groups.append(_Alike(simulator, np.array(group, np.int64), paths, work))

    def step(
        self, states: MotionState, paths: Array, moving: Flags | None = None
    ) -> tuple[MotionState, Integers]:
        """Return the states after several control steps, and how many of these each finger made.

        A finger that would squeeze an object against a wall stops before that control step.

        Args:
            states: before the first step, B of them.
            paths: where the finger's centre goes in each step [m], shape (S, B, 2).
            moving: which of the fingers move, shape (B,); by default all. Where one does not,
                nothing happens, not even time passes.

        """
        rows = np.array(np.atleast_2d(states.numbers))
        if len(rows) != self._size:
            raise PushwiseError(
                f"a step needs one state for each simulator; got {len(rows)} for {self._size}."
            )
        fingers = np.array(finite_array("paths", paths, ("S", self._size, 2)))
        if moving is None:
            moving = np.ones(self._size, np.bool_)
        made = np.where(moving, len(fingers), 0)
        turns = [np.zeros(1, np.int64) for _ in self._groups]

        def advance(thread: int) -> None:
            # Half of the threads begin with the last group, so that they meet late.
            order = zip(self._groups, turns, strict=True)
            for alike, turn in reversed([*order]) if thread % 2 else order:
                if turn[0] < len(alike.of):
                    prepared = alike.simulator.prepared
                    given = alike.paths._replace(fingers=fingers, moving=moving)
                    work = alike.work[thread]
                    advance_paths(
                        prepared.body, prepared.ground, given, alike.of, rows, made, turn, work
                    )

        others = []
        if self._pool is not None:
            others = [self._pool.submit(advance, k) for k in range(1, self._threads)]
        try:
            # This thread takes its part, too: waking another one takes as long as a few states do.
            advance(0)
        finally:
            for other in others:
                if not other.cancel():  # too late to be of use
                    other.result()
        return frozen_state(rows), made


def _finger_paths(simulator: Simulator, size: int, dt: float, walls: Walls) -> FingerPaths:
    """Return what the kernels need to know of paths, without the paths."""
    step = simulator.physics.dt
    if step is None:
        raise PushwiseError("PathBatch needs a time step; make the Simulator with a Physics.dt.")
    count = int(np.ceil(dt / step * (1.0 - 1e-9)))
    circle = _circle(simulator.model.grid)
    finger = simulator.finger
    return FingerPaths(
        fingers=np.empty((0, size, 2)),
        moving=np.empty(size, np.bool_),
        counts=np.full(size, max(count, 1), np.int64),
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
