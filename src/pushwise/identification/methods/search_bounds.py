"""The box the paper searches: a mass and a friction a cell, between zero and upper bounds.

Methods that search it see numbers between 0 and 1, masses first, and start in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.identification.methods.end_loss import end_error, end_gradient
from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["Box"]


LEAST = 1e-3  # of the upper bound: a cell without mass has no motion


@dataclass(frozen=True)
class Box:
    """Bounds of a problem's masses and frictions."""

    problem: Problem
    max_mass: float
    max_friction: float

    @classmethod
    def of(cls, problem: Problem) -> Box:
        """Take the prior's bounds, or twice its typical values."""
        prior = problem.prior
        mass = prior.max_mass or 2.0 * prior.mass / problem.grid.n_cells
        return cls(problem, mass, 2.0 * prior.friction)

    @property
    def size(self) -> int:
        """Number of coordinates, 2n."""
        return 2 * self.problem.grid.n_cells

    @property
    def middle(self) -> Array:
        """Where the search starts, (2n,)."""
        return np.full(self.size, 0.5)

    def clip(self, x: Array) -> Array:
        """Project a point into the box (the paper's projection of M and mu)."""
        return np.clip(x, LEAST, 1.0)

    def model(self, x: Array) -> ObjectModel:
        """Return the model at a point (2n,), projected into the box."""
        x = self.clip(x)
        n = self.problem.grid.n_cells
        return ObjectModel(self.problem.grid, self.max_mass * x[:n], self.max_friction * x[n:])

    def error(self, x: Array) -> float:
        """Return the loss at a point [m]; a simulation."""
        return end_error(self.problem, self.model(x))

    def gradient(self, x: Array, pushes: list[int]) -> tuple[float, Array]:
        """Return the loss over some pushes [m] and its gradient (2n,) in the box's coordinates."""
        value, mass, friction = end_gradient(self.problem, self.model(x), pushes)
        return value, np.concatenate([self.max_mass * mass, self.max_friction * friction])
