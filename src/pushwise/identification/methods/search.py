"""What a method that searches the box is given, and a record of the best it has seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pushwise.identification.methods.search_bounds import Box
from pushwise.typing import Array

__all__ = ["OutOfBudget", "Search"]


class OutOfBudget(Exception):
    """Raised by `Search.error` when all simulations are used up; `Search.best` stays."""


@dataclass
class Search:
    """A box, a budget of simulations, a source of randomness, and the best point so far."""

    box: Box
    budget: float
    rng: np.random.Generator
    tick: Callable[[Array, float], None]
    """Called with each better point and its loss [m]."""
    best: Array = field(init=False)
    best_error: float = np.inf

    def __post_init__(self) -> None:
        """Start in the middle of the box."""
        self.best = self.box.middle

    def error(self, x: Array) -> float:
        """Return the loss at a point and remember the best."""
        if self.box.problem.simulations >= self.budget:
            raise OutOfBudget
        value = self.box.error(x)
        self.saw(x, value)
        return value

    def saw(self, x: Array, value: float) -> None:
        """Remember a point if it is the best."""
        if value < self.best_error:
            self.best, self.best_error = self.box.clip(x), value
            self.tick(self.best, value)
