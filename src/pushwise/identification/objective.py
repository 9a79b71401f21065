"""What identification minimises, and its quadratic approximation at a point.

The objective is ``1/2 |u|^2 + sum rho(|innovation|^2)`` over the unknowns u of `Problem`. Here rho
is that of Student's t, so that a wrong pose has little influence, and innovations are residuals
whitened by `noise`. The Gauss-Newton approximation shows how well everything is known, and how
probable the observations were (the evidence), which decides how far the model may drift.

A stated centre of mass (of a plate cut from sheet, of a part that was balanced or drawn) is one
more residual: one that is wrong by many standard deviations counts little, as a wrong pose does.
Statics puts the centroid of the load under the centre of mass, however the load is distributed, so
a stated centre determines two of the unknowns that few pushes determine worst. Where the load may
rest on spots, what is believed of the mass distribution limits them likewise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.identification.noise import Errors, StatedNoise, counts_of, limit_slope, whitened
from pushwise.identification.observations import GAP_SIGMA, Fit, Residuals
from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = [
    "DRIFTS",
    "ForceErrors",
    "Refined",
    "centre_by_log_mass",
    "centre_off",
    "cost_of",
    "errors_at",
    "evidence",
    "force_errors_of",
    "information_weights",
    "linearize",
    "linearize_with_best_drift",
    "normal_equations",
    "sensor_noise",
    "weights",
]


DEGREES = 8.0  # of freedom of Student's t: a pose five sigma off counts a third
FLOOR = np.array([1e-4, 1e-4, 5e-4])  # m, m, rad: no simulation is more precise
GUESS = np.array([5e-4, 5e-4, 2.5e-3])  # m, m, rad: sensor noise where it cannot be estimated
FORCE_FLOOR = 1e-2  # N
FORCE_DRIFT = 0.05  # relative error of a force that no model improves on, as with DRIFTS
JITTER = 1.2  # how far a scatter may exceed the jitter and still be that of the sensor
# Candidates for the model's drift [m]. The smallest is not fitted: engines that obey Coulomb's law
# to one percent, and real tables, drift by more over 0.2 m; less would fit their quirks.
DRIFTS = 5e-4 * 2.0 ** np.arange(0, 7)


class ForceErrors(NamedTuple):
    """How far measured forces are off.

    The model's errors last for a whole push, so that its forces contain no more information than
    one of them: each has a large standard deviation, and counts as a part of a force.
    """

    sigma: float
    """Standard deviation of each force where all of them are taken as independent [N]."""
    scatter: float
    """Standard deviation of a single force [N]."""

    @property
    def log_norm(self) -> float:
        """What each component of a force adds to the negative log probability, by its scatter.

        Counted in full, hundreds of forces would decide by a few percent of scatter.
        """
        return (self.scatter / self.sigma) ** 2 * float(np.log(self.scatter))


@dataclass(frozen=True, eq=False)
class Refined:
    """Where a method ended, and the quadratic approximation of the problem there."""

    u: Array
    """Unknowns, shape (unknowns,)."""
    fit: Fit
    """Residuals and Jacobian at u."""
    errors: Errors
    """Noise of the sensor and drift of the model."""
    weight: Array
    """How much each sample counted, about 1 for one that fits, shape (samples,)."""
    information: Array
    """Inverse of the covariance of the unknowns, prior included, shape (unknowns, unknowns)."""
    evidence: float
    """Log probability of the observations, all unknowns integrated out."""
    left_out: frozenset[int] = frozenset()
    """Pushes that contradict the others; of their data only `weight` is given here."""


def centre_by_log_mass(model: ObjectModel) -> Array:
    """Return the derivatives of the centre of mass [m] in the log masses of the cells, (2, n)."""
    arm = model.grid.centres - model.centre_of_mass
    rows: Array = (model.mass[:, None] * arm / model.total_mass).T
    return rows


def centre_off(problem: Problem, u: Array) -> tuple[Array, Array]:
    """Return the error of the centre of mass at u relative to what is believed of it.

    Returns:
        The error in standard deviations of that belief, shape (k, 2), and its derivatives in u,
        shape (k, 2, unknowns); k is 1, or 0 where nothing is believed but of the load.

    """
    if problem.believed_centre is None:
        return np.zeros((0, 2)), np.zeros((0, 2, len(u)))
    centre, root = problem.believed_centre
    model = problem.model(u)
    jacobian = np.zeros((1, 2, len(u)))
    by_log_mass = centre_by_log_mass(model) @ problem.log_slopes(model)[0]
    jacobian[0, :, : model.grid.n_cells] = np.linalg.solve(root, by_log_mass)
    off = np.asarray(np.linalg.solve(root, model.centre_of_mass - centre)[None], np.float64)
    return off, jacobian


def cost_of(
    problem: Problem,
    u: Array,
    seen: Residuals,
    growth: Array,
    errors: Errors,
    forces: ForceErrors,
) -> float:
    """Return the objective at u, given the simulated pushes there.

    Args:
        problem: The pushes.
        u: Unknowns, shape (unknowns,).
        seen: Residuals at u.
        growth: By which factor errors grow before each sample, shape (samples,).
        errors: Noise of the sensor and drift of the model.
        forces: How far measured forces are off.

    """
    total = 0.5 * float(u @ u)
    for scaled, count in (
        (
            whitened(problem.walks, growth, seen.residual, None, errors)[0],
            counts_of(problem.walks),
        ),
        (seen.force_residual / forces.sigma, 1.0),
        (seen.gap / GAP_SIGMA, seen.gap_count),
        (centre_off(problem, u)[0], 1.0),
    ):
        total += _student_cost(scaled, count)
    return total


def _student_cost(scaled: Array, count: Array | float) -> float:
    """Return the negative log probability of innovations (samples, k) under Student's t.

    What does not depend on them is left out. Squares with the weights that samples have at this
    point would not do: an outlier would cost next to nothing, and no drift would explain it.
    """
    square = np.sum(scaled**2, axis=1)
    total = DEGREES + scaled.shape[1]
    return float(0.5 * total * np.sum(count * np.log1p(square / DEGREES)))


def normal_equations(
    problem: Problem, u: Array, fit: Fit, errors: Errors, forces: ForceErrors
) -> tuple[Array, Array, float]:
    """Return the objective's Gauss-Newton Hessian, its gradient, and the log probability at u.

    Poses, forces, contacts and a stated centre of mass are taken together; shapes are
    (unknowns, unknowns) and (unknowns,).
    """
    terms, logs = _terms(problem, u, fit, errors, forces)
    H = np.eye(len(u))
    g = u.copy()
    value = -0.5 * float(u @ u) - logs - fit.force_residual.size * forces.log_norm
    for r, jacobian, count in terms:
        weight = weights(r)
        root = np.sqrt(count * weight)[:, None]
        rows = (root[..., None] * jacobian).reshape(-1, len(u))
        H += rows.T @ rows
        g += rows.T @ (root * r).ravel()
        value -= _student_cost(r, count)
    return H, g, value


def _terms(
    problem: Problem, u: Array, fit: Fit, errors: Errors, forces: ForceErrors
) -> tuple[list[tuple[Array, Array, Array]], float]:
    """Return all scaled residuals (k, d), their Jacobians and counts, and `whitened`'s logs."""
    scaled, J, logs = whitened(problem.walks, fit.growth, fit.residual, fit.jacobian, errors)
    off, J_off = centre_off(problem, u)
    force = fit.force_residual / forces.sigma
    J_force = limit_slope(fit.force_jacobian / forces.sigma)
    terms = [
        (scaled, J, counts_of(problem.walks)),
        (force, J_force, np.ones(len(force))),
        (fit.gap / GAP_SIGMA, fit.gap_jacobian / GAP_SIGMA, fit.gap_count),
        (off, J_off, np.ones(len(off))),
    ]
    return terms, logs


