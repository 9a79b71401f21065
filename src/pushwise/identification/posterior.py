"""What is known of the object after the pushes, and how well.

Gaussian in the unknowns u of `Problem` (logs of masses and frictions, in units of the prior), with
the Hessian of the fit as its information matrix. Numbers of the object follow by their
derivatives, or by samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pushwise.identification.centre import centre_by_log_mass, centre_off
from pushwise.identification.objective import Refined, weights
from pushwise.identification.prior import smooth_pattern
from pushwise.identification.problem import Problem
from pushwise.physics.constants import GRAVITY
from pushwise.typing import Array

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """A Gaussian over the logs of masses and frictions about the model found."""

    problem: Problem
    refined: Refined

    @cached_property
    def covariance(self) -> Array:
        """Of the unknowns u, the prior's being the identity, shape (unknowns, unknowns)."""
        inverse = np.linalg.inv(self.refined.information)
        symmetric: Array = 0.5 * (inverse + inverse.T)
        return symmetric

    @cached_property
    def _log_factors(self) -> tuple[Array, Array]:
        """Derivatives of log mass and log friction in u, shape (n, unknowns) each."""
        n = self.problem.grid.n_cells
        mass = np.zeros((n, self.problem.unknowns))
        friction = np.zeros_like(mass)
        mass[:, :n] = self.problem.mass_factor
        friction[:, n : 2 * n] = self.problem.friction_factor
        return mass, friction

    @cached_property
    def _believed(self) -> Array:
        """Root of the information before the pushes: the identity, but for a stated centre."""
        off, J = centre_off(self.problem, self.refined.u)
        rows = (np.sqrt(weights(off))[:, None, None] * J).reshape(-1, self.problem.unknowns)
        return np.asarray(np.linalg.cholesky(np.eye(self.problem.unknowns) + rows.T @ rows))

    def _log_std(self, rows: Array) -> tuple[Array, Array]:
        """Return standard deviations after and before the pushes of linear functions of u."""
        after = np.sqrt(np.einsum("ij,jk,ik->i", rows, self.covariance, rows))
        before = np.linalg.solve(self._believed, rows.T)
        return after, np.sqrt(np.sum(before.T**2, axis=1))

    @cached_property
    def log_mass_std(self) -> Array:
        """Standard deviation of each cell's log mass, shape (n,)."""
        return self._log_std(self._log_factors[0])[0]

    @cached_property
    def log_friction_std(self) -> Array:
        """Standard deviation of each cell's log friction, shape (n,)."""
        return self._log_std(self._log_factors[1])[0]

    @cached_property
    def log_load_std(self) -> Array:
        """Standard deviation of each cell's log friction load, as a share of the total, (n,)."""
        return self._log_std(self._load_share_rows)[0]

    @cached_property
    def load_known(self) -> Array:
        """Share of the prior's doubt about each cell's load that the pushes removed, (n,)."""
        after, before = self._log_std(self._load_share_rows)
        known: Array = 1.0 - after / before
        return known

    @cached_property
    def _load_share_rows(self) -> Array:
        model = self.problem.model(self.refined.u)
        load = model.mass * model.friction
        rows = self._log_factors[0] + self._log_factors[1]
        shares: Array = rows - (load / load.sum()) @ rows
        return shares

    @cached_property
    def centre_of_mass_covariance(self) -> Array:
        """Of the centre of mass [m^2] in the grid frame, shape (2, 2)."""
        D = self.centre_rows
        return D @ self.covariance @ D.T

    @property
    def centre_told(self) -> float:
        """Share of the doubt about the centre of mass that the pushes removed.

        What is doubted before them follows from the prior alone, a stated centre included.
        """
        before = np.linalg.solve(self._believed, self.centre_rows.T)
        after = float(np.trace(self.centre_of_mass_covariance))
        return 1.0 - float(np.sqrt(after / np.sum(before**2)))

    @cached_property
    def centre_rows(self) -> Array:
        """Derivatives of the centre of mass [m] in u, shape (2, unknowns)."""
        model = self.problem.model(self.refined.u)
        rows: Array = centre_by_log_mass(model) @ self._log_factors[0]
        return rows

    @cached_property
    def centre_std_of_friction(self) -> float:
        """How far a friction that varies by 100 % would put the centre of mass off [m].

        Pushes show weight times friction. Were friction to vary by a share s over the object, the
        centre of mass would be off by about s times this, whatever the number of pushes.
        """
        model = self.problem.model(self.refined.u)
        rows = centre_by_log_mass(model)
        pattern = smooth_pattern(model.grid)
        return float(np.sqrt(np.trace(rows @ pattern @ rows.T)))

    @cached_property
    def total_mass_log_std(self) -> tuple[float, float]:
        """Standard deviation of the log of the total mass, after and before the pushes."""
        model = self.problem.model(self.refined.u)
        rows = (model.mass / model.total_mass)[None] @ self._log_factors[0]
        after, before = self._log_std(rows)
        return float(after[0]), float(before[0])

    @cached_property
    def total_load_log_std(self) -> float:
        """Standard deviation of the log of the friction force of all cells together."""
        rows = (self.load / self.load.sum())[None] @ (self._log_factors[0] + self._log_factors[1])
        return float(self._log_std(rows)[0][0])

    @cached_property
    def spectrum(self) -> Array:
        """How much the pushes tell along each direction of masses and frictions, shape (2n,).

        Ratio of prior to posterior variance less one, largest first: 1 where pushes tell as
        much as the prior did, 0 where they tell nothing.
        """
        n = self.problem.grid.n_cells
        root = self._believed[: 2 * n, : 2 * n]
        values = np.linalg.eigvalsh(root.T @ self.covariance[: 2 * n, : 2 * n] @ root)
        spectrum: Array = np.maximum(1.0 / values - 1.0, 0.0)
        return spectrum

    @property
    def determined(self) -> int:
        """Number of directions of which the pushes tell more than the prior."""
        return int(np.sum(self.spectrum > 1.0))

    @property
    def moved(self) -> float:
        """How far the pushes moved the prior: root mean square over the directions they tell."""
        n = self.problem.grid.n_cells
        return float(np.linalg.norm(self.refined.u[: 2 * n]) / np.sqrt(max(self.determined, 1)))

    def samples(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Draw masses [kg] and frictions, shape (count, n) each."""
        n = self.problem.grid.n_cells
        block = self.covariance[: 2 * n, : 2 * n]
        root = np.linalg.cholesky(block + 1e-12 * np.eye(2 * n))
        u = self.refined.u[: 2 * n] + rng.standard_normal((count, 2 * n)) @ root.T
        prior = self.problem.prior
        mass = prior.mass / n * np.exp(u[:, :n] @ self.problem.mass_factor.T)
        friction = prior.friction * np.exp(u[:, n:] @ self.problem.friction_factor.T)
        if prior.max_mass is not None:
            mass = np.minimum(mass, prior.max_mass)
        if prior.max_friction is not None:
            friction = np.minimum(friction, prior.max_friction)
        return mass, friction

    def centres_of_mass(self, count: int, rng: np.random.Generator) -> Array:
        """Draw centres of mass [m] in the grid frame, shape (count, 2).

        From their own Gaussian, not from `samples`: pushes tell the centroid of the cells, and
        cells drawn one by one, log-normal each, scatter it half as much again.
        """
        centre = self.problem.model(self.refined.u).centre_of_mass
        root = np.linalg.cholesky(self.centre_of_mass_covariance)
        centres: Array = centre + rng.standard_normal((count, 2)) @ root.T
        return centres

    @property
    def load(self) -> Array:
        """Friction load of each cell [N], shape (n,)."""
        model = self.problem.model(self.refined.u)
        load: Array = model.friction * model.mass * GRAVITY
        return load
