"""`Identification`: what `identify` returns, whatever the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pushwise.checks import counted
from pushwise.identification.belief import Belief, centre_error
from pushwise.identification.calibration import Calibration
from pushwise.identification.methods.registry import METHODS
from pushwise.identification.posterior import Posterior
from pushwise.identification.summary import (
    outliers,
    setup_errors,
    statements,
    total_mass_determined,
)
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.typing import Array

LEAST_DRIFT = 1e-3  # m; in MuJoCo the true model itself is 1 to 2 mm off after 0.2 m

__all__ = ["Identification", "Step"]


@dataclass(frozen=True)
class Step:
    """One entry of a method's history."""

    simulations: int
    """How often the set of pushes had been simulated."""
    seconds: float
    """Time since the start [s]."""
    error: float
    """Mean distance between predicted and observed cells at the ends of the pushes [m]; for
    "refine" on the way, mean distance between predicted and observed positions of all samples."""


@dataclass(frozen=True, eq=False)
class Identification:
    """The model found, how sure it is, and how it was found."""

    model: ObjectModel
    """Mass and friction of each cell; the mass of a cell is the load it carries, divided by g."""
    finger: Finger
    """The finger, with its friction as estimated."""
    posterior: Posterior
    """How well everything is known."""
    history: tuple[Step, ...]
    """How the method got there."""
    method: str
    """Name of the method that found it."""

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
        """How long it took [s]."""
        return self.history[-1].seconds

    @property
    def outliers(self) -> tuple[int, ...]:
        """Indices of pushes that do not fit the others."""
        return tuple(outliers(self.posterior))

    @property
    def drift(self) -> Array:
        """Standard error of predictions over one push [m, m, rad], shape (3,).

        At least `LEAST_DRIFT`: a few noisy poses cannot show that a model errs by less.
        """
        drift = self.posterior.refined.errors.drift
        predicted: Array = drift * max(1.0, LEAST_DRIFT / drift[0])
        return predicted

    @property
    def _fitted(self) -> bool:
        """Whether the model is where poses and forces fit best."""
        return self.method in METHODS and METHODS[self.method].fits_forces

    @cached_property
    def belief(self) -> Belief:
        """The model and how sure it is: what planning needs."""
        std = None
        if self._fitted and total_mass_determined(self.posterior):
            std = self.model.total_mass * self.posterior.total_mass_log_std[0]
        return Belief(
            self.model,
            self.finger,
            self.posterior.centre_of_mass_covariance,
            std,
            self.drift,
            posterior=self.posterior,
        )

    def statements(self) -> list[str]:
        """Return what is known and what is not, as sentences."""
        return statements(self.posterior, fitted=self._fitted, error=self.history[-1].error)

    def summary(self) -> str:
        """Return a short report."""
        count, used = len(self.posterior.problem.records), len(self.posterior.problem.used)
        pushes = counted(count, "push", "pushes")
        if used < count:
            pushes = f"{used} of {pushes}"
        lines = [
            f"learned {self.model.grid.n_cells} cells from {pushes} with the method "
            f"{self.method}: {self.simulations} simulations, {self.seconds:.2f} s",
            f"mean distance between predicted and observed ends: "
            f"{1e3 * self.history[-1].error:.1f} mm",
            f"the pushes determine {self.posterior.determined} of the "
            f"{self.model.grid.n_cells + 4} numbers that motion can show",
            *self.statements(),
        ]
        return "\n".join(lines)

    def facts(self) -> Mapping[str, object]:
        """Return the content of `summary` as numbers in SI units, ready for JSON."""
        total_mass_std = self.belief.total_mass_std
        errors = setup_errors(self.posterior)
        return {
            "method": self.method,
            "pushes": len(self.posterior.problem.records),
            "cells": self.model.grid.n_cells,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "error": self.history[-1].error,
            "centre_of_mass": self.model.centre_of_mass.tolist(),
            "centre_of_mass_covariance": self.posterior.centre_of_mass_covariance.tolist(),
            "centre_of_mass_error": centre_error(
                self.posterior.centre_of_mass_covariance
            )._asdict(),
            "centre_of_mass_stated": self.posterior.problem.prior.centre,
            "total_mass": None if total_mass_std is None else self.model.total_mass,
            "total_mass_std": total_mass_std,
            "finger_friction": self.finger.friction,
            "finger_height": self.finger.height,
            "setup": errors
            and {name: {"value": value, "std": std} for name, (value, std) in errors.items()},
            "determined": self.posterior.determined,
            "drift": self.drift.tolist(),
            "outliers": list(self.outliers),
            "statements": self.statements(),
        }
