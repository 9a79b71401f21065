"""From the public objects to what the compiled code works on.

Where a simulated push may start: a pose that noise put under the finger is moved out of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.contact import feature_normal, nearest_feature
from pushwise.physics.kernels.rollout import Action, finger_at
from pushwise.physics.kernels.step import EVEN_BOARD, Board
from pushwise.physics.kernels.substep import Body
from pushwise.physics.kernels.support import Ground
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.typing import Array

__all__ = ["ClearStart", "clear_start"]

STEP_TRAVEL = 5e-4  # m; how far the finger moves in a step by default
FORCE_STEP = 1e-3  # s; the default step under a force
EMPTY = np.empty(0)


def board_of(physics: Physics) -> Board:
    """Return the root of the board's matrix, as the compiled code takes it."""
    if physics.anisotropy is None:
        return EVEN_BOARD
    value, axes = np.linalg.eigh(np.asarray(physics.anisotropy, float))
    root = (axes * np.sqrt(value)) @ axes.T
    return Board(False, float(root[0, 0]), float(root[0, 1]), float(root[1, 1]))


def friction_points(model: ObjectModel, points: int) -> Array:
    """Return the friction points in the grid frame [m], shape (n points^2, 2), cell by cell.

    An even lattice in each cell, stretched so that its second moment is the square's: with two
    points a side these are Gauss's.
    """
    if points == 1:
        return model.grid.centres.copy()
    even = (2.0 * np.arange(points) + 1.0) / points - 1.0
    side = 0.5 * model.grid.cell_size * even * points / np.sqrt(points**2 - 1.0)
    sub = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    spread: Array = (model.grid.centres[:, None, :] + sub).reshape(-1, 2)
    return spread


def body_of(model: ObjectModel, physics: Physics) -> Body:
    """Return moments, friction points and outline of a model."""
    b = friction_points(model, physics.points)
    centre = model.centre_of_mass
    outline = model.grid.outline
    reach = np.sqrt(max(np.sum(b**2, axis=1).max(), np.sum(outline**2, axis=1).max()))
    return Body(
        model.total_mass,
        float(centre[0]),
        float(centre[1]),
        model.inertia + model.total_mass * float(centre @ centre),
        np.ascontiguousarray(b[:, 0]),
        np.ascontiguousarray(b[:, 1]),
        np.ascontiguousarray(outline[:, 0]),
        np.ascontiguousarray(outline[:, 1]),
        float(reach),
    )


def ground_of(model: ObjectModel, table: Table | None, physics: Physics) -> Ground:
    """Return own weights, friction coefficients and the edge of the table, if it has one."""
    each = physics.points**2
    own = physics.load == "own"
    base = np.repeat(model.mass, each) * (GRAVITY / each if own else 0.0)
    edge = EMPTY.reshape(0, 2) if table is None else table.polygon
    return Ground(
        base,
        np.repeat(model.friction, each),
        np.ascontiguousarray(edge[:, 0]),
        np.ascontiguousarray(edge[:, 1]),
        own,
        board_of(physics),
    )


def action_of(model: ObjectModel, push: Push | ForcePush, finger: Finger) -> Action:
    """Return a push as a path of the finger, or as a force on a point of the object."""
    if isinstance(push, Push):
        end = push.start + push.duration * push.velocity
        return Action(
            np.array([0.0, push.duration]),
            np.array([push.start[0], end[0]]),
            np.array([push.start[1], end[1]]),
            finger.radius,
            finger.friction,
            finger.height,
            0.0,
            0.0,
            0.0,
            0.0,
            push.duration,
        )
    if not isinstance(push, ForcePush):
        raise PushwiseError(f"push must be a Push or a ForcePush; got {type(push).__name__}.")
    if push.cell >= model.grid.n_cells:
        raise PushwiseError(
            f"push cell must be below the number of cells, {model.grid.n_cells}; got {push.cell}."
        )
    x, y = model.grid.centres[push.cell]
    fx, fy = push.force
    return Action(
        EMPTY, EMPTY, EMPTY, 0.0, 0.0, 0.0, float(x), float(y), float(fx), float(fy), push.duration
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


class ClearStart(NamedTuple):
    """A pose clear of the finger, and how it depends on what it was made from."""

    pose: Array  # (3,)
    normal: Array  # (2,) outward normal it was moved along; zero when it was not moved
    by_finger: Array  # (2, 2) derivative of its position in the finger's; zero when not moved
    by_angle: Array  # (2,) derivative of its position in the angle; zero when not moved


def clear_start(
    name: str,
    pose: Array,
    body: Body,
    action: Action,
    *,
    deepest: float | None = None,
    touching: bool = False,
) -> ClearStart:
    """Move an observed pose (3,) straight out of the finger.

    `name` is what an error calls the push; deepest: how far inside may be noise [m], half the
    finger's radius when not given; touching: whether to close a gap, too.
    """
    untouched = ClearStart(pose, np.zeros(2), np.zeros((2, 2)), np.zeros(2))
    if action.t.size == 0:
        return untouched
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    turn = np.array([[cos, -sin], [sin, cos]])
    arm = np.array(finger_at(action, 0.0)) - pose[:2]
    q = turn.T @ arm
    feature, distance = nearest_feature(q[0], q[1], body.ox, body.oy)
    gap = distance - action.radius
    if gap >= 0.0 and not (touching and deepest is not None and gap < deepest):
        return untouched
    if deepest is None and gap < -0.5 * action.radius:
        raise SimulationError(
            f"{name}: the finger, radius {action.radius:g} m, starts {-gap * 1e3:.1f} mm inside "
            "the object as observed; more than half its radius cannot be noise."
        )
    if deepest is not None and gap < -deepest:
        raise SimulationError(
            f"{name}: the finger starts {-gap * 1e3:.1f} mm inside the object as observed; "
            f"more than {deepest * 1e3:g} mm is no matter of calibration."
        )
    _, nx, ny, curvature = feature_normal(feature, q[0], q[1], body.ox, body.oy)
    n = turn @ np.array([nx, ny])
    t = np.array([-n[1], n[0]])
    moved = np.array([pose[0] + gap * n[0], pose[1] + gap * n[1], pose[2]])
    by_finger = np.outer(n, n) + gap * curvature * np.outer(t, t)
    # Turning the object by an angle is turning the finger back about it, and then both.
    by_angle = gap * t - by_finger @ np.array([-arm[1], arm[0]])
    return ClearStart(moved, n, by_finger, by_angle)
