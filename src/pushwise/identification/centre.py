"""A centre of mass that is stated: of a plate cut from sheet, of a part that was balanced or drawn.

Statics puts the centroid of the load under the centre of mass, whatever spots it rests on, so that
the statement takes away two of the unknowns that few pushes tell worst. To `refine` it is a datum
like any other: one that is wrong by many doubts counts little, as a wrong pose does.
"""

from __future__ import annotations

import numpy as np

from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["centre_by_log_mass", "centre_off"]


def centre_by_log_mass(model: ObjectModel) -> Array:
    """Return the derivatives of the centre of mass [m] in the log masses of the cells, (2, n)."""
    arm = model.grid.centres - model.centre_of_mass
    rows: Array = (model.mass[:, None] * arm / model.total_mass).T
    return rows


def centre_off(problem: Problem, u: Array) -> tuple[Array, Array]:
    """Return how far the centre of mass at u is off the stated one, and the derivatives in u.

    In doubts of it; shapes (k, 2) and (k, 2, unknowns), k being 0 where none is stated, else 1.
    """
    prior = problem.prior
    if prior.centre is None:
        return np.zeros((0, 2)), np.zeros((0, 2, len(u)))
    model = problem.model(u)
    jacobian = np.zeros((1, 2, len(u)))
    jacobian[0, :, : model.grid.n_cells] = centre_by_log_mass(model) @ problem.mass_factor
    off = (model.centre_of_mass - prior.centre)[None]
    return off / prior.centre_doubt, jacobian / prior.centre_doubt
