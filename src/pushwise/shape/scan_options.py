"""`ScanOptions`: how the object is found in sensor data and divided into cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.errors import PushwiseError
from pushwise.shape.plane import Plane

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["ScanOptions"]


@dataclass(frozen=True, eq=False)
class ScanOptions:
    """How the object is found in sensor data; everything that takes `options` has these defaults.

    Points and directions are in the frame of the cloud.
    """

    cell_size: float | None = None
    """Side of a cell [m]; by default it follows from `n_cells`."""
    n_cells: int | None = None
    """Approximate number of cells; by default, without a `cell_size`, 28 to 127 as in the paper."""
    near: ArrayLike | None = None
    """A point on the object [m], shape (3,); by default the largest object is taken."""
    axis: ArrayLike | None = None
    """Direction of the grid's x axis, shape (3,); by default the object's long principal axis."""
    table: ArrayLike | None = None
    """The table's plane (a, b, c, d), a x + b y + c z + d = 0 with (a, b, c) pointing up; by
    default it is found in the cloud, or z = 0 where the cloud shows the object alone."""
    min_height: float | None = None
    """How far an object rises above the table at least [m]; by default, out of the noise."""

    def __post_init__(self) -> None:
        """Refuse values that no scan could use."""
        if self.cell_size is not None:
            positive_number("cell_size", self.cell_size)
            if self.n_cells is not None:
                raise PushwiseError("give cell_size or n_cells, not both.")
        if self.n_cells is not None:
            non_negative_integer("n_cells", self.n_cells)
        if self.near is not None:
            finite_array("near", self.near, (3,))
        if self.axis is not None:
            finite_array("axis", self.axis, (3,))
        if self.table is not None:
            Plane(self.table)
        if self.min_height is not None:
            positive_number("min_height", self.min_height)
