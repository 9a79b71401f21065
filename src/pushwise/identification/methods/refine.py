"""Gauss-Newton on whole simulated pushes, with the analytic Jacobian: the default method.

Minimises the objective of `objective`, starting from the loads that `convex` finds. The model's
drift starts large and then follows the evidence: far from the solution only local motion counts,
which is nearly linear in the unknowns; near it whole pushes count, as precisely as the model
deserves.

A push that stays near a point of balance is left out if others remain. Where it ends depends on
where it starts, to a fraction of a millimetre, so that nearly any model explains it from some
start, and most of what it seems to say about the object is about that start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pushwise.errors import SimulationError
from pushwise.geometry.metric import cell_distance
from pushwise.identification.methods.convex import convex_model
from pushwise.identification.methods.task import Task, end_miss
from pushwise.identification.objective import (
    DRIFTS,
    Refined,
    cost_of,
    errors_at,
    evidence,
    force_errors_of,
    linearize,
    normal_equations,
    sensor_noise,
)
from pushwise.identification.observations import Fit, Residuals
from pushwise.identification.problem import Problem
from pushwise.identification.push_fit import residual_of
from pushwise.identification.record_quality import FEW, contradicts, misses
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["refine"]


MAX_STEP = 3.0  # prior standard deviations in one iteration
CLOSE = 0.1  # posterior standard deviations from the minimum of the quadratic approximation
LITTLE = 0.01  # of the objective, a log probability: not worth another iteration
ITERATIONS = 25
PASSES = 2  # of these, each with errors that grow as they do at its start
FITS = 0.95  # mean weight of the samples of a push that fits; 1.1 where all errors are Gaussian
LOPSIDED = 1.5  # log of the mass at an end relative to that in the middle
FITS_WELL = 1.0  # a false minimum without drift had 0.97, true ones have 1.03 and more
DRAWS = 40  # starts tried for a push that does not fit
ENOUGH = 420  # simulated pushes after which no other start is tried if the best model fits
MOST = 840  # simulated pushes after which a minimisation that still creeps ends, too


def refine(task: Task) -> Refined:
    """Minimise from several starts, and leave out pushes that mislead.

    Pushes that contradict the others are left out unless they are at least half of all pushes, and
    pushes near a point of balance unless they are more than half. Then everything is repeated: a
    push with a wrong pose is misleading in every other respect, too.
    """
    problem = task.problem
    task.counter.add()  # the linear least squares count as one simulation
    convex = problem.unknowns_of(convex_model(problem))
    starts = sorted([convex, np.zeros(problem.unknowns), *_lopsided(problem)], key=task.error)
    sigma = sensor_noise(problem, task.noise.pose)
    refinement = _Refinement(task, problem, sigma, task.counter.count)
    first = refinement.most_probable(starts)
    used = len(problem.used)
    wrong = _contradicted(problem, first)
    if 2 * len(wrong) >= used:
        return first
    before = task.counter.count
    balanced = _balanced(task, problem, first) - wrong
    if balanced and 2 * len(balanced | wrong) <= used:
        wrong |= balanced
    else:
        # It starts near its end, so that half of the simulations are left for it.
        before -= 0.5 * MOST / used
    if not wrong:
        return first
    rest = replace(refinement, problem=problem.without(wrong), before=before)
    again = rest.most_probable([first.u, *starts])
    weight = np.where(np.isin(problem.owner, list(wrong)), first.weight, again.weight)
    return replace(again, weight=weight, left_out=wrong)


class _Point(NamedTuple):
    """Where Gauss-Newton is."""

    u: Array
    fit: Fit
    level: int  # of the drift


@dataclass(frozen=True, eq=False)
class _Refinement:
    """Gauss-Newton on one problem."""

    task: Task
    problem: Problem
    sigma: Array
    """Noise of the sensor [m, m, rad], shape (3,)."""
    before: float
    """Simulations that were counted before."""

    def most_probable(self, starts: Sequence[Array]) -> Refined:
        """Minimise from one start (unknowns,) after the other until a model fits without drift.

        A model that has to drift is probably at a false minimum, with its weight at the wrong end
        of the object: then others are tried, and the most probable result is returned. The search
        continues for longer while a push contradicts the best model.
        """
        best = self._settled(starts[0])
        for at, u in enumerate(starts[1:]):
            if best.errors.drift[0] <= DRIFTS[0] and (at > 0 or _fits_all(self.problem, best)):
                break
            if self._spent(MOST if _contradicted(self.problem, best) else ENOUGH):
                break
            best = max(best, self._settled(u), key=lambda e: e.evidence)
        return best

    def _settled(self, u: Array) -> Refined:
        """Minimise from u, and once more if some pushes fit better from other starting poses."""
        end = self._minimised(u, len(DRIFTS) - 1)
        moved = self._resettled(end)
        if moved is None:
            return end
        level = int(np.argmin(np.abs(DRIFTS - end.errors.drift[0])))
        again = self._minimised(moved, level)
        return max(end, again, key=lambda e: e.evidence)

    def _minimised(self, u: Array, level: int) -> Refined:
        """Run Gauss-Newton from u with the drift of a level, and follow the evidence from there.

        How errors grow is that of the start, and once more that of where it led to: were it to
        follow every step, models whose motion is chaotic would be forgiven everything.
        """
        self.task.counter.add()
        at = _Point(u, self.problem.fit(u, self.sigma), level)
        for _ in range(PASSES):
            at = self._descended(at)
        forces = force_errors_of(self.problem, at.fit, self.task.noise.force)
        errors = errors_at(self.problem, self.sigma, at.level)
        return linearize(self.problem, at.u, at.fit, errors, forces)

    def _descended(self, at: _Point) -> _Point:
        """Run Gauss-Newton from a point, with errors that grow as they do there."""
        problem, sigma, force_noise = self.problem, self.sigma, self.task.noise.force
        u, fit, level = at
        grown, growth = fit, fit.growth
        forces = force_errors_of(problem, fit, force_noise)
        damping = 1e-3
        for _ in range(ITERATIONS):
            error = float(np.mean(np.hypot(fit.residual[:, 0], fit.residual[:, 1])))
            self.task.improved(problem.model(u), error)
            near = {
                i: normal_equations(problem, u, fit, errors_at(problem, sigma, i), forces)
                for i in range(max(level - 2, 0), min(level + 2, len(DRIFTS)))
            }
            best = max(near, key=lambda i: evidence(*near[i]))
            settled = best == level
            level = best
            errors = errors_at(problem, sigma, level)
            cost = cost_of(problem, u, fit, growth, errors, forces)
            H, g, _ = near[level]
            if settled and float(g @ np.linalg.solve(H, g)) < CLOSE**2:
                break
            taken = 0.0
            for _ in range(8):
                step = -np.linalg.solve(H + damping * np.diag(np.diag(H)), g)
                step *= min(1.0, MAX_STEP / float(np.abs(step).max()))
                trial = self._try(u + step)
                if trial is not None:
                    taken = cost - cost_of(problem, u + step, trial, growth, errors, forces)
                if taken > 0.0:
                    damping = max(0.2 * damping, 1e-6)
                    break
                damping *= 6.0
            if taken > 0.0:
                u = u + step
                grown = problem.fit(u, sigma)
                fit = replace(grown, growth=growth)
                forces = min(forces, force_errors_of(problem, fit, force_noise))
            if (settled and taken < LITTLE) or self._spent(MOST):
                break
        return _Point(u, grown, level)

    def _resettled(self, end: Refined) -> Array | None:
        """Return u with better starting poses for the pushes that do not fit, if there are any.

        Near a point of balance the slightest change of the start decides whether a push goes left
        or right, and no gradient leads from one to the other: draw starts within their noise
        instead.
        """
        problem = self.problem
        rng = np.random.default_rng(0)
        sigma = end.errors.sigma
        believed = problem.believed(end.u)
        u = end.u.copy()
        for i in range(len(problem.records)):
            mine = problem.owner == i
            cut = problem.order.windows[i] > 1  # its starts are known along the push
            if problem.order.free[i] or cut or np.mean(end.weight[mine]) > FITS:
                continue
            start = u[problem.order.starts[i]]
            tried = [start.copy(), *rng.standard_normal((DRAWS, 3))]
            errors = []
            for guess in tried:
                try:
                    residual = residual_of(problem, i, believed, sigma * guess)
                    errors.append(float(np.mean(np.abs(residual / sigma))))
                except SimulationError:  # the finger starts too deep inside the object
                    errors.append(np.inf)
            start[:] = tried[int(np.argmin(errors))]
            self.task.counter.add(DRAWS / len(problem.used))
        return None if (u == end.u).all() else u

    def _spent(self, pushes: int) -> bool:
        """Return whether so many simulated pushes, or the time allowed, are used up."""
        simulated = (self.task.counter.count - self.before) * len(self.problem.used)
        return simulated > pushes or self.task.out_of_time

    def _try(self, u: Array) -> Residuals | None:
        """Simulate at u; return None where that is impossible because a step went too far."""
        self.task.counter.add()
        try:
            return self.problem.residuals(u, self.sigma)
        except SimulationError:
            return None


def _fits_all(problem: Problem, end: Refined) -> bool:
    """Return whether every push fits so well that no other start can do better."""
    return all(
        np.mean(end.weight[problem.owner == i]) > FITS_WELL for i in range(len(problem.records))
    )


def _contradicted(problem: Problem, end: Refined) -> frozenset[int]:
    """Return the pushes that contradict a model."""
    return frozenset(
        i for i in range(len(problem.records)) if contradicts(end.weight[problem.owner == i])
    )


def _balanced(task: Task, problem: Problem, end: Refined) -> frozenset[int]:
    """Return the pushes that stay near a point of balance.

    The model follows such a push from sample to sample and from the start that fits it best, but
    from the start that was observed it ends somewhere else.
    """
    task.counter.add()
    believed = problem.believed(end.u)
    found = set()
    for i in problem.used:
        samples = int(np.sum(problem.owner == i))
        if samples < FEW or problem.order.free[i] or problem.order.windows[i] > 1:
            continue
        pose = problem.records[i].pose
        moved = cell_distance(problem.grid, pose[0], pose[-1])
        if misses(end_miss(problem, i, believed), float(moved)):
            found.add(i)
    return frozenset(found)


def _lopsided(problem: Problem) -> list[Array]:
    """Return starts (unknowns,) with the weight at either end of the object's two axes."""
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
