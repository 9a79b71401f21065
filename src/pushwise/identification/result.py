"""The mean of several identifications: what to believe when few pushes cannot tell which is right.

Friction is linear in the load, so that the mean load answers each motion with the mean friction.
Where two hypotheses err in different ways their mean errs less than either.

`Identification`: what every method returns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.checks import counted
from pushwise.identification.belief import Belief
from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.identification.methods.end_loss import fit_error
from pushwise.identification.objective import best_picture
from pushwise.identification.posterior import Posterior
from pushwise.identification.summary import outliers, statements, total_mass_determined
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.typing import Array

__all__ = ["Identification", "Step", "average"]


def average(found: Sequence[Identification]) -> Identification:
    """Return the mean of identifications of one object from the same pushes.

    Loads, each taken as shares of its total, the log of the finger's friction and the errors of
    the set-up are averaged. Doubts are those of the first one's prior.
    """
    problem = found[0].posterior.problem
    n = problem.grid.n_cells
    loads = [one.model.mass * one.model.friction for one in found]
    share = np.mean([load / load.sum() for load in loads], axis=0)
    total = found[0].model.total_mass
    u = problem.unknowns_of(ObjectModel(problem.grid, total * share, problem.prior.friction))
    ends = [one.posterior.refined.u for one in found]
    u[2 * n] = np.mean([end[2 * n] for end in ends])
    if problem.calibrates:
        u[-NUISANCES:] = np.mean([end[-NUISANCES:] for end in ends], axis=0)
    simulations = sum(one.simulations for one in found)
    sigma = found[0].posterior.refined.errors.sigma
    refined = best_picture(problem, u, noise=sigma, force_noise=None)
    step = Step(simulations, sum(one.seconds for one in found), fit_error(problem, u))
    return Identification(
        problem.model(u),
        problem.finger_at(u),
        Posterior(problem, refined),
        (step,),
        " and ".join(one.method for one in found),
    )


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
    def drift(self) -> Array:
        """How far the model strays over a push [m, m, rad], shape (3,), by its own account."""
        return self.posterior.refined.errors.drift

    @property
    def _fitted(self) -> bool:
        """Whether the model is where poses and forces fit best; `refine` alone goes there."""
        return self.method == "refine"

    @property
    def belief(self) -> Belief:
        """What planning needs to know: the model, the finger, and how certain they are."""
        std = None
        if self._fitted and total_mass_determined(self.posterior):
            std = self.model.total_mass * self.posterior.total_mass_log_std[0]
        return Belief(
            self.model,
            self.finger,
            self.posterior.centre_of_mass_covariance,
            std,
            self.drift,
            self.posterior,
        )

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
        std = self.belief.total_mass_std
        determined = std is not None
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
            "total_mass_std": std,
            "finger_friction": self.finger.friction,
            "determined": self.posterior.determined,
            "drift": self.drift.tolist(),
            "outliers": list(self.outliers),
            "statements": self.statements(),
        }
