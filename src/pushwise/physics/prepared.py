"""`PreparedObject`: an object made ready for the kernels, for callers that simulate it often.

Everything outside this package that needs more than `simulate` comes through here: rollouts with
every step, their Jacobians and adjoints, starts moved out of the finger, and the ends of many
pushes in one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, Self

import numpy as np

from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.se2 import SE2, se2
from pushwise.physics.clear_start import ClearStart, FingerGap, gap_at
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernel_inputs import (
    action_of,
    board_of,
    body_of,
    clock_of,
    ground_of,
    step_of_travel,
    time_step,
)
from pushwise.physics.kernels import rollout
from pushwise.physics.kernels.action import DEEPEST, Action
from pushwise.physics.kernels.adjoint import RolloutBar, new_adjoint_work, roll_adjoint
from pushwise.physics.kernels.batch_endpoints import EndsWork, Pushes, new_ends_work, roll_ends
from pushwise.physics.kernels.jacobian import (
    EXTRA,
    MOMENTS,
    START,
    new_jacobian_work,
    roll_jacobian,
)
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE, FULL, Clock, Work, new_work, roll
from pushwise.physics.kernels.track import Track, first_steps, new_track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "DEEPEST",
    "EXTRA",
    "MOMENTS",
    "START",
    "Action",
    "ClearStart",
    "Clock",
    "Ending",
    "Feet",
    "Jacobian",
    "PreparedObject",
    "Pushes",
    "Rolled",
    "RolloutBar",
    "Track",
    "action_from",
    "action_of",
    "clock_of",
    "new_ends_work",
    "pushes_of",
    "step_of_travel",
    "time_step",
]


_MOST_MOVES = 50  # of an object out of the finger: in a corner it takes more than one
_TOUCHES = 1e-12  # m; a gap that is none

Loop = Callable[[Body, Ground, Action, Array, Array, Clock, Work, Track], tuple[int, int]]
"""A kernel that fills a track: how it ended, and the number of steps."""


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


class Jacobian(NamedTuple):
    """Derivatives of a rollout in z, the P parameters that `kernels.jacobian` lists."""

    pose: Array  # (T + 1, 3, P)
    impulse: Array  # (T, 2, P); (0, 2, P) when not asked for


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
        if not isinstance(model, ObjectModel):
            raise PushwiseError(f"model must be an ObjectModel; got {type(model).__name__}.")
        return cls(body_of(model, physics), ground_of(model, table, physics))

    @classmethod
    def on_feet(cls, grid: CellGrid, feet: Feet, physics: Physics) -> Self:
        """Prepare an object whose mass and friction are all in a few points, on a plane."""
        x, y = (column.copy() for column in grid.outline.T)
        reach, none = float(np.hypot(x, y).max()), np.empty(0)
        body = Body(m=0.0, cx=0.0, cy=0.0, J=0.0, bx=none, by=none, ox=x, oy=y, reach=reach, z=0.0)
        rough = np.full(len(feet.weights), feet.friction)
        ground = Ground(base=none, mu=rough, tx=none, ty=none, own=True, board=board_of(physics))
        return cls(body, ground).with_feet(feet)

    def with_feet(self, feet: Feet) -> Self:
        """Return an object of `on_feet` on other feet, as many of them and as rough."""
        mass = float(feet.weights.sum())
        shares = feet.weights / mass
        centre = shares @ feet.places
        body = self.body._replace(
            m=mass,
            cx=float(centre[0]),
            cy=float(centre[1]),
            J=mass * float(shares @ np.sum(feet.places**2, axis=1)),
            bx=feet.places[:, 0].copy(),
            by=feet.places[:, 1].copy(),
        )
        return type(self)(body, self.ground._replace(base=GRAVITY * feet.weights))

    def with_gyration(self, factor: float) -> Self:
        """Return the object with another radius of gyration: `factor` times its own."""
        body = self.body
        about_origin = body.m * (body.cx**2 + body.cy**2)
        J = about_origin + factor**2 * (body.J - about_origin)
        return replace(self, body=body._replace(J=J))

    def leaning(self, z: float) -> Self:
        """Return the object with its centre of mass at a height z [m]; it has no adjoint then."""
        return replace(self, body=self.body._replace(z=z))

    def roll(self, action: Action, pose: Array, clock: Clock, twist: Array | None = None) -> Rolled:
        """Simulate an action from a pose (3,), at rest or with a twist (3,)."""
        return self.roll_with(roll, action, pose, clock, twist)

    def roll_with(
        self, loop: Loop, action: Action, pose: Array, clock: Clock, twist: Array | None = None
    ) -> Rolled:
        """Simulate with a loop of the kernels, `roll` or that of the paper's friction."""
        # Copies, because kernels are compiled for arrays that may be written to.
        start, thrown = np.array(pose), np.zeros(3) if twist is None else np.array(twist)
        work = new_work(self.body)
        room = len(clock.instants) + 64
        while True:
            track = new_track(room)
            ending, steps = loop(self.body, self.ground, action, start, thrown, clock, work, track)
            if ending != FULL:
                return Rolled(Ending(ending), first_steps(track, steps))
            room *= 2

    def jacobian(
        self,
        action: Action,
        track: Track,
        cells: int,
        *,
        impulse: bool = False,
        knots: bool = False,
    ) -> Jacobian:
        """Differentiate all poses of a track, and its impulses if asked for; see `Jacobian`.

        Args:
            action: what was done.
            track: the steps that `roll` took.
            cells: number of cells.
            impulse: whether to differentiate the impulses of the finger, too.
            knots: whether to differentiate in the knots of the finger's path, too.

        """
        steps, size = len(track.mode), cells + EXTRA + (2 * len(action.t) if knots else 0)
        found = Jacobian(
            np.empty((steps + 1, 3, size)), np.empty((steps if impulse else 0, 2, size))
        )
        work = new_jacobian_work(self.body, cells, size)
        roll_jacobian(self.body, self.ground, action, track, cells, found.pose, found.impulse, work)
        return found

    def adjoint(
        self,
        action: Action,
        track: Track,
        grid: CellGrid,
        pose_bar: Array,
        impulse_bar: Array | None = None,
    ) -> RolloutBar | None:
        """Carry derivatives back over a rollout to all that it depends on.

        None where the load has no derivative, because too few points of the object press.

        Args:
            action: what was done.
            track: the steps that `roll` took.
            grid: the cells whose masses and frictions are differentiated in.
            pose_bar: derivatives of a loss in the poses, shape (T + 1, 3).
            impulse_bar: derivatives in the impulses, shape (T, 2); none if not given.

        """
        assert self.body.z == 0.0
        if impulse_bar is None:
            impulse_bar = np.zeros_like(track.impulse)
        bar = RolloutBar(
            mass=np.zeros(grid.n_cells),
            friction=np.zeros(grid.n_cells),
            pose=np.zeros(3),
            twist=np.zeros(3),
            finger=np.zeros_like(track.finger),
            disc=np.zeros(2),
            force=np.zeros(2),
        )
        differentiable = roll_adjoint(
            self.body,
            self.ground,
            action,
            track,
            pose_bar,
            impulse_bar,
            np.array(grid.centres),
            grid.cell_size,
            new_adjoint_work(self.body),
            bar,
        )
        return bar if differentiable else None

    def ends(self, pushes: Pushes, poses: Array, work: EndsWork | None = None) -> Array | None:
        """Return where pushes from rest at poses (B, 3) end, (B, 3), or None if one fails.

        work: of `new_ends_work`, made once by callers that ask again and again.
        """
        found, endings = np.empty((len(poses), 3)), np.empty(len(poses), np.int64)
        work = new_ends_work(self.body) if work is None else work
        start = np.array(poses)
        roll_ends(self.body, self.ground, pushes, start, np.zeros_like(start), found, endings, work)
        return found if (endings == DONE).all() else None

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
            deepest: how far inside the finger may be [m]; three quarters of its radius when not
                given.
            touching: whether to close a gap as well, if not larger than `deepest`.

        """
        clear = ClearStart(pose, np.zeros(2), np.zeros((2, 2)), np.zeros(2))
        if action.t.size == 0 or action.lifted <= 0.0:  # no finger is there
            return clear
        x, y = (float(np.interp(0.0, action.t, knots)) for knots in (action.x, action.y))
        for _ in range(_MOST_MOVES):
            met = self.finger_gap(se2(*clear.pose.tolist()), x, y, action.radius)
            close = touching and deepest is not None and met.gap < deepest
            if abs(met.gap) < _TOUCHES or (met.gap >= 0.0 and not close):
                return clear
            if deepest is None and met.gap < -DEEPEST * action.radius:
                raise SimulationError(
                    f"{name}: the finger, radius {action.radius:g} m, starts {-met.gap * 1e3:.1f} "
                    "mm inside the object as observed; more than three quarters of its radius "
                    "cannot be noise: is that its radius?"
                )
            if deepest is not None and met.gap < -deepest:
                raise SimulationError(
                    f"{name}: the finger starts {-met.gap * 1e3:.1f} mm inside the object as "
                    f"observed; more than {deepest * 1e3:g} mm is no matter of calibration."
                )
            clear = clear.moved(met, x, y)
            touching = False
        raise SimulationError(
            f"{name}: the finger, radius {action.radius:g} m, does not fit where it starts, at "
            f"({x:.4f}, {y:.4f}) m: the object is on both sides of it."
        )

    def top_speed(self, twist: Array) -> float:
        """Return a bound on the speed of all points of the object [m/s] for a twist (3,)."""
        vx, vy, omega = map(float, twist)
        return math.hypot(vx, vy) + abs(omega) * self.body.reach

    def finger_gap(self, at: SE2, x: float, y: float, radius: float) -> FingerGap:
        """Return how a finger at a point of the table meets the object at a pose."""
        return gap_at((self.body.ox, self.body.oy), at, x, y, radius)


def action_from(model: ObjectModel, push: Push | ForcePush, finger: Finger, begin: float) -> Action:
    """Return a push as an action with time counted from `begin` [s]."""
    action = action_of(model, push, finger)
    return action._replace(
        t=action.t - begin, duration=action.duration - begin, lifted=action.lifted - begin
    )


def pushes_of(actions: Sequence[Action], clocks: Sequence[Clock]) -> Pushes:
    """Return pushes by one finger, one or more, in the form in which kernels take many of them."""
    return Pushes(
        t=np.concatenate([action.t for action in actions]),
        x=np.concatenate([action.x for action in actions]),
        y=np.concatenate([action.y for action in actions]),
        knots=np.cumsum([len(action.t) for action in actions], dtype=np.int64),
        instants=np.concatenate([clock.instants for clock in clocks]),
        ends=np.cumsum([len(clock.instants) for clock in clocks], dtype=np.int64),
        dt=np.array([clock.dt for clock in clocks]),
        lifted=np.array([action.lifted for action in actions]),
        radius=actions[0].radius,
        mu=actions[0].mu,
        height=actions[0].height,
        settle=clocks[0].settle,
    )
