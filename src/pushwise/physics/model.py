"""`ObjectModel`: cells with mass and friction; `Table`: the polygon they slide on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from pushwise.checks import finite_array, non_negative_number, positive_number, require_all
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["ObjectModel", "Table"]


@dataclass(frozen=True, eq=False, init=False)
class ObjectModel:
    """A rigid object: what each cell of its grid weighs and how it rubs on the table.

    Arrays are read-only; lengths are in the grid frame.
    """

    grid: CellGrid
    """The cells."""
    mass: Array
    """Mass of each cell [kg], shape (n,), greater than zero."""
    friction: Array
    """Coefficient of friction between each cell and the table, shape (n,), zero or more."""

    def __init__(self, grid: CellGrid, mass: ArrayLike, friction: ArrayLike) -> None:
        """Check and copy the arrays; one number for `friction` holds for every cell."""
        if not isinstance(grid, CellGrid):
            raise PushwiseError(f"grid must be a CellGrid; got {type(grid).__name__}.")
        n = grid.n_cells
        if isinstance(friction, int | float):
            friction = np.full(n, non_negative_number("friction", friction))
        set_field = object.__setattr__
        set_field(self, "grid", grid)
        set_field(self, "mass", finite_array("mass", mass, (n,)))
        set_field(self, "friction", finite_array("friction", friction, (n,)))
        require_all("mass", self.mass, self.mass > 0.0, "greater than zero")
        require_all("friction", self.friction, self.friction >= 0.0, "zero or more")

    @cached_property
    def total_mass(self) -> float:
        """Mass of the whole object [kg]."""
        return float(self.mass.sum())

    @cached_property
    def centre_of_mass(self) -> Array:
        """Centre of mass [m] in the grid frame, shape (2,)."""
        centre: Array = self.mass @ self.grid.centres / self.total_mass
        centre.flags.writeable = False
        return centre

    @cached_property
    def inertia(self) -> float:
        """Moment of inertia [kg m^2] about the vertical through the centre of mass.

        Each cell is a uniform square plate of side w: m w^2 / 6 about its own centre.
        """
        arm = self.grid.centres - self.centre_of_mass
        own = self.total_mass * self.grid.cell_size**2 / 6.0
        return float(self.mass @ np.sum(arm**2, axis=1)) + own


@dataclass(frozen=True, eq=False, init=False)
class Table:
    """The table top: inside its polygon an object is carried, outside it is not."""

    polygon: Array
    """The table's edge [m] in the table frame, shape (k, 2), counter-clockwise, read-only."""

    def __init__(self, polygon: ArrayLike | None = None) -> None:
        """Check and copy the polygon; without one, 1.0 m x 0.7 m around the origin."""
        if polygon is None:
            polygon = _rectangle(1.0, 0.7, np.zeros(2))
        object.__setattr__(self, "polygon", simple_polygon("polygon", polygon))

    @classmethod
    def rectangle(
        cls, width: float = 1.0, depth: float = 0.7, *, centre: ArrayLike = (0.0, 0.0)
    ) -> Self:
        """Return a table of `width` along x and `depth` along y [m] around `centre` (2,) [m]."""
        return cls(
            _rectangle(
                positive_number("width", width),
                positive_number("depth", depth),
                finite_array("centre", centre, (2,)),
            )
        )


def _rectangle(width: float, depth: float, centre: Array) -> Array:
    """Return the corners of a rectangle [m], shape (4, 2), counter-clockwise."""
    signs = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners: Array = centre + 0.5 * signs * np.array([width, depth])
    return corners
