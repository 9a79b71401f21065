"""`Belief`: a model of an object and how sure it is, which is all that planning is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.identification.posterior import Posterior

__all__ = ["Belief", "Known"]


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed of an object, by someone who identified it, assumes it, or knows it."""

    model: ObjectModel
    """The most probable model."""
    finger: Finger
    """The finger that pushes, its friction as identified or as believed."""
    centre_covariance: Array | None
    """Covariance of the centre of mass [m^2] in the grid frame, shape (2, 2); None where the model
    is certain, or where nothing was learned and there is no other to take."""
    total_mass_std: float | None
    """Standard deviation of the total mass [kg]; None where pushes did not determine it."""
    drift: Array
    """How far the model strays over a push [m, m, rad], shape (3,), by its own account."""
    posterior: Posterior | None = None
    """The whole posterior of an identification; None for a belief from a file or a certain one."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        set_field = object.__setattr__
        if self.centre_covariance is not None:
            covariance = finite_array("centre_covariance", self.centre_covariance, (2, 2))
            if not np.allclose(covariance, covariance.T, rtol=1e-6, atol=0.0):
                raise PushwiseError("centre_covariance must be symmetric.")
            if np.linalg.eigvalsh(covariance)[0] <= 0.0:
                raise PushwiseError("centre_covariance must be positive definite.")
            set_field(self, "centre_covariance", covariance)
        elif self.total_mass_std is not None:
            raise PushwiseError("total_mass_std must be None where nothing was learned.")
        set_field(self, "drift", finite_array("drift", self.drift, (3,)))
        if np.any(self.drift < 0.0):
            raise PushwiseError(f"drift must not be negative; got {self.drift.tolist()}.")
        if self.total_mass_std is not None:
            std = positive_number("total_mass_std", self.total_mass_std)
            set_field(self, "total_mass_std", std)

    @classmethod
    def certain(cls, model: ObjectModel, finger: Finger | None = None) -> Belief:
        """Return the belief of someone who knows the model, or has nothing but it to believe."""
        return cls(model, finger or Finger(), None, None, np.zeros(3))

    @property
    def learned(self) -> bool:
        """Whether pushes taught anything; otherwise the model is known or assumed."""
        return self.centre_covariance is not None

    @property
    def centre_of_mass(self) -> Array:
        """The most probable centre of mass [m] in the grid frame, shape (2,)."""
        return self.model.centre_of_mass

    def centres_of_mass(self, count: int, rng: np.random.Generator) -> Array:
        """Draw centres of mass [m] in the grid frame, shape (count, 2); one row if certain.

        Without a posterior none is drawn outside the object's convex hull, where none can be; a
        hull that holds few of them yields fewer rows.
        """
        if self.posterior is not None:
            return self.posterior.centres_of_mass(count, rng)
        if self.centre_covariance is None:
            return self.centre_of_mass[None].copy()
        root = np.linalg.cholesky(self.centre_covariance)
        drawn = self.centre_of_mass + rng.standard_normal((16 * count, 2)) @ root.T
        inside: Array = drawn[contains(_hull(self.model), drawn)][:count]
        if not len(inside):
            raise PushwiseError(
                "the centre of mass is known so badly that no guess of it lies in the object; "
                "push it a few times more."
            )
        return inside

    def models(self, count: int, rng: np.random.Generator) -> list[ObjectModel]:
        """Draw models that are possible, too; none where there is no doubt to draw from."""
        if self.posterior is not None:
            grid = self.model.grid
            masses, frictions = self.posterior.samples(count, rng)
            return [ObjectModel(grid, m, mu) for m, mu in zip(masses, frictions, strict=True)]
        if self.centre_covariance is None:
            return []
        return _tilted(self.model, self.centre_covariance, count, rng)


@dataclass(frozen=True, eq=False)
class Known:
    """What is saved of a posterior beside the model."""

    centre_of_mass_covariance: Array | None
    """Of the centre of mass [m^2] in the grid frame, (2, 2); None where nothing was learned."""
    total_mass_std: float | None
    """Standard deviation of the total mass [kg]; None where pushes did not determine it."""
    finger: Finger
    """The finger the pushes were made with, its friction estimated."""
    drift: Array
    """How far the model strays over a push [m, m, rad], shape (3,), by its own account."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        set_field = object.__setattr__
        if self.centre_of_mass_covariance is not None:
            covariance = finite_array(
                "centre_of_mass_covariance", self.centre_of_mass_covariance, (2, 2)
            )
            if not np.allclose(covariance, covariance.T, rtol=1e-6, atol=0.0):
                raise PushwiseError("centre_of_mass_covariance must be symmetric.")
            if np.linalg.eigvalsh(covariance)[0] <= 0.0:
                raise PushwiseError("centre_of_mass_covariance must be positive definite.")
            set_field(self, "centre_of_mass_covariance", covariance)
        elif self.total_mass_std is not None:
            raise PushwiseError("total_mass_std must be null where nothing was learned.")
        set_field(self, "drift", finite_array("drift", self.drift, (3,)))
        if np.any(self.drift < 0.0):
            raise PushwiseError(f"drift must not be negative; got {self.drift.tolist()}.")
        if self.total_mass_std is not None:
            set_field(
                self, "total_mass_std", positive_number("total_mass_std", self.total_mass_std)
            )

    @classmethod
    def nothing(cls, finger: Finger) -> Known:
        """Return what is known of a model that was assumed, before any push of the finger."""
        return cls(None, None, finger, np.zeros(3))

    @property
    def learned(self) -> bool:
        """Whether anything was learned; a model of which nothing was is assumed."""
        return self.centre_of_mass_covariance is not None


def _hull(model: ObjectModel) -> Array:
    """Return the convex hull of the cells [m], shape (h, 2), counter-clockwise."""
    grid = model.grid
    signs = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    corners = (grid.centres[:, None] + grid.cell_size * signs).reshape(-1, 2)
    hull: Array = corners[ConvexHull(corners).vertices]
    return hull


def _tilted(
    model: ObjectModel, covariance: Array, count: int, rng: np.random.Generator
) -> list[ObjectModel]:
    """Return models whose centres of mass have a covariance (2, 2), else like the given one.

    Masses change by exp(a . (p - c)), the smoothest change that moves the centre and keeps them
    positive; to first order the centre moves by C a, C the second moment over the mass.
    """
    model.grid.refuse_one_cell_wide()  # nothing to tilt across it
    arm = model.grid.centres - model.centre_of_mass
    moment = (model.mass[:, None] * arm).T @ arm / model.total_mass
    moved = rng.multivariate_normal(np.zeros(2), covariance, count)
    models = []
    for shift in moved:
        mass = model.mass * np.exp(arm @ np.linalg.solve(moment, shift))
        models.append(ObjectModel(model.grid, mass * model.total_mass / mass.sum(), model.friction))
    return models
