"""`PreparedObject`: an object made ready for the kernels, for callers that simulate it often.

Everything outside this package that needs more than `simulate` comes through here: rollouts with
every step, their Jacobians and adjoints, starts moved out of the finger, and the ends of many
pushes in one call.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self

import numpy as np

from pushwise.compilation import interrupts_held
from pushwise.errors import SimulationError
from pushwise.geometry.se2 import se2
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernel_inputs import (
    action_of,
    board_of,
    body_of,
    ground_of,
    state_of,
    time_step,
)
from pushwise.physics.kernels import rollout
from pushwise.physics.kernels.adjoint import RolloutBar, roll_adjoint
from pushwise.physics.kernels.batch_endpoints import Fingers, finger_gap, roll_ends
from pushwise.physics.kernels.jacobian import EXTRA, MOMENTS, roll_jacobian
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import Action, Clock, roll
from pushwise.physics.kernels.track import Track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "EXTRA",
    "MOMENTS",
    "Action",
    "ClearStart",
    "Clock",
    "Ending",
    "Feet",
    "Fingers",
    "Jacobian",
    "PreparedObject",
    "Rolled",
    "RolloutBar",
    "Track",
    "action_from",
    "action_of",
    "time_step",
]


class Ending(IntEnum):
    """How a rollout ended."""

    DONE = rollout.DONE
    TIPPED = rollout.TIPPED
    STARTED_INSIDE = rollout.STARTED_INSIDE
    NO_SOLUTION = rollout.NO_SOLUTION


class Rolled(NamedTuple):
    """A rollout; on an ending other than DONE the track's last instant is where it happened."""

    ending: Ending
    track: Track


class ClearStart(NamedTuple):
    """A pose clear of the finger, and how it depends on what it was made from."""

    pose: Array  # (3,)
    normal: Array  # (2,) outward normal it was moved along; zero when it was not moved
    by_finger: Array  # (2, 2) derivative of its position in the finger's; zero when not moved
    by_angle: Array  # (2,) derivative of its position in the angle; zero when not moved


class Jacobian(NamedTuple):
    """Derivatives of a rollout in z, the n + EXTRA parameters that `kernels.jacobian` lists."""

    pose: Array  # (T + 1, 3, n + EXTRA)
    impulse: Array  # (T, 2, n + EXTRA); (0, 2, n + EXTRA) when not asked for


class Feet(NamedTuple):
    """Points that carry an object instead of its cells."""

    places: Array  # [m] in the grid frame, shape (f, 2)
    weights: Array  # what each carries [kg], shape (f,)
    friction: float


