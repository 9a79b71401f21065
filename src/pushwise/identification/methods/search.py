"""What methods share that search within bounds, as in the paper, until their budget is used up.

The paper bounds the mass and the friction of each cell by zero and an upper limit. Methods that
search between these bounds see numbers between 0 and 1, masses first, and start in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from pushwise.identification.methods.task import Task, end_error, end_gradient
from pushwise.identification.objective import Refined, linearize_with_best_drift
from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["OutOfBudget", "Search", "SearchBounds", "run_search"]


LEAST = 1e-3  # of the upper bound: a cell without mass has no motion


class OutOfBudget(Exception):
    """Raised when all simulations, or the time, are used up; `Search.best` remains valid."""


@dataclass(frozen=True, eq=False)
class SearchBounds:
    """Upper bounds of the cells' masses and frictions."""

    problem: Problem
    """The problem whose models are bounded."""
    max_mass: float
    """Largest mass of a cell [kg]."""
    max_friction: float
    """Largest coefficient of friction."""

    @classmethod
    def of(cls, problem: Problem) -> SearchBounds:
        """Take the bounds of the prior; where there are none, twice its typical values."""
        prior = problem.prior
        mass = prior.max_mass or 2.0 * prior.mass / problem.grid.n_cells
        return cls(problem, mass, min(2.0 * prior.friction, prior.max_friction or np.inf))

    @property
    def size(self) -> int:
        """Number of coordinates, 2n."""
        return 2 * self.problem.grid.n_cells

    @property
    def middle(self) -> Array:
        """Where a search starts, shape (2n,)."""
        return np.full(self.size, 0.5)

    def clip(self, x: Array) -> Array:
        """Project a point (2n,) into the bounds (the paper's projection of M and mu)."""
        return np.clip(x, LEAST, 1.0)

    def model(self, x: Array) -> ObjectModel:
        """Return the model at a point (2n,), projected into the bounds."""
        x = self.clip(x)
        n = self.problem.grid.n_cells
        return ObjectModel(self.problem.grid, self.max_mass * x[:n], self.max_friction * x[n:])


class Search:
    """A task, the bounds to search between, and the best point found so far."""

    def __init__(self, task: Task) -> None:
        """Start in the middle of the bounds."""
        self.task = task
        self.problem = task.problem
        self.bounds = SearchBounds.of(task.problem)
        self.rng = task.rng
        self.budget = task.options.budget
        self.best = self.bounds.middle
        """The point with the smallest loss so far, shape (2n,)."""
        self._best_error = np.inf

    @property
    def spent(self) -> float:
        """Number of simulations used so far."""
        return self.task.counter.count

    def error(self, x: Array) -> float:
        """Return the loss at a point (2n,) [m] and remember the best; one simulation."""
        self._check_budget()
        self.task.counter.add()
        value = end_error(self.problem, self.bounds.model(x))
        self.remember(x, value)
        return value

    def gradient(self, x: Array, pushes: Sequence[int]) -> tuple[float, Array]:
        """Return the loss over some pushes [m] and its gradient (2n,) in the bounded coordinates.

        Counts as the share of a simulation that these pushes are.
        """
        self._check_budget()
        self.task.counter.add(len(pushes) / len(self.problem.used))
        value, mass, friction = end_gradient(self.problem, self.bounds.model(x), pushes)
        bounds = self.bounds
        return value, np.concatenate([bounds.max_mass * mass, bounds.max_friction * friction])

    def _check_budget(self) -> None:
        """End the search if simulations or time are used up."""
        if self.spent >= self.budget or self.task.out_of_time:
            raise OutOfBudget

    def remember(self, x: Array, value: float) -> None:
        """Keep a point (2n,) if its loss [m] is the smallest so far."""
        if value < self._best_error:
            self.best, self._best_error = self.bounds.clip(x), value
            self.task.improved(self.bounds.model(self.best), value)


def run_search(search_with: Callable[[Search], None]) -> Callable[[Task], Refined]:
    """Return a method that searches until its budget is used up and takes the best point."""

    def run(task: Task) -> Refined:
        search = Search(task)
        with suppress(OutOfBudget):
            search_with(search)
        u = task.problem.unknowns_of(search.bounds.model(search.best))
        # Not counted: examining the result is not searching.
        return linearize_with_best_drift(task.problem, u, task.noise)

    return run
