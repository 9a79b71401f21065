"""What is known of the object after the pushes, and how well.

The posterior is Gaussian in the unknowns u of `Problem` (logs of masses and frictions, in standard
deviations of the prior), with the information matrix of the fit. The uncertainty of
other quantities follows from their derivatives, or from samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pushwise.identification.objective import (
    Refined,
    centre_by_log_mass,
    centre_off,
    information_weights,
)
from pushwise.identification.problem import Problem
from pushwise.physics.constants import GRAVITY
from pushwise.typing import Array

__all__ = ["Posterior"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """A Gaussian over the logs of masses and frictions about the model found."""

    problem: Problem
    """What was to be learned from which pushes."""
    refined: Refined
    """Where the method ended."""

    @cached_property
    def covariance(self) -> Array:
        """Covariance of u, shape (unknowns, unknowns); that of the prior is the identity."""
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
        """Root of the information before the pushes: the identity plus any stated centre."""
        off, J = centre_off(self.problem, self.refined.u)
        rows = (np.sqrt(information_weights(off))[:, None, None] * J).reshape(
            -1, self.problem.unknowns
        )
        return np.asarray(np.linalg.cholesky(np.eye(self.problem.unknowns) + rows.T @ rows))

    def _log_std(self, rows: Array) -> tuple[Array, Array]:
        """Return standard deviations of linear functions of u after and before the pushes."""
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
        """Standard deviation of the log of each cell's share of the friction load, shape (n,)."""
        return self._log_std(self._load_share_rows)[0]

    @cached_property
    def load_known(self) -> Array:
        """Share of the prior uncertainty of each cell's load that the pushes removed, (n,)."""
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
        """Covariance of the centre of mass [m^2] in the grid frame, shape (2, 2)."""
        D = self.centre_rows
        return D @ self.covariance @ D.T

    @property
    def centre_learned(self) -> float:
        """Share of the uncertainty of the centre of mass that the pushes removed.

        The uncertainty before them is that of the prior, including a stated centre.
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
    def centre_covariance_of_even_friction(self) -> Array:
        """Covariance of the centre of mass [m^2] if the pattern of friction were known, (2, 2).

        Slow pushes show weight times friction. What is missing to `centre_of_mass_covariance` is
        due to the belief about how friction varies, however many slow pushes there are.
        """
        friction = self.problem.order.frictions
        rest = np.delete(np.arange(self.problem.unknowns), np.r_[friction])
        D = self.centre_rows[:, rest]
        known: Array = D @ np.linalg.solve(self.refined.information[np.ix_(rest, rest)], D.T)
        return known

    @property
    def centre_assumed(self) -> float:
        """Share of the variance of the centre of mass that is due to friction that may vary."""
        known = np.trace(self.centre_covariance_of_even_friction)
        return 1.0 - float(known / np.trace(self.centre_of_mass_covariance))

    @cached_property
    def total_mass_log_std(self) -> tuple[float, float]:
        """Standard deviation of the log of the total mass, after and before the pushes."""
        model = self.problem.model(self.refined.u)
        rows = (model.mass / model.total_mass)[None] @ self._log_factors[0]
        after, before = self._log_std(rows)
        return float(after[0]), float(before[0])

    @cached_property
    def total_load_log_std(self) -> float:
        """Standard deviation of the log of the total friction force."""
        rows = (self.load / self.load.sum())[None] @ (self._log_factors[0] + self._log_factors[1])
        return float(self._log_std(rows)[0][0])

    @cached_property
    def spectrum(self) -> Array:
        """How much the pushes reveal along each direction of masses and frictions, shape (2n,).

        Ratio of prior to posterior variance minus one, largest first: 1 where the pushes contain
        as much information as the prior, 0 where they contain none.
        """
        n = self.problem.grid.n_cells
        root = self._believed[: 2 * n, : 2 * n]
        values = np.linalg.eigvalsh(root.T @ self.covariance[: 2 * n, : 2 * n] @ root)
        spectrum: Array = np.maximum(1.0 / values - 1.0, 0.0)
        return spectrum

    @property
    def determined(self) -> int:
        """Number of directions about which the pushes say more than the prior."""
        return int(np.sum(self.spectrum > 1.0))

    @property
    def moved(self) -> float:
        """Distance from prior to result: root mean square over the determined directions."""
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

    @property
    def load(self) -> Array:
        """Friction load of each cell [N], shape (n,)."""
        model = self.problem.model(self.refined.u)
        load: Array = model.friction * model.mass * GRAVITY
        return load
