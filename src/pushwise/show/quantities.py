"""What can be shown of an object cell by cell: mass, friction, load and uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushwise.identification.known import Known
from pushwise.identification.result import Identification
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel
from pushwise.planning.stability import model_of

__all__ = ["Quantity", "quantities"]


@dataclass(frozen=True, eq=False)
class Quantity:
    """A number of each cell."""

    title: str
    """What it is."""
    values: NDArray[np.float64]
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


def quantities(
    found: Identification | ObjectModel, known: Known | None = None
) -> dict[str, Quantity]:
    """Return what is known of the cells, by short names.

    known: how well a model is known that was identified before. Where pushes did not determine the
    total mass, masses and loads are shares of the whole: grams would be the prior's. There is an
    uncertainty only where there is a posterior.
    """
    model = model_of(found)
    if isinstance(found, Identification):
        known = found.known
    mass, load = model.mass, model.friction * model.mass * GRAVITY
    if known is None or known.total_mass_std is not None:
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
    if isinstance(found, Identification):
        doubt = 1e2 * np.expm1(found.posterior.log_load_std)
        shown["uncertainty"] = Quantity("Uncertainty of the load", doubt, "%", "Purples")
    return shown
