"""Gauss-Newton on whole simulated pushes, with the analytic Jacobian: the default method.

Minimises the objective of `objective`. The model's drift starts large and follows the evidence:
far from the answer only the local motion counts, which is nearly linear in the unknowns; near it
whole pushes do, as exactly as the model deserves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.objective import (
    DRIFTS,
    Refined,
    cost_of,
    errors_at,
    evidence,
    force_sigma_of,
    linear,
    picture,
    sensor_noise,
)
from pushwise.identification.outliers import contradicts
from pushwise.identification.problem import Fit, Problem
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["refine"]


MAX_STEP = 3.0  # prior standard deviations in one iteration
ITERATIONS = 25
FITS = 0.95  # mean weight of the samples of a push that fits; 1.1 where all is Gaussian
LOPSIDED = 1.5  # log of the mass at an end over that in the middle
FITS_WELL = 1.0  # a false minimum without drift was seen with 0.97, true ones with 1.03 and more
DRAWS = 40  # starts tried for a push that does not fit


def refine(
    problem: Problem,
    starts: Sequence[Array],
    *,
    noise: Array | None,
    force_noise: float | None,
    tick: Callable[[Array, float], None] | None = None,
) -> Refined:
    """Minimise from one start (unknowns,) after the other until a model fits without drifting.

    A model that has to drift is probably at a false minimum, its weight at the wrong end of the
    object: after the given starts lopsided ones are tried, and the most probable end is returned.
    Pushes that contradict the others are then left out, unless they are as many, and all is done
    again: what a wrong push tells beside its wrong pose is wrong too.
    noise (3,), force_noise: stated standard deviations, None to estimate.
    """
    sigma = sensor_noise(problem, noise)
    first = _most_probable(problem, starts, sigma, force_noise, tick)
    wrong = frozenset(
        i for i in range(len(problem.records)) if contradicts(first.weight[problem.owner == i])
    )
    if not wrong or 2 * len(wrong) >= len(problem.records):
        return first
    problem.left_out = wrong
    again = _most_probable(problem, [first.u, *starts], sigma, force_noise, tick)
    weight = np.where(np.isin(problem.owner, list(wrong)), first.weight, again.weight)
    return replace(again, weight=weight, left_out=wrong)


def _most_probable(
    problem: Problem,
    starts: Sequence[Array],
    sigma: Array,
    force_noise: float | None,
    tick: Callable[[Array, float], None] | None,
) -> Refined:
    """Minimise from the starts, then from lopsided ones, until a model fits without drifting."""

    def end_of(u: Array) -> Refined:
        end = _minimise(problem, u, sigma, force_noise, len(DRIFTS) - 1, tick)
        settled = _resettled(problem, end)
        if settled is None:
            return end
        level = int(np.argmin(np.abs(DRIFTS - end.errors.drift[0])))
        again = _minimise(problem, settled, sigma, force_noise, level, tick)
        return max(end, again, key=lambda e: e.evidence)

    best = end_of(starts[0])
    for at, u in enumerate((*starts[1:], *_lopsided(problem))):
        if best.errors.drift[0] <= DRIFTS[0] and (at > 0 or _fits_all(problem, best)):
            break
        best = max(best, end_of(u), key=lambda e: e.evidence)
    return best


def _fits_all(problem: Problem, end: Refined) -> bool:
    """Return whether every push fits so well that no other start can do better."""
    return all(
        np.mean(end.weight[problem.owner == i]) > FITS_WELL for i in range(len(problem.records))
    )


def _lopsided(problem: Problem) -> list[Array]:
    """Return starts with the weight at either end of the object's two axes."""
    r = problem.grid.centres - problem.grid.centres.mean(axis=0)
    _, axes = np.linalg.eigh(r.T @ r)
    starts = []
    for axis in (axes[:, 1], axes[:, 0]):
        along = r @ axis / np.abs(r @ axis).max()
        for side in (1.0, -1.0):
            mass = np.exp(LOPSIDED * side * along)
            mass *= problem.prior.mass / mass.sum()
            model = ObjectModel(problem.grid, mass, problem.prior.friction)
            starts.append(problem.unknowns_of(model))
    return starts


def _minimise(
    problem: Problem,
    u: Array,
    sigma: Array,
    force_noise: float | None,
    level: int,
    tick: Callable[[Array, float], None] | None,
) -> Refined:
    """Run Gauss-Newton from u with the drift of a level, and follow the evidence from there."""
    fit = problem.fit(u, sigma)
    force_sigma = force_sigma_of(problem, fit, force_noise)
    damping = 1e-3
    for _ in range(ITERATIONS):
        if tick is not None:
            tick(u, float(np.mean(np.hypot(fit.residual[:, 0], fit.residual[:, 1]))))
        near = {
            i: linear(problem, u, fit, errors_at(problem, sigma, i), force_sigma)
            for i in range(max(level - 2, 0), min(level + 2, len(DRIFTS)))
        }
        best = max(near, key=lambda i: evidence(*near[i]))
        settled = best == level
        level = best
        errors = errors_at(problem, sigma, level)
        cost = cost_of(problem, u, fit, errors, force_sigma)
        H, g, _ = near[level]
        taken = 0.0
        for _ in range(8):
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), g)
            step *= min(1.0, MAX_STEP / float(np.abs(step).max()))
            trial = _try(problem, u + step, sigma)
            if trial is not None:
                taken = cost - cost_of(problem, u + step, trial, errors, force_sigma)
            if taken > 0.0:
                damping = max(0.2 * damping, 1e-6)
                break
            damping *= 6.0
        if taken > 0.0 and trial is not None:
            u, fit = u + step, trial
            force_sigma = min(force_sigma, force_sigma_of(problem, fit, force_noise))
        if settled and taken < 1e-3 * max(abs(cost), 100.0):
            break
    return picture(problem, u, fit, errors_at(problem, sigma, level), force_sigma)


def _resettled(problem: Problem, end: Refined) -> Array | None:
    """Try other starts of the pushes that do not fit; None when all fit or none gets better.

    Near a point of balance a push goes left or right by a hair of its start, and no gradient
    leads from one to the other: draw starts within their noise instead.
    """
    rng = np.random.default_rng(0)
    sigma = end.errors.sigma
    model, finger = problem.model(end.u), problem.finger_at(end.u)
    setup = problem.calibration_at(end.u)
    u = end.u.copy()
    for i in range(len(problem.records)):
        mine = problem.owner == i
        if np.mean(end.weight[mine]) > FITS:
            continue
        first = 2 * problem.grid.n_cells + 1 + 3 * i
        tried = [u[first : first + 3], *rng.standard_normal((DRAWS, 3))]
        errors = []
        for start in tried:
            try:
                residual = problem.residual(i, model, finger, sigma * start, setup)
                errors.append(float(np.mean(np.abs(residual / sigma))))
            except SimulationError:  # a start too deep in the finger is no start
                errors.append(np.inf)
        u[first : first + 3] = tried[int(np.argmin(errors))]
        problem.simulations += DRAWS / len(problem.records)
    return None if (u == end.u).all() else u


def _try(problem: Problem, u: Array, sigma: Array) -> Fit | None:
    """Simulate at u; None where the model cannot be simulated, a step too far."""
    try:
        return problem.fit(u, sigma)
    except SimulationError:
        return None
