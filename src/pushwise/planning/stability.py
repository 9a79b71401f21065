"""Whether an object falls: it rests while its centre of mass is above the support polygon.

The support polygon is the convex hull of the part of the object on the table, including cells cut
by the table's edge. Where the centre of mass is uncertain, or where the object is relative to the
edge, the answer is a probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer, non_negative_number
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief, checked_belief
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import Table
from pushwise.planning.options import PlanOptions
from pushwise.planning.support_polygon import (
    CellsOnTable,
    PossibleCentres,
    margins_or_falls,
    new_support_work,
    possible_centres,
    support,
)
from pushwise.typing import Array

__all__ = ["SAMPLES", "Balance", "Stability"]


SAMPLES = 4096  # centres of mass; three standard errors of a probability of 1 % are then 0.5 %
# By this share the table is taken to be smaller. Where a corner of a cell is just at the edge,
# rounding decides whether it is on the table, and hulls lost corners of theirs.
_CLEAR = 1e-10


@dataclass(frozen=True, eq=False)
class Stability:
    """How an object rests at a pose on a table."""

    polygon: Array
    """The support polygon [m] in the table frame, shape (h, 2), counter-clockwise."""
    margin: float
    """How far inside it the centre of mass is [m]; negative when the object falls."""
    fall_probability: float
    """Probability of falling; 0 or 1 for a certain model at a certain pose."""


class Balance:
    """An object on a table: in which poses it rests, and with what probability."""

    def __init__(
        self,
        belief: Belief,
        table: Table,
        *,
        placement_std: float = 0.0,
        samples: int = SAMPLES,
        seed: int = 0,
    ) -> None:
        """Draw centres of mass from a belief.

        Args:
            belief: What is believed about the object.
            table: The table it is on.
            placement_std: Standard error of where the object is relative to the table's edge [m],
                along each axis; zero for poses that are exact.
            samples: Number of centres of mass to draw; one where all is certain or assumed.
            seed: Random seed of these.

        """
        self.model = checked_belief(belief).model
        self.table = table
        grid = self.model.grid
        signs = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
        each = (grid.centres[:, None] + grid.cell_size * signs).reshape(-1, 2)
        whole = np.rint((each - each[0]) / grid.cell_size)
        _, once = np.unique(whole, axis=0, return_index=True)
        middle = table.polygon.mean(axis=0)
        edge = middle + (1.0 - _CLEAR) * (table.polygon - middle)
        self.cells = CellsOnTable(
            centres=np.array(grid.centres),
            corners=each[once],
            size=float(grid.cell_size),
            table_x=edge[:, 0].copy(),
            table_y=edge[:, 1].copy(),
            reach=float(np.hypot(*each.T).max()),
        )
        """Cells and table for the compiled code."""
        rng = np.random.default_rng(non_negative_integer("seed", seed))
        centres = belief.centres_of_mass(samples, rng)
        if non_negative_number("placement_std", placement_std) > 0.0 and len(centres) == 1:
            centres = np.repeat(centres, samples, axis=0)
        self.centres = np.ascontiguousarray(centres)
        """Where the centre of mass may be [m] in the grid frame, shape (samples, 2)."""
        self.offsets = placement_std * rng.standard_normal(centres.shape)
        """How far it may be nearer to the table's edge [m], shape (samples, 2)."""

    @classmethod
    def planned(cls, belief: Belief, table: Table, options: PlanOptions) -> Balance:
        """Return the balance by which goals and plans are judged, also where they are shown."""
        return cls(belief, table, placement_std=options.placement_std, seed=options.seed)

    def possible_centres(self, certainty: float = 1.0) -> PossibleCentres:
        """Return where the centre of mass may be; certainty: a factor to divide its error by."""
        centre = self.model.centre_of_mass
        points = centre + (self.centres - centre) / certainty
        return possible_centres(points, points + self.offsets)

    def margins(self, poses: ArrayLike) -> Array:
        """Return the margin of the centre of mass [m] at poses (p, 3), shape (p,)."""
        at = np.array(finite_array("poses", poses, ("p", 3)))
        centre = possible_centres(self.model.centre_of_mass[None])
        return margins_or_falls(self.cells, at, centre, False)

    def fall_probabilities(self, poses: ArrayLike, *, certainty: float = 1.0) -> Array:
        """Return the probability of falling at poses (p, 3), shape (p,).

        Args:
            poses: Poses [m, m, rad], shape (p, 3).
            certainty: Factor by which to divide the uncertainty.

        """
        at = np.array(finite_array("poses", poses, ("p", 3)))
        return margins_or_falls(self.cells, at, self.possible_centres(certainty), True)

    def at(self, pose: ArrayLike) -> Stability:
        """Return how the object rests at a pose (3,)."""
        pose = np.array(finite_array("pose", pose, (3,)))
        return Stability(
            self._support(pose),
            float(self.margins(pose[None])[0]),
            float(self.fall_probabilities(pose[None])[0]),
        )

    def tipping_load(self, pose: ArrayLike, point: ArrayLike) -> float:
        """Return the weight [N] that tips the object when put on a point (2,) [m] of the table.

        It is infinite above the support polygon, and zero for an object that falls by itself.
        """
        pose = np.array(finite_array("pose", pose, (3,)))
        at = finite_array("point", point, (2,))
        if self.margins(pose[None])[0] < 0.0:
            return 0.0
        hull = self._support(pose)
        centre = placed(self.model.centre_of_mass[None], pose)[0]
        edge = np.roll(hull, -1, axis=0) - hull
        normal = np.column_stack([-edge[:, 1], edge[:, 0]]) / np.hypot(*edge.T)[:, None]
        # About each side, the moment of the object's weight resists that of the load.
        down = np.sum(normal * (centre - hull), axis=1)
        up = -np.sum(normal * (at - hull), axis=1)
        tips = up > 0.0
        if not tips.any():
            return float(np.inf)
        return float(self.model.total_mass * GRAVITY * np.min(down[tips] / up[tips]))

    def _support(self, pose: Array) -> Array:
        """Return the support polygon at a pose (3,) [m] in the table frame, shape (h, 2)."""
        x, y, theta = pose.tolist()
        work = new_support_work(self.cells)
        h, _ = support(self.cells, x, y, theta, work)
        return placed(np.column_stack([work.hx[:h], work.hy[:h]]), pose)
