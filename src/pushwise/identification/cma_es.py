"""Covariance matrix adaptation evolution strategy, by the package `cma`."""

from __future__ import annotations

import cma
import numpy as np

from pushwise.identification.search import Search

__all__ = ["search_by_evolution"]

SPREAD = 0.2  # of the box


def search_by_evolution(search: Search) -> None:
    """Let a population evolve in the box until the budget ends."""
    seed = int(search.rng.integers(1, 2**31))
    options = {"bounds": [0.0, 1.0], "seed": seed, "verbose": -9}
    strategy = cma.CMAEvolutionStrategy(search.box.middle, SPREAD, options)
    while True:
        points = strategy.ask()
        strategy.tell(points, [search.error(np.asarray(x)) for x in points])
