"""`Identification`: what every method returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushwise.counting import counted
from pushwise.identification.calibration import Calibration
from pushwise.identification.known import Known
from pushwise.identification.posterior import Posterior
from pushwise.identification.words import outliers, statements, total_mass_determined
from pushwise.physics.actions import Finger
from pushwise.physics.model import ObjectModel

__all__ = ["Identification", "Step"]


@dataclass(frozen=True)
class Step:
    """One line of a method's history."""

    simulations: int
    """How often the set of pushes had been simulated."""
    seconds: float
    """Since the start."""
    error: float
    """Mean distance between predicted and observed cells at the ends of the pushes [m]."""


@dataclass(frozen=True, eq=False)
class Identification:
    """The model found, how sure it is, and how it was found."""

    model: ObjectModel
    """Masses and frictions; the mass of a cell is the load it carries, over g."""
    finger: Finger
    """The finger, its friction estimated."""
    posterior: Posterior
    """How well everything is known."""
    history: tuple[Step, ...]
    """The way there."""
    method: str
    """Which method found it."""

    @property
    def calibration(self) -> Calibration | None:
        """Constant errors of the set-up; None where the prior did not doubt it."""
        return self.posterior.problem.calibration_at(self.posterior.refined.u)

    @property
    def simulations(self) -> int:
        """How often the set of pushes was simulated."""
        return self.history[-1].simulations

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.history[-1].seconds

    @property
    def outliers(self) -> tuple[int, ...]:
        """Pushes that do not fit the others."""
        return tuple(outliers(self.posterior))

    @property
    def drift(self) -> NDArray[np.float64]:
        """How far the model strays over a push [m, m, rad], shape (3,), by its own account."""
        return self.posterior.refined.errors.drift

    @property
    def _fitted(self) -> bool:
        """Whether the model is where poses and forces fit best; `refine` alone goes there."""
        return self.method == "refine"

    @property
    def known(self) -> Known:
        """How well the model is known, as far as it is saved with it."""
        std = None
        if self._fitted and total_mass_determined(self.posterior):
            std = self.model.total_mass * self.posterior.total_mass_log_std[0]
        return Known(self.posterior.centre_of_mass_covariance, std, self.finger, self.drift)

    def statements(self) -> list[str]:
        """Return what is known and what is not, a sentence each."""
        return statements(self.posterior, fitted=self._fitted)

    def summary(self) -> str:
        """Return a short report."""
        count = len(self.posterior.problem.records)
        pushes = counted(count, "push", "pushes")
        lines = [
            f"{self.method}: {pushes}, {self.model.grid.n_cells} cells, "
            f"{self.simulations} simulations, {self.seconds:.2f} s",
            f"predicted ends are {1e3 * self.history[-1].error:.1f} mm from the observed ones",
            f"the pushes determine {self.posterior.determined} of "
            f"{2 * self.model.grid.n_cells} directions of mass and friction",
            *self.statements(),
        ]
        return "\n".join(lines)

    def facts(self) -> Mapping[str, object]:
        """Return what `summary` says, for machines; SI units."""
        known = self.known
        determined = known.total_mass_std is not None
        return {
            "method": self.method,
            "pushes": len(self.posterior.problem.records),
            "cells": self.model.grid.n_cells,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "error": self.history[-1].error,
            "centre_of_mass": self.model.centre_of_mass.tolist(),
            "centre_of_mass_covariance": self.posterior.centre_of_mass_covariance.tolist(),
            "centre_of_mass_stated": self.posterior.problem.prior.centre,
            "total_mass": self.model.total_mass if determined else None,
            "total_mass_std": known.total_mass_std,
            "finger_friction": self.finger.friction,
            "determined": self.posterior.determined,
            "drift": self.drift.tolist(),
            "outliers": list(self.outliers),
            "statements": self.statements(),
        }
