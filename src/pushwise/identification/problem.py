"""The least-squares problem that pushes pose: unknowns, residuals and their Jacobian.

Unknowns are counted in standard deviations of the prior, u = 0 being its middle:

    log m = log(m0 / n) + A u_m        log mu = log(mu0) + B u_mu
    log mu_f = log(mu_f0) + doubt u_f      start of push p = observed + sigma u_p

The starts are unknowns because they are observed no better than any other pose. Residuals are
predicted minus observed poses of whole simulated pushes, from start to last sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import PushwiseError, SimulationError
from pushwise.identification.prior import Prior
from pushwise.physics.actions import Finger, ForcePush, Push
from pushwise.physics.constants import GRAVITY
from pushwise.physics.contact import nearest_feature
from pushwise.physics.interrupts import interrupts_held
from pushwise.physics.jacobian import EXTRA, MOMENTS, roll_jacobian
from pushwise.physics.loss import loss, loss_and_gradient
from pushwise.physics.model import ObjectModel
from pushwise.physics.prepare import Settings, action_of, body_of, ground_of, time_step
from pushwise.physics.rollout import DONE, Track, roll
from pushwise.physics.start import clear_start
from pushwise.pushes.record import PushRecord
from pushwise.shape.grid import CellGrid

__all__ = ["Fit", "Problem"]

Array = NDArray[np.float64]

MOVED = 2e-3  # m; less than this is no motion
MISSED = 0.02  # m; a finger that stays this far away touched nothing
JUMP = 0.2  # of the greatest force: a force that changes more from sample to sample is an impact
STEP_TRAVEL = 1.5e-3  # m; three times the default step: its error is far below any pose noise


@dataclass(frozen=True, eq=False)
class Fit:
    """Predictions at one point: residuals of all samples and their derivatives in u."""

    residual: Array
    """Predicted minus observed pose [m, m, rad], shape (samples, 3)."""
    jacobian: Array
    """In u, shape (samples, 3, unknowns); empty, (0, 3, 0), when not asked for."""
    force_residual: Array
    """Predicted minus observed mean force [N], shape (forces, 2); only steady measured ones."""
    force_jacobian: Array
    """In u, shape (forces, 2, unknowns)."""


@dataclass
class Problem:
    """Pushes of one object, its cells, what is believed, and a count of simulations."""

    grid: CellGrid
    records: Sequence[PushRecord]
    finger: Finger
    prior: Prior
    simulations: float = 0.0
    """How often the set of pushes was simulated."""
    began: float = field(default_factory=perf_counter)
    checked: bool = True
    """Whether to refuse records that tell nothing; imagined pushes may tell nothing."""
    left_out: frozenset[int] = frozenset()
    """Records that contradict the others: they tell nothing."""

    def __post_init__(self) -> None:
        """Check that there is something to learn from, and factor the prior."""
        if self.checked:
            _check(self.grid, self.records, self.finger)
        self.prior.check(self.grid)
        self.mass_factor, self.friction_factor = self.prior.factors(self.grid)
        n = self.grid.n_cells
        self.unknowns = 2 * n + 1 + 3 * len(self.records)
        self.owner = np.concatenate(
            [np.full(len(record.t) - 1, i) for i, record in enumerate(self.records)]
        )
        """Which record each sample belongs to, shape (samples,)."""
        self.shares = [(r.t[1:] - r.t[0]) / (r.t[-1] - r.t[0]) for r in self.records]
        """How much of its push each sample has seen, an array (k,) a record."""
        self.steady = [_steady(record) for record in self.records]
        """Which samples' forces are compared, an array (k,) a record."""
        self.ends = [
            PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], noise=r.noise) for r in self.records
        ]
        """The records with nothing but their first and last pose."""

    @property
    def seconds(self) -> float:
        """Time since the problem was posed [s]."""
        return perf_counter() - self.began

    def model(self, u: Array) -> ObjectModel:
        """Return the model at u, within the prior's bounds."""
        n = self.grid.n_cells
        prior = self.prior
        mass = prior.mass / n * np.exp(self.mass_factor @ u[:n])
        friction = prior.friction * np.exp(self.friction_factor @ u[n : 2 * n])
        if prior.max_mass is not None:
            mass = np.minimum(mass, prior.max_mass)
        if prior.max_friction is not None:
            friction = np.minimum(friction, prior.max_friction)
        return ObjectModel(self.grid, mass, friction)

    def unknowns_of(self, model: ObjectModel) -> Array:
        """Return the u of a model, with the finger and the starts as given."""
        n = self.grid.n_cells
        u = np.zeros(self.unknowns)
        u[:n] = np.linalg.solve(self.mass_factor, np.log(model.mass * n / self.prior.mass))
        u[n : 2 * n] = np.linalg.solve(
            self.friction_factor, np.log(np.maximum(model.friction, 1e-6) / self.prior.friction)
        )
        return u

    def finger_at(self, u: Array) -> Finger:
        """Return the finger with the friction at u."""
        friction = self.finger.friction * np.exp(self.prior.finger_doubt * u[2 * self.grid.n_cells])
        return Finger(self.finger.radius, float(friction))

    def end_error(self, model: ObjectModel) -> float:
        """Return the loss of the paper's experiments [m], and count a simulation.

        The mean over pushes of the root mean square distance of the cells at the end.
        """
        self.simulations += 1
        with interrupts_held():
            return loss(model, self.ends, finger=self.finger) / len(self.records)

    def end_gradient(self, model: ObjectModel, pushes: Sequence[int]) -> tuple[float, Array, Array]:
        """Return the loss over some pushes [m] and its gradients in mass and friction, (n,) each.

        Counts as the share of a simulation that the pushes are of all.
        """
        self.simulations += len(pushes) / len(self.records)
        with interrupts_held():
            value, gradient = loss_and_gradient(
                model, [self.ends[i] for i in pushes], finger=self.finger
            )
        return value / len(pushes), gradient.mass / len(pushes), gradient.friction / len(pushes)

    def fit(self, u: Array, start_sigma: Array, *, jacobian: bool = True) -> Fit:
        """Simulate all pushes at u and compare; start_sigma (3,) scales the unknown starts."""
        self.simulations += 1
        model = self.model(u)
        finger = self.finger_at(u)
        n = self.grid.n_cells
        parts = []
        for i in range(len(self.records)):
            offset = start_sigma * u[2 * n + 1 + 3 * i :][:3]
            with interrupts_held():
                part = self._fit_one(i, model, finger, offset, start_sigma, jacobian)
            parts.append(tuple(map(np.zeros_like, part)) if i in self.left_out else part)
        joined = [np.concatenate(part) for part in zip(*parts, strict=True)]
        return Fit(*joined)

    def residual(self, i: int, model: ObjectModel, finger: Finger, offset: Array) -> Array:
        """Return the residuals of one push that starts `offset` (3,) off, shape (samples, 3)."""
        with interrupts_held():
            return self._fit_one(i, model, finger, offset, np.ones(3), False)[0]

    def _fit_one(
        self,
        i: int,
        model: ObjectModel,
        finger: Finger,
        offset: Array,
        start_sigma: Array,
        jacobian: bool,
    ) -> tuple[Array, Array, Array, Array]:
        """Simulate one record: pose residuals and Jacobian, force residuals and Jacobian."""
        record = self.records[i]
        settings = Settings()
        body, ground = body_of(model, settings), ground_of(model, settings)
        action = action_of(model, record.push, finger)
        action = action._replace(t=action.t - record.t[0], duration=action.duration - record.t[0])
        start = clear_start(f"push {i}", record.pose[0] + offset, body, action).pose
        t = record.t[1:] - record.t[0]
        dt = _step(record.push, finger)
        ending, _, track = roll(
            body, ground, action, start, np.zeros(3), dt, float(t[-1]), False, None
        )
        if ending != DONE:
            raise SimulationError(
                f"push {i}: the model cannot follow it beyond t = {track.t[-1]:.3f} s."
            )
        residual = _at_samples(track.pose, track, t) - record.pose[1:]
        force = np.zeros((0, 2))
        if record.force is not None and isinstance(record.push, Push):
            force = (_mean_force(track.impulse, track, t) - record.force[1:])[self.steady[i]]
        if not jacobian:
            return residual, np.zeros((0, 3, 0)), force, np.zeros((0, 2, 0))
        n = self.grid.n_cells
        J = roll_jacobian(body, ground, action, track, n, len(force) > 0)
        into = np.zeros((n + EXTRA, self.unknowns))
        self._chain(into, model, finger)
        first = 2 * n + 1 + 3 * i
        into[n + MOMENTS + 2 :, first : first + 3] = np.diag(start_sigma)
        J_force = np.zeros((0, 2, self.unknowns))
        if len(force):
            J_force = _mean_force(J.impulse, track, t)[self.steady[i]] @ into
        return residual, _at_samples(J.pose, track, t) @ into, force, J_force

    def _chain(self, into: Array, model: ObjectModel, finger: Finger) -> None:
        """Fill ``dz / du``, z being the parameters of `physics.jacobian`, but for the starts."""
        n = self.grid.n_cells
        load = model.friction * model.mass * GRAVITY
        arm = self.grid.centres - model.centre_of_mass
        square = np.sum(self.grid.centres**2, axis=1) + self.grid.cell_size**2 / 6.0
        into[:n, :n] = load[:, None] * self.mass_factor
        into[:n, n : 2 * n] = load[:, None] * self.friction_factor
        # d(m, cx, cy, J) / d(log m_i)
        share = model.mass / model.total_mass
        moments = np.stack([model.mass, share * arm[:, 0], share * arm[:, 1], model.mass * square])
        into[n : n + MOMENTS, :n] = moments @ self.mass_factor
        into[n + MOMENTS, 2 * n] = finger.friction * self.prior.finger_doubt


