"""How far predictions are from what was seen, and the gradient of that distance.

The distance between two poses is the root mean square of the distances between their cells: the
norm of the stacked cell positions in the paper's Eq. 1, over sqrt(n). Two forms of the loss:

- ``"one-step"``, Eq. 1: from each observed state predict the next observed pose,
  ``sum_t |x_{t+1} - x^g_{t+1}|`` with the arriving velocity ``(x^g_t - x^g_{t-1}) / dt``;
- ``"rollout"``: predict the whole push from its first pose, and sum over all later samples.

Both are sums of norms, as Eq. 1 is; the paper's printed gradients are those of squared norms
(its erratum 4), and its updates pair them with the wrong sample (erratum 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np

from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.kernel_inputs import clock_of, time_step
from pushwise.physics.kernels.track import Track
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.prepared import (
    ClearStart,
    Ending,
    PreparedObject,
    RolloutBar,
    action_from,
)
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.physics.simulate import Setting, setting_of
from pushwise.typing import Array

__all__ = ["Gradient", "Observed", "loss", "loss_and_gradient"]

Form = Literal["one-step", "rollout"]


class Observed(Protocol):
    """What a loss needs of a record: the push, poses at some times, and the twist at the start."""

    @property
    def push(self) -> Push | ForcePush:
        """What was done."""

    @property
    def t(self) -> Array:
        """Times of the samples [s], shape (T,)."""

    @property
    def pose(self) -> Array:
        """Poses of the grid frame [m, m, rad], shape (T, 3)."""

    @property
    def twist(self) -> Array:
        """Twist at the first sample [m/s, m/s, rad/s], shape (3,)."""


@dataclass(frozen=True, eq=False)
class Gradient:
    """Derivatives of a loss [m]; per record where the parameter belongs to a push."""

    mass: Array
    """In each cell's mass [m/kg], shape (n,)."""
    friction: Array
    """In each cell's friction coefficient [m], shape (n,)."""
    finger_friction: float
    """In the finger's friction coefficient [m]."""
    finger_radius: float
    """In the finger's radius."""
    knots: tuple[Array, ...]
    """In the positions of each push, shape (K, 2) each; (0, 2) for a `ForcePush`."""
    force: Array
    """In the force of each `ForcePush` [m/N], shape (records, 2); zero for a `Push`."""
    pose: Array
    """In the pose at the start of each record [1, 1, m], shape (records, 3); zero in the form
    "one-step", in which every sample is a start."""
    twist: Array
    """In the twist at the start of each record [s, s, m s], shape (records, 3); zero likewise."""


@dataclass(frozen=True)
class _Stretch:
    """A stretch of a record to predict: from one observed state to later samples."""

    record: int
    begin: float  # time of the state [s], in the record's time
    pose: Array  # (3,)
    twist: Array  # (3,)
    t: Array  # times to compare at, counted from `begin`, (k,)
    seen: Array  # poses seen then, (k, 3)


def loss(
    model: ObjectModel,
    records: Sequence[Observed],
    *,
    form: Form = "rollout",
    finger: Finger | None = None,
    table: Table | None = None,
    physics: Physics = Physics(),
) -> float:
    """Return the loss [m] of a model on records; arguments as in `loss_and_gradient`."""
    return _total(model, records, form, setting_of(finger, table, physics), None)


def loss_and_gradient(
    model: ObjectModel,
    records: Sequence[Observed],
    *,
    form: Form = "rollout",
    finger: Finger | None = None,
    table: Table | None = None,
    physics: Physics = Physics(),
) -> tuple[float, Gradient]:
    """Return the loss [m] of a model on records, and its gradient.

    A finger that an observed pose overlaps by noise, by three quarters of its radius at most, is
    taken to touch.

    Args:
        model: the object.
        records: what was done to it and seen of it.
        form: what is predicted from what, see the module's description.
        finger: the one that pushed.
        table: as in `simulate`, as is `physics`.
        physics: see `simulate`.

    Raises:
        SimulationError: a push, which it names, cannot be predicted to its last sample.

    """
    n = model.grid.n_cells
    count = len(records)
    into = Gradient(
        np.zeros(n),
        np.zeros(n),
        0.0,
        0.0,
        tuple(np.zeros_like(_positions(record.push)) for record in records),
        np.zeros((count, 2)),
        np.zeros((count, 3)),
        np.zeros((count, 3)),
    )
    parts: list[tuple[float, float]] = []
    total = _total(model, records, form, setting_of(finger, table, physics), (into, parts))
    friction = sum(part[0] for part in parts)
    radius = sum(part[1] for part in parts)
    return total, replace(into, finger_friction=friction, finger_radius=radius)


