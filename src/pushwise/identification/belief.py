"""`Known`: how well an identified model is known, in the few numbers a plan needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.physics.push import Finger
from pushwise.typing import Array

__all__ = ["Known"]


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
