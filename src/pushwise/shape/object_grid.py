"""From the pixels of one object on a table to its cells, and to its place in the cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area
from pushwise.shape.cells import CellLayout, choose_cells
from pushwise.shape.cloud_limits import check_count
from pushwise.shape.footprint import Footprint
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.surface import Blob, trace_footprint
from pushwise.shape.tabletop import Tabletop
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["LaidOut", "finite_points", "lay_out", "points_on"]

_FEWEST_POINTS = 10
_OUT_OF_THIS_WORLD = 1e9  # m
# A cloud wider than this [m] shows no table; its unit is probably millimetres.
_WIDEST = 20.0


class LaidOut(NamedTuple):
    """An object divided into cells."""

    grid: CellGrid
    frame: Array
    """Pose of the grid frame in the cloud's frame, shape (4, 4), read-only."""
    holes: tuple[Array, ...]
    """Outlines [m], shape (k, 2) each, of the holes that are larger than a cell."""


def lay_out(surface: Tabletop, blob: Blob, options: ScanOptions) -> LaidOut:
    """Divide an object on a table into cells."""
    traced = trace_footprint(surface.view, blob.mask)
    turn = _turn(surface, blob, options.axis)
    footprint, middle = _turned(traced, turn)
    cells = choose_cells(footprint, options)
    heights = _cell_heights(cells, surface, blob, turn, middle)
    frame = np.eye(4)
    frame[:3, :3] = np.vstack([turn @ surface.axes[:2], surface.axes[2:]]).T
    frame[:3, 3] = (middle @ frame[:3, :2].T) + surface.table.offset * surface.table.normal
    frame.flags.writeable = False
    return LaidOut(
        CellGrid(cells.centres, cells.cell_size, heights, footprint.outline),
        frame,
        tuple(h for h in footprint.holes if signed_area(h) >= cells.cell_size**2),
    )


def points_on(surface: Tabletop, blob: Blob) -> int:
    """Return the number of points over an object's pixels."""
    indices = surface.view.indices
    return int(blob.mask.ravel()[indices[indices >= 0]].sum())


def finite_points(points: ArrayLike) -> tuple[Array, Flags]:
    """Return the finite rows of a cloud (n, 3) and which rows they are."""
    array = np.asarray(points)
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != 3:
        raise PushwiseError(
            "points must be an array of numbers of shape (n, 3); "
            f"got dtype {array.dtype}, shape {array.shape}."
        )
    check_count(len(array))
    if len(array) == 0:
        raise PushwiseError("points must not be empty; got an array of shape (0, 3).")
    # Damaged numbers may be finite, but too large to calculate with. NaN is not smaller either.
    x, y, z = (np.abs(column) < _OUT_OF_THIS_WORLD for column in array.T)
    finite: Flags = x & y & z
    count = int(finite.sum())
    if count == 0:
        raise PushwiseError(
            f"points must be finite; all {len(array)} of them have NaN or infinity."
        )
    if count < _FEWEST_POINTS:
        raise PushwiseError(
            f"points must have at least {_FEWEST_POINTS} finite rows to show a shape; got {count}."
        )
    cloud = np.asarray(array if count == len(array) else array[finite], dtype=np.float64)
    low, high = np.percentile(cloud[:: max(1, count // 10_000)], [10.0, 90.0], axis=0)
    if (high - low).max() > _WIDEST:
        raise PushwiseError(
            f"points must be in metres; they span {(high - low).max():.3g} units: "
            "multiply millimetres by 0.001 (pushwise scan --scale 0.001)."
        )
    return cloud, finite


def _turn(surface: Tabletop, blob: Blob, axis: ArrayLike | None) -> Array:
    """Return the rotation (2, 2) from the height map's axes to the grid's."""
    if axis is None:
        apart = surface.view.centres(blob.mask)
        apart = apart - apart.mean(axis=0)
        x = np.linalg.eigh(apart.T @ apart)[1][:, 1]
        # Of its two directions, take the one that agrees with the cloud's x axis.
        x = x if (x[0], x[1]) > (0.0, 0.0) else -x
    else:
        direction = finite_array("axis", axis, (3,))
        x = surface.axes[:2] @ direction
        length = float(np.linalg.norm(x))
        if length <= 0.1 * float(np.linalg.norm(direction)):
            raise PushwiseError(
                "axis must run along the table; it is zero or perpendicular to the table."
            )
        x = x / length
    return np.array([x, [-x[1], x[0]]])


def _turned(traced: Footprint, turn: Array) -> tuple[Footprint, Array]:
    """Return a footprint in the grid frame, and the frame's origin (2,) along its own axes [m]."""
    outline = traced.outline @ turn.T
    middle = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
    holes = tuple(np.round(hole @ turn.T - middle, 6) for hole in traced.holes)
    # Rounded to a micrometre, finer than any sensor, to keep files short.
    return Footprint(np.round(outline - middle, 6), holes), middle


def _cell_heights(
    cells: CellLayout,
    surface: Tabletop,
    blob: Blob,
    turn: Array,
    middle: Array,
) -> Array:
    """Return the median height of the surface over each cell [m], shape (n,)."""
    at = surface.view.centres(blob.mask) @ turn.T - middle
    heights = surface.heights[blob.mask]
    away, cell = cKDTree(cells.centres).query(at, p=np.inf)
    within = away <= 0.5 * cells.cell_size
    result = np.full(len(cells.centres), np.nan)
    order = np.lexsort((heights[within], cell[within]))
    cell, heights_in = cell[within][order], heights[within][order]
    filled, starts, counts = np.unique(cell, return_index=True, return_counts=True)
    result[filled] = heights_in[starts + counts // 2]
    # A cell that bridges a gap takes the height of the nearest surface.
    empty = np.isnan(result)
    if empty.any():
        result[empty] = heights[cKDTree(at).query(cells.centres[empty])[1]]
    return np.round(result, 5)
