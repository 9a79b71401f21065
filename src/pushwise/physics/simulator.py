"""`Simulator`: an object simulated step by step, from states that can be kept and used again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.kernel_inputs import (
    STEP_TRAVEL,
    THROW_TRAVEL,
    action_of,
    bends_of,
)
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.control_step import (
    COLUMNS,
    DOWN,
    FINGER,
    PLACED,
    RAISED,
    STATUS,
    ControlSteps,
    advance_states,
    new_control_work,
)
from pushwise.physics.kernels.rollout import DONE, FULL
from pushwise.physics.kernels.track import Track, first_steps, new_track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.motion_state import MotionState, frozen_state
from pushwise.physics.prepared import PreparedObject
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import Trajectory, setting_of, trajectory_of
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["MotionState", "Simulator", "step_batch"]

_LEAST = 8  # states for which another thread is worth starting


class Simulator:
    """One object on one table with one finger, simulated step by step."""

    def __init__(
        self,
        model: ObjectModel,
        *,
        finger: Finger | None = None,
        table: Table | None = None,
        physics: Physics = Physics(),
    ) -> None:
        """Prepare an object; arguments as in `simulate`."""
        finger, table, physics = setting_of(finger, table, physics)
        if physics.friction == "lagged":
            raise PushwiseError(
                "friction 'lagged' is the paper's, whose action is a force; use simulate with it."
            )
        self.model = model
        """The object."""
        self.finger = finger
        """The finger."""
        self.physics = physics
        """How motion is simulated."""
        self.prepared = PreparedObject.of(model, table, physics)
        """The object as the kernels see it."""

    def start(
        self,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        twist: ArrayLike = (0.0, 0.0, 0.0),
    ) -> MotionState:
        """Return the state of an object that no finger touches.

        Args:
            pose: of the grid frame [m, m, rad], shape (3,), or (B, 3) for B states.
            twist: of the grid origin [m/s, m/s, rad/s], shape (3,) or (B, 3).

        """
        poses, twists = np.asarray(pose, float), np.asarray(twist, float)
        many = max(poses.ndim, twists.ndim) == 2
        size = max(len(np.atleast_2d(poses)), len(np.atleast_2d(twists)))
        numbers = np.zeros((size, len(COLUMNS)))
        for name, given, columns in (("pose", poses, slice(0, 3)), ("twist", twists, slice(3, 6))):
            shape: tuple[int | str, ...] = (3,) if given.ndim < 2 else (size, 3)
            numbers[:, columns] = finite_array(name, given, shape)
        numbers[:, 6] = SEPARATE
        numbers[:, 7:9] = -1.0
        return frozen_state(numbers if many else numbers[0])

    def step(
        self, state: MotionState, finger: ArrayLike | None = None, dt: float = 0.02
    ) -> MotionState:
        """Return the state after a control step, in which the finger moves in a straight line.

        Args:
            state: before the step; one, or many.
            finger: where the finger's centre goes [m], shape (2,), or (B, 2) for many states. A
                finger that was not there is lowered at this place; without one it is raised.
            dt: how long the step takes [s].

        """
        return step_batch(self, state, finger, dt)

    def run(self, state: MotionState, push: Push) -> tuple[MotionState, Trajectory]:
        """Return the state after a push, and all time steps of it: one step for each bend.

        The finger is lowered where the path starts, unless it is there already.

        Raises:
            SimulationError: the finger starts deep inside the object, or the object has tipped.

        """
        if state.numbers.ndim != 1:
            raise PushwiseError(f"run takes one state; got {len(state)}. Use step for many.")
        if state.tipped:
            raise SimulationError("the object has tipped over the table's edge; no push moves it.")
        if state.inside:
            raise SimulationError("the finger got inside the object in a step before; start anew.")
        numbers = np.array(state.numbers)
        if numbers[DOWN] == RAISED or (state.finger != push.start).any():
            numbers[FINGER : FINGER + 2] = push.start
            numbers[DOWN] = PLACED
        tracks: list[Track] = []
        ends = [0.0, *bends_of(action_of(self.model, push, self.finger), push.duration)]
        for first, last in pairwise(ends):
            if numbers[STATUS] == DONE:
                numbers, track = self._recorded(numbers, push.at(last), last - first)
                tracks.append(track)
        if push.raised:
            numbers[DOWN] = RAISED
        after = frozen_state(numbers)
        if after.inside:
            raise SimulationError(_inside(self.finger, push.start))
        return after, trajectory_of(_joined(tracks), tipped=bool(after.tipped))

    def _recorded(self, numbers: Array, finger: Array, dt: float) -> tuple[Array, Track]:
        """Advance one state, a row of numbers, and return it with all time steps."""
        steps = self.control_steps(numbers[None], finger, dt)
        room = int(steps.counts[0]) + 64
        while True:
            rows, track, work = (
                numbers[None].copy(),
                new_track(room),
                new_control_work(self.prepared.body),
            )
            ending, count = advance_states(
                self.prepared.body, self.prepared.ground, steps, rows, 0, 1, work, track
            )
            if ending != FULL:
                return rows[0], first_steps(track, count)
            room *= 2

    def control_steps(self, rows: Array, finger: Array | None, dt: float) -> ControlSteps:
        """Return what happens to states (B, 23) when the finger goes to (2,) or (B, 2)."""
        size = len(rows)
        down = finger is not None
        target = rows[:, FINGER : FINGER + 2].copy() if finger is None else np.empty((size, 2))
        if finger is not None:
            target[:] = finger
        if self.physics.dt is not None:
            counts = np.full(size, np.ceil(dt / self.physics.dt * (1.0 - 1e-9)))
        else:
            moving = rows[:, DOWN] != RAISED
            travel = np.hypot(*(target - rows[:, FINGER : FINGER + 2]).T) * (moving & down)
            reach = self.prepared.body.reach
            speed = np.hypot(rows[:, 3], rows[:, 4]) + np.abs(rows[:, 5]) * reach
            stride = min(STEP_TRAVEL, 0.5 * self.finger.radius)
            counts = np.ceil(np.maximum(travel / stride, speed * dt / THROW_TRAVEL) * (1.0 - 1e-9))
        return ControlSteps(
            finger=target,
            counts=np.maximum(counts, 1.0).astype(np.int64),
            down=down,
            dt=dt,
            radius=self.finger.radius,
            mu=self.finger.friction,
            height=self.finger.height,
        )


def step_batch(
    simulators: Simulator | Sequence[Simulator],
    states: MotionState,
    finger: ArrayLike | None = None,
    dt: float = 0.02,
) -> MotionState:
    """Return many states after a control step, on all cores; the result does not depend on these.

    A state whose object has tipped over the table's edge, or into whose object a finger was lowered
    too deep, stays as it is: see `MotionState.tipped` and `MotionState.inside`.

    Args:
        simulators: one for all states, or one for each.
        states: before the step.
        finger: where the finger's centre goes [m], shape (2,) for all or (B, 2), or None to raise
            it; see `Simulator.step`.
        dt: how long the step takes [s].

    """
    rows = np.array(np.atleast_2d(states.numbers))
    seconds = positive_number("dt", dt)
    target = None
    if finger is not None:
        given = np.asarray(finger, float)
        target = finite_array("finger", given, (2,) if given.ndim == 1 else (len(rows), 2))
    if isinstance(simulators, Simulator):
        groups = [(simulators, np.arange(len(rows)))]
    else:
        if len(simulators) != len(rows):
            raise PushwiseError(
                f"step_batch needs one simulator for all states or one for each; got "
                f"{len(simulators)} for {len(rows)}."
            )
        each = {id(one): one for one in simulators}
        which = np.array([id(one) for one in simulators])
        groups = [(each[key], np.flatnonzero(which == key)) for key in each]
    for simulator, of in groups:
        part = target if target is None or target.ndim == 1 else target[of]
        rows[of] = _advanced(simulator, rows[of], part, seconds)
    return frozen_state(rows if states.numbers.ndim == 2 else rows[0])


def _advanced(simulator: Simulator, rows: Array, finger: Array | None, dt: float) -> Array:
    """Return states (B, 23) of one simulator after a control step."""
    steps = simulator.control_steps(rows, finger, dt)
    prepared = simulator.prepared

    def advance(first: int, last: int) -> None:
        work = new_control_work(prepared.body)
        advance_states(prepared.body, prepared.ground, steps, rows, first, last, work, new_track(0))

    cores = min(os.cpu_count() or 1, len(rows) // _LEAST)
    if cores < 2:
        advance(0, len(rows))
        return rows
    # More parts than cores: some states take longer than others.
    cuts = np.linspace(0, len(rows), 4 * cores + 1).astype(int).tolist()
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(advance, cuts[:-1], cuts[1:]))
    return rows


def _joined(tracks: Sequence[Track]) -> Track:
    """Return tracks, each from t = 0, as one; the end of one is the start of the next."""
    begins = np.cumsum([0.0, *(track.t[-1] for track in tracks[:-1])])
    times = [track.t + begin for track, begin in zip(tracks, begins, strict=True)]
    instants = {
        name: np.concatenate(
            [getattr(tracks[0], name), *(getattr(t, name)[1:] for t in tracks[1:])]
        )
        for name in ("pose", "twist", "finger")
    }
    steps = {
        name: np.concatenate([getattr(track, name) for track in tracks])
        for name in ("mid", "impulse", "contact", "mode", "span")
    }
    t = np.concatenate([times[0], *(later[1:] for later in times[1:])])
    return Track(t=t, **instants, **steps)


def _inside(finger: Finger, at: Array) -> str:
    return (
        f"the finger, centre ({at[0]:.4f}, {at[1]:.4f}) m and radius {finger.radius:g} m, starts "
        "inside the object; start it clear of the outline."
    )
