"""Pushes as one differentiable operation on arrays: what `pushwise.torch` and `pushwise.jax` share.

A `PushScene` holds what is not differentiated in. `roll_scene` maps B pushes to poses, and its
result maps derivatives in these poses back to derivatives in all inputs, by the compiled adjoint.

The instants of a rollout depend on inputs only in whole steps: every knot is an instant, and the
default time step is rounded down to a power of the fourth root of two. So the derivatives are those
of the poses that are returned, not only of what they converge to with smaller steps.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.kernel_inputs import action_of, time_step
from pushwise.physics.kernels.rollout import Clock
from pushwise.physics.kernels.track import Track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.prepared import Action, ClearStart, Ending, PreparedObject
from pushwise.physics.push import Finger, Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DIMENSIONS", "PushInputs", "PushScene", "SceneRollout", "batch_shape", "roll_scene"]

_T = TypeVar("_T")


class PushInputs(NamedTuple):
    """What pushes are differentiated in: B of each, or derivatives in them."""

    mass: Array  # of each cell [kg], shape (B, n)
    friction: Array  # of each cell on the table, shape (B, n)
    finger_friction: Array  # shape (B,)
    pose: Array  # of the grid frame at the start [m, m, rad], shape (B, 3)
    twist: Array  # of the grid origin at the start [m/s, m/s, rad/s], shape (B, 3)
    knots: Array  # the finger's centre at the times of the scene [m], shape (B, K, 2)


DIMENSIONS = (1, 1, 0, 1, 1, 2)
"""The number of axes of each input, without those of the batch."""


@dataclass(frozen=True, eq=False)
class PushScene:
    """What all pushes of a differentiable simulation share."""

    grid: CellGrid
    """The cells of the object."""
    times: ArrayLike
    """Times of the knots of the finger's path [s], from 0 on and increasing, shape (K,)."""
    at: ArrayLike | None = None
    """When poses are returned [s], zero or later, shape (T,); None for the end of the path only."""
    radius: float = 0.01
    """Radius of the finger [m]."""
    raised: bool = False
    """Whether the finger is raised at the end of its path; otherwise it stays where it is."""
    table: Table | None = None
    """An edge to tip over; without it the table never ends."""
    physics: Physics = Physics()
    """How motion is simulated."""

    def __post_init__(self) -> None:
        """Check and copy the numbers."""
        set_field = object.__setattr__
        knots = np.zeros((np.size(self.times), 2))
        set_field(self, "times", Push(self.times, knots).times)
        set_field(self, "radius", positive_number("radius", self.radius))
        if self.at is not None:
            at = finite_array("at", self.at, ("T",))
            if len(at) == 0 or (at < 0.0).any():
                raise PushwiseError(f"at must be times of zero or later; got {at.tolist()}.")
            set_field(self, "at", at)
        if self.physics.friction == "lagged":
            raise PushwiseError("derivatives are of Coulomb friction; friction must be 'coulomb'.")

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shape of each input without the axes of the batch, in the order of `PushInputs`."""
        n, knots = self.grid.n_cells, np.size(self.times)
        return [(n,), (n,), (), (3,), (3,), (knots, 2)]

    @property
    def result_shape(self) -> tuple[int, ...]:
        """The shape of the poses of one push: (3,), or (T, 3) at times of the scene."""
        return (3,) if self.at is None else (np.size(self.at), 3)

    @property
    def instants(self) -> Array:
        """When poses are returned [s], shape (T,), or (1,): the end of the path."""
        times = np.asarray(self.times)
        return times[-1:] if self.at is None else np.asarray(self.at)


class _Path(NamedTuple):
    """One push that was simulated, and what its adjoint needs."""

    prepared: PreparedObject
    action: Action
    start: ClearStart
    track: Track


@dataclass(frozen=True, eq=False)
class SceneRollout:
    """Pushes of a scene that were simulated."""

    scene: PushScene
    poses: Array
    """At the scene's instants [m, m, rad], shape (B, T, 3)."""
    paths: list[_Path]
    """One per push."""

    def pull_back(self, poses_bar: Array) -> PushInputs:
        """Return the derivatives of a loss in all inputs, given those in the poses (B, T, 3).

        Raises:
            SimulationError: fewer than three points of an object press on the table.

        """
        size = len(self.paths)
        into = PushInputs(*(np.zeros((size, *shape)) for shape in self.scene.shapes))

        def some(i: int) -> None:
            path = self.paths[i]
            pose_bar = np.zeros_like(path.track.pose)
            before, share = _between(path.track.t, self.scene.instants)
            np.add.at(pose_bar, before, (1.0 - share) * poses_bar[i])
            np.add.at(pose_bar, before + 1, share * poses_bar[i])
            bar = path.prepared.adjoint(path.action, path.track, self.scene.grid, pose_bar)
            if bar is None:
                raise SimulationError(
                    f"push {i}: the load on the table has no derivative, because fewer than three "
                    "points of the object press on it."
                )
            into.mass[i], into.friction[i], into.twist[i] = bar.mass, bar.friction, bar.twist
            into.finger_friction[i] = bar.disc[1]
            # A finger that starts a little inside the object moves it out of the way.
            cleared = path.start.by_finger.T @ bar.pose[:2]
            into.pose[i] = bar.pose
            into.pose[i] += [*-cleared, path.start.by_angle @ bar.pose[:2]]
            bar.finger[0] += cleared
            before, share = _between(path.action.t, path.track.t)
            np.add.at(into.knots[i], before, (1.0 - share) * bar.finger)
            np.add.at(into.knots[i], before + 1, share * bar.finger)

        _on_all_cores(some, size)
        return into


