"""`Belief`: a model of an object and how certain it is, the only input of planning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.checks import counted, finite_array, instance_of, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.identification.posterior import Posterior

__all__ = ["Belief", "CentreError", "centre_error", "checked_belief", "tilted"]

# Of freedom of the errors of the centre of mass, which decide whether an object falls. Chosen with
# falls in MuJoCo in view: with Gaussian errors 2 to 3 % of objects fell where 1 % was predicted.
CENTRE_DEGREES = 6.0
# Steps to another centre of mass, and the most that the log of a cell's mass changes in one.
_TILTS, _TILT = 12, 2.0


class CentreError(NamedTuple):
    """Standard errors of a centre of mass: given in the same way everywhere."""

    along: float
    """In the direction in which it is known worst [m]."""
    across: float
    """Across that direction [m]."""
    angle: float
    """Of that direction in the grid frame [rad], from 0 to pi."""

    def __str__(self) -> str:
        """Return both in words."""
        degrees = counted(round(np.degrees(self.angle)) % 180, "degree", "degrees")
        along, across = 1e3 * self.along, 1e3 * self.across
        return f"{along:.1f} mm along {degrees} and {across:.1f} mm across"


def centre_error(covariance: Array) -> CentreError:
    """Return the standard errors of a centre of mass with a covariance [m^2], shape (2, 2)."""
    values, axes = np.linalg.eigh(covariance)
    across, along = np.sqrt(np.maximum(values, 0.0)).tolist()
    return CentreError(along, across, float(np.arctan2(axes[1, 1], axes[0, 1]) % np.pi))


@dataclass(frozen=True, eq=False)
class Belief:
    """What is believed about an object: identified from pushes, assumed, or known."""

    model: ObjectModel
    """The most probable model."""
    finger: Finger
    """The finger that pushes, with its identified or assumed friction."""
    centre_covariance: Array | None
    """Covariance of the centre of mass [m^2] in the grid frame, shape (2, 2); None where the model
    is certain or assumed."""
    total_mass_std: float | None
    """Standard deviation of the total mass [kg]; None where pushes did not determine it."""
    drift: Array
    """Standard error of the model's predictions over one push [m, m, rad], shape (3,)."""
    posterior: Posterior | None = None
    """The full posterior of an identification; None for any other belief."""
    assumed: bool = False
    """Whether the model was assumed before any push, so that its errors are unknown."""

    def __post_init__(self) -> None:
        """Check the values."""
        set_field = object.__setattr__
        for name, kind in (("model", ObjectModel), ("finger", Finger)):
            instance_of(f"the {name} of a belief", getattr(self, name), kind)
        if self.centre_covariance is not None:
            covariance = finite_array("centre_covariance", self.centre_covariance, (2, 2))
            if np.abs(covariance - covariance.T).max() > 1e-6 * np.abs(covariance).max():
                raise PushwiseError("centre_covariance must be symmetric.")
            if np.linalg.eigvalsh(covariance)[0] <= 0.0:
                raise PushwiseError("centre_covariance must be positive definite.")
            set_field(self, "centre_covariance", covariance)
        elif self.total_mass_std is not None:
            raise PushwiseError("total_mass_std must be None where nothing was learned.")
        if self.assumed and self.learned:
            raise PushwiseError("a belief that was learned is not assumed; leave assumed False.")
        set_field(self, "drift", finite_array("drift", self.drift, (3,)))
        if np.any(self.drift < 0.0):
            raise PushwiseError(f"drift must not be negative; got {self.drift.tolist()}.")
        if self.total_mass_std is not None:
            std = positive_number("total_mass_std", self.total_mass_std)
            set_field(self, "total_mass_std", std)

    @classmethod
    def certain(cls, model: ObjectModel, finger: Finger | None = None) -> Belief:
        """Return a belief that takes a model as certain."""
        return cls(model, finger or Finger(), None, None, np.zeros(3))

    @classmethod
    def assuming(cls, model: ObjectModel, finger: Finger | None = None) -> Belief:
        """Return a belief in a model that was assumed before any push.

        Planning treats it as certain, because there is no alternative to compare it with, but
        fall probabilities computed from it mean nothing.
        """
        return cls(model, finger or Finger(), None, None, np.zeros(3), assumed=True)

    @property
    def learned(self) -> bool:
        """Whether it was learned from pushes; otherwise the model is certain or assumed."""
        return self.centre_covariance is not None

    @property
    def total_mass_known(self) -> bool:
        """Whether the total mass is known: determined by pushes, or part of a certain model."""
        return self.total_mass_std is not None if self.learned else not self.assumed

    @property
    def centre_of_mass(self) -> Array:
        """The most probable centre of mass [m] in the grid frame, shape (2,)."""
        return self.model.centre_of_mass

    def centres_of_mass(self, count: int, rng: np.random.Generator) -> Array:
        """Draw centres of mass [m] in the grid frame, shape (count, 2).

        They have a distribution of their own, not that of the masses of `models`: pushes determine
        the centroid, and log-normal cells drawn one by one would scatter it by half as much again.
        It is Student's t, with the covariance of the centre of mass: no model is exact, and large
        errors are less rare than in a Gaussian. Draws outside the object's convex hull are
        impossible and rejected; if most are, there are fewer rows. A certain or assumed model
        yields one row, its own.
        """
        if self.centre_covariance is None:
            return self.centre_of_mass[None].copy()
        root = np.linalg.cholesky(self.centre_covariance)
        more = 16 * count
        stretch = np.sqrt((CENTRE_DEGREES - 2.0) / rng.chisquare(CENTRE_DEGREES, (more, 1)))
        drawn = self.centre_of_mass + stretch * rng.standard_normal((more, 2)) @ root.T
        inside: Array = drawn[contains(_hull(self.model), drawn)][:count]
        if not len(inside):
            raise PushwiseError(
                "the centre of mass is so uncertain that no sample of it lies within the object; "
                "push the object a few more times."
            )
        return inside

    def models(self, count: int, rng: np.random.Generator) -> list[ObjectModel]:
        """Draw models from the belief; none where the model is certain or assumed."""
        if self.posterior is not None:
            grid = self.model.grid
            masses, frictions = self.posterior.samples(count, rng)
            return [ObjectModel(grid, m, mu) for m, mu in zip(masses, frictions, strict=True)]
        if self.centre_covariance is None:
            return []
        return tilted(
            self.model, rng.multivariate_normal(np.zeros(2), self.centre_covariance, count)
        )