def _step(push: Push | ForcePush, finger: Finger) -> float:
    """Return the time step for identification [s]."""
    coarse = None
    if isinstance(push, Push):
        travel = min(STEP_TRAVEL, 0.5 * finger.radius)
        coarse = travel / float(np.hypot(*push.velocity))
    return time_step(push, finger, Settings(dt=coarse))


def _at_samples(values: Array, track: Track, t: Array) -> Array:
    """Interpolate values (T + 1, ...) at a track's instants to times t (k,): (k, ...)."""
    after = np.clip(np.searchsorted(track.t, t), 1, len(track.t) - 1)
    before = after - 1
    share = np.clip((t - track.t[before]) / (track.t[after] - track.t[before]), 0.0, 1.0)
    share = share.reshape(-1, *[1] * (values.ndim - 1))
    mixed: Array = (1.0 - share) * values[before] + share * values[after]
    return mixed


def _mean_force(impulse: Array, track: Track, t: Array) -> Array:
    """Return mean forces between times 0, t_1 ... t_k from impulses (T, ...) of steps: (k, ...)."""
    total = np.concatenate([np.zeros((1, *impulse.shape[1:])), np.cumsum(impulse, axis=0)])
    at = _at_samples(total, track, np.concatenate([[0.0], t]))
    span = np.diff(t, prepend=0.0).reshape(-1, *[1] * (impulse.ndim - 1))
    mean: Array = np.diff(at, axis=0) / span
    return mean


