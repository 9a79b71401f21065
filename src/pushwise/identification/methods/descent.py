"""Algorithm 1 of the paper: stochastic gradient descent, projected into the bounds.

Gradients are those of whole simulated pushes (the paper's are of single steps under a measured
force; a finger's force is not measured, and the rollout's gradient costs the same). A step is

    x <- project(x - rate_k grad / |grad|_max),      rate_k = rate 0.9^k

for one push after the other, or for all of them at once (``batch``). The authors' code decays its
rate in the same way, and returns the model with the smallest error on the pushes it learned from.
"""

from __future__ import annotations

import numpy as np

from pushwise.identification.methods.search import Search

__all__ = ["DECAY", "RATE", "descend"]

RATE = 0.3  # of the distance between the bounds: the first step
DECAY = 0.9  # per sweep over all pushes


def descend(search: Search) -> None:
    """Follow the gradient of the pushes, one by one in random order, or all together."""
    batch = search.task.options.batch
    x = search.bounds.middle
    used = search.problem.used
    count = len(used)
    rate = RATE
    while True:
        order = search.rng.permutation(used).tolist()
        for pushes in [order] if batch else [[i] for i in order]:
            value, gradient = search.gradient(x, pushes)
            if batch:
                search.remember(x, value)
            size = np.abs(gradient).max()
            if size > 0.0:
                # A single push may pull one cell far: it moves it by its share of the pushes.
                x = search.bounds.clip(x - rate * len(pushes) / count * gradient / size)
        if not batch:
            search.error(x)
        rate *= DECAY
