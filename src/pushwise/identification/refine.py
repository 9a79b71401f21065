"""Gauss-Newton on whole simulated pushes, with the analytic Jacobian: the default method.

Minimises ``1/2 |u|^2 + sum rho(|innovation|^2)`` over the unknowns u of `Problem`: rho is that of
Student's t, so that a wrong pose counts little, and innovations are residuals whitened by
`noise`. The model's drift starts large and follows the evidence (the probability of what was
seen, all unknowns integrated out): far from the answer only the local motion counts, which is
nearly linear in the unknowns; near it whole pushes do, as exactly as the model deserves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import SimulationError
from pushwise.identification.misfits import contradicts
from pushwise.identification.noise import Errors, gentle, whitened
from pushwise.identification.problem import Fit, Problem
from pushwise.identification.touches import GAP_SIGMA
from pushwise.physics.model import ObjectModel

__all__ = ["Refined", "picture", "refine"]

Array = NDArray[np.float64]

DEGREES = 8.0  # of freedom of Student's t: a pose five sigma off counts a third
FLOOR = np.array([1e-4, 1e-4, 5e-4])  # m, m, rad: no simulation is more exact
GUESS = np.array([5e-4, 5e-4, 2.5e-3])  # m, m, rad: the sensor's noise when nothing tells it
FORCE_FLOOR = 1e-2  # N
FORCE_DRIFT = 0.05  # share of a force that no model is more exact than, as with DRIFTS
JITTER = 1.2  # how far a scatter may exceed the jitter and still be that of the sensor
# What the model's drift may be [m]. The least is no fitted number: engines that obey Coulomb's law
# to a part in a hundred, and real tables, stray by more over 0.2 m; less would fit their quirks.
DRIFTS = 1e-3 * 2.0 ** np.arange(0, 6)
MAX_STEP = 3.0  # prior standard deviations in one iteration
ITERATIONS = 25
FITS = 0.95  # mean weight of the samples of a push that fits; 1.1 where all is Gaussian
LOPSIDED = 1.5  # log of the mass at an end over that in the middle
FITS_WELL = 1.0  # a false minimum without drift was seen with 0.97, true ones with 1.03 and more
DRAWS = 40  # starts tried for a push that does not fit


@dataclass(frozen=True, eq=False)
class Refined:
    """Where the method ended, and the linear picture of the problem there."""

    u: Array
    """Unknowns, shape (unknowns,)."""
    fit: Fit
    """Residuals and Jacobian at u."""
    errors: Errors
    """Noise of the sensor and drift of the model."""
    weight: Array
    """How much each sample counted, about 1 for one that fits, shape (samples,)."""
    information: Array
    """Hessian of what was minimised, prior included, shape (unknowns, unknowns)."""
    evidence: float
    """Log of the probability of what was seen, all unknowns integrated out."""
    left_out: frozenset[int] = frozenset()
    """Pushes that contradict the others and tell nothing here, but for their `weight`."""


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
    sigma = _sensor(problem) if noise is None else np.maximum(noise, FLOOR)
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
    force_sigma = _force_sigma(problem, fit, force_noise)
    damping = 1e-3
    for _ in range(ITERATIONS):
        if tick is not None:
            tick(u, float(np.mean(np.hypot(fit.residual[:, 0], fit.residual[:, 1]))))
        near = {
            i: _linear(problem, u, fit, _errors(problem, sigma, i), force_sigma)
            for i in range(max(level - 2, 0), min(level + 2, len(DRIFTS)))
        }
        best = max(near, key=lambda i: _evidence(*near[i]))
        settled = best == level
        level = best
        errors = _errors(problem, sigma, level)
        cost = _cost(problem, u, fit, errors, force_sigma)
        H, g, _ = near[level]
        taken = 0.0
        for _ in range(8):
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), g)
            step *= min(1.0, MAX_STEP / float(np.abs(step).max()))
            trial = _try(problem, u + step, sigma)
            if trial is not None:
                taken = cost - _cost(problem, u + step, trial, errors, force_sigma)
            if taken > 0.0:
                damping = max(0.2 * damping, 1e-6)
                break
            damping *= 6.0
        if taken > 0.0 and trial is not None:
            u, fit = u + step, trial
            force_sigma = min(force_sigma, _force_sigma(problem, fit, force_noise))
        if settled and taken < 1e-3 * max(abs(cost), 100.0):
            break
    return _picture(problem, u, fit, _errors(problem, sigma, level), force_sigma)


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


def picture(
    problem: Problem, u: Array, *, noise: Array | None, force_noise: float | None
) -> Refined:
    """Return the linear picture at u, wherever u comes from, with the drift it deserves."""
    sigma = _sensor(problem) if noise is None else np.maximum(noise, FLOOR)
    fit = problem.fit(u, sigma)
    force_sigma = _force_sigma(problem, fit, force_noise)
    ends = [
        _picture(problem, u, fit, _errors(problem, sigma, i), force_sigma)
        for i in range(len(DRIFTS))
    ]
    return max(ends, key=lambda e: e.evidence)


def _picture(problem: Problem, u: Array, fit: Fit, errors: Errors, force_sigma: float) -> Refined:
    """Collect what is known at u."""
    H, g, value = _linear(problem, u, fit, errors, force_sigma)
    weight = _weights(whitened(problem.shares, fit.residual, None, errors)[0])
    return Refined(u, fit, errors, weight, H, _evidence(H, g, value))


def _sensor(problem: Problem) -> Array:
    """Estimate the sensor's noise from the jitter of trajectories, (3,)."""
    jitter = [np.diff(r.pose, n=2, axis=0) for r in problem.records if len(r.t) > 8]
    if not jitter:
        return GUESS
    # A second difference of white noise has six times its variance.
    size = 1.4826 * np.median(np.abs(np.concatenate(jitter)), axis=0) / np.sqrt(6.0)
    size[:2] = np.sqrt(np.mean(size[:2] ** 2))
    floored: Array = np.maximum(size, FLOOR)
    return floored


