"""Random search, the first of the paper's compared methods: draw in the box, keep the best.

Weighted sampling, as the authors ran it: normal about the best, ever closer to it.

Gradient descent with finite differences: one simulation a coordinate, then one step.

Nelder and Mead's simplex, by SciPy.

Covariance matrix adaptation evolution strategy, by the package `cma`.
"""

from __future__ import annotations

import cma
import numpy as np
from scipy.optimize import minimize

from pushwise.identification.methods.search import OutOfBudget, Search

__all__ = [
    "search_by_differences",
    "search_by_evolution",
    "search_by_simplex",
    "search_near_the_best",
    "search_randomly",
]


def search_randomly(search: Search) -> None:
    """Draw points of the box, all equally likely, until the budget ends."""
    search.error(search.box.middle)
    while True:
        search.error(search.rng.uniform(size=search.box.size))


FIRST = 0.5  # of the box: the first spread
LAST = 0.02
EVERY = 10  # draws, after which the spread is halved


def search_near_the_best(search: Search) -> None:
    """Draw about the best point so far, with half the spread every ten draws."""
    search.error(search.box.middle)
    drawn = 0
    while True:
        spread = max(FIRST * 0.5 ** (drawn // EVERY), LAST)
        search.error(search.best + spread * search.rng.standard_normal(search.box.size))
        drawn += 1


DIFFERENCE = 0.1  # of the box, the authors' half a kilogram of five
RATE = 0.3
DECAY = 0.9


def search_by_differences(search: Search) -> None:
    """Step down the gradient, as far as the budget lets it be known.

    Coordinates are visited in random order; when the budget ends before all were, the step is
    taken along those that were.
    """
    x = search.box.middle
    value = search.error(x)
    rate = RATE
    while True:
        gradient = np.zeros(search.box.size)
        exhausted = False
        # The last simulation is kept for the step itself.
        for i in search.rng.permutation(search.box.size):
            if search.box.problem.simulations + 1 >= search.budget:
                exhausted = True
                break
            moved = x.copy()
            moved[i] += DIFFERENCE
            gradient[i] = (search.error(moved) - value) / DIFFERENCE
        size = np.abs(gradient).max()
        if size > 0.0:
            x = search.box.clip(x - rate * gradient / size)
        value = search.error(x)
        rate *= DECAY
        if exhausted:
            raise OutOfBudget


def search_by_simplex(search: Search) -> None:
    """Move a simplex in the box until the budget ends, and start anew where it collapsed."""
    while True:
        minimize(
            search.error,
            search.best,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * search.box.size,
            options={"maxfev": 10**6, "xatol": 1e-6, "fatol": 1e-9, "adaptive": True},
        )


SPREAD = 0.2  # of the box


def search_by_evolution(search: Search) -> None:
    """Let a population evolve in the box until the budget ends."""
    seed = int(search.rng.integers(1, 2**31))
    options = {"bounds": [0.0, 1.0], "seed": seed, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(search.box.middle, SPREAD, options)
    while True:
        points = strategy.ask()
        strategy.tell(points, [search.error(np.asarray(x)) for x in points])
