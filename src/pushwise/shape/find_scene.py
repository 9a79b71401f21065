"""From a point cloud to a scene: every object, and what the cloud does not show about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage
from scipy.spatial import ConvexHull, QhullError

from pushwise.errors import PushwiseError
from pushwise.shape.cells import CellTooLargeError
from pushwise.shape.object_grid import LaidOut, finite_points, lay_out, points_on
from pushwise.shape.plane import Plane
from pushwise.shape.scene import Scene, SceneObject
from pushwise.shape.surface import Blob
from pushwise.shape.tabletop import Tabletop, find_tabletop
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.shape.scan_options import ScanOptions

__all__ = ["find_scene"]

# Objects this close [m], or this many pixels, may touch.
_CLOSE, _CLOSE_PIXELS = 0.003, 2.0
# In a hidden gap narrower than this [m], they may as well.
_HIDDEN = 0.045
# Level parts whose heights differ by more than this [m] may be different objects: parts of one,
# such as the head and the handle of a tool that lies on the table, differ by less.
_STEP = 0.02
# A level part rises by less than this [m] within a pixel, and covers this share of the object.
_SLOPE, _LEAST_LEVEL = 0.008, 0.1


def find_scene(points: ArrayLike, options: ScanOptions) -> Scene:
    """Find the table and every object on it; see `Scene.from_points`."""
    if options.near is not None:
        raise PushwiseError("near chooses one object, and a scene has all of them; leave it out.")
    cloud, _ = finite_points(points)
    table = None if options.table is None else Plane(options.table)
    surface = find_tabletop(cloud, None, table, options.min_height)
    frame = np.eye(4)
    frame[:3, :3] = surface.axes.T
    frame[:3, 3] = surface.table.offset * surface.table.normal
    frame.flags.writeable = False
    touching = _may_touch(surface)
    return Scene(
        objects=tuple(
            _object(surface, blob, _laid_out(surface, blob, options), touching[i])
            for i, blob in enumerate(surface.blobs)
        ),
        table=surface.table,
        frame=frame,
        region=_region(surface),
        noise=surface.noise,
        least_height=max(surface.uneven.least, surface.uneven.wave),
    )


def _laid_out(surface: Tabletop, blob: Blob, options: ScanOptions) -> LaidOut:
    """Divide an object into cells of the size asked for; one that is smaller gets smaller ones."""
    try:
        return lay_out(surface, blob, options)
    except CellTooLargeError:
        return lay_out(surface, blob, replace(options, cell_size=None))


def _object(
    surface: Tabletop, blob: Blob, found: LaidOut, may_touch: tuple[int, ...]
) -> SceneObject:
    """Return an object of the scene; its frame has the same z axis as the scene's."""
    x, y, _ = surface.axes @ found.frame[:3, 3]
    along = surface.axes @ found.frame[:3, 0]
    pose = (float(x), float(y), float(np.arctan2(along[1], along[0])))
    points = points_on(surface, blob)
    return SceneObject(found.grid, pose, found.holes, points, may_touch, _levels(surface, blob))


def _may_touch(surface: Tabletop) -> list[tuple[int, ...]]:
    """Return for each object the numbers of those that it may touch."""
    view, blobs = surface.view, surface.blobs
    found: list[set[int]] = [set() for _ in blobs]
    for i, blob in enumerate(blobs):
        away, (rows, columns) = ndimage.distance_transform_edt(~blob.mask, return_indices=True)
        for j in range(i + 1, len(blobs)):
            gaps = np.where(blobs[j].mask, away, np.inf)
            at = np.unravel_index(np.argmin(gaps), gaps.shape)
            gap = float(gaps[at]) * view.pixel
            here = np.array(at, dtype=np.float64)
            there = np.array([rows[at], columns[at]], dtype=np.float64)
            if gap <= max(_CLOSE, _CLOSE_PIXELS * view.pixel) or (
                gap < _HIDDEN and not _seen_between(surface, here, there)
            ):
                found[i].add(j)
                found[j].add(i)
    return [tuple(sorted(numbers)) for numbers in found]


def _seen_between(surface: Tabletop, here: Array, there: Array) -> bool:
    """Return whether the table is seen anywhere between two pixels, (row, column) each."""
    count = 2 * int(np.abs(here - there).max()) + 1
    row, column = np.rint(np.linspace(here, there, count)).astype(np.int64).T
    level = surface.view.seen & (surface.heights < surface.uneven.least)
    return bool(level[row, column].any())


def _levels(surface: Tabletop, blob: Blob) -> tuple[float, ...]:
    """Return the heights [m] of an object's level parts that differ by a step, highest first."""
    heights = np.where(blob.mask, surface.heights, 0.0)
    rise = ndimage.maximum_filter(heights, 3) - ndimage.minimum_filter(heights, 3)
    labels, count = ndimage.label(blob.mask & (rise < 2.0 * _SLOPE))
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    large = 1 + np.flatnonzero(sizes >= _LEAST_LEVEL * blob.pixels)
    found = sorted((float(np.median(heights[labels == part])) for part in large), reverse=True)
    levels: list[float] = []
    for height in found or [float(np.median(surface.heights[blob.mask]))]:
        if not levels or levels[-1] - height > _STEP:
            levels.append(round(height, 5))
    return tuple(levels)


def _region(surface: Tabletop) -> Array:
    """Return the convex hull of the table's pixels [m], shape (k, 2), counter-clockwise."""
    view = surface.view
    level = view.seen & (np.abs(surface.heights) <= surface.uneven.least)
    # Eroded, since single pixels may be anywhere.
    level = ndimage.minimum_filter(level, 3)
    if not level.any():
        level = np.any([blob.mask for blob in surface.blobs], axis=0)
    centres = view.centres(level)
    try:
        corners: Array = centres[ConvexHull(centres).vertices]
    except QhullError:
        raise PushwiseError(
            "no more than a line of the table is to be seen; a scene needs a cloud that shows it "
            "around the objects."
        ) from None
    return np.round(corners, 6)
