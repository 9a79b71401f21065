"""Which push to make next: the one that reveals most about the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError, SimulationError
from pushwise.identification.belief import Belief, checked_belief
from pushwise.identification.calibration import NUISANCES
from pushwise.identification.noise import whitened
from pushwise.identification.problem import Problem
from pushwise.physics.push import Push
from pushwise.physics.simulate import simulate
from pushwise.records.record import PushRecord

__all__ = ["RankedPush", "next_push"]

SAMPLES = 20  # poses that would be observed of a push


class RankedPush(NamedTuple):
    """A push, and how well the centre of mass would be known after it."""

    push: Push
    centre_std: float
    """Root of the sum of the variances of the centre of mass [m]."""


def next_push(
    belief: Belief, candidates: Sequence[Push], pose: ArrayLike = (0.0, 0.0, 0.0)
) -> list[RankedPush]:
    """Rank pushes by what they would reveal about the centre of mass, most informative first.

    Each push is simulated with the most probable model. Its Jacobian shows how the posterior would
    shrink, to first order whatever the outcome. Pushes that cannot be simulated are left out.

    Args:
        belief: What is known so far, as `identify` found it.
        candidates: The pushes to choose from.
        pose: Pose of the object before the push [m, m, rad], shape (3,).

    """
    if not candidates:
        raise PushwiseError("there are no candidate pushes to rank; give at least one.")
    start = finite_array("pose", pose, (3,))
    posterior = checked_belief(belief).posterior
    if posterior is None:
        raise PushwiseError(
            "next_push needs a belief with a posterior, as identify returns it; one from a file "
            "or a certain one has none."
        )
    # All unknowns except the starts of the pushes made; a set-up in doubt comes last.
    first = 2 * belief.model.grid.n_cells + 1
    setup = NUISANCES if posterior.problem.calibrates else 0
    known = np.r_[:first, posterior.problem.unknowns - setup : posterior.problem.unknowns]
    here = np.r_[:first, first + 3 : first + 3 + setup]  # the same, of the new push alone
    D = posterior.centre_rows[:, known]
    ranked = []
    for push in candidates:
        t = np.linspace(0.0, push.duration, SAMPLES + 1)
        try:
            path = simulate(
                belief.model,
                push,
                start,
                finger=belief.finger,
                until=push.duration,
                physics=posterior.problem.physics,
            )
            problem = Problem(
                belief.model.grid,
                [PushRecord(push, t, path.pose_at(t))],
                posterior.problem.finger,
                posterior.problem.prior,
                posterior.problem.physics,
            )
            u = np.zeros(problem.unknowns)
            u[here] = posterior.refined.u[known]
            errors = posterior.refined.errors
            fit = problem.fit(u, errors.sigma)
            J = whitened(problem.shares, fit.residual, fit.jacobian, errors)[1]
            J = J.reshape(-1, problem.unknowns)
        except SimulationError:
            continue
        # The new start is one more unknown, known as well as any observed pose.
        wide = np.eye(problem.unknowns)
        wide[np.ix_(here, here)] = posterior.covariance[np.ix_(known, known)]
        seen = J @ wide @ J.T + np.eye(len(J))
        gain = wide @ J.T @ np.linalg.solve(seen, J @ wide)
        after = D @ (wide - gain)[np.ix_(here, here)] @ D.T
        ranked.append(RankedPush(push, float(np.sqrt(np.trace(after)))))
    return sorted(ranked, key=lambda r: r.centre_std)
