"""Push-T: the facts of the task as gym-pusht 0.1.8 defines it, in pixels, and a T with friction.

Positions are in pixels of a 512 x 512 picture, x to the right and y down; a pixel is a millimetre.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from pushwise.geometry.overlap import convex_parts
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "AGENT",
    "CONTROL_STEPS",
    "CONTROL_TIME",
    "GOAL",
    "PIXEL",
    "SIZE",
    "SUCCESS",
    "TIME_LIMIT",
    "T_KEYPOINTS",
    "T_PARTS",
    "WALLS",
    "agent_path",
    "agent_target",
    "random_start",
    "t_model",
]

PIXEL: Final = 1e-3  # m
SIZE: Final = 512.0
WALLS: Final = (7.0, 504.0)  # inner faces, the same along x and y
GOAL: Final = (256.0, 256.0, np.pi / 4)
SUCCESS: Final = 0.95  # coverage of the goal
TIME_LIMIT: Final = 300  # steps
AGENT: Final = Finger(radius=15.0 * PIXEL, friction=0.3)
CONTROL_STEPS: Final = 10  # of the agent's controller in a step of the environment
CONTROL_TIME: Final = 0.01  # s, of one of them
_STIFFNESS: Final = 100.0  # 1/s^2
_DAMPING: Final = 20.0  # 1/s
_PIVOT: Final = np.array([0.0, 45.0])  # about which gym-pusht turns the T when it sets an angle
_BAR: Final = np.array([(-60.0, 0.0), (60.0, 0.0), (60.0, 30.0), (-60.0, 30.0)])
_STEM: Final = np.array([(-15.0, 30.0), (15.0, 30.0), (15.0, 120.0), (-15.0, 120.0)])
_OUTLINE: Final = np.array(
    [(-60, 0), (60, 0), (60, 30), (15, 30), (15, 120), (-15, 120), (-15, 30), (-60, 30)], float
)

T_PARTS: Final = convex_parts(PIXEL * np.stack([_BAR, _STEM]), np.ones(2))
T_KEYPOINTS: Final = PIXEL * np.concatenate([_BAR, _STEM])
"""Corners of bar and stem in the order of the keypoints [m], shape (8, 2)."""


def t_model(mass: float = 1.0, friction: float = 0.5) -> ObjectModel:
    """Return a T of uniform mass [kg] and friction: 28 cells, its origin where gym-pusht's is."""
    grid = CellGrid.from_outline(PIXEL * _OUTLINE, cell_size=15.0 * PIXEL)
    return ObjectModel(grid, np.full(grid.n_cells, mass / grid.n_cells), friction)


def _controller() -> Array:
    """Return how the agent's controller maps offset and velocity over ten steps, (10, 2, 2).

    In a step the velocity changes first, v' = v - (k x + d v) dt, and then x' = x + v' dt.
    """
    faster = np.array([[1.0, 0.0], [-CONTROL_TIME * _STIFFNESS, 1.0 - CONTROL_TIME * _DAMPING]])
    further = np.array([[1.0, CONTROL_TIME], [0.0, 1.0]])
    step = further @ faster
    return np.stack([np.linalg.matrix_power(step, k + 1) for k in range(CONTROL_STEPS)])


_CONTROLLER: Final = _controller()


def agent_path(position: Array, velocity: Array, target: Array) -> tuple[Array, Array]:
    """Return where the agent goes in steps of 10 ms, and its velocities then, (10, B, 2) each.

    A critically damped controller moves it towards the target. All in pixels, shape (B, 2) each.
    """
    shape = np.shape(position)
    state = np.empty((2, *shape))
    np.subtract(position, target, out=state[0])
    state[1] = velocity
    after = np.dot(_CONTROLLER.reshape(-1, 2), state.reshape(2, -1))
    after = after.reshape(CONTROL_STEPS, 2, *shape)
    return target + after[:, 0], after[:, 1]


def agent_target(position: Array, velocity: Array, place: Array) -> Array:
    """Return the target that takes the agent to a place within a step [px], shape (2,) each."""
    kept, carried = _CONTROLLER[-1, 0]
    target: Array = (place - kept * position - carried * velocity) / (1.0 - kept)
    return target


def random_start(rng: np.random.Generator) -> Array:
    """Return agent and pose of the T at the start of an episode, in pixels, shape (5,).

    gym-pusht with the same seed starts in the same state. The angle turns the T about the point 45
    pixels below its origin there, which therefore moves.
    """
    agent = [rng.integers(50, 450), rng.integers(50, 450)]
    place = np.array([rng.integers(100, 400), rng.integers(100, 400)], float)
    angle = rng.uniform(-np.pi, np.pi)
    cos, sin = np.cos(angle), np.sin(angle)
    place += _PIVOT - np.array([[cos, -sin], [sin, cos]]) @ _PIVOT
    return np.array([*agent, *place, angle], float)
