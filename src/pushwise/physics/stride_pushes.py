"""`stride_pushes`: many pushes of one object whose directions turn with it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from pushwise.physics.kernels.control_step import new_control_work
from pushwise.physics.kernels.stride_steps import StrideOutcomes, Strides, push_by_strides
from pushwise.physics.kernels.track import new_track
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array, Integers

__all__ = ["StrideOptions", "StrideOutcomes", "stride_pushes"]

_SET_DOWN = 1e-6  # s in which the finger is set down, and nothing moves
_LEAST = 16  # pushes for which another thread is worth starting


@dataclass(frozen=True)
class StrideOptions:
    """How fingers move in strides, and when a push is over."""

    length: float
    """Length of a stride [m]."""
    dt: float
    """How long it takes [s]."""
    lost: int
    """Strides without contact after which a push is over."""
    slide: float
    """Distance along the outline [m] after which it is over."""
    turn: float
    """Turn of the object [rad] after which it is over."""


def stride_pushes(
    simulator: Simulator,
    pose: Array,
    starts: Array,
    along: Array,
    *,
    most: Integers,
    options: StrideOptions,
) -> StrideOutcomes:
    """Push an object at rest in several ways.

    A push also ends where the finger is wedged or jammed, whose outcome is hard to predict, and
    where the object tips over the edge of the simulator's table.

    Args:
        simulator: The object, with a `Physics.dt`.
        pose: Where it is [m, m, rad], shape (B, 3).
        starts: Where the fingers start, touching it [m], table frame, shape (B, 2).
        along: Directions of the pushes as the object sees them, shape (B, 2).
        most: Number of strides of each push, shape (B,).
        options: Strides, and when a push is over.

    Returns:
        Poses (B, T, 3) and places of the finger (B, T, 2) in the table frame, the start included,
        and how many of these are valid (B,), at least 1; T is at most the largest `most` + 1.

    """
    size = len(starts)
    state = simulator.step(simulator.start(pose), starts, _SET_DOWN)
    rows = np.array(state.numbers)
    steps = simulator.control_steps(rows, starts, options.dt)
    strides = Strides(
        along=np.ascontiguousarray(along),
        most=most,
        length=options.length,
        lost=options.lost,
        slide=options.slide,
        turn=options.turn,
    )
    room = size, int(most.max()) + 1
    poses, fingers = np.empty((*room, 3)), np.empty((*room, 2))
    found = StrideOutcomes(poses, fingers, np.empty(size, np.int64))
    body, ground = simulator.prepared.body, simulator.prepared.ground
    turn = np.zeros(1, np.int64)

    def push(_: int) -> None:
        work, track = new_control_work(body), new_track(0)
        push_by_strides(body, ground, steps, strides, rows, turn, work, track, found)

    cores = min(os.cpu_count() or 1, size // _LEAST)
    if cores < 2:
        push(0)
    else:
        with ThreadPoolExecutor(cores) as pool:
            list(pool.map(push, range(cores)))
    used = int(found.counts.max())
    return StrideOutcomes(poses[:, :used], fingers[:, :used], found.counts)
