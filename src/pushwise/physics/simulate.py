"""`simulate` a push, or `simulate_batch` many of them on all cores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, instance_of, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.kernel_inputs import action_of, clock_of, time_step
from pushwise.physics.kernels import contact
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.track import Track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.prepared import Ending, PreparedObject
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.typing import Array, Flags, Integers

T = TypeVar("T")

__all__ = ["Mode", "Trajectory", "simulate", "simulate_batch"]


class Mode(IntEnum):
    """How the finger touches the object during a step.

    Left and right are seen by someone standing on the object and looking out at the finger. Where
    Coulomb friction has no solution, however short the step, the finger is jammed: object and
    finger move on as one, without turning, and the force of that step is given as zero.
    """

    SEPARATE = contact.SEPARATE
    STICK = contact.STICK
    SLIP_LEFT = contact.SLIP_LEFT
    SLIP_RIGHT = contact.SLIP_RIGHT
    WEDGED = contact.WEDGE_STICK
    WEDGED_TURNING_LEFT = contact.WEDGE_LEFT
    WEDGED_TURNING_RIGHT = contact.WEDGE_RIGHT
    JAMMED = contact.JAMMED


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A simulated push: T steps and the T + 1 instants between them (table frame, SI units).

    Steps are of equal length, except where the contact changes: there they are divided.
    """

    t: Array
    """Instants [s], shape (T + 1,)."""
    pose: Array
    """Pose (x, y, theta) of the grid frame [m, m, rad], shape (T + 1, 3)."""
    twist: Array
    """Twist (vx, vy, omega) of the grid origin [m/s, m/s, rad/s], shape (T + 1, 3)."""
    finger: Array
    """The finger's centre [m], shape (T + 1, 2); zeros under a `ForcePush`."""
    force: Array
    """Mean force of the finger on the object [N], shape (T, 2)."""
    contact: Array
    """Point of the outline nearest to the finger at the end of each step [m], shape (T, 2)."""
    mode: Integers
    """`Mode` of each step, shape (T,)."""
    tipped: bool
    """Whether it ends early because the object tips over the table's edge."""
    failure: str | None = None
    """Why it ends early otherwise, as a sentence: a finger that starts deep inside the object."""

    @property
    def jammed(self) -> Flags:
        """Which steps had no solution, shape (T,); see `Mode`."""
        return np.asarray(self.mode == Mode.JAMMED)

    def pose_at(self, t: ArrayLike) -> Array:
        """Return poses at times t [s]: shape (3,) for a number, (k, 3) for k of them.

        Poses move in straight lines within a step, and rest after the last one.
        """
        t = np.asarray(t, float)
        return np.stack([np.interp(t, self.t, column) for column in self.pose.T], axis=-1)


class Setting(NamedTuple):
    """What pushes of one call share."""

    finger: Finger
    table: Table | None
    physics: Physics


def setting_of(finger: Finger | None, table: Table | None, physics: Physics) -> Setting:
    """Return what pushes of one call share, with the default finger if none is given."""
    return Setting(
        instance_of("finger", Finger() if finger is None else finger, Finger),
        None if table is None else instance_of("table", table, Table),
        instance_of("physics", physics, Physics),
    )


class Start(NamedTuple):
    """How a push begins."""

    pose: Array  # (3,)
    twist: Array  # (3,)


def simulate(
    model: ObjectModel,
    push: Push | ForcePush,
    pose: ArrayLike = (0.0, 0.0, 0.0),
    *,
    twist: ArrayLike = (0.0, 0.0, 0.0),
    finger: Finger | None = None,
    table: Table | None = None,
    until: float | None = None,
    physics: Physics = Physics(),
) -> Trajectory:
    """Simulate a push of an object.

    A finger that starts a little inside the object, by three quarters of its radius at most, moves
    the object straight out of the way before the push begins.

    Args:
        model: the object.
        push: what is done to it.
        pose: of the grid frame at the start [m, m, rad], shape (3,).
        twist: of the grid origin at the start [m/s, m/s, rad/s], shape (3,).
        finger: the one that pushes.
        table: an edge to tip over; without it the table never ends.
        until: end of the simulation [s]; by default when the push is over and the object at rest,
            five seconds later at most.
        physics: how motion is simulated.

    Raises:
        SimulationError: the finger starts deep inside the object.

    """
    start = Start(finite_array("pose", pose, (3,)), finite_array("twist", twist, (3,)))
    setting = setting_of(finger, table, physics)
    prepared = PreparedObject.of(model, table, physics)
    action = action_of(model, push, setting.finger)
    found = simulate_prepared(prepared, action, push, start, setting, until)
    if found.failure is not None:
        raise SimulationError(f"push: {found.failure}")
    return found


