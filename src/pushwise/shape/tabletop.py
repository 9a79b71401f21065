"""`Tabletop`: a cloud with its table, which side of it is up, and the objects on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.shape.heightmap import FARTHEST, HeightMap, height_map, smoothed, with_walls
from pushwise.shape.plane import FoundPlane, Plane, find_table
from pushwise.shape.surface import (
    Blob,
    Unevenness,
    blobs_above,
    chosen_blob,
    is_among,
    over_shadows,
    unevenness,
)
from pushwise.typing import Array, Flags

__all__ = ["Tabletop", "find_tabletop"]

_FEWEST_POINTS = 10
# Points this many standard deviations, and this far [m], from the table are not on it.
_OFF, _OFF_LEAST = 6.0, 0.01
# One side is up for sure when it has this many times the points of the other.
_CLEARLY = 2.0


class Tabletop(NamedTuple):
    """A cloud seen from above its table."""

    table: Plane
    noise: float
    """Standard deviation of the table's points from its plane [m]."""
    axes: Array
    """Two directions along the table and its normal, shape (3, 3), one per row."""
    view: HeightMap
    heights: Array
    """Smoothed [m], shape (rows, columns)."""
    blobs: list[Blob]
    """The objects on the table, the largest first."""
    uneven: Unevenness
    """How far the table seems to rise; zero where the least height was given."""
    below: int
    """Number of pixels as far below the table as an object would be above it."""


def find_tabletop(
    cloud: Array,
    chosen: Flags | None,
    table: Plane | None,
    min_height: float | None,
) -> Tabletop:
    """Find the table, unless it is given, and the objects on it.

    Args:
        cloud: Finite points [m], shape (n, 3).
        chosen: Which points are on the object, shape (n,), where that is known.
        table: The table, where it is known.
        min_height: Least height of an object [m]; None for what the noise allows.

    """
    if table is not None:
        # What is below the table is noise of its points; what is above may be a thin object.
        heights = table.heights(cloud)
        below = heights[(heights < 0.0) & (heights > -0.006)]
        noise = -1.4826 * float(np.median(below)) if len(below) > 0.05 * len(cloud) else 0.0
        surface = _seen_from(table, noise, cloud, chosen, min_height)
        if surface is None or not surface.blobs:
            why = _why(surface, min_height)
            raise PushwiseError(f"nothing in the cloud rises above the given table{why}.")
        return surface
    found = find_table(cloud if chosen is None or chosen.all() else cloud[~chosen])
    if found is not None:
        surface = _from_above(found, cloud, chosen, min_height)
        if surface is not None and surface.blobs:
            # The largest one may be in the shadow of others.
            if any(is_among(surface.view, blob.mask) for blob in surface.blobs):
                return surface
        elif (np.abs(found.plane.heights(cloud)) < 0.02).mean() > 0.5:
            raise PushwiseError(
                "most points lie on one plane, and nothing rises above it"
                f"{_why(surface, min_height)}; if they are the top of a flat object, give the "
                "table's plane, such as 0 0 1 0 for z = 0 (--table)."
            )
    if np.median(cloud[:, 2]) > 0.0:
        # Without a table, the cloud is the object alone in a frame with z up from the table.
        surface = _seen_from(Plane((0.0, 0.0, 1.0, 0.0)), 0.0, cloud, chosen, min_height)
        if surface is not None and surface.blobs:
            return surface
    raise PushwiseError(
        "found neither a table in the cloud nor an object above z = 0; "
        "give the table's plane, a b c d of a x + b y + c z + d = 0 (--table)."
    )


def _why(surface: Tabletop | None, min_height: float | None) -> str:
    """Return what may hide an object on a table on which none was found."""
    if min_height is not None:
        return f" by {min_height:g} m, which min_height (--min-height) asks for; give less, in m"
    if surface is None or not surface.uneven.wave:
        return ""
    return (
        f" by more than the noise of this cloud, {1e3 * surface.uneven.wave:.1f} mm; for something "
        "lower, give min_height (--min-height), or a mask of a depth image"
    )