def _total(
    model: ObjectModel,
    records: Sequence[Observed],
    form: Form,
    setting: Setting,
    into: tuple[Gradient, list[tuple[float, float]]] | None,
) -> float:
    """Sum the loss over all stretches, and add their gradients to `into` if given."""
    if form not in ("one-step", "rollout"):
        raise PushwiseError(f"form must be 'one-step' or 'rollout'; got {form!r}.")
    finger, physics = setting.finger, setting.physics
    if physics.friction == "lagged":
        raise PushwiseError("losses are of Coulomb friction; friction must be 'coulomb'.")
    prepared = PreparedObject.of(model, setting.table, physics)
    centroid = model.grid.centres.mean(axis=0)
    spread = float(np.mean(np.sum((model.grid.centres - centroid) ** 2, axis=1)))
    total = 0.0
    for stretch in _stretches(records, form):
        push = records[stretch.record].push
        action = action_from(model, push, finger, stretch.begin)
        name = f"record {stretch.record}"
        start = prepared.clear_start(name, stretch.pose, action)
        dt = time_step(push, finger, physics, prepared.top_speed(stretch.twist))
        clock = clock_of(action, dt, float(stretch.t[-1]), settle=False)
        ending, track = prepared.roll(action, start.pose, clock, stretch.twist)
        if ending != Ending.DONE:
            raise SimulationError(
                f"{name}: the model cannot follow this push beyond "
                f"t = {stretch.begin + track.t[-1]:.4f} s of {stretch.begin + stretch.t[-1]:.4f} s "
                + (
                    "(the object tips over the table's edge)."
                    if ending == Ending.TIPPED
                    else "(no solution)."
                )
            )
        value, pose_bar = _distance(track, stretch, centroid, spread)
        total += value
        if into is None:
            continue
        bar = prepared.adjoint(action, track, model.grid, pose_bar)
        if bar is None:
            raise SimulationError(
                f"{name}: the load on the table has no derivative, because "
                "fewer than three points of the object press on it."
            )
        gradient, parts = into
        _add(gradient, stretch, push, track, bar, start, whole=form == "rollout")
        # Moving the object clear of the finger moves it with the radius, too.
        radius, friction = bar.disc.tolist()
        parts.append((friction, radius + float(bar.pose[:2] @ start.by_radius)))
    return total


def _stretches(records: Sequence[Observed], form: Form) -> list[_Stretch]:
    """Cut records into the stretches a form predicts."""
    found = []
    for i, record in enumerate(records):
        t, pose = record.t, record.pose
        if form == "rollout":
            found.append(_Stretch(i, t[0], pose[0], record.twist, t[1:] - t[0], pose[1:]))
            continue
        for k in range(1, len(t) - 1):
            twist = (pose[k] - pose[k - 1]) / (t[k] - t[k - 1])
            ahead = slice(k + 1, k + 2)
            found.append(_Stretch(i, t[k], pose[k], twist, t[ahead] - t[k], pose[ahead]))
    if not found:
        raise PushwiseError(
            f"records must hold something to predict: {len(records)} given, and form {form!r} "
            "needs at least one" + (" with three samples." if form == "one-step" else ".")
        )
    return found


def _distance(
    track: Track, stretch: _Stretch, centroid: Array, spread: float
) -> tuple[float, Array]:
    """Return the sum of distances to the poses seen, and its derivative in the track's poses."""
    after = np.clip(np.searchsorted(track.t, stretch.t), 1, len(track.t) - 1)
    before = after - 1
    share = (stretch.t - track.t[before]) / (track.t[after] - track.t[before])
    share = np.clip(share, 0.0, 1.0)[:, None]
    pose = (1.0 - share) * track.pose[before] + share * track.pose[after]

    def middle(theta: Array) -> Array:
        cos, sin = np.cos(theta), np.sin(theta)
        return np.stack([cos, -sin, sin, cos], axis=-1).reshape(-1, 2, 2) @ centroid

    arm = middle(pose[:, 2])
    offset = pose[:, :2] + arm - stretch.seen[:, :2] - middle(stretch.seen[:, 2])
    turn = pose[:, 2] - stretch.seen[:, 2]
    d = np.sqrt(np.sum(offset**2, axis=1) + 2.0 * spread * (1.0 - np.cos(turn)))
    # A perfect prediction sits at the tip of the norm, where zero is a valid derivative.
    safe = np.where(d > 0.0, d, 1.0)[:, None]
    swing = offset[:, 1] * arm[:, 0] - offset[:, 0] * arm[:, 1] + spread * np.sin(turn)
    bar = np.column_stack([offset, swing]) / safe
    pose_bar = np.zeros_like(track.pose)
    np.add.at(pose_bar, before, (1.0 - share) * bar)
    np.add.at(pose_bar, after, share * bar)
    return float(d.sum()), pose_bar


def _add(
    into: Gradient,
    stretch: _Stretch,
    push: Push | ForcePush,
    track: Track,
    bar: RolloutBar,
    start: ClearStart,
    *,
    whole: bool,
) -> None:
    """Add one stretch's derivatives to the gradient's arrays; those of its start if it is whole."""
    into.mass[:] += bar.mass
    into.friction[:] += bar.friction
    i = stretch.record
    if whole:
        into.pose[i] += bar.pose
        into.pose[i, :2] -= start.by_finger.T @ bar.pose[:2]
        into.pose[i, 2] += start.by_angle @ bar.pose[:2]
        into.twist[i] += bar.twist
    if isinstance(push, ForcePush):
        into.force[i] += bar.force
        return
    finger = bar.finger.copy()
    finger[0] += start.by_finger.T @ bar.pose[:2]
    # The finger is between two knots, or at the first or last one.
    time = np.clip(track.t + stretch.begin, 0.0, push.duration)
    after = np.clip(np.searchsorted(push.times, time), 1, len(push.times) - 1)
    span = push.times[after] - push.times[after - 1]
    share = ((time - push.times[after - 1]) / span)[:, None]
    np.add.at(into.knots[i], after - 1, (1.0 - share) * finger)
    np.add.at(into.knots[i], after, share * finger)


def _positions(push: Push | ForcePush) -> Array:
    """Return the knots of a push, shape (K, 2); none of a force."""
    return push.positions if isinstance(push, Push) else np.zeros((0, 2))
