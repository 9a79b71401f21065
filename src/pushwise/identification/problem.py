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
simulated pushes, from the start to the last sample; long pushes are simulated in `windows`, each
with a start of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.contact_evidence import PushedOutline, pushed_outline
from pushwise.identification.free_slide import LEAN, LEAN_DOUBT, TWIST_DOUBT, is_free
from pushwise.identification.noise import Walk, growth_of
from pushwise.identification.object_rows import object_rows
from pushwise.identification.observations import Fit, Residuals, Touches
from pushwise.identification.prior import FingerHeight, Prior
from pushwise.identification.push_fit import (
    PushResiduals,
    compare_push,
    fit_push,
    left_out,
)
from pushwise.identification.push_start import Believed, start_of, step_of
from pushwise.identification.record_quality import flaw_of, steady_samples
from pushwise.identification.unknowns import Unknowns
from pushwise.identification.windows import Window, walks_of, windows_of
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.push import Finger
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
    def believed_centre(self) -> tuple[Array, Array] | None:
        """What is believed of the centre of mass; see `Prior.believed_centre`."""
        return self.prior.believed_centre(self.grid)

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
        used = [self.records[i] for i in self.used] if self.calibrates else []
        return Touches(self.grid, used, self.finger.radius, starts=self.prior.touching)

    @cached_property
    def order(self) -> Unknowns:
        """Where the unknowns are in u."""
        free = tuple(is_free(record) for record in self.records)
        windows = tuple(len(windows) for windows in self.windows)
        return Unknowns(self.grid.n_cells, free, self.calibrates, windows)

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
    def _body(self) -> PushedOutline:
        return pushed_outline(self.grid, self.finger)

    @cached_property
    def windows(self) -> list[tuple[Window, ...]]:
        """The windows of each record; of one that is short, or cannot be used, the record."""
        return [
            (Window(record, None),) if i in self.flaws else windows_of(self._body, record)
            for i, record in enumerate(self.records)
        ]

    @property
    def has_windows(self) -> bool:
        """Whether any push is so long that it is cut into windows."""
        return any(len(windows) > 1 for windows in self.windows)

    @cached_property
    def walks(self) -> list[Walk]:
        """How the error of the model grows in each window; a record left out counts nothing."""
        return [
            walk
            for i, (windows, free) in enumerate(zip(self.windows, self.order.free, strict=True))
            for walk in walks_of(self._body, windows, free=free, usable=i not in self.unused)
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
    def _reach(self) -> float:
        return float(np.hypot(*self.grid.outline.T).max())

    def step_of(self, record: PushRecord) -> float:
        """Return the time step [s] by which a record, or a window of one, is simulated."""
        return step_of(record, self.finger, self.physics, self._reach)

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

    def log_slopes(self, model: ObjectModel) -> tuple[Array, Array]:
        """Return the derivatives of log mass and of log friction at a model, shape (n, n) each.

        They are those of the factors, but a cell at a bound of the prior stays there.
        """
        lighter = model.mass < (self.prior.max_mass or np.inf)
        smoother = model.friction < (self.prior.max_friction or np.inf)
        return self.mass_factor * lighter[:, None], self.friction_factor * smoother[:, None]

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
            height *= self.prior.friction / self.model(u).mean_friction
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

    def start_scale(self, i: int, sigma: Array, window: int = 0) -> Array:
        """Return how much a unit of the start of push i is [m, m, rad, ...], shape (3,) or (6,)."""
        twist = self.windows[i][window].twist_std
        if twist is None and self.order.free[i]:
            twist = TWIST_DOUBT
        return sigma if twist is None else np.append(sigma, twist)

    def residuals(self, u: Array, start_sigma: Array) -> Residuals:
        """Simulate all pushes and compare them with what was observed; arguments as for `fit`."""
        believed = self.believed(u)
        parts = [
            left_out(self, i)[0]
            if i in self.unused
            else compare_push(self, i, believed, u, start_sigma)
            for i in range(len(self.records))
        ]
        return self._together(parts, believed)[0]

    def fit(self, u: Array, start_sigma: Array) -> Fit:
        """Return the residuals with their derivatives, which take several times as long.

        Args:
            u: Unknowns, shape (unknowns,).
            start_sigma: Standard deviations of the starting poses [m, m, rad], shape (3,).

        """
        believed = self.believed(u)
        rows = object_rows(self, believed)
        parts = [
            left_out(self, i)
            if i in self.unused
            else fit_push(self, i, believed, u, start_sigma, rows)
            for i in range(len(self.records))
        ]
        seen, by_setup = self._together([part for part, _ in parts], believed)
        jacobians = zip(*(part for _, part in parts), strict=True)
        J, J_force, J_gap = map(np.concatenate, jacobians)
        by_u = np.zeros((len(by_setup), 1, self.unknowns))
        by_u[:, 0, -NUISANCES:] = by_setup * self.doubts
        return Fit(
            **vars(seen),
            jacobian=J,
            force_jacobian=J_force,
            gap_jacobian=np.concatenate([by_u, J_gap]),
            growth=self._growth(J, start_sigma),
        )

    def _together(
        self, parts: Sequence[PushResiduals], believed: Believed
    ) -> tuple[Residuals, Array]:
        """Return the residuals of all pushes, and the gaps' derivatives in the set-up, (g, 8)."""
        pose, force, gap = map(np.concatenate, zip(*parts, strict=True))
        # A window before the one that starts with a gap is linked to it.
        count = np.array([walk.weight for walk in self.walks if walk.linked])
        by_setup = np.zeros((0, NUISANCES))
        if believed.calibration is not None:
            gaps, by_setup = self.touches.fit(believed.calibration, believed.finger.radius)
            gap = np.concatenate([gaps[:, None], gap])
            count = np.concatenate([np.ones(len(gaps)), count])
        return Residuals(pose, force, gap, count), by_setup

    def _growth(self, J: Array, start_sigma: Array) -> Array:
        """Return by which factor errors grow before each sample, (samples,), from a Jacobian."""
        size, growth = 0.5 * np.sqrt(self.grid.area), np.ones(len(J))
        first = 0
        for i, windows in enumerate(self.windows):
            for window, start in zip(windows, self.order.windows_of(i), strict=True):
                mine = slice(first, first + len(window.record.t) - 1)
                if i not in self.unused:
                    by_start = J[mine, :, start.start : start.start + 3] / start_sigma
                    growth[mine] = growth_of(by_start, size)
                first = mine.stop
        return growth

    def found_flaws(self, u: Array, start_sigma: Array) -> dict[int, str]:
        """Return why records cannot be used or simulated at u, by index; arguments as for `fit`."""
        believed, found = self.believed(u), {}
        for i, record in enumerate(self.records):
            name = record.called(i)
            why = flaw_of(self.grid, record, self.finger, name)
            try:
                for k, mine in enumerate([] if why else self.order.windows_of(i)):
                    offset = self.start_scale(i, start_sigma, k) * u[mine]
                    part = self.windows[i][k].record
                    start_of(part, name, believed, offset, self.physics, later=k > 0)
            except SimulationError as error:
                why = str(error)
            if why:
                found[i] = why
        return found