def batch_shape(scene: PushScene, given: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of the batch that inputs of given shapes form together.

    Raises:
        PushwiseError: the last axes of an input are wrong, or the others do not go together.

    """
    outer = []
    for name, shape, expected in zip(PushInputs._fields, given, scene.shapes, strict=True):
        cut = len(shape) - len(expected)
        if cut < 0 or shape[cut:] != expected:
            text = ", ".join(["...", *map(str, expected)])
            raise PushwiseError(f"{name} must have shape ({text}); got shape {tuple(shape)}.")
        outer.append(shape[:cut])
    try:
        return np.broadcast_shapes(*outer)
    except ValueError:
        listed = ", ".join(
            f"{name} {shape}" for name, shape in zip(PushInputs._fields, outer, strict=True)
        )
        raise PushwiseError(
            f"the batches of all inputs must be of one shape, or broadcast to one; got {listed}."
        ) from None


def roll_scene(scene: PushScene, inputs: PushInputs) -> SceneRollout:
    """Simulate B pushes of a scene on all cores; the result does not depend on their number.

    Raises:
        SimulationError: a push, which it names, starts deep inside the object, or its object tips
            over the table's edge before the last instant.

    """
    prepared: dict[bytes, PreparedObject] = {}
    models: dict[bytes, ObjectModel] = {}
    keys = [a.tobytes() + b.tobytes() for a, b in zip(inputs.mass, inputs.friction, strict=True)]
    for key, mass, friction in zip(keys, inputs.mass, inputs.friction, strict=True):
        if key not in models:
            models[key] = ObjectModel(scene.grid, mass, friction)
            prepared[key] = PreparedObject.of(models[key], scene.table, scene.physics)

    size = len(keys)
    starts = finite_array("pose", inputs.pose, (size, 3))
    twists = finite_array("twist", inputs.twist, (size, 3))
    clocks: dict[float, Clock] = {}  # few: time steps are rounded

    def path(i: int) -> _Path:
        finger = Finger(scene.radius, float(inputs.finger_friction[i]))
        push = Push(scene.times, inputs.knots[i], raised=scene.raised)
        thing = prepared[keys[i]]
        action = action_of(models[keys[i]], push, finger)
        start = thing.clear_start(f"push {i}", starts[i], action)
        dt = _rounded(time_step(push, finger, scene.physics, thing.top_speed(twists[i])), scene)
        clock = clocks.get(dt)
        if clock is None:
            clock = clocks[dt] = _clock(scene, dt)
        ending, track = thing.roll(action, start.pose, clock, twists[i])
        if ending != Ending.DONE:
            why = "the object tips over the table's edge" if ending == Ending.TIPPED else "no step"
            raise SimulationError(
                f"push {i} cannot be simulated beyond t = {track.t[-1]:.4f} s: {why}."
            )
        return _Path(thing, action, start, track)

    paths = _on_all_cores(path, size)
    poses = np.empty((size, len(scene.instants), 3))
    for i, done in enumerate(paths):
        before, share = _between(done.track.t, scene.instants)
        pose = done.track.pose
        poses[i] = (1.0 - share) * pose[before] + share * pose[before + 1]
    return SceneRollout(scene, poses, paths)


def _rounded(dt: float, scene: PushScene) -> float:
    """Return a time step [s] that changes with the inputs only in steps."""
    if scene.physics.dt is not None:
        return dt
    return float(2.0 ** (math.floor(4.0 * math.log2(dt)) / 4.0))


def _clock(scene: PushScene, dt: float) -> Clock:
    """Return the instants of a rollout: knots, `at` and what is between them."""
    # At least one step: poses are interpolated between two instants.
    last = scene.instants.max() or np.asarray(scene.times)[1]
    bounds = np.unique([0.0, *np.asarray(scene.times).tolist(), *scene.instants.tolist()])
    parts: list[Array] = [np.zeros(1)]
    for begin, end in pairwise(bounds[bounds <= last].tolist()):
        steps = int(np.ceil((end - begin) / dt * (1.0 - 1e-9)))
        times = np.linspace(begin, end, steps + 1)[1:]
        parts.append(times)
    return Clock(instants=np.concatenate(parts), dt=dt, settle=False)


def _between(t: Array, at: Array) -> tuple[Integers, Array]:
    """Return the index before each time asked for, (T,), and the share of the way on, (T, 1).

    Before the first time and after the last one nothing moves.
    """
    before = np.clip(np.searchsorted(t, at) - 1, 0, len(t) - 2).astype(np.int64)
    share = np.clip((at - t[before]) / (t[before + 1] - t[before]), 0.0, 1.0)
    return before, share[:, None]


def _on_all_cores(work: Callable[[int], _T], count: int) -> list[_T]:
    """Return work(i) for all i; threads, because compiled code runs without Python's lock."""
    cores = min(os.cpu_count() or 1, count)
    if cores < 2:
        return [work(i) for i in range(count)]
    cuts = np.unique(np.linspace(0, count, 8 * cores + 1).astype(int)).tolist()

    def part(first: int, last: int) -> list[_T]:
        return [work(i) for i in range(first, last)]

    with ThreadPoolExecutor(cores) as pool:
        return [found for some in pool.map(part, cuts[:-1], cuts[1:]) for found in some]
