"""The distance between two poses of an object, measured at its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pushwise.geometry.polygon import placed
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.shape.grid import CellGrid

__all__ = ["cell_distance", "mean_cell_error"]


def cell_distance(grid: CellGrid, a: ArrayLike, b: ArrayLike) -> Array:
    """Return the root mean square distance of the cells [m] between poses, shape (..., 3).

    With the centroid c of the cells and their mean square distance r^2 from it, its square is
    ``|c_a - c_b|^2 + 2 r^2 (1 - cos(theta_a - theta_b))``. It is never below the mean distance.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    centroid = grid.centres.mean(axis=0)
    radius_squared = float(np.mean(np.sum((grid.centres - centroid) ** 2, axis=1)))

    def middle(pose: Array) -> Array:
        cos, sin = np.cos(pose[..., 2]), np.sin(pose[..., 2])
        x, y = centroid
        turned: Array = pose[..., :2] + np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)
        return turned

    offset = middle(a) - middle(b)
    turn = 2.0 * radius_squared * (1.0 - np.cos(a[..., 2] - b[..., 2]))
    distance: Array = np.sqrt(np.sum(offset**2, axis=-1) + turn)
    return distance


def mean_cell_error(grid: CellGrid, a: Array, b: Array) -> float:
    """Return the mean distance of the cells [m] between two poses (3,), the paper's error."""
    return float(np.hypot(*(placed(grid.centres, a) - placed(grid.centres, b)).T).mean())
