"""The derivative-free baselines of the paper's comparison.

Random search, weighted sampling, gradient descent with finite differences, covariance matrix
adaptation (by the package `cma`) and the simplex of Nelder and Mead (by SciPy). All of them search
between the same bounds, minimise the same loss and end when the same budget is used up.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from pushwise.extras import require
from pushwise.identification.methods.search import OutOfBudget, Search

__all__ = [
    "search_by_differences",
    "search_by_evolution",
    "search_by_simplex",
    "search_near_the_best",
    "search_randomly",
]


# All of these are relative to the distance between the bounds.
FIRST_WIDTH = 0.5  # standard deviation of the first weighted samples
LAST_WIDTH = 0.02
HALVED_EVERY = 10  # samples
DIFFERENCE = 0.1  # finite difference, the authors' half a kilogram of five
RATE = 0.3  # first step of gradient descent
DECAY = 0.9  # per step
EVOLUTION_WIDTH = 0.2  # standard deviation of the first population


def search_randomly(search: Search) -> None:
    """Draw points uniformly between the bounds."""
    search.error(search.bounds.middle)
    while True:
        search.error(search.rng.uniform(size=search.bounds.size))


def search_near_the_best(search: Search) -> None:
    """Draw points normally about the best so far, as the authors did, and ever closer to it."""
    search.error(search.bounds.middle)
    drawn = 0
    while True:
        width = max(FIRST_WIDTH * 0.5 ** (drawn // HALVED_EVERY), LAST_WIDTH)
        search.error(search.best + width * search.rng.standard_normal(search.bounds.size))
        drawn += 1


def search_by_differences(search: Search) -> None:
    """Step down the gradient, estimated by one simulation per coordinate.

    Coordinates are visited in random order. If the budget ends before all of them were visited,
    the last step is taken along those that were.
    """
    x = search.bounds.middle
    value = search.error(x)
    rate = RATE
    while True:
        gradient = np.zeros(search.bounds.size)
        exhausted = False
        # The last simulation is kept for the step itself.
        for i in search.rng.permutation(search.bounds.size):
            if search.spent + 1 >= search.budget:
                exhausted = True
                break
            moved = x.copy()
            moved[i] += DIFFERENCE
            gradient[i] = (search.error(moved) - value) / DIFFERENCE
        size = np.abs(gradient).max()
        if size > 0.0:
            x = search.bounds.clip(x - rate * gradient / size)
        value = search.error(x)
        rate *= DECAY
        if exhausted:
            raise OutOfBudget


def search_by_simplex(search: Search) -> None:
    """Move a simplex between the bounds, and restart it at the best point where it collapsed."""
    while True:
        minimize(
            search.error,
            search.best,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * search.bounds.size,
            options={"maxfev": 10**6, "xatol": 1e-6, "fatol": 1e-9, "adaptive": True},
        )


def search_by_evolution(search: Search) -> None:
    """Let a population evolve between the bounds."""
    cma = require("cma", extra="experiments", purpose="method 'cma-es'")
    seed = int(search.rng.integers(1, 2**31))
    options = {"bounds": [0.0, 1.0], "seed": seed, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(search.bounds.middle, EVOLUTION_WIDTH, options)
    while True:
        points = strategy.ask()
        strategy.tell(points, [search.error(np.asarray(x)) for x in points])
