"""How sure the poses of a plan are: its pushes again with other objects that are possible, too."""

from __future__ import annotations

import numpy as np

from pushwise.identification.belief import Known
from pushwise.identification.result import Identification
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate_batch
from pushwise.planning.deadline import Deadline
from pushwise.typing import Array

__all__ = ["Spread"]


_SAMPLES = 16  # a standard deviation is then right to a fifth


class Spread:
    """The standard deviation of where a push ends, from samples of what the object may be."""

    def __init__(
        self,
        found: Identification | ObjectModel,
        table: Table,
        finger: Finger,
        *,
        known: Known | None = None,
        seed: int = 0,
    ) -> None:
        """Draw objects from what is known; a model is certain where that is nothing."""
        rng = np.random.default_rng(seed)
        self._table, self._finger = table, finger
        self._models: list[ObjectModel] = []
        self._drift = np.zeros(3)
        if isinstance(found, Identification):
            grid = found.model.grid
            masses, frictions = found.posterior.samples(_SAMPLES, rng)
            self._models = [
                ObjectModel(grid, m, mu) for m, mu in zip(masses, frictions, strict=True)
            ]
            self._drift = found.drift
        elif known is not None and known.centre_of_mass_covariance is not None:
            self._models = _tilted(found, known.centre_of_mass_covariance, rng)
            self._drift = known.drift

    def after(self, pose: Array, push: Push, expected: Array) -> Array:
        """Return the deviation [m, m, rad], shape (3,), from the pose expected after a push.

        pose: before it, shape (3,). Includes how far the model strays by its own account.
        """
        if not self._models:
            return self._drift.copy()
        paths = simulate_batch(self._models, push, pose, finger=self._finger, table=self._table)
        off = np.array([path.pose[-1] for path in paths]) - expected
        deviation: Array = np.sqrt(np.mean(off**2, axis=0) + self._drift**2)
        return deviation

    def along(self, poses: list[Array], pushes: list[Push], deadline: Deadline) -> Array:
        """Return it for every push of a plan, shape (pushes, 3)."""
        found = np.zeros((len(pushes), 3))
        for i, push in enumerate(pushes):
            deadline.check()
            found[i] = self.after(poses[i], push, poses[i + 1])
        return found


def _tilted(model: ObjectModel, covariance: Array, rng: np.random.Generator) -> list[ObjectModel]:
    """Return models whose centres of mass have a covariance (2, 2), else like the given one.

    Masses change by exp(a . (p - c)), the smoothest change that moves the centre and keeps them
    positive; to first order the centre moves by C a, C the second moment over the mass.
    """
    model.grid.refuse_one_cell_wide()  # nothing to tilt across it
    arm = model.grid.centres - model.centre_of_mass
    moment = (model.mass[:, None] * arm).T @ arm / model.total_mass
    moved = rng.multivariate_normal(np.zeros(2), covariance, _SAMPLES)
    models = []
    for shift in moved:
        mass = model.mass * np.exp(arm @ np.linalg.solve(moment, shift))
        models.append(ObjectModel(model.grid, mass * model.total_mass / mass.sum(), model.friction))
    return models