def information_of(
    problem: Problem, u: Array, fit: Fit, errors: Errors, forces: ForceErrors
) -> Array:
    """Return the inverse of the covariance of the unknowns, shape (unknowns, unknowns).

    It is smaller than the Hessian of Gauss-Newton, whose weights leave out how they change: a
    sample contains the Fisher information of Student's t, or less where it is an outlier.
    """
    H = np.eye(len(u))
    for r, jacobian, count in _terms(problem, u, fit, errors, forces)[0]:
        root = np.sqrt(count * information_weights(r))
        rows = (root[:, None, None] * jacobian).reshape(-1, len(u))
        H += rows.T @ rows
    return H


def evidence(H: Array, g: Array, value: float) -> float:
    """Return the log probability of the data, all unknowns integrated out.

    Arguments are what `normal_equations` returns; the integral is that of the quadratic
    approximation.
    """
    factor = np.linalg.cholesky(H)
    half = np.linalg.solve(factor, g)
    return value + 0.5 * float(half @ half) - float(np.log(np.diag(factor)).sum())


def weights(scaled: Array) -> Array:
    """Return the weight of each sample, shape (samples,), from innovations (samples, k)."""
    square = np.sum(scaled**2, axis=1)
    weight: Array = (DEGREES + scaled.shape[1]) / (DEGREES + square)
    return weight


