"""Draw samples from a posterior with several peaks, by tempering.

A population of points drawn from the prior is led to the posterior through
``prior x likelihood^beta``, beta growing from 0 to 1 no faster than half of the population can
follow. At each level points are resampled by weight, then moved by differences of two others (ter
Braak's differential evolution), which adapt to the shape of the population, and accepted by the
rule of Metropolis.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.typing import Array, Integers

__all__ = ["tempered"]


FOLLOW = 0.5  # effective share of the population that remains after a level
JUMP = 0.1  # share of moves by a whole difference: from one peak to another
JITTER = 1e-3  # of each unknown, so that no two points remain identical


def tempered(
    points: Array,
    log_prior: Callable[[Array], float],
    log_likelihood: Callable[[Array], float],
    rng: np.random.Generator,
    *,
    moves: int,
    after_level: Callable[[Array], None],
    expired: Callable[[], bool],
) -> Array:
    """Lead points of the prior to the posterior.

    Args:
        points: Samples of the prior, shape (count, unknowns).
        log_prior: Log prior of one point (unknowns,), -inf where it is impossible.
        log_likelihood: Log likelihood of one point (unknowns,), -inf where it is impossible.
        rng: Source of randomness.
        moves: Number of moves tried per point and level.
        after_level: Called with the points after each level.
        expired: Whether the time is up.

    Returns:
        Samples of the posterior, shape (count, unknowns); where the time was up before, the points
        on their way from the prior to it.

    """
    fit = np.array([log_likelihood(x) for x in points])
    possible = np.flatnonzero(np.isfinite(fit))
    if len(possible) == 0:
        raise PushwiseError(f"none of {len(points)} guesses can be simulated; check the pushes.")
    chosen = np.resize(possible, len(points))
    points, fit = points[chosen], fit[chosen]
    prior = np.array([log_prior(x) for x in points])
    count, unknowns = points.shape
    beta = 0.0
    while beta < 1.0:
        step = _step(fit, 1.0 - beta)
        beta = min(beta + step, 1.0)
        chosen = _resampled(np.exp(step * (fit - fit.max())), rng)
        points, prior, fit = points[chosen], prior[chosen], fit[chosen]
        for _ in range(moves):
            for i in range(count):
                if expired():
                    return points
                a, b = rng.integers(count, size=2)
                size = 2.38 / np.sqrt(2.0 * unknowns) * rng.uniform(0.3, 1.2)
                if rng.random() < JUMP:
                    size = 1.0
                tried = points[i] + size * (points[a] - points[b])
                tried += JITTER * rng.standard_normal(unknowns)
                chance = np.log(rng.random())
                there = log_prior(tried)
                if there == -np.inf:
                    continue
                seen = log_likelihood(tried)
                if chance < there - prior[i] + beta * (seen - fit[i]):
                    points[i], prior[i], fit[i] = tried, there, seen
        after_level(points)
    return points


def _step(fit: Array, most: float) -> float:
    """Return by how much beta may grow, at most by `most`."""

    def effective(step: float) -> float:
        weight = np.exp(step * (fit - fit.max()))
        return float(weight.sum() ** 2 / np.sum(weight**2) / len(fit))

    if effective(most) >= FOLLOW:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if effective(middle) >= FOLLOW else (low, middle)
    return high


def _resampled(weight: Array, rng: np.random.Generator) -> Integers:
    """Return which points to keep, shape (count,): evenly spaced in the cumulative weight."""
    ladder = np.cumsum(weight) / weight.sum()
    places = (np.arange(len(weight)) + rng.random()) / len(weight)
    chosen: Integers = np.minimum(np.searchsorted(ladder, places), len(weight) - 1)
    return chosen