def simulate_batch(
    models: ObjectModel | Sequence[ObjectModel],
    pushes: Push | ForcePush | Sequence[Push | ForcePush],
    poses: ArrayLike = (0.0, 0.0, 0.0),
    *,
    twists: ArrayLike = (0.0, 0.0, 0.0),
    finger: Finger | None = None,
    table: Table | None = None,
    until: float | None = None,
    physics: Physics = Physics(),
) -> list[Trajectory]:
    """Simulate push i of model i from pose i, for all i, on all cores.

    The result does not depend on the number of cores. A push that cannot be simulated does not cost
    the others: its `Trajectory.failure` says why.

    Args:
        models: one per push, or one for all.
        pushes: one per model, or one for all.
        poses: shape (B, 3), or (3,) for all [m, m, rad].
        twists: at the start, shape (B, 3), or (3,) for all [m/s, m/s, rad/s].
        finger: as in `simulate`, as are `table`, `until` and `physics`.
        table: see `simulate`.
        until: see `simulate`.
        physics: see `simulate`.

    """
    setting = setting_of(finger, table, physics)
    models = models if isinstance(models, ObjectModel) else _listed("models", models)
    pushes = pushes if isinstance(pushes, Push | ForcePush) else _listed("pushes", pushes)
    start, thrown = _one_or_many("poses", poses), _one_or_many("twists", twists)
    many = {
        "models": None if isinstance(models, ObjectModel) else len(models),
        "pushes": None if isinstance(pushes, Push | ForcePush) else len(pushes),
        "poses": None if start.ndim == 1 else len(start),
        "twists": None if thrown.ndim == 1 else len(thrown),
    }
    sizes = {name: size for name, size in many.items() if size is not None}
    if len(set(sizes.values())) > 1:
        raise PushwiseError(
            "a batch needs as many models as pushes as poses as twists, or one for all; got "
            + ", ".join(f"{size} {name}" for name, size in sizes.items())
            + "."
        )
    count = next(iter(sizes.values()), 1)
    start, thrown = (np.broadcast_to(each, (count, 3)).copy() for each in (start, thrown))
    all_models = [models] * count if isinstance(models, ObjectModel) else models
    all_pushes = [pushes] * count if isinstance(pushes, Push | ForcePush) else pushes
    prepared = {
        key: PreparedObject.of(model, table, physics)
        for key, model in {id(model): model for model in all_models}.items()
    }

    def some(first: int, last: int) -> list[Trajectory]:
        return [
            simulate_prepared(
                prepared[id(all_models[i])],
                action_of(all_models[i], all_pushes[i], setting.finger),
                all_pushes[i],
                Start(start[i], thrown[i]),
                setting,
                until,
            )
            for i in range(first, last)
        ]

    # Threads, because the compiled loop runs without the interpreter's lock.
    cores = os.cpu_count() or 1
    cuts = np.unique(np.linspace(0, count, 8 * cores + 1).astype(int)).tolist()
    with ThreadPoolExecutor(cores) as pool:
        return [found for part in pool.map(some, cuts[:-1], cuts[1:]) for found in part]


def _listed(name: str, given: Iterable[T]) -> list[T]:
    """Return what is given for each push as a list."""
    try:
        return list(given)
    except TypeError:
        raise PushwiseError(
            f"{name} must be one for all pushes or a sequence; got {type(given).__name__}."
        ) from None


def _one_or_many(name: str, value: ArrayLike) -> Array:
    """Return numbers for all pushes, shape (3,), or for each of them, shape (B, 3)."""
    try:
        axes = np.ndim(value)
    except ValueError:  # rows of unequal length, which the check names
        axes = 2
    return finite_array(name, value, (3,) if axes == 1 else ("B", 3))


def simulate_prepared(
    prepared: PreparedObject,
    action: Action,
    push: Push | ForcePush,
    start: Start,
    setting: Setting,
    until: float | None = None,
) -> Trajectory:
    """Simulate one push of an object that was prepared before; a bad ending is its `failure`."""
    finger, physics = setting.finger, setting.physics
    lagged = physics.friction == "lagged"
    if lagged and isinstance(push, Push):
        raise PushwiseError(
            "friction 'lagged' is the paper's, whose action is a force; use a ForcePush with it."
        )
    if until is not None:
        until = positive_number("until", until)
    clock = clock_of(
        action,
        time_step(push, finger, physics, prepared.top_speed(start.twist)),
        push.duration if until is None else until,
        settle=until is None,
    )
    if lagged:
        # Only those who ask for the paper's friction wait for its compilation.
        from pushwise.physics.paper.lagged_rollout import roll_lagged

        ending, track = prepared.roll_with(roll_lagged, action, start.pose, clock, start.twist)
    else:
        ending, track = prepared.roll(action, start.pose, clock, start.twist)
    found = trajectory_of(track, tipped=ending == Ending.TIPPED)
    if ending == Ending.STARTED_INSIDE:
        x, y = track.finger[0]
        return replace(
            found,
            failure=f"at t = 0 s the finger, centre ({x:.4f}, {y:.4f}) m and radius "
            f"{finger.radius:g} m, is inside the object; start it clear of the outline.",
        )
    if ending == Ending.NO_SOLUTION:
        x, y, theta = track.pose[-1]
        return replace(
            found,
            failure=f"no solution of the step at t = {track.t[-1]:.4f} s, pose ({x:.4f} m, "
            f"{y:.4f} m, {theta:.4f} rad); a smaller dt may have one.",
        )
    return found


def trajectory_of(track: Track, *, tipped: bool) -> Trajectory:
    """Return the steps of a kernel as a trajectory."""
    return Trajectory(
        track.t,
        track.pose,
        track.twist,
        track.finger,
        track.impulse / np.diff(track.t)[:, None],
        track.contact,
        track.mode[:, 0].copy(),
        tipped,
    )