def _seen_from(
    table: Plane,
    noise: float,
    cloud: Array,
    chosen: Flags | None,
    min_height: float | None,
) -> Tabletop | None:
    """Return a table seen from its upper side, or None if hardly anything is near it."""
    axes = _axes(table.normal)
    heights = table.heights(cloud)
    if (np.abs(heights) < FARTHEST).sum() < _FEWEST_POINTS:
        return None
    placed = np.column_stack([_along(cloud, axes[:2]), heights])
    view = height_map(placed[:, :2], heights, finest=max(0.5 * noise, 0.0005))
    smooth = smoothed(view, noise=noise)
    uneven = unevenness(view, smooth) if min_height is None else Unevenness(min_height, 0.0)
    below = int((smooth < -uneven.least).sum())
    if chosen is None:
        smooth, walls = with_walls(view, placed, smooth, noise=noise)
        smooth, _ = over_shadows(view, smooth, smooth > uneven.least, walls)
        blobs = blobs_above(view, smooth, walls, uneven)
    else:
        smooth, blobs = chosen_blob(view, smooth, chosen)
    return Tabletop(table, noise, axes, view, smooth, blobs, uneven, below)


def _from_above(
    found: FoundPlane,
    cloud: Array,
    chosen: Flags | None,
    min_height: float | None,
) -> Tabletop | None:
    """Return a plane seen from the side on which objects stand."""
    # Most clouds are in the frame of a camera above the table, so try the camera's side first.
    plane = found.plane if found.plane.offset < 0.0 else found.plane.flipped()
    heights = plane.heights(cloud)
    # Nothing is below a table; what is far from it, such as the floor, may be beyond its edge.
    off = np.abs(heights) > max(_OFF * found.noise, _OFF_LEAST)
    near = off & (np.abs(heights) < FARTHEST) & _over(plane, cloud, heights, found.noise)
    above, below = int((heights[near] > 0.0).sum()), int((heights[near] < 0.0).sum())
    if below > _CLEARLY * above:
        plane = plane.flipped()
    first = _seen_from(plane, found.noise, cloud, chosen, min_height)
    clear = max(above, below) > _CLEARLY * min(above, below)
    if first is not None and first.blobs and (clear or first.blobs[0].pixels >= first.below):
        return first
    second = _seen_from(plane.flipped(), found.noise, cloud, chosen, min_height)
    if second is None or not second.blobs or first is None or not first.blobs:
        return first if second is None or not second.blobs else second
    return max(first, second, key=lambda side: side.blobs[0].pixels)


def _over(plane: Plane, cloud: Array, heights: Array, noise: float) -> Flags:
    """Return which points of a cloud (n, 3) are over or under the part of a plane that is seen."""
    axes = _axes(plane.normal)
    xy = _along(cloud, axes[:2])
    on_it = xy[np.abs(heights) < max(3.0 * noise, 1e-3)]
    # A polygon of sixteen sides, which a few points beyond the table do not enlarge.
    angles = np.arange(8) * np.pi / 8.0
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    low, high = np.percentile(_along(on_it, directions), [1.0, 99.0], axis=0)
    across = _along(xy, directions)
    inside: Flags = np.all((across > low) & (across < high), axis=1)
    return inside


def _along(points: Array, axes: Array) -> Array:
    """Return the coordinates (n, k) of points (n, d) along axes (k, d)."""
    # Unlike a matrix product this starts no threads, which would only wait for each other.
    along: Array = np.einsum("ij,kj->ik", points, axes)
    return along


def _axes(normal: Array) -> Array:
    """Return two directions along a table and its normal as rows, shape (3, 3), right-handed."""
    # Follow the cloud's x axis if possible, which keeps the axes of clouds in a table's frame.
    along = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
    x = along - (along @ normal) * normal
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(normal, x), normal])
