"""`Arena`: objects between four walls, one per environment, each pushed by an agent.

Friction is exact. The walls are stops: every 10 ms an object that reaches into one is moved
straight back and stands still, and an agent that would squeeze an object against a wall stays where
it is for the rest of the step. So an object is always between the walls.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from pushwise.envs.push_t_task import (
    CONTROL_STEPS,
    CONTROL_TIME,
    PIXEL,
    WALLS,
    agent_path,
)
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.physics.motion_state import MotionState, frozen_state
from pushwise.physics.path_batch import PathBatch, Walls
from pushwise.physics.prepared import action_of
from pushwise.physics.push import Push
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array, Flags

__all__ = ["Arena", "ArenaState"]

_WALLS = Walls(PIXEL * WALLS[0], PIXEL * WALLS[1])
_UNITS = np.array([PIXEL, PIXEL, 1.0])  # of a pose in pixels
_MOVES = 20  # of an object out of agent and walls, at the start


@dataclass(frozen=True, eq=False)
class ArenaState:
    """All that decides how environments continue, except their random numbers: a value."""

    motion: MotionState
    """Objects and contacts, B states."""
    agent: Array
    """Where the agents are [px], shape (B, 2)."""
    velocity: Array
    """Velocities of the agents [px/s], shape (B, 2)."""
    goal: Array
    """Poses of the goals [px, px, rad], shape (B, 3)."""


class Arena:
    """B objects, each with an agent and walls of its own."""

    def __init__(self, simulator: Simulator, size: int) -> None:
        """Make an arena in which all objects are alike."""
        self.simulators = [simulator] * size
        """What moves the objects, one for each."""
        self.motion = simulator.start(np.zeros((size, 3)))
        """Where the objects are, in metres."""
        self.agent = np.zeros((size, 2))
        """Where the agents are [px], shape (B, 2)."""
        self.velocity = np.zeros((size, 2))
        """Their velocities [px/s], shape (B, 2)."""
        cores = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(cores) if min(cores, size // 8) > 1 else None
        self._batch: PathBatch | None = None  # until another object is placed

    @property
    def pose(self) -> Array:
        """Poses of the objects [px, px, rad], shape (B, 3)."""
        pose: Array = self.motion.pose / _UNITS
        return pose

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def place(self, i: int, simulator: Simulator, agent: Array, pose: Array) -> None:
        """Start anew with an agent (2,) [px] and an object at a pose (3,) [px, px, rad].

        An object that the agent or a wall overlaps is moved straight out of it.

        Raises:
            PushwiseError: there is no room for the object between agent and walls.

        """
        at = PIXEL * agent
        there = np.array([*(PIXEL * pose[:2]), pose[2]])
        action = action_of(simulator.model, Push([0.0, 1.0], [at, at]), simulator.finger)
        for _ in range(_MOVES):
            clear = simulator.prepared.clear_start("the agent", there, action, deepest=1.0)
            there = np.array(clear.pose)
            shift = _out_of_walls(simulator.model.grid.outline, there)
            if np.abs(shift).max() < 1e-12:
                break
            there[:2] += shift
        else:
            x, y = agent
            raise PushwiseError(
                f"an agent at ({x:g}, {y:g}) px leaves no room for the object at its pose; place "
                "them apart."
            )
        # The agent is lowered next to the object before the first step.
        state = simulator.step(simulator.start(there), at, CONTROL_TIME)
        numbers = np.array(self.motion.numbers)
        numbers[i] = state.numbers
        self.motion = frozen_state(numbers)
        if simulator is not self.simulators[i]:
            self.simulators[i] = simulator
            self._batch = None
        self.agent[i], self.velocity[i] = agent, 0.0

    def step(self, target: Array, moving: Flags) -> None:
        """Move some of the agents towards targets (B, 2) [px] for a tenth of a second."""
        places, speeds = agent_path(self.agent, self.velocity, target)
        if self._batch is None:
            self._batch = PathBatch(self.simulators, CONTROL_TIME, _WALLS, self._pool)
        self.motion, made = self._batch.step(self.motion, PIXEL * places, moving)
        np.copyto(self.agent, places[-1], where=moving[:, None])
        np.copyto(self.velocity, speeds[-1], where=moving[:, None])
        stopped = np.flatnonzero(moving & (made < CONTROL_STEPS))
        if len(stopped) > 0:
            self.agent[stopped] = self.motion.finger[stopped] / PIXEL
            self.velocity[stopped] = 0.0


def _out_of_walls(outline: Array, pose: Array) -> Array:
    """Return how far an object at a pose (3,) must move to be between the walls [m], (2,)."""
    corners = placed(outline, pose)
    shift: Array = np.maximum(_WALLS.low - corners.min(axis=0), 0.0)
    shift -= np.maximum(corners.max(axis=0) - _WALLS.high, 0.0)
    return shift