def checked_belief(belief: Belief) -> Belief:
    """Return a belief, or say how to make one of whatever else was passed."""
    if not isinstance(belief, Belief):
        raise PushwiseError(
            f"belief must be a Belief; got {type(belief).__name__}. Pass found.belief for an "
            "Identification, or pw.Belief.certain(model) for a model that is known."
        )
    return belief


def _hull(model: ObjectModel) -> Array:
    """Return the convex hull of the cells [m], shape (h, 2), counter-clockwise."""
    grid = model.grid
    signs = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    corners = (grid.centres[:, None] + grid.cell_size * signs).reshape(-1, 2)
    hull: Array = corners[ConvexHull(corners).vertices]
    return hull


def tilted(model: ObjectModel, shifts: Array) -> list[ObjectModel]:
    """Return models like the given one with the centre of mass shifted by each of (k, 2) [m].

    Masses are multiplied by exp(a . (p - c)), the smoothest change that moves the centre and keeps
    them positive. The centre moves by C da, where C is the second moment over the mass; Newton's
    method finds a. A shift beyond the cells ends near the border.
    """
    model.grid.refuse_one_cell_wide()  # the second moment would be singular
    arm = model.grid.centres - model.centre_of_mass
    models = []
    for shift in shifts:
        exponent, share = np.zeros(len(arm)), model.mass / model.total_mass
        for _ in range(_TILTS):
            off = arm - share @ arm
            step = off @ np.linalg.solve((share[:, None] * off).T @ off, shift - share @ arm)
            largest = float(np.abs(step).max())
            if largest < 1e-9:
                break
            exponent += step * min(1.0, _TILT / largest)
            raised = np.log(model.mass) + exponent
            share = np.exp(raised - raised.max())
            share /= share.sum()
        models.append(ObjectModel(model.grid, share * model.total_mass, model.friction))
    return models
