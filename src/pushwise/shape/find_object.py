"""From a point cloud to the cells of one object: the first three lines of Algorithm 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.shape.object_grid import finite_points, lay_out
from pushwise.shape.plane import Plane
from pushwise.shape.scan import Dropped, Scan
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.surface import Blob
from pushwise.shape.tabletop import Tabletop, find_tabletop
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["find_object", "scan_of"]

# A point given as `near` that is farther from every object [m] has another unit or frame.
_FARTHEST_NEAR = 0.5
# A point on an object, picked in a picture, is at most this far off it [m].
_NEAR = 0.02
_TABLE = "the table is seen there"


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
    cloud, finite = finite_points(points)
    if chosen is not None:
        chosen = chosen[finite]
    table = None if options.table is None else Plane(options.table)
    surface = find_tabletop(cloud, chosen, table, options.min_height)
    blob = surface.blobs[0]
    if options.near is not None:
        blob = _at(surface, finite_array("near", options.near, (3,)))
    return scan_of(surface, blob, options, lost=int((~finite).sum()))


def scan_of(surface: Tabletop, blob: Blob, options: ScanOptions, *, lost: int = 0) -> Scan:
    """Return the scan of one of the objects on a table.

    Args:
        surface: The table and all objects on it.
        blob: The object.
        options: How it is divided into cells.
        lost: Number of points that were not finite.

    """
    found = lay_out(surface, blob, options)
    on_it, dropped = _dropped(surface, blob, lost)
    return Scan(
        grid=found.grid,
        frame=found.frame,
        holes=found.holes,
        table=surface.table,
        noise=surface.noise,
        points=on_it,
        dropped=dropped,
    )


def _at(surface: Tabletop, point: Array) -> Blob:
    """Return the object at a point (3,) [m] of the cloud's frame, or say why there is none."""
    x, y, z = point.tolist()
    given = f"({x:g}, {y:g}, {z:g})"
    at = surface.axes @ point - [0.0, 0.0, surface.table.offset]
    away = [
        float(np.hypot(*(surface.view.centres(blob.mask) - at[:2]).T).min())
        for blob in surface.blobs
    ]
    # The bottom of a bowl may be as low as the table; it belongs to the rim around it.
    if _what_is_at(surface, at) != _TABLE:
        inside = [_is_inside(surface.view.centres(blob.mask), at[:2]) for blob in surface.blobs]
        away = np.where(inside, 0.0, away).tolist()
    nearest = int(np.argmin(away))
    blob = surface.blobs[nearest]
    top = float(surface.heights[blob.mask].max())
    miss = float(np.hypot(away[nearest], max(at[2] - top, -at[2], 0.0)))
    if miss > _FARTHEST_NEAR:
        raise PushwiseError(
            f"near must be a point on an object, in metres; {given} is {miss:.2f} m "
            "from the nearest object."
        )
    if miss > max(_NEAR, 3.0 * surface.view.pixel):
        raise PushwiseError(
            f"there is no object at near={given}: {_what_is_at(surface, at)}; the nearest object "
            f"is {1e3 * miss:.0f} mm away, at {_place(surface, blob)}."
        )
    return blob


def _is_inside(places: Array, point: Array) -> bool:
    """Return whether a point (2,) is in the convex hull of places (n, 2)."""
    try:
        hull = ConvexHull(places)
    except QhullError:  # all on a line
        return False
    return bool(np.all(hull.equations[:, :2] @ point + hull.equations[:, 2] <= 0.0))


def _what_is_at(surface: Tabletop, at: Array) -> str:
    """Return what a point (3,), along the table and above it [m], shows if not an object."""
    view = surface.view
    i, j = np.floor((at[:2] - view.origin) / view.pixel).astype(np.int64).tolist()
    rows, columns = view.heights.shape
    if not (0 <= i < columns and 0 <= j < rows and view.seen[j, i]):
        return "nothing is seen there, as in a shadow or beyond the picture"
    height = float(surface.heights[j, i])
    if height > 0.5 * surface.uneven.least:
        return (
            f"what is there rises by {1e3 * height:.1f} mm, and the noise of this cloud by "
            f"{1e3 * max(surface.uneven.wave, surface.uneven.least):.1f} mm; give "
            "min_height (--min-height), or a mask of a depth image"
        )
    return _TABLE


def _place(surface: Tabletop, blob: Blob) -> str:
    """Return the middle of an object in the cloud's frame as text."""
    x, y = surface.view.centres(blob.mask).mean(axis=0)
    height = float(np.median(surface.heights[blob.mask]))
    px, py, pz = surface.axes.T @ [x, y, surface.table.offset + height]
    return f"({px:.3f}, {py:.3f}, {pz:.3f})"


def _dropped(surface: Tabletop, blob: Blob, lost: int) -> tuple[int, tuple[Dropped, ...]]:
    """Return the number of points on the object, and the groups of all others."""
    view = surface.view
    seen = view.indices[view.indices >= 0]
    counts = np.bincount(seen, minlength=view.heights.size).reshape(view.heights.shape)
    on_it = int(counts[blob.mask].sum())
    rows: list[Dropped] = []
    if lost:
        rows.append(Dropped("not finite", lost))
    elsewhere = 0
    for other in surface.blobs:
        if other is blob:
            continue
        points = int(counts[other.mask].sum())
        area = 1e4 * other.pixels * view.pixel**2
        where = _place(surface, other)
        share = other.pixels / blob.pixels
        rows.append(Dropped(f"another object of {area:.1f} cm2 at {where}", points, share))
        elsewhere += points
    if (stray := len(view.indices) - len(seen)) > 0:
        rows.append(Dropped("far from the table", stray))
    if (rest := len(seen) - on_it - elsewhere) > 0:
        rows.append(Dropped("on the table, or stray points above it", rest))
    return on_it, tuple(rows)
