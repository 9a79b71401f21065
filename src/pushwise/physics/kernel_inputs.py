"""From the public objects to the named tuples that the kernels work on."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import Action
from pushwise.physics.kernels.step import ISOTROPIC, Board
from pushwise.physics.kernels.substep import State
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.typing import Array

__all__ = [
    "STEP_TRAVEL",
    "action_of",
    "board_of",
    "body_of",
    "friction_points",
    "ground_of",
    "state_of",
    "time_step",
]

STEP_TRAVEL = 5e-4  # m; how far the finger moves in a step by default
FORCE_STEP = 1e-3  # s; the default step under a force


def board_of(physics: Physics) -> Board:
    """Return the root of the table's matrix."""
    if physics.anisotropy is None:
        return ISOTROPIC
    value, axes = np.linalg.eigh(np.asarray(physics.anisotropy, float))
    root = (axes * np.sqrt(value)) @ axes.T
    return Board(xx=float(root[0, 0]), xy=float(root[0, 1]), yy=float(root[1, 1]))


def friction_points(model: ObjectModel, points: int) -> Array:
    """Return the friction points in the grid frame [m], shape (n points^2, 2), cell by cell.

    A regular lattice in each cell, stretched to give it the second moment of the square: with two
    points per side these are Gauss's.
    """
    if points == 1:
        return model.grid.centres.copy()
    regular = (2.0 * np.arange(points) + 1.0) / points - 1.0
    side = 0.5 * model.grid.cell_size * regular * points / np.sqrt(points**2 - 1.0)
    sub = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    all_points: Array = (model.grid.centres[:, None, :] + sub).reshape(-1, 2)
    return all_points


def body_of(model: ObjectModel, physics: Physics) -> Body:
    """Return moments, friction points and outline of a model."""
    b = friction_points(model, physics.points)
    centre = model.centre_of_mass
    outline = model.grid.outline
    reach = np.sqrt(max(np.sum(b**2, axis=1).max(), np.sum(outline**2, axis=1).max()))
    return Body(
        m=model.total_mass,
        cx=float(centre[0]),
        cy=float(centre[1]),
        J=model.inertia + model.total_mass * float(centre @ centre),
        bx=b[:, 0].copy(),
        by=b[:, 1].copy(),
        ox=outline[:, 0].copy(),
        oy=outline[:, 1].copy(),
        reach=float(reach),
    )


def ground_of(model: ObjectModel, table: Table | None, physics: Physics) -> Ground:
    """Return own weights, friction coefficients and the edge of the table, if it has one."""
    each = physics.points**2
    own = physics.load == "own"
    edge = np.empty((0, 2)) if table is None else table.polygon
    return Ground(
        base=np.repeat(model.mass, each) * (GRAVITY / each if own else 0.0),
        mu=np.repeat(model.friction, each),
        tx=edge[:, 0].copy(),
        ty=edge[:, 1].copy(),
        own=own,
        board=board_of(physics),
    )


def action_of(model: ObjectModel, push: Push | ForcePush, finger: Finger) -> Action:
    """Return a push as a path of the finger, or as a force on a point of the object."""
    if isinstance(push, Push):
        end = push.start + push.duration * push.velocity
        return Action(
            t=np.array([0.0, push.duration]),
            x=np.array([push.start[0], end[0]]),
            y=np.array([push.start[1], end[1]]),
            radius=finger.radius,
            mu=finger.friction,
            height=finger.height,
            cell_x=0.0,
            cell_y=0.0,
            force_x=0.0,
            force_y=0.0,
            duration=push.duration,
        )
    if not isinstance(push, ForcePush):
        raise PushwiseError(f"push must be a Push or a ForcePush; got {type(push).__name__}.")
    if push.cell >= model.grid.n_cells:
        raise PushwiseError(
            f"push cell must be below the number of cells, {model.grid.n_cells}; got {push.cell}."
        )
    x, y = model.grid.centres[push.cell]
    return Action(
        t=np.empty(0),
        x=np.empty(0),
        y=np.empty(0),
        radius=0.0,
        mu=0.0,
        height=0.0,
        cell_x=float(x),
        cell_y=float(y),
        force_x=float(push.force[0]),
        force_y=float(push.force[1]),
        duration=push.duration,
    )


def state_of(pose: Array, twist: Array | None = None) -> State:
    """Return the state of an untouched object at a pose (3,), at rest or with a twist (3,)."""
    if twist is None:
        twist = np.zeros(3)
    return State(
        x=float(pose[0]),
        y=float(pose[1]),
        th=float(pose[2]),
        vx=float(twist[0]),
        vy=float(twist[1]),
        w=float(twist[2]),
        mode=SEPARATE,
        first=-1,
        second=-1,
        fx=0.0,
        fy=0.0,
    )


def time_step(push: Push | ForcePush, finger: Finger, physics: Physics) -> float:
    """Return the time step [s], a whole fraction of the push's duration."""
    dt = physics.dt
    if dt is None:
        dt = FORCE_STEP
        if isinstance(push, Push):
            travel = min(STEP_TRAVEL, 0.5 * finger.radius)
            dt = travel / float(np.hypot(*push.velocity))
    return float(push.duration / np.ceil(push.duration / dt * (1.0 - 1e-9)))
