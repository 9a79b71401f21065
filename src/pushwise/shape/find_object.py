"""From a point cloud to the cells of one object: the first three lines of Algorithm 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import cKDTree

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area
from pushwise.shape.cells import CellLayout, choose_cells
from pushwise.shape.footprint import Footprint
from pushwise.shape.grid import CellGrid
from pushwise.shape.plane import Plane
from pushwise.shape.scan import Dropped, Scan
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.surface import Blob, trace_footprint
from pushwise.shape.tabletop import Tabletop, find_tabletop
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["find_object"]

_FEWEST_POINTS = 10
# A cloud wider than this [m] shows no table; its unit is probably millimetres.
_WIDEST = 20.0
# A point given as `near` that is farther from every object [m] has another unit or frame.
_FARTHEST_NEAR = 0.5


def find_object(
    points: ArrayLike, options: ScanOptions = ScanOptions(), *, chosen: Flags | None = None
) -> Scan:
    """Find the table, the object on it, its outline and its cells.

    Args:
        points: The cloud [m], shape (n, 3).
        options: How the object is found and divided into cells.
        chosen: Which points are on the object, shape (n,), where that is known; the others may be
            on the table.

    """
    cloud, finite = _finite_points(points)
    if chosen is not None:
        chosen = chosen[finite]
    table = None if options.table is None else Plane(options.table)
    surface = find_tabletop(cloud, chosen, table, options.min_height)
    blob = surface.blobs[0]
    if options.near is not None:
        blob = _nearest(surface, finite_array("near", options.near, (3,)))
    traced = trace_footprint(surface.view, blob.mask)
    turn = _turn(surface, blob, options.axis)
    footprint, middle = _turned(traced, turn)
    cells = choose_cells(footprint, options)
    heights = _cell_heights(cells, surface, blob, turn, middle)
    frame = np.eye(4)
    frame[:3, :3] = np.vstack([turn @ surface.axes[:2], surface.axes[2:]]).T
    frame[:3, 3] = (middle @ frame[:3, :2].T) + surface.table.offset * surface.table.normal
    frame.flags.writeable = False
    on_it, dropped = _dropped(surface, blob, finite)
    return Scan(
        grid=CellGrid(cells.centres, cells.cell_size, heights, footprint.outline),
        frame=frame,
        holes=tuple(h for h in footprint.holes if signed_area(h) >= cells.cell_size**2),
        table=surface.table,
        noise=surface.noise,
        points=on_it,
        dropped=dropped,
    )


def _finite_points(points: ArrayLike) -> tuple[Array, Flags]:
    """Return the finite rows of a cloud (n, 3) and which rows they are."""
    array = np.asarray(points)
    if array.dtype.kind not in "iuf" or array.ndim != 2 or array.shape[1] != 3:
        raise PushwiseError(
            "points must be an array of numbers of shape (n, 3); "
            f"got dtype {array.dtype}, shape {array.shape}."
        )
    if len(array) == 0:
        raise PushwiseError("points must not be empty; got an array of shape (0, 3).")
    finite: Flags = np.isfinite(array[:, 0] + array[:, 1] + array[:, 2])
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
            f"points must be in metres; they span {(high - low).max():.3g}: "
            "multiply millimetres by 0.001."
        )
    return cloud, finite


def _nearest(surface: Tabletop, point: Array) -> Blob:
    """Return the object nearest to a point (3,) [m] of the cloud's frame, seen from above."""
    at = surface.axes @ point

    def away(blob: Blob) -> Array:
        height = surface.table.offset + surface.heights[blob.mask]
        return np.column_stack([surface.view.centres(blob.mask), height]) - at

    def above(blob: Blob) -> float:
        return float(np.min(np.sum(away(blob)[:, :2] ** 2, axis=1)))

    nearest = min(surface.blobs, key=above)
    miss = float(np.sqrt(np.min(np.sum(away(nearest) ** 2, axis=1))))
    if miss > _FARTHEST_NEAR:
        x, y, z = point.tolist()
        raise PushwiseError(
            f"near must be a point on an object, in metres; ({x:g}, {y:g}, {z:g}) is {miss:.2f} m "
            "from the nearest object."
        )
    return nearest


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


def _dropped(surface: Tabletop, blob: Blob, finite: Flags) -> tuple[int, tuple[Dropped, ...]]:
    """Return the number of points on the object, and the groups of all others."""
    view = surface.view
    seen = view.indices[view.indices >= 0]
    counts = np.bincount(seen, minlength=view.heights.size).reshape(view.heights.shape)
    on_it = int(counts[blob.mask].sum())
    rows: list[Dropped] = []
    if not finite.all():
        rows.append(Dropped("not finite", int((~finite).sum())))
    elsewhere = 0
    for other in surface.blobs:
        if other is blob:
            continue
        points = int(counts[other.mask].sum())
        x, y = view.centres(other.mask).mean(axis=0)
        height = float(np.median(surface.heights[other.mask]))
        px, py, pz = surface.axes.T @ [x, y, surface.table.offset + height]
        area = 1e4 * other.pixels * view.pixel**2
        where = f"({px:.3f}, {py:.3f}, {pz:.3f})"
        share = other.pixels / blob.pixels
        rows.append(Dropped(f"another object of {area:.1f} cm2 at {where}", points, share))
        elsewhere += points
    if (stray := len(view.indices) - len(seen)) > 0:
        rows.append(Dropped("far from the table", stray))
    if (rest := len(seen) - on_it - elsewhere) > 0:
        rows.append(Dropped("on the table, or stray points above it", rest))
    return on_it, tuple(rows)