def _steady(record: PushRecord) -> NDArray[np.bool_]:
    """Return where a measured force neither sets in nor ends, (k,) for the samples after the first.

    The impulse of an impact falls into one sample or the next by the instant of contact, which
    neither the sensor nor a time step tells: fitted, it gave masses wrong by a third, surely.
    """
    if record.force is None:
        return np.zeros(len(record.t) - 1, bool)
    size = np.hypot(record.force[:, 0], record.force[:, 1]).max()
    jump = np.hypot(*np.diff(record.force, axis=0).T)
    calm: NDArray[np.bool_] = jump < JUMP * size
    # The first sample has no force before it, the last none after it.
    calm[0] = False
    steady: NDArray[np.bool_] = calm & np.append(calm[1:], True)
    return steady


def _check(grid: CellGrid, records: Sequence[PushRecord], finger: Finger) -> None:
    """Refuse pushes that cannot tell anything about this object, with a sentence."""
    if not records:
        raise PushwiseError("there are no pushes to learn from; give at least one record.")
    if grid.n_cells < 2:
        raise PushwiseError(
            "a grid of one cell has nothing to distribute; use a smaller cell_size."
        )
    moved = 0
    for i, record in enumerate(records):
        shift = record.pose[-1] - record.pose[0]
        travel = float(np.hypot(shift[0], shift[1])) + abs(shift[2]) * 0.5 * np.sqrt(grid.area)
        if travel > MOVED:
            moved += 1
        if isinstance(record.push, ForcePush) and record.push.cell >= grid.n_cells:
            raise PushwiseError(
                f"push {i} acts on cell {record.push.cell}, but the grid has {grid.n_cells} "
                "cells; is this the log of another object?"
            )
        if isinstance(record.push, Push) and travel > 5.0 * MOVED:
            gap = _closest(grid, record, finger)
            if gap > MISSED:
                raise PushwiseError(
                    f"push {i} moved the object {travel * 1e3:.0f} mm although the finger comes "
                    f"no nearer to its outline than {gap * 1e3:.0f} mm; is this the log of "
                    "another object, or in another frame?"
                )
    if not moved:
        raise PushwiseError(
            f"none of the {len(records)} pushes moved the object by more than "
            f"{MOVED * 1e3:.0f} mm, so they tell nothing about it."
        )


def _closest(grid: CellGrid, record: PushRecord, finger: Finger) -> float:
    """Return the smallest gap [m] between finger and outline, were the object to stay put."""
    push = record.push
    assert isinstance(push, Push)
    ox, oy = (np.ascontiguousarray(column) for column in grid.outline.T)
    x, y, theta = record.pose[0]
    cos, sin = np.cos(theta), np.sin(theta)
    gap = np.inf
    for s in np.linspace(0.0, push.duration, 200):
        dx, dy = push.start + s * push.velocity - (x, y)
        near = nearest_feature(cos * dx + sin * dy, -sin * dx + cos * dy, ox, oy)[1]
        gap = min(gap, near - finger.radius)
    return float(gap)