@dataclass(frozen=True, eq=False)
class PreparedObject:
    """An object on a table as the kernels see it."""

    body: Body
    ground: Ground

    @classmethod
    def of(cls, model: ObjectModel, table: Table | None, physics: Physics) -> Self:
        """Prepare a model on a table, or (None) on a plane without an edge."""
        return cls(body_of(model, physics), ground_of(model, table, physics))

    @classmethod
    def on_feet(cls, grid: CellGrid, feet: Feet, physics: Physics) -> Self:
        """Prepare an object whose mass and friction are all in a few points, on a plane."""
        x, y = (column.copy() for column in grid.outline.T)
        mass = float(feet.weights.sum())
        shares = feet.weights / mass
        centre = shares @ feet.places
        body = Body(
            m=mass,
            cx=float(centre[0]),
            cy=float(centre[1]),
            J=mass * float(shares @ np.sum(feet.places**2, axis=1)),
            bx=feet.places[:, 0].copy(),
            by=feet.places[:, 1].copy(),
            ox=x,
            oy=y,
            reach=float(np.hypot(x, y).max()),
        )
        ground = Ground(
            base=GRAVITY * feet.weights,
            mu=np.full(len(shares), feet.friction),
            tx=np.empty(0),
            ty=np.empty(0),
            own=True,
            board=board_of(physics),
        )
        return cls(body, ground)

    def roll(self, action: Action, pose: Array, clock: Clock, twist: Array | None = None) -> Rolled:
        """Simulate an action from a pose (3,), at rest or with a twist (3,)."""
        start = state_of(pose, np.zeros(3) if twist is None else twist)
        with interrupts_held():
            ending, track = roll(self.body, self.ground, action, start, clock)
        return Rolled(Ending(ending), track)

    def jacobian(self, action: Action, track: Track, cells: int, *, impulse: bool) -> Jacobian:
        """Differentiate all poses of a track, and its impulses if asked for; see `Jacobian`."""
        steps, size = len(track.mode), cells + EXTRA
        found = Jacobian(
            np.empty((steps + 1, 3, size)), np.empty((steps if impulse else 0, 2, size))
        )
        with interrupts_held():
            roll_jacobian(self.body, self.ground, action, track, found.pose, found.impulse)
        return found

    def adjoint(
        self,
        action: Action,
        track: Track,
        grid: CellGrid,
        pose_bar: Array,
        impulse_bar: Array | None = None,
    ) -> RolloutBar:
        """Carry derivatives back over a rollout to all that it depends on.

        Args:
            action: what was done.
            track: the steps that `roll` took.
            grid: the cells whose masses and frictions are differentiated in.
            pose_bar: derivatives of a loss in the poses, shape (T + 1, 3).
            impulse_bar: derivatives in the impulses, shape (T, 2); none if not given.

        """
        if impulse_bar is None:
            impulse_bar = np.zeros_like(track.impulse)
        cells = np.array(grid.centres)
        with interrupts_held():
            return roll_adjoint(
                self.body, self.ground, action, track, pose_bar, impulse_bar, cells, grid.cell_size
            )

    def ends(self, fingers: Fingers, poses: Array) -> Array | None:
        """Return where pushes from poses (k, 3) end, (k, 3); None where one cannot be simulated."""
        found = np.empty((len(poses), 3))
        with interrupts_held():
            followed = roll_ends(self.body, self.ground, fingers, np.array(poses), found)
        return found if followed else None

    def clear_start(
        self,
        name: str,
        pose: Array,
        action: Action,
        *,
        deepest: float | None = None,
        touching: bool = False,
    ) -> ClearStart:
        """Move an observed pose (3,) that noise put under the finger straight out of it.

        Args:
            name: what an error calls the push.
            pose: as observed [m, m, rad], shape (3,).
            action: what is done from there.
            deepest: how far inside the finger may be [m]; half its radius when not given.
            touching: whether to close a gap as well, if not larger than `deepest`.

        """
        untouched = ClearStart(pose, np.zeros(2), np.zeros((2, 2)), np.zeros(2))
        if action.t.size == 0:
            return untouched
        with interrupts_held():
            met = finger_gap(self.body, action, se2(*pose.tolist()))
        gap = met.gap
        if gap >= 0.0 and not (touching and deepest is not None and gap < deepest):
            return untouched
        if deepest is None and gap < -0.5 * action.radius:
            raise SimulationError(
                f"{name}: the finger, radius {action.radius:g} m, starts {-gap * 1e3:.1f} mm inside"
                " the object as observed; more than half its radius cannot be noise."
            )
        if deepest is not None and gap < -deepest:
            raise SimulationError(
                f"{name}: the finger starts {-gap * 1e3:.1f} mm inside the object as observed; "
                f"more than {deepest * 1e3:g} mm is no matter of calibration."
            )
        n = np.array([met.nx, met.ny])
        t = np.array([-met.ny, met.nx])
        moved = np.array([pose[0] + gap * n[0], pose[1] + gap * n[1], pose[2]])
        by_finger = np.outer(n, n) + gap * met.curvature * np.outer(t, t)
        # Turning the object by an angle is turning the finger back about it, and then both.
        by_angle = gap * t - by_finger @ np.array([-met.arm_y, met.arm_x])
        return ClearStart(moved, n, by_finger, by_angle)


def action_from(model: ObjectModel, push: Push | ForcePush, finger: Finger, begin: float) -> Action:
    """Return a push as an action with time counted from `begin` [s]."""
    action = action_of(model, push, finger)
    return action._replace(t=action.t - begin, duration=action.duration - begin)
