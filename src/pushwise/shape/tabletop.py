"""`Tabletop`: a cloud with its table, which side of it is up, and the objects on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.shape.heightmap import FARTHEST, HeightMap, height_map, smoothed
from pushwise.shape.plane import FoundPlane, Plane, find_table
from pushwise.shape.surface import (
    Blob,
    blobs_above,
    chosen_blob,
    is_among,
    least_height,
    over_shadows,
)
from pushwise.typing import Array, Flags

__all__ = ["Tabletop", "find_tabletop"]

_FEWEST_POINTS = 10


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
        near = np.abs(table.heights(cloud))
        near = near[near < 0.006]
        noise = 1.4826 * float(np.median(near)) if len(near) > 0.1 * len(cloud) else 0.0
        surface = _seen_from(table, noise, cloud, chosen, min_height)
        if surface is None:
            raise PushwiseError("nothing in the cloud rises above the given table.")
        return surface
    found = find_table(cloud if chosen is None or chosen.all() else cloud[~chosen])
    if found is not None:
        surface = _either_side(found, cloud, chosen, min_height)
        if surface is not None:
            if is_among(surface.view, surface.blobs[0].mask):
                return surface
        elif (np.abs(found.plane.heights(cloud)) < 0.02).mean() > 0.5:
            raise PushwiseError(
                "all points lie on one plane, and nothing rises above it; if they are the top of a "
                "flat object, give the table's plane, such as table=(0, 0, 1, 0) for z = 0."
            )
    if np.median(cloud[:, 2]) > 0.0:
        # Without a table, the cloud is the object alone in a frame with z up from the table.
        surface = _seen_from(Plane((0.0, 0.0, 1.0, 0.0)), 0.0, cloud, chosen, min_height)
        if surface is not None:
            return surface
    raise PushwiseError(
        "found neither a table in the cloud nor an object above z = 0; "
        "give the table's plane as table=(a, b, c, d), a x + b y + c z + d = 0."
    )


def _seen_from(
    table: Plane,
    noise: float,
    cloud: Array,
    chosen: Flags | None,
    min_height: float | None,
) -> Tabletop | None:
    """Return a table seen from its upper side, or None if nothing rises above it."""
    axes = _axes(table.normal)
    heights = table.heights(cloud)
    if (np.abs(heights) < FARTHEST).sum() < _FEWEST_POINTS:
        return None
    view = height_map(_along(cloud, axes[:2]), heights, finest=max(0.5 * noise, 0.0005))
    smooth = smoothed(view, noise=noise)
    least = least_height(smooth, noise=noise) if min_height is None else min_height
    below = int((smooth < -least).sum())
    if chosen is None:
        smooth, _ = over_shadows(view, smooth, smooth > least)
        blobs = blobs_above(view, smooth, least)
    else:
        smooth, blobs = chosen_blob(view, smooth, chosen)
    return Tabletop(table, noise, axes, view, smooth, blobs, below) if blobs else None


def _either_side(
    found: FoundPlane,
    cloud: Array,
    chosen: Flags | None,
    min_height: float | None,
) -> Tabletop | None:
    """Return a plane seen from the side on which objects stand, or None if there are none."""
    # Most clouds are in the frame of a camera above the table, so try the camera's side first.
    plane = found.plane if found.plane.offset < 0.0 else found.plane.flipped()
    first = _seen_from(plane, found.noise, cloud, chosen, min_height)
    if first is not None and first.blobs[0].pixels >= first.below:
        return first
    second = _seen_from(plane.flipped(), found.noise, cloud, chosen, min_height)
    if first is None or second is None:
        return second if first is None else first
    return max(first, second, key=lambda side: side.blobs[0].pixels)


def _along(points: Array, axes: Array) -> Array:
    """Return the coordinates (n, k) of points (n, 3) along axes (k, 3)."""
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
