"""From the public objects to the named tuples that the kernels work on."""

from __future__ import annotations

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import Clock
from pushwise.physics.kernels.step import ISOTROPIC, Board
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.typing import Array

__all__ = [
    "STEP_TRAVEL",
    "action_of",
    "bends_of",
    "board_of",
    "body_of",
    "clock_of",
    "friction_points",
    "ground_of",
    "step_of_travel",
    "time_step",
]

STEP_TRAVEL = 5e-4  # m; how far the finger moves in a step by default
FORCE_STEP = 1e-3  # s; the default step under a force
STILL_STEP = 1e-2  # s; the default step of a finger that does not move
THROW_TRAVEL = 2e-3  # m; how far a moving object moves in its first step at most


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
        z=0.0,
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
        return Action(
            t=push.times.copy(),
            x=push.positions[:, 0].copy(),
            y=push.positions[:, 1].copy(),
            radius=finger.radius,
            mu=finger.friction,
            height=finger.height,
            cell_x=0.0,
            cell_y=0.0,
            force_x=0.0,
            force_y=0.0,
            duration=push.duration,
            lifted=push.duration if push.raised else np.inf,
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
        lifted=np.inf,
    )


def time_step(
    push: Push | ForcePush, finger: Finger, physics: Physics, thrown: float = 0.0
) -> float:
    """Return the longest time step [s].

    thrown: how fast the object moves at the start [m/s].
    """
    dt = physics.dt
    if dt is None:
        dt = FORCE_STEP
        if isinstance(push, Push):
            dt = step_of_travel(push, min(STEP_TRAVEL, 0.5 * finger.radius))
        if thrown > 0.0:
            dt = min(dt, THROW_TRAVEL / thrown)
    return dt


def step_of_travel(push: Push, travel: float) -> float:
    """Return the time [s] in which the finger moves `travel` [m] at its top speed."""
    top = push.top_speed
    return travel / top if top > 0.0 else STILL_STEP


def clock_of(action: Action, dt: float, until: float, *, settle: bool) -> Clock:
    """Return the instants of a rollout, at most dt apart; the bends of the path are among them.

    Args:
        action: what is done, with time counted from the start of the rollout.
        dt: time step [s].
        until: end of the rollout [s].
        settle: whether it continues from there until the object rests.

    """
    instants: list[Array] = [np.zeros(1)]
    begin = 0.0
    for end in bends_of(action, until):
        steps = int(np.ceil((end - begin) / dt * (1.0 - 1e-9)))
        if steps > 0:
            # Not linspace: where a push is cut must not show in the instants before.
            times: Array = begin + np.arange(1.0, steps + 1) * ((end - begin) / steps)
            times[-1] = end
            instants.append(times)
            begin = end
    rest = int(np.ceil((until - begin) / dt * (1.0 - 1e-9)))
    if rest > 0:
        times = begin + np.arange(1.0, rest + 1) * dt
        times[-1] = until
        instants.append(times)
    return Clock(instants=np.concatenate(instants), dt=dt, settle=settle)


def bends_of(action: Action, until: float) -> list[float]:
    """Return when the motion changes, after the start and not after `until` [s]."""
    # The finger may be at rest before and after: its first and last knot count as bends.
    found = [float(t) for t in action.t[[0, -1]]] if len(action.t) > 0 else [action.duration]
    if len(action.t) > 2:
        velocity = np.diff([action.x, action.y]) / np.diff(action.t)
        change = np.abs(np.diff(velocity)).max(axis=0)
        bend = change > 1e-9 * np.abs(velocity).max()
        found[1:1] = action.t[1:-1][bend].tolist()
    return [t for t in found if 0.0 < t <= until]
