"""How what motion depends on follows from the unknowns of the object.

Motion depends on the friction loads of the cells, the total mass, the centre of mass, the moment of
inertia and the finger (z of the physics' Jacobians); the unknowns u are those of `Problem`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pushwise.identification.free_slide import LEAN_DOUBT
from pushwise.physics.constants import GRAVITY
from pushwise.physics.prepared import EXTRA, MOMENTS
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.identification.problem import Problem
    from pushwise.identification.push_start import Believed

__all__ = ["object_rows"]


def object_rows(problem: Problem, believed: Believed) -> Array:
    """Return ``dz / du``, shape (z, unknowns), with zeros for the starts and the set-up.

    Args:
        problem: The order of the unknowns, and the prior that they are scaled by.
        believed: Object and finger at u.

    """
    model, finger, _, gyration, lean = believed
    by_mass, by_friction = problem.log_slopes(model)
    n = problem.grid.n_cells
    into = np.zeros((n + EXTRA, problem.unknowns))
    load = model.friction * model.mass * GRAVITY
    arm = problem.grid.centres - model.centre_of_mass
    square = np.sum(problem.grid.centres**2, axis=1) + problem.grid.cell_size**2 / 6.0
    into[:n, :n] = load[:, None] * by_mass
    into[:n, n : 2 * n] = load[:, None] * by_friction
    # d(m, cx, cy, J) / d(log m_i)
    share = model.mass / model.total_mass
    # The moment about the origin, with only the part about the centre of mass scaled.
    centre = model.centre_of_mass
    shifted = model.mass * (centre @ centre + 2.0 * arm @ centre)
    scaled = gyration**2 * (model.mass * square - shifted) + shifted
    moments = np.stack([model.mass, share * arm[:, 0], share * arm[:, 1], scaled])
    into[n : n + MOMENTS, :n] = moments @ by_mass
    about = 2.0 * gyration**2 * model.inertia * problem.prior.gyration_doubt
    into[n + MOMENTS - 1, problem.order.gyration] = about
    into[n + MOMENTS, problem.order.finger] = finger.friction * problem.prior.finger_doubt
    row = into[n + MOMENTS + 2]
    row[problem.order.height] = finger.height * problem.height.doubt
    if problem.height.shifts:  # by the mean friction, a mean over the mass
        part = load / load.sum()
        row[:n] = -finger.height * (part - share) @ by_mass
        row[n : 2 * n] = -finger.height * part @ by_friction
    into[n + MOMENTS + 3, problem.order.lean] = lean * LEAN_DOUBT
    return into
