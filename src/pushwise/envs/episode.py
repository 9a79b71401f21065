"""What may differ from one episode of Push-T to the next: the object, the agent, start and goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from pushwise.checks import finite_array
from pushwise.envs.push_t_task import (
    AGENT,
    GOAL,
    PIXEL,
    T_KEYPOINTS,
    T_PARTS,
    random_start,
    t_model,
)
from pushwise.errors import PushwiseError
from pushwise.geometry.overlap import ConvexParts, fan
from pushwise.model_files import load_belief
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.push import Finger
from pushwise.physics.simulator import Simulator
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["OPTIONS", "Episode", "PushedObject", "Vary", "episode_of", "pushed_object"]

OPTIONS = ("reset_to_state", "goal_pose", "model", "mass", "friction", "outline", "finger")
"""The keys of `reset(options=...)`."""

# Steps of 10 ms, as the agent's controller takes: 0.2 mm and 2 mrad after a push, at most, from
# what half a millisecond and four friction points per cell give.
_PHYSICS = Physics(dt=0.01, points=1)
_CELL = 15.0 * PIXEL
_KEYPOINTS = 8

Vary = Callable[[np.random.Generator], Mapping[str, Any]]
"""Draws the options of an episode, for factors of variation."""


@dataclass(frozen=True, eq=False)
class PushedObject:
    """An object that is pushed, and by which agent."""

    simulator: Simulator
    """What moves it."""
    parts: ConvexParts
    """Its outline, for the coverage of the goal."""
    keypoints: Array
    """Eight points of the outline in the grid frame [m], shape (8, 2)."""


@dataclass(frozen=True, eq=False)
class Episode:
    """How an episode starts."""

    pushed: PushedObject
    """The object."""
    agent: Array
    """Where the agent starts [px], shape (2,)."""
    pose: Array
    """Where the object starts [px, px, rad], shape (3,)."""
    goal: Array
    """Where it should go [px, px, rad], shape (3,)."""
    given: bool
    """Whether the start was asked for, rather than drawn."""


def pushed_object(
    model: ObjectModel | str | Path | None = None, finger: Finger | None = None
) -> PushedObject:
    """Return an object for Push-T.

    Args:
        model: the object, or a file of `pushwise identify`; by default a uniform T.
        finger: the agent; by default of gym-pusht's radius.

    """
    if isinstance(model, str | Path):
        model = load_belief(Path(model)).model
    shape = t_model() if model is None else model
    simulator = Simulator(shape, finger=finger or AGENT, physics=_PHYSICS)
    if shape.grid.outline.shape == _T_OUTLINE.shape and (shape.grid.outline == _T_OUTLINE).all():
        return PushedObject(simulator, T_PARTS, T_KEYPOINTS)
    outline = shape.grid.outline
    closed = np.concatenate([outline, outline[:1]])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(closed, axis=0).T))])
    at = along[-1] * np.arange(_KEYPOINTS) / _KEYPOINTS
    points = np.column_stack([np.interp(at, along, axis) for axis in closed.T])
    return PushedObject(simulator, fan(outline), points)


def episode_of(
    usual: PushedObject, rng: np.random.Generator, options: Mapping[str, Any] | None
) -> Episode:
    """Return an episode by the options of a reset; what they do not say is as usual, or random."""
    asked = dict(options or {})
    unknown = sorted(set(asked) - set(OPTIONS))
    if unknown:
        raise PushwiseError(f"options must be among {', '.join(OPTIONS)}; got {unknown[0]!r}.")
    start = asked.pop("reset_to_state", None)
    goal = finite_array("goal_pose", asked.pop("goal_pose", GOAL), (3,))
    pushed = _varied(usual, asked) if asked else usual
    # Drawn in any case, so that options do not change what is drawn later.
    state = random_start(rng)
    if start is not None:
        state = np.array(finite_array("reset_to_state", start, (5,)))
    return Episode(pushed, state[:2], state[2:], goal, start is not None)


def _varied(usual: PushedObject, asked: Mapping[str, Any]) -> PushedObject:
    """Return another object or agent."""
    model = asked.get("model", usual.simulator.model)
    if isinstance(model, str | Path):
        model = load_belief(Path(model)).model
    if not isinstance(model, ObjectModel):
        raise PushwiseError(
            f"model must be an ObjectModel or the name of a file; got {type(model).__name__}."
        )
    grid, mass, friction = model.grid, model.mass, model.friction
    if "outline" in asked:
        grid = CellGrid.from_outline(asked["outline"], cell_size=_CELL)
        mass = np.full(grid.n_cells, model.total_mass / grid.n_cells)
        friction = np.full(grid.n_cells, model.mean_friction)
    mass, friction = asked.get("mass", mass), asked.get("friction", friction)
    if isinstance(mass, Real):
        mass = np.full(grid.n_cells, mass / grid.n_cells)
    return pushed_object(
        ObjectModel(grid, mass, friction), asked.get("finger", usual.simulator.finger)
    )


_T_OUTLINE = t_model().grid.outline
