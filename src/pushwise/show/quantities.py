"""What the model says a push should do, beside what was seen.

What can be shown of an object cell by cell: mass, friction, load and uncertainty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernel_inputs import action_of, body_of, clear_start
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.push import Finger
from pushwise.physics.simulate import Trajectory, simulate
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["Compared", "Quantity", "compared", "quantities"]


@dataclass(frozen=True, eq=False)
class Compared:
    """A push that was made and the same push in the model, from the same pose."""

    record: PushRecord
    """What was seen."""
    path: Trajectory
    """What the model says."""
    apart: float
    """Mean distance of the cells at the end [m]."""
    turned: float
    """Angle between the two ends [rad], zero or more."""


def compared(
    model: ObjectModel, record: PushRecord, finger: Finger, table: Table | None = None
) -> Compared:
    """Simulate a push that was made, from the pose it was seen to start at.

    Raises SimulationError when the finger starts further inside the object than noise can tell.
    """
    action = action_of(model, record.push, finger)
    start = clear_start("the push", record.pose[0].copy(), body_of(model, Physics()), action)
    path = simulate(model, record.push, start.pose, finger=finger, table=table)
    seen, said = record.pose[-1], path.pose_at(record.t[-1])
    turned = np.remainder(said[2] - seen[2] + np.pi, 2.0 * np.pi) - np.pi
    return Compared(record, path, mean_cell_error(model.grid, said, seen), abs(float(turned)))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number of each cell."""

    title: str
    """What it is."""
    values: Array
    """Of each cell, zero or more, shape (n,)."""
    unit: str
    """What the values are counted in; empty for a plain number."""
    scheme: str
    """The name of Matplotlib's colour map for it."""

    @property
    def top(self) -> str:
        """The largest value, with its unit."""
        unit = f"\u00a0{self.unit}" if self.unit else ""
        return f"{self.values.max():.3g}{unit}"


def quantities(belief: Belief) -> dict[str, Quantity]:
    """Return what is believed about the cells, by short names.

    Where the total mass is not known, masses and loads are shares of the whole: grams would be the
    prior's. There is an uncertainty only where there is a posterior.
    """
    model = belief.model
    mass, load = model.mass, model.friction * model.mass * GRAVITY
    if belief.total_mass_known:
        masses = Quantity("Mass", 1e3 * mass, "g", "viridis")
        loads = Quantity("Friction load", 1e3 * load, "mN", "viridis")
    else:
        share = "% of the whole"
        masses = Quantity("Mass", 1e2 * mass / mass.sum(), share, "viridis")
        loads = Quantity("Friction load", 1e2 * load / load.sum(), share, "viridis")
    shown = {
        "mass": masses,
        "friction": Quantity("Coefficient of friction", model.friction, "", "viridis"),
        "load": loads,
    }
    if belief.posterior is not None:
        doubt = 1e2 * np.expm1(belief.posterior.log_load_std)
        shown["uncertainty"] = Quantity("Uncertainty of the load", doubt, "%", "Purples")
    return shown