def information_weights(scaled: Array) -> Array:
    """Return how much each sample says, shape (samples,), from innovations (samples, k)."""
    total = DEGREES + scaled.shape[1]
    least: Array = np.minimum(weights(scaled), total / (total + 2.0))
    return least


def linearize(problem: Problem, u: Array, fit: Fit, errors: Errors, forces: ForceErrors) -> Refined:
    """Return the quadratic approximation at u, given the simulated pushes there."""
    H, g, value = normal_equations(problem, u, fit, errors, forces)
    weight = weights(whitened(problem.walks, fit.growth, fit.residual, None, errors)[0])
    information = information_of(problem, u, fit, errors, forces)
    return Refined(u, fit, errors, weight, information, evidence(H, g, value), problem.left_out)


def linearize_with_best_drift(problem: Problem, u: Array, noise: StatedNoise) -> Refined:
    """Return the quadratic approximation at any u, with the most probable drift; simulates once.

    A push that cannot be simulated at u, with the set-up there, is left out.
    """
    sigma = sensor_noise(problem, noise.pose)
    problem = problem.without(problem.left_out.union(problem.found_flaws(u, sigma)))
    fit = problem.fit(u, sigma)
    forces = force_errors_of(problem, fit, noise.force)

    def evidence_at(level: int) -> float:
        errors = errors_at(problem, sigma, level)
        return evidence(*normal_equations(problem, u, fit, errors, forces))

    level = max(range(len(DRIFTS)), key=evidence_at)
    return linearize(problem, u, fit, errors_at(problem, sigma, level), forces)


def sensor_noise(problem: Problem, stated: Array | None) -> Array:
    """Return the sensor's noise as stated (3,), or estimate it from the jitter of trajectories."""
    if stated is not None:
        known: Array = np.maximum(stated, FLOOR)
        return known
    jitter = [np.diff(r.pose, n=2, axis=0) for r in problem.records if len(r.t) > 8]
    if not jitter:
        return GUESS
    # A second difference of white noise has six times its variance.
    size = 1.4826 * np.median(np.abs(np.concatenate(jitter)), axis=0) / np.sqrt(6.0)
    size[:2] = np.sqrt(np.mean(size[:2] ** 2))
    floored: Array = np.maximum(size, FLOOR)
    return floored


def errors_at(problem: Problem, sigma: Array, level: int) -> Errors:
    """Return the errors with the drift of one level; angles drift in proportion to the size."""
    drift = DRIFTS[level]
    return Errors(sigma, np.array([drift, drift, 2.0 * drift / np.sqrt(problem.grid.area)]))


def force_errors_of(problem: Problem, seen: Residuals, force_noise: float | None) -> ForceErrors:
    """Return how far the measured forces are off.

    The sensor's noise shows as jitter. Residuals beyond that are the model's error.
    """
    if seen.force_residual.size == 0:
        return ForceErrors(FORCE_FLOOR, FORCE_FLOOR)
    forces = [
        force[1:][problem.steady[i]]
        for i in problem.used
        if (force := problem.records[i].force) is not None and problem.steady[i].any()
    ]
    jitter = np.concatenate([np.diff(force, n=2, axis=0) for force in forces])
    white = max(force_noise or 0.0, FORCE_FLOOR, _scale(jitter) / np.sqrt(6.0))
    typical = float(np.median(np.hypot(*np.concatenate(forces).T)))
    beyond = max(
        _scale(seen.force_residual) ** 2 - (JITTER * white) ** 2, (FORCE_DRIFT * typical) ** 2
    )
    samples = len(seen.force_residual) / len(forces)
    return ForceErrors(*(float(np.sqrt(white**2 + beyond * n)) for n in (samples, 1.0)))


def _scale(residual: Array) -> float:
    """Return a robust standard deviation of numbers, zero for none."""
    return 1.4826 * float(np.median(np.abs(residual))) if residual.size else 0.0
