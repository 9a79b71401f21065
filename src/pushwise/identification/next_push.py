"""Which push to make next: the one that reveals most, a slow push or a flick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.identification.belief import Belief, checked_belief, tilted
from pushwise.identification.free_slide import free_slide, is_flick
from pushwise.identification.noise import counts_of, whitened
from pushwise.identification.objective import information_weights
from pushwise.identification.posterior import Posterior
from pushwise.physics.push import Push
from pushwise.physics.simulate import simulate
from pushwise.records.record import Noise, PushRecord
from pushwise.threads import one_thread
from pushwise.typing import Array

__all__ = ["RankedPush", "next_push"]

SAMPLES = 20  # poses that would be observed of a slow push
# What a push may show, in standard deviations along the two axes of what it reveals: a lattice that
# fills the unit square evenly, mapped to the plane.
_RESULTS = 16
_NODES = norm.ppf((np.arange(_RESULTS)[:, None] * [1.0, 0.618034] + [0.5, 0.5]) / [_RESULTS, 1] % 1)


class RankedPush(NamedTuple):
    """A push, and what would be believed after it."""

    push: Push
    centre_std: float
    """Root of the sum of the variances of the centre of mass [m]."""
    risk: float
    """What `next_push` was asked to rank by, on average; by default the same as `centre_std`."""


@one_thread()
def next_push(
    belief: Belief,
    candidates: Sequence[Push],
    pose: ArrayLike = (0.0, 0.0, 0.0),
    *,
    risk: Callable[[Belief], float] | None = None,
    rate: float = 60.0,
) -> list[RankedPush]:
    """Rank pushes and flicks by what they would reveal, most informative first.

    Each one is simulated with the most probable model. Its Jacobian shows how the posterior would
    shrink, to first order whatever the outcome. Those that cannot be simulated are left out, and
    flicks after which the object does not slide freely.

    Args:
        belief: What is known so far, as `identify` found it.
        candidates: The pushes to choose from.
        pose: Pose of the object before the push [m, m, rad], shape (3,).
        risk: What to make small, given what would be believed after a push: for instance the lowest
            `fall_probability` of `planning.stability.Balance(after, table)` at some goals. It is
            averaged over what the push may show, because what is believed now may be wrong: where
            the most probable centre of mass rules a goal out, only another result can allow it. By
            default the uncertainty of the centre of mass.
        rate: How many poses are measured in a second during flicks [Hz].

    """
    if len(candidates) == 0:
        raise PushwiseError("there are no candidate pushes to rank; give at least one.")
    start, hertz = finite_array("pose", pose, (3,)), positive_number("rate", rate)
    posterior = checked_belief(belief).posterior
    if posterior is None:
        raise PushwiseError(
            "next_push needs a belief with a posterior, as identify returns it; one from a file "
            "or a certain one has none."
        )
    ranked = []
    for push in candidates:
        record = _expected(belief, posterior, push, start, hertz)
        after = None if record is None else _covariance_after(posterior, record)
        if after is None:
            continue
        std = float(np.sqrt(np.trace(after)))
        average = std if risk is None else _expected_risk(belief, posterior, after, risk)
        ranked.append(RankedPush(push, std, average))
    return sorted(ranked, key=lambda r: (r.risk, r.centre_std))


def _expected_risk(
    belief: Belief, posterior: Posterior, after: Array, risk: Callable[[Belief], float]
) -> float:
    """Return the mean risk after a push that leaves a covariance (2, 2) of the centre of mass.

    The centre that will then be most probable is distributed about the present one with the
    covariance that the push removes.
    """
    removed, axes = np.linalg.eigh(posterior.centre_of_mass_covariance - after)
    std = np.sqrt(np.maximum(removed, 0.0))[::-1]  # the larger one first
    models = tilted(belief.model, (_NODES * std) @ axes.T[::-1])
    risks = [
        risk(replace(belief, model=model, centre_covariance=after, posterior=None))
        for model in models
    ]
    return float(np.mean(risks))


def _expected(
    belief: Belief, posterior: Posterior, push: Push, start: Array, rate: float
) -> PushRecord | None:
    """Return what would be measured of a push from a pose (3,); None where that is of no use."""
    flick = is_flick(push)
    try:
        path = simulate(
            belief.model,
            push,
            start,
            finger=belief.finger,
            until=None if flick else push.duration,
            physics=posterior.problem.physics,
        )
    except SimulationError:
        return None
    # Stated, because it decides whether a long push is learned from in windows.
    position, _, angle = posterior.refined.errors.sigma.tolist()
    noise = Noise(position, angle)
    if not flick:
        t = np.linspace(0.0, push.duration, SAMPLES + 1)
        return PushRecord(push, t, path.pose_at(t), noise=noise)
    t = np.arange(0.0, path.t[-1], 1.0 / rate)
    if len(t) < 2:
        return None
    record = PushRecord(push, t, path.pose_at(t), noise=noise)
    return free_slide(belief.model.grid, record, belief.finger.radius)


def _covariance_after(posterior: Posterior, record: PushRecord) -> Array | None:
    """Return the covariance (2, 2) of the centre of mass [m^2] once a record is known, too."""
    before, errors = posterior.problem, posterior.refined.errors
    problem = replace(before, records=[record], left_out=frozenset(), flaws={})
    # All unknowns except the starts of the pushes made; a set-up in doubt comes last.
    known, here = (np.r_[order.of_object, order.setup] for order in (before.order, problem.order))
    u = np.zeros(problem.unknowns)
    u[here] = posterior.refined.u[known]
    try:
        fit = problem.fit(u, errors.sigma)
    except SimulationError:
        return None
    scaled, J, _ = whitened(problem.walks, fit.growth, fit.residual, fit.jacobian, errors)
    # What the samples will count, if the push goes as predicted.
    count = counts_of(problem.walks) * information_weights(np.zeros_like(scaled))
    J = (np.sqrt(count)[:, None, None] * J).reshape(-1, problem.unknowns)
    # The new start is one more unknown, known as well as any observed pose.
    wide = np.eye(problem.unknowns)
    wide[np.ix_(here, here)] = posterior.covariance[np.ix_(known, known)]
    D = np.zeros((2, problem.unknowns))
    D[:, here] = posterior.centre_rows[:, known]
    seen = J @ wide @ J.T + np.eye(len(J))
    gain = J @ wide @ D.T
    after: Array = D @ wide @ D.T - gain.T @ np.linalg.solve(seen, gain)
    return 0.5 * (after + after.T)
