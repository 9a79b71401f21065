"""The least-squares problem that pushes pose: unknowns, residuals and their Jacobian.

Unknowns are measured in standard deviations of the prior, whose centre is u = 0:

    log m = log(m0 / n) + A u_m        log mu = log(mu0) + B u_mu
    log mu_f = log(mu_f0) + doubt u_f      log k = log(k_m) + doubt u_k
    log h_f = log(h_f0) + doubt u_h        log z = log(z0) + doubt u_z
    start of push p = observed + sigma u_p
    calibration and log r = doubts u_s     (last, and only where the prior doubts them)

Here m_i is what cell i *carries*, as a mass: statics puts the centroid of the m_i under the centre
of mass, whether cells carry their own weight, lie on a stiff bed or on feet. Motion depends on them
through the friction loads mu_i m_i g, the total mass, the centre of mass and the radius of gyration
k, which is that of the m_i up to a factor, because what a cell carries need not be what it weighs.
Of the finger are mu_f and h_f; z, the height of the centre of mass, shifts the load in free slides.

The starting poses are unknowns because they are observed no better than any other pose, and so are
the starting twists of free slides (`free_slide`). Residuals are predicted minus observed poses of
whole simulated pushes, from the start to the last sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.free_slide import LEAN, LEAN_DOUBT, TWIST_DOUBT, is_free
from pushwise.identification.noise import drift_shares, growth_of
from pushwise.identification.object_rows import mean_friction, object_rows
from pushwise.identification.observations import Fit, Touches, at_samples, mean_force, no_residuals
from pushwise.identification.prior import FingerHeight, Prior
from pushwise.identification.push_start import Believed, start_of, step_of
from pushwise.identification.record_quality import flaw_of, steady_samples
from pushwise.identification.unknowns import Unknowns
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.prepared import MOMENTS, START, clock_of
from pushwise.physics.push import Finger, Push
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags, Integers

__all__ = ["Problem"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Pushes of one object, its cells, and what is believed of them before."""

    grid: CellGrid
    """The cells."""
    records: Sequence[PushRecord]
    """The pushes to learn from."""
    finger: Finger
    """The finger, with the friction it is believed to have."""
    prior: Prior
    """What is believed of the object and of the set-up."""
    physics: Physics = Physics()
    """How pushes are simulated; without a `dt`, by longer steps than those of `simulate`."""
    finds_height: bool = True
    """Whether the height of the finger is an unknown, too; otherwise it is as given."""
    left_out: frozenset[int] = frozenset()
    """Indices of records that contradict the others; their residuals count as zero."""
    flaws: Mapping[int, str] = field(default_factory=dict)
    """Why other records cannot be used, by index, in sentences; they are left out likewise."""

    def __post_init__(self) -> None:
        """Check that the prior fits the grid."""
        self.prior.check(self.grid)

    def without(self, left_out: frozenset[int]) -> Problem:
        """Return the problem with some records left out."""
        return replace(self, left_out=left_out)

    @cached_property
    def unused(self) -> frozenset[int]:
        """Indices of all records that are left out."""
        return self.left_out.union(self.flaws)

    @cached_property
    def used(self) -> list[int]:
        """Indices of the records that are not left out."""
        return [i for i in range(len(self.records)) if i not in self.unused]

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        return self.prior.factors(self.grid)

    @property
    def mass_factor(self) -> Array:
        """A above: root of the prior covariance of log mass, shape (n, n)."""
        return self._factors[0]

    @property
    def friction_factor(self) -> Array:
        """B above: root of the prior covariance of log friction, shape (n, n)."""
        return self._factors[1]

    @cached_property
    def doubts(self) -> Array:
        """Standard deviations of the errors of the set-up, shape (8,)."""
        return self.prior.setup_doubts

    @cached_property
    def calibrates(self) -> bool:
        """Whether the errors of the set-up are unknowns, too."""
        return bool(self.doubts.any())

    @cached_property
    def touches(self) -> Touches:
        """Samples at which the finger touches; none where the set-up is not in doubt."""
        used = [r for i, r in enumerate(self.records) if self.calibrates and i not in self.flaws]
        return Touches(self.grid, used, self.finger.radius, starts=self.prior.touching)

    @cached_property
    def order(self) -> Unknowns:
        """Where the unknowns are in u."""
        free = tuple(is_free(record) for record in self.records)
        return Unknowns(self.grid.n_cells, free, self.calibrates)

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return self.order.count

    @cached_property
    def owner(self) -> Integers:
        """Index of the record that each sample belongs to, shape (samples,)."""
        return np.concatenate(
            [np.full(len(record.t) - 1, i) for i, record in enumerate(self.records)]
        )

    @cached_property
    def shares(self) -> list[Array]:
        """Share of the variance of the drift at each sample, one array (k,) per record.

        It is zero during a record that cannot be used, so that it says nothing about drift.
        """
        return [
            drift_shares(record, free=free) * float(i not in self.flaws)
            for i, (record, free) in enumerate(zip(self.records, self.order.free, strict=True))
        ]

    @cached_property
    def steady(self) -> list[Flags]:
        """Which samples' forces are compared, one array (k,) per record."""
        return [steady_samples(record) for record in self.records]

    @cached_property
    def ends(self) -> list[PushRecord]:
        """The records reduced to their first and last poses."""
        return [
            PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], twist=r.twist, noise=r.noise)
            for r in self.records
        ]

    @cached_property
    def steps(self) -> list[float]:
        """Time steps of the simulations [s], one per record."""
        reach = float(np.hypot(*self.grid.outline.T).max())
        return [step_of(record, self.finger, self.physics, reach) for record in self.records]

    def model(self, u: Array) -> ObjectModel:
        """Return the model at u (unknowns,), within the prior's bounds."""
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
        """Return the unknowns (unknowns,) of a model, with finger and starts as given."""
        n = self.grid.n_cells
        u = np.zeros(self.unknowns)
        u[:n] = np.linalg.solve(self.mass_factor, np.log(model.mass * n / self.prior.mass))
        u[n : 2 * n] = np.linalg.solve(
            self.friction_factor, np.log(np.maximum(model.friction, 1e-6) / self.prior.friction)
        )
        return u

    def finger_at(self, u: Array) -> Finger:
        """Return the finger with the friction and the radius at u."""
        friction = self.finger.friction * np.exp(self.prior.finger_doubt * u[self.order.finger])
        radius = self.finger.radius
        if self.calibrates:
            radius *= float(np.exp(self.doubts[7] * u[-1]))
        height = self.height.typical * float(np.exp(self.height.doubt * u[self.order.height]))
        if self.height.shifts:
            height *= self.prior.friction / mean_friction(self.model(u))
        return Finger(radius, float(friction), height)

    @property
    def height(self) -> FingerHeight:
        """What is believed of the height of the finger."""
        if self.finds_height:
            return self.prior.height_of(self.finger)
        return FingerHeight(self.finger.height, 0.0, shifts=False)

    def calibration_at(self, u: Array) -> Calibration | None:
        """Return the calibration at u; None where the prior does not doubt the set-up."""
        if not self.calibrates:
            return None
        off = self.doubts * u[-NUISANCES:]
        return Calibration(off[:2], off[2:4], off[4:7], self.prior.touching)

    def believed(self, u: Array) -> Believed:
        """Return model, finger and set-up at u."""
        gyration = float(np.exp(self.prior.gyration_doubt * u[self.order.gyration]))
        lean = LEAN * float(self.grid.heights.mean() * np.exp(LEAN_DOUBT * u[self.order.lean]))
        return Believed(self.model(u), self.finger_at(u), self.calibration_at(u), gyration, lean)

    def start_scale(self, i: int, sigma: Array) -> Array:
        """Return how much a unit of the start of push i is [m, m, rad, ...], shape (3,) or (6,)."""
        return np.append(sigma, TWIST_DOUBT) if self.order.free[i] else sigma

    def fit(self, u: Array, start_sigma: Array) -> Fit:
        """Simulate all pushes and compare them with what was observed.

        Args:
            u: Unknowns, shape (unknowns,).
            start_sigma: Standard deviations of the starting poses [m, m, rad], shape (3,).

        """
        believed = self.believed(u)
        rows = object_rows(self, believed)
        parts = []
        for i in range(len(self.records)):
            if i in self.unused:
                forces = int(self.steady[i].sum()) if isinstance(self.records[i].push, Push) else 0
                parts.append(no_residuals(len(self.records[i].t) - 1, forces, self.unknowns))
                continue
            offset = self.start_scale(i, start_sigma) * self.order.start(u, i)
            parts.append(self._fit_one(i, believed, offset, start_sigma, rows))
        pose, J, force, J_force = (np.concatenate(part) for part in zip(*parts, strict=True))
        gap, gap_jacobian = np.zeros((0, 1)), np.zeros((0, 1, self.unknowns))
        if believed.calibration is not None:
            gaps, by_setup = self.touches.fit(believed.calibration, believed.finger.radius)
            gap = gaps[:, None]
            gap_jacobian = np.zeros((len(gap), 1, self.unknowns))
            gap_jacobian[:, 0, -NUISANCES:] = by_setup * self.doubts
        size, growth = 0.5 * np.sqrt(self.grid.area), np.ones(len(J))
        for i in self.used:
            mine, start = self.owner == i, self.order.starts[i].start
            growth[mine] = growth_of(J[mine, :, start : start + 3] / start_sigma, size)
        return Fit(pose, J, growth, force, J_force, gap, gap_jacobian)

    def found_flaws(self, u: Array, start_sigma: Array) -> dict[int, str]:
        """Return why records cannot be used, or not be simulated at u, by index, in sentences.

        Arguments as of `fit`.
        """
        believed, found = self.believed(u), {}
        for i, record in enumerate(self.records):
            name = record.called(i)
            offset = self.start_scale(i, start_sigma) * self.order.start(u, i)
            why = flaw_of(self.grid, record, self.finger, name)
            try:
                if not why:
                    start_of(record, name, believed, offset, self.physics)
            except SimulationError as error:
                why = str(error)
            if why:
                found[i] = why
        return found

    def predicted_end(self, i: int, believed: Believed) -> tuple[Array, bool]:
        """Return the final pose (3,) of push i from its observed start, and whether it has one.

        If the finger starts too far inside the object to simulate it, the object stays there.
        """
        record = self.records[i]
        try:
            end: Array = record.pose[-1] + self.residual(i, believed, np.zeros(3))[-1]
        except SimulationError:
            return record.pose[0], False
        return end, True

    def residual(self, i: int, believed: Believed, offset: Array) -> Array:
        """Return the residuals of push i, shape (samples, 3), with whatever is believed.

        offset: true minus observed starting pose [m, m, rad], shape (3,), or pose and twist (6,).
        """
        return self._fit_one(i, believed, offset, np.ones(3), None)[0]

    def _fit_one(
        self, i: int, believed: Believed, offset: Array, start_sigma: Array, rows: Array | None
    ) -> tuple[Array, Array, Array, Array]:
        """Return residuals and Jacobian of poses and of forces; without `object_rows` none."""
        record = self.records[i]
        finger, calibration = believed.finger, believed.calibration
        begin = start_of(record, record.called(i), believed, offset, self.physics)
        prepared, action = begin.prepared, begin.action
        t = record.t[1:] - record.t[0]
        clock = clock_of(action, self.steps[i], float(t[-1]), settle=False)
        # A simulation that ends early stays where it ended, and contradicts what was observed.
        _, track = prepared.roll(action, begin.clear.pose, clock, begin.twist)
        predicted = at_samples(track.pose, track, t)
        if calibration is not None:
            predicted = calibration.tracked(predicted)
        residual = predicted - record.pose[1:]
        force = np.zeros((0, 2))
        if record.force is not None and isinstance(record.push, Push):
            force = (mean_force(track.impulse, track, t) - record.force[1:])[self.steady[i]]
        if rows is None:
            return residual, np.zeros((0, 3, 0)), force, np.zeros((0, 2, 0))
        n = self.grid.n_cells
        J = prepared.jacobian(action, track, n, impulse=len(force) > 0)
        into = rows.copy()
        mine = self.order.starts[i]
        scale = self.start_scale(i, start_sigma)
        pose, moving = slice(mine.start, mine.start + 3), slice(mine.start + 3, mine.stop)
        start, thrown = slice(n + START, n + START + 3), slice(n + START + 3, n + START + 6)
        into[start, pose] = np.diag(start_sigma)
        if self.order.free[i]:
            into[thrown, moving] = np.diag(scale[3:])
        chain = None
        if calibration is not None:
            chain = calibration.chain(
                record.push,
                begin.tracked,
                begin.clear,
                predicted,
                finger.radius,
                float(begin.twist[2]),
            )
            into[start, pose] = chain.by_tracked * start_sigma
            into[start, -NUISANCES:] = chain.by_setup * self.doubts
            into[thrown, pose] = chain.twist_by_tracked * start_sigma
            into[thrown, -NUISANCES:] = chain.twist_by_setup * self.doubts
            if self.order.free[i]:
                by_twist = [calibration.twist(begin.tracked, row) for row in np.eye(3)]
                into[thrown, moving] = np.transpose(by_twist) * scale[3:]
            into[n + MOMENTS + 1, -1] = finger.radius * self.doubts[-1]
        J_pose = at_samples(J.pose, track, t) @ into
        if chain is not None:
            J_pose = chain.seen @ J_pose
            J_pose[..., -NUISANCES:] += chain.direct * self.doubts
        J_force = np.zeros((0, 2, self.unknowns))
        if len(force):
            J_force = mean_force(J.impulse, track, t)[self.steady[i]] @ into
        return residual, J_pose, force, J_force
