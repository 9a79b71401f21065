"""The paper's Algorithm 1: stochastic gradient descent, projected into the box.

Gradients are those of whole simulated pushes (the paper's are of single steps under a measured
force; a finger's force is not measured, and the rollout's gradient costs the same). A step is

    x <- project(x - rate_k grad / |grad|_max),      rate_k = rate 0.9^k

for one push after the other, or for all of them at once (``batch``). The authors' code decays its
rate the same way, and returns the model with the least error on the pushes it learned from.
"""

from __future__ import annotations

import numpy as np

from pushwise.identification.methods.search import OutOfBudget, Search

__all__ = ["descend"]

RATE = 0.3  # of the box, the first step
DECAY = 0.9  # a sweep over all pushes


def descend(search: Search, *, batch: bool) -> None:
    """Follow the gradient of the pushes, one by one in random order, or all together."""
    x = search.box.middle
    count = len(search.box.problem.records)
    rate = RATE
    while True:
        order = search.rng.permutation(count).tolist()
        for pushes in [order] if batch else [[i] for i in order]:
            if search.box.problem.simulations >= search.budget:
                raise OutOfBudget
            value, gradient = search.box.gradient(x, pushes)
            if batch:
                search.saw(x, value)
            size = np.abs(gradient).max()
            if size > 0.0:
                # A single push may pull one cell far: it moves as far as its share of the pushes.
                x = search.box.clip(x - rate * len(pushes) / count * gradient / size)
        if not batch:
            search.error(x)
        rate *= DECAY
