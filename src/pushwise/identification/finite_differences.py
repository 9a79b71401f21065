"""Gradient descent with finite differences: one simulation a coordinate, then one step."""

from __future__ import annotations

import numpy as np

from pushwise.identification.search import OutOfBudget, Search

__all__ = ["search_by_differences"]

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
