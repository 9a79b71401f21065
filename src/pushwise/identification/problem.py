"""The least-squares problem that pushes pose: unknowns, residuals and their Jacobian.

Unknowns are counted in standard deviations of the prior, u = 0 being its middle:

    log m = log(m0 / n) + A u_m        log mu = log(mu0) + B u_mu
    log mu_f = log(mu_f0) + doubt u_f      start of push p = observed + sigma u_p
    calibration and log r = doubts u_s     (last, and only where the prior doubts them)

The starts are unknowns because they are observed no better than any other pose. Residuals are
predicted minus observed poses of whole simulated pushes, from start to last sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from pushwise.compilation import interrupts_held
from pushwise.errors import SimulationError
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.contact_observations import (
    Touches,
    at_samples,
    mean_force,
    steady_samples,
)
from pushwise.identification.outliers import check_records
from pushwise.identification.prior import Prior
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.prepared import (
    EXTRA,
    MOMENTS,
    Clock,
    Ending,
    PreparedObject,
    action_from,
    time_step,
)
from pushwise.physics.push import Finger, ForcePush, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["Fit", "Problem"]


DEEPEST = 5e-3  # m; how far inside a finger may start that is not where it is said to be
STEP_TRAVEL = 1.5e-3  # m; three times the default step: its error is far below any pose noise


@dataclass(frozen=True, eq=False)
class Fit:
    """Predictions at one point: residuals of all samples and their derivatives in u."""

    residual: Array
    """Predicted minus observed pose [m, m, rad], shape (samples, 3)."""
    jacobian: Array
    """In u, shape (samples, 3, unknowns)."""
    force_residual: Array
    """Predicted minus observed mean force [N], shape (forces, 2); only steady measured ones."""
    force_jacobian: Array
    """In u, shape (forces, 2, unknowns)."""
    gap: Array
    """Of fingers that touch [m], shape (touches, 1); none where the set-up is not in doubt."""
    gap_jacobian: Array
    """In u, shape (touches, 1, unknowns)."""


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
    anisotropy: ArrayLike | None = None
    """Of the board, as in `Physics`."""

    def __post_init__(self) -> None:
        """Check that there is something to learn from, and factor the prior."""
        if self.checked:
            check_records(self.grid, self.records, self.finger)
        self.prior.check(self.grid)
        self.mass_factor, self.friction_factor = self.prior.factors(self.grid)
        n = self.grid.n_cells
        self.doubts = self.prior.setup_doubts
        """Of the set-up, shape (8,)."""
        self.calibrates = bool(self.doubts.any())
        """Whether the set-up is unknown too."""
        self.touches = Touches(
            self.grid,
            self.records if self.calibrates else (),
            self.finger.radius,
            starts=self.prior.touching,
        )
        self.unknowns = 2 * n + 1 + 3 * len(self.records) + (NUISANCES if self.calibrates else 0)
        self.owner = np.concatenate(
            [np.full(len(record.t) - 1, i) for i, record in enumerate(self.records)]
        )
        """Which record each sample belongs to, shape (samples,)."""
        self.shares = [(r.t[1:] - r.t[0]) / (r.t[-1] - r.t[0]) for r in self.records]
        """How much of its push each sample has seen, an array (k,) a record."""
        self.steady = [steady_samples(record) for record in self.records]
        """Which samples' forces are compared, an array (k,) a record."""
        self.ends = [
            PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], noise=r.noise) for r in self.records
        ]
        """The records with nothing but their first and last pose."""
        self.steps = [_step(record.push, self.finger) for record in self.records]
        """Time steps of the simulations [s], one a record."""
        self.physics = Physics(anisotropy=self.anisotropy)

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
        """Return the finger with the friction and the radius at u."""
        friction = self.finger.friction * np.exp(self.prior.finger_doubt * u[2 * self.grid.n_cells])
        radius = self.finger.radius
        if self.calibrates:
            radius *= float(np.exp(self.doubts[7] * u[-1]))
        return Finger(radius, float(friction), self.finger.height)

    def calibration_at(self, u: Array) -> Calibration | None:
        """Return the calibration at u; None where the prior does not doubt the set-up."""
        if not self.calibrates:
            return None
        off = self.doubts * u[-NUISANCES:]
        return Calibration(off[:2], off[2:4], off[4:7], self.prior.touching)

    def fit(self, u: Array, start_sigma: Array) -> Fit:
        """Simulate all pushes at u and compare; start_sigma (3,) scales the unknown starts."""
        self.simulations += 1
        model = self.model(u)
        finger = self.finger_at(u)
        calibration = self.calibration_at(u)
        n = self.grid.n_cells
        parts = []
        for i in range(len(self.records)):
            offset = start_sigma * u[2 * n + 1 + 3 * i :][:3]
            if i in self.left_out:
                parts.append(self._nothing(i))
                continue
            with interrupts_held():
                part = self._fit_one(i, model, finger, calibration, offset, start_sigma, True)
            parts.append(part)
        pose, J, force, J_force = (np.concatenate(part) for part in zip(*parts, strict=True))
        gap, gap_jacobian = np.zeros((0, 1)), np.zeros((0, 1, self.unknowns))
        if calibration is not None:
            gaps, by_setup = self.touches.fit(calibration, finger.radius)
            gap = gaps[:, None]
            gap_jacobian = np.zeros((len(gap), 1, self.unknowns))
            gap_jacobian[:, 0, -NUISANCES:] = by_setup * self.doubts
        return Fit(pose, J, force, J_force, gap, gap_jacobian)

    def _nothing(self, i: int) -> tuple[Array, Array, Array, Array]:
        """Return what a record that is left out adds: residuals of zero that nothing changes."""
        record = self.records[i]
        poses = len(record.t) - 1
        forces = int(self.steady[i].sum()) if isinstance(record.push, Push) else 0
        return (
            np.zeros((poses, 3)),
            np.zeros((poses, 3, self.unknowns)),
            np.zeros((forces, 2)),
            np.zeros((forces, 2, self.unknowns)),
        )

    def residual(
        self,
        i: int,
        model: ObjectModel,
        finger: Finger,
        offset: Array,
        calibration: Calibration | None = None,
    ) -> Array:
        """Return the residuals of one push that starts `offset` (3,) off, shape (samples, 3)."""
        with interrupts_held():
            return self._fit_one(i, model, finger, calibration, offset, np.ones(3), False)[0]

    def _fit_one(
        self,
        i: int,
        model: ObjectModel,
        finger: Finger,
        calibration: Calibration | None,
        offset: Array,
        start_sigma: Array,
        jacobian: bool,
    ) -> tuple[Array, Array, Array, Array]:
        """Simulate one record: pose residuals and Jacobian, force residuals and Jacobian."""
        record = self.records[i]
        prepared = PreparedObject.of(model, None, self.physics)
        push = record.push if calibration is None else calibration.push(record.push)
        action = action_from(model, push, finger, record.t[0])
        tracked = record.pose[0] + offset
        pose = tracked if calibration is None else calibration.pose(tracked)
        deepest = None if calibration is None else DEEPEST
        touching = calibration is not None and calibration.touching
        name = record.called(i)
        clear = prepared.clear_start(name, pose, action, deepest=deepest, touching=touching)
        t = record.t[1:] - record.t[0]
        clock = Clock(dt=self.steps[i], until=float(t[-1]), settle=False)
        ending, track = prepared.roll(action, clear.pose, clock)
        if ending is not Ending.DONE:
            raise SimulationError(
                f"{name}: the model cannot follow it beyond t = {track.t[-1]:.3f} s."
            )
        predicted = at_samples(track.pose, track, t)
        if calibration is not None:
            predicted = calibration.tracked(predicted)
        residual = predicted - record.pose[1:]
        force = np.zeros((0, 2))
        if record.force is not None and isinstance(record.push, Push):
            force = (mean_force(track.impulse, track, t) - record.force[1:])[self.steady[i]]
        if not jacobian:
            return residual, np.zeros((0, 3, 0)), force, np.zeros((0, 2, 0))
        n = self.grid.n_cells
        J = prepared.jacobian(action, track, n, impulse=len(force) > 0)
        into = np.zeros((n + EXTRA, self.unknowns))
        self._chain(into, model, finger)
        first = 2 * n + 1 + 3 * i
        into[n + MOMENTS + 2 :, first : first + 3] = np.diag(start_sigma)
        chain = None
        if calibration is not None:
            chain = calibration.chain(record.push, tracked, clear, predicted, finger.radius)
            into[n + MOMENTS + 2 :, first : first + 3] = chain.by_tracked * start_sigma
            into[n + MOMENTS + 2 :, -NUISANCES:] = chain.by_setup * self.doubts
            into[n + MOMENTS + 1, -1] = finger.radius * self.doubts[-1]
        J_pose = at_samples(J.pose, track, t) @ into
        if chain is not None:
            J_pose = chain.seen @ J_pose
            J_pose[..., -NUISANCES:] += chain.direct * self.doubts
        J_force = np.zeros((0, 2, self.unknowns))
        if len(force):
            J_force = mean_force(J.impulse, track, t)[self.steady[i]] @ into
        return residual, J_pose, force, J_force

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
    return time_step(push, finger, Physics(dt=coarse))
