"""The mean of several identifications: what to believe when few pushes cannot tell which is right.

Friction is linear in the load, so that the mean load answers each motion with the mean friction.
Where two hypotheses err in different ways their mean errs less than either.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.identification.calibration import NUISANCES
from pushwise.identification.end_loss import fit_error
from pushwise.identification.objective import best_picture
from pushwise.identification.posterior import Posterior
from pushwise.identification.result import Identification, Step
from pushwise.physics.model import ObjectModel

__all__ = ["average"]


def average(found: Sequence[Identification]) -> Identification:
    """Return the mean of identifications of one object from the same pushes.

    Loads, each taken as shares of its total, the log of the finger's friction and the errors of
    the set-up are averaged. Doubts are those of the first one's prior.
    """
    problem = found[0].posterior.problem
    n = problem.grid.n_cells
    loads = [one.model.mass * one.model.friction for one in found]
    share = np.mean([load / load.sum() for load in loads], axis=0)
    total = found[0].model.total_mass
    u = problem.unknowns_of(ObjectModel(problem.grid, total * share, problem.prior.friction))
    ends = [one.posterior.refined.u for one in found]
    u[2 * n] = np.mean([end[2 * n] for end in ends])
    if problem.calibrates:
        u[-NUISANCES:] = np.mean([end[-NUISANCES:] for end in ends], axis=0)
    simulations = sum(one.simulations for one in found)
    sigma = found[0].posterior.refined.errors.sigma
    refined = best_picture(problem, u, noise=sigma, force_noise=None)
    step = Step(simulations, sum(one.seconds for one in found), fit_error(problem, u))
    return Identification(
        problem.model(u),
        problem.finger_at(u),
        Posterior(problem, refined),
        (step,),
        " and ".join(one.method for one in found),
    )
