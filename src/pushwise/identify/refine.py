"""Gauss-Newton on whole simulated pushes, with the analytic Jacobian: the default method.

Minimises ``1/2 |u|^2 + sum rho(|residual / sigma|^2)`` over the unknowns u of `Problem`, rho being
that of Student's t, so that a wrong pose counts little. The noise sigma starts as large as the
first residuals and falls with them, down to what was stated or what the pushes show: far from
the answer the problem is smooth, and it sharpens as the model gets better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import SimulationError
from pushwise.identify.problem import Fit, Problem

__all__ = ["Refined", "refine"]

Array = NDArray[np.float64]

DEGREES = 8.0  # of freedom of Student's t: a pose five sigma off counts a third
FLOOR = np.array([1e-4, 1e-4, 5e-4])  # m, m, rad: no simulation is more exact
FORCE_FLOOR = 1e-2  # N
FIRST_START = np.array([1e-3, 1e-3, 5e-3])  # scale of the starts' unknowns when noise is unknown
MAX_STEP = 3.0  # prior standard deviations in one iteration


@dataclass(frozen=True, eq=False)
class Refined:
    """Where the method ended, and the linear picture of the problem there."""

    u: Array
    """Unknowns, shape (unknowns,)."""
    fit: Fit
    """Residuals and Jacobian at u."""
    sigma: Array
    """Noise of the poses [m, m, rad], shape (3,): stated, or what the residuals show."""
    force_sigma: float
    """Noise of the forces [N]."""
    start_sigma: Array
    """Noise of the starts [m, m, rad], shape (3,)."""
    weight: Array
    """How much each sample counted, 1 for one that fits, shape (samples,)."""
    cost: float
    """Value of what was minimised."""


def refine(
    problem: Problem,
    u: Array,
    *,
    noise: Array | None,
    force_noise: float | None,
    iterations: int = 25,
    tick: Callable[[Array, float], None] | None = None,
) -> Refined:
    """Minimise from u. noise (3,), force_noise: stated standard deviations, None to estimate."""
    start_sigma = FIRST_START if noise is None else np.maximum(noise, FLOOR)
    stated = FLOOR if noise is None else np.maximum(noise, FLOOR)
    stated_force = FORCE_FLOOR if force_noise is None else max(force_noise, FORCE_FLOOR)
    fit = problem.fit(u, start_sigma)
    sigma = np.maximum(stated, _scale(fit.residual))
    force_sigma = max(stated_force, float(_scale(fit.force_residual).max(initial=0.0)))
    damping = 1e-3
    for _ in range(iterations):
        cost = _cost(u, fit, sigma, force_sigma)
        if tick is not None:
            tick(u, float(np.mean(np.hypot(fit.residual[:, 0], fit.residual[:, 1]))))
        H, g = _normal(u, fit, sigma, force_sigma)
        better = None
        for _ in range(8):
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), g)
            step *= min(1.0, MAX_STEP / float(np.abs(step).max()))
            trial = _try(problem, u + step, start_sigma)
            if trial is not None and _cost(u + step, trial, sigma, force_sigma) < cost:
                better = trial
                damping = max(0.2 * damping, 1e-6)
                break
            damping *= 6.0
        if better is None:
            break
        u = u + step
        shrunk = np.maximum(stated, np.minimum(sigma, _scale(better.residual)))
        settled = bool((shrunk > 0.95 * sigma).all())
        gain = cost - _cost(u, better, sigma, force_sigma)
        sigma = shrunk
        force_sigma = max(
            stated_force, min(force_sigma, float(_scale(better.force_residual).max(initial=0.0)))
        )
        fit = problem.fit(u, start_sigma)
        if settled and gain < 1e-3 * max(1.0, cost) and gain < 0.5:
            break
    weight = _weights(fit.residual / sigma)
    return Refined(
        u, fit, sigma, force_sigma, start_sigma, weight, _cost(u, fit, sigma, force_sigma)
    )


def _try(problem: Problem, u: Array, start_sigma: Array) -> Fit | None:
    """Simulate at u; None where the model cannot be simulated, a step too far."""
    try:
        return problem.fit(u, start_sigma, jacobian=False)
    except SimulationError:
        return None


def _scale(residual: Array) -> Array:
    """Return a robust standard deviation of each column, x and y sharing theirs."""
    if not len(residual):
        return np.zeros(residual.shape[1])
    size = 1.4826 * np.median(np.abs(residual), axis=0)
    size[:2] = np.sqrt(np.mean(size[:2] ** 2))
    return size


def _weights(scaled: Array) -> Array:
    """Return the weight of each sample, (samples,), from residuals over sigma, (samples, k)."""
    square = np.sum(scaled**2, axis=1)
    weight: Array = (DEGREES + scaled.shape[1]) / (DEGREES + square)
    return weight


def _cost(u: Array, fit: Fit, sigma: Array, force_sigma: float) -> float:
    """Return the objective."""
    total = 0.5 * float(u @ u)
    for scaled in (fit.residual / sigma, fit.force_residual / force_sigma):
        k = scaled.shape[1]
        square = np.sum(scaled**2, axis=1)
        total += 0.5 * (DEGREES + k) * float(np.sum(np.log1p(square / DEGREES)))
    return total


def _normal(u: Array, fit: Fit, sigma: Array, force_sigma: float) -> tuple[Array, Array]:
    """Return Gauss-Newton Hessian and gradient of the objective."""
    H = np.eye(len(u))
    g = u.copy()
    pairs = (
        (fit.residual / sigma, fit.jacobian / sigma[:, None]),
        (fit.force_residual / force_sigma, fit.force_jacobian / force_sigma),
    )
    for scaled, J in pairs:
        root = np.sqrt(_weights(scaled))[:, None]
        rows = (root[..., None] * J).reshape(-1, len(u))
        H += rows.T @ rows
        g += rows.T @ (root * scaled).ravel()
    return H, g
