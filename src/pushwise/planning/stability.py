"""Will it fall? An object rests while its centre of mass is over the support polygon.

The support polygon is the convex hull of the part of the object that is on the table, cells cut
by the table's edge included. Where the centre of mass is known only by a posterior, the answer is
a probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief, checked_belief
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import Table
from pushwise.planning.support_polygon import Shape, falls, margin, margins, support
from pushwise.typing import Array

__all__ = ["SAMPLES", "Balance", "Stability"]


SAMPLES = 4096  # centres of mass; a probability of 1 % is then right to 0.5 % (three sigma)


@dataclass(frozen=True, eq=False)
class Stability:
    """How an object rests at a pose on a table."""

    polygon: Array
    """The support polygon [m] in the table frame, shape (h, 2), counter-clockwise."""
    margin: float
    """How far inside it the centre of mass is [m]; negative when it falls."""
    fall_probability: float
    """Probability of falling, 0 or 1 for a model that is certain."""


class Balance:
    """An object on a table: which poses it rests in, and how surely."""

    def __init__(
        self,
        belief: Belief,
        table: Table,
        *,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> None:
        """Draw centres of mass from a belief.

        Args:
            belief: What is believed about the object.
            table: The table it is on.
            samples: Number of centres of mass to draw; one where the model is certain or assumed.
            seed: Random seed of these.

        """
        self.model = checked_belief(belief).model
        self.table = table
        grid = self.model.grid
        signs = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
        each = (grid.centres[:, None] + grid.cell_size * signs).reshape(-1, 2)
        whole = np.rint((each - each[0]) / grid.cell_size)
        _, once = np.unique(whole, axis=0, return_index=True)
        self.shape = Shape(
            np.array(grid.centres),
            each[once],
            grid.cell_size,
            np.array(table.polygon),
            float(np.hypot(*each.T).max()),
        )
        """Cells and table for the compiled code."""
        rng = np.random.default_rng(non_negative_integer("seed", seed))
        self.centres = np.ascontiguousarray(belief.centres_of_mass(samples, rng))
        """Where the centre of mass may be [m] in the grid frame, shape (samples, 2)."""

    def margins(self, poses: ArrayLike) -> Array:
        """Return the margin of the centre of mass [m] at poses (p, 3), shape (p,)."""
        at = np.array(finite_array("poses", poses, ("p", 3)))
        found: Array = margins(self.shape, at, np.array(self.model.centre_of_mass))
        return found

    def fall_probabilities(self, poses: ArrayLike, *, certainty: float = 1.0) -> Array:
        """Return the probability of falling at poses (p, 3), shape (p,).

        certainty: how many times better the centre of mass were known than it is.
        """
        at = np.array(finite_array("poses", poses, ("p", 3)))
        centre = self.model.centre_of_mass
        found: Array = falls(self.shape, at, centre + (self.centres - centre) / certainty)
        return found

    def at(self, pose: ArrayLike) -> Stability:
        """Return how the object rests at a pose (3,)."""
        pose = np.array(finite_array("pose", pose, (3,)))
        hull, _ = support(self.shape, pose)
        x, y = self.model.centre_of_mass
        return Stability(
            placed(hull, pose),
            float(margin(hull, x, y)),
            float(self.fall_probabilities(pose[None])[0]),
        )

    def tipping_load(self, pose: ArrayLike, point: ArrayLike) -> float:
        """Return the weight [N] that tips the object, laid on a point (2,) [m] of the table frame.

        Infinite over the support polygon, zero for an object that falls by itself.
        """
        pose = np.array(finite_array("pose", pose, (3,)))
        at = finite_array("point", point, (2,))
        hull = placed(support(self.shape, pose)[0], pose)
        centre = placed(self.model.centre_of_mass[None], pose)[0]
        if margin(hull, centre[0], centre[1]) < 0.0:
            return 0.0
        edge = np.roll(hull, -1, axis=0) - hull
        normal = np.column_stack([-edge[:, 1], edge[:, 0]]) / np.hypot(*edge.T)[:, None]
        # About each side: the weight's moment keeps it down, the load's tips it.
        down = np.sum(normal * (centre - hull), axis=1)
        up = -np.sum(normal * (at - hull), axis=1)
        tips = up > 0.0
        if not tips.any():
            return float(np.inf)
        return float(self.model.total_mass * GRAVITY * np.min(down[tips] / up[tips]))
