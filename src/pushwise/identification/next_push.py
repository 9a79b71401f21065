"""Which push to make next: the one that tells most about the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError, SimulationError
from pushwise.identification.noise import whitened
from pushwise.identification.problem import Problem
from pushwise.identification.result import Identification
from pushwise.physics.actions import Push
from pushwise.physics.simulate import simulate
from pushwise.pushes.record import PushRecord

__all__ = ["RankedPush", "next_push"]

SAMPLES = 20  # poses that would be seen of a push


class RankedPush(NamedTuple):
    """A push and how well the centre of mass would be known after it."""

    push: Push
    centre_std: float
    """Root of the summed variances of the centre of mass [m]."""


def next_push(
    found: Identification, candidates: Sequence[Push], pose: ArrayLike = (0.0, 0.0, 0.0)
) -> list[RankedPush]:
    """Rank pushes of the object at a pose (3,), most telling first.

    Each is simulated with the model found; its Jacobian says how the posterior would shrink
    (the linear picture, whatever the outcome). Pushes that cannot be simulated are left out.
    """
    if not candidates:
        raise PushwiseError("there are no candidate pushes to rank; give at least one.")
    start = finite_array("pose", pose, (3,))
    posterior = found.posterior
    n = found.model.grid.n_cells
    known = 2 * n + 1
    block = posterior.covariance[:known, :known]
    D = posterior.centre_rows[:, :known]
    ranked = []
    for push in candidates:
        t = np.linspace(0.0, push.duration, SAMPLES + 1)
        try:
            path = simulate(found.model, push, start, finger=found.finger, until=push.duration)
            problem = Problem(
                found.model.grid,
                [PushRecord(push, t, path.pose_at(t))],
                posterior.problem.finger,
                posterior.problem.prior,
                checked=False,
            )
            u = np.concatenate([posterior.refined.u[:known], np.zeros(3)])
            errors = posterior.refined.errors
            fit = problem.fit(u, errors.sigma)
            J = whitened(problem.shares, fit.residual, fit.jacobian, errors)[1]
            J = J.reshape(-1, known + 3)
        except SimulationError:
            continue
        # The new start is one more unknown: as well known as any observed pose.
        wide = np.eye(known + 3)
        wide[:known, :known] = block
        seen = J @ wide @ J.T + np.eye(len(J))
        gain = wide @ J.T @ np.linalg.solve(seen, J @ wide)
        after = D @ (wide - gain)[:known, :known] @ D.T
        ranked.append(RankedPush(push, float(np.sqrt(np.trace(after)))))
    return sorted(ranked, key=lambda r: r.centre_std)