def _errors(problem: Problem, sigma: Array, level: int) -> Errors:
    """Return the errors with the drift of one level; angles drift with the object's size."""
    drift = DRIFTS[level]
    return Errors(sigma, np.array([drift, drift, 2.0 * drift / np.sqrt(problem.grid.area)]))


def _try(problem: Problem, u: Array, sigma: Array) -> Fit | None:
    """Simulate at u; None where the model cannot be simulated, a step too far."""
    try:
        return problem.fit(u, sigma)
    except SimulationError:
        return None


def _force_sigma(problem: Problem, fit: Fit, force_noise: float | None) -> float:
    """Return the standard deviation [N] at which each measured force counts.

    The sensor's noise is told by jitter. What residuals are beyond that is the model's error,
    which lasts for a whole push: its samples together tell no more than one of them.
    """
    if fit.force_residual.size == 0:
        return FORCE_FLOOR
    forces = [
        record.force[1:][steady]
        for record, steady in zip(problem.records, problem.steady, strict=True)
        if record.force is not None and steady.any()
    ]
    jitter = np.concatenate([np.diff(force, n=2, axis=0) for force in forces])
    white = max(force_noise or 0.0, FORCE_FLOOR, _scale(jitter) / np.sqrt(6.0))
    typical = float(np.median(np.hypot(*np.concatenate(forces).T)))
    beyond = max(
        _scale(fit.force_residual) ** 2 - (JITTER * white) ** 2, (FORCE_DRIFT * typical) ** 2
    )
    return float(np.sqrt(white**2 + beyond * len(fit.force_residual) / len(forces)))


def _scale(residual: Array) -> float:
    """Return a robust standard deviation of numbers, zero for none."""
    return 1.4826 * float(np.median(np.abs(residual))) if residual.size else 0.0


def _weights(scaled: Array) -> Array:
    """Return the weight of each sample, (samples,), from innovations (samples, k)."""
    square = np.sum(scaled**2, axis=1)
    weight: Array = (DEGREES + scaled.shape[1]) / (DEGREES + square)
    return weight


def _cost(problem: Problem, u: Array, fit: Fit, errors: Errors, force_sigma: float) -> float:
    """Return the objective."""
    total = 0.5 * float(u @ u)
    for scaled in (
        whitened(problem.shares, fit.residual, None, errors)[0],
        fit.force_residual / force_sigma,
        fit.gap / GAP_SIGMA,
    ):
        k = scaled.shape[1]
        square = np.sum(scaled**2, axis=1)
        total += 0.5 * (DEGREES + k) * float(np.sum(np.log1p(square / DEGREES)))
    return total


def _evidence(H: Array, g: Array, value: float) -> float:
    """Return the log of the probability of the data, all unknowns integrated out.

    Arguments are what `_linear` returns: the integral is that of its quadratic picture.
    """
    factor = np.linalg.cholesky(H)
    half = np.linalg.solve(factor, g)
    return value + 0.5 * float(half @ half) - float(np.log(np.diag(factor)).sum())


def _linear(
    problem: Problem, u: Array, fit: Fit, errors: Errors, force_sigma: float
) -> tuple[Array, Array, float]:
    """Return Gauss-Newton Hessian, gradient and log of the probability at u.

    Of the objective, poses and forces together.
    """
    scaled, J, logs = whitened(problem.shares, fit.residual, fit.jacobian, errors)
    H = np.eye(len(u))
    g = u.copy()
    value = -0.5 * float(u @ u) - logs - fit.force_residual.size * float(np.log(force_sigma))
    for r, jacobian in (
        (scaled, J),
        (fit.force_residual / force_sigma, gentle(fit.force_jacobian / force_sigma)),
        (fit.gap / GAP_SIGMA, fit.gap_jacobian / GAP_SIGMA),
    ):
        weight = _weights(r)
        root = np.sqrt(weight)[:, None]
        rows = (root[..., None] * jacobian).reshape(-1, len(u))
        H += rows.T @ rows
        g += rows.T @ (root * r).ravel()
        value += 0.5 * r.shape[1] * float(np.log(weight).sum()) - 0.5 * float(
            np.sum((root * r) ** 2)
        )
    return H, g, value
