"""A cloud over its table: which way is up, and what stands there."""

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
    """A cloud over its table."""

    table: Plane
    noise: float
    axes: Array
    """Two directions along the table and its normal, shape (3, 3), one a row."""
    view: HeightMap
    heights: Array
    """Smoothed [m], shape (rows, columns)."""
    blobs: list[Blob]
    """What stands on it, the largest first."""
    below: int
    """How many pixels lie as far below the table as an object would above."""


def find_tabletop(
    cloud: Array,
    chosen: Flags | None,
    table: Plane | None,
    min_height: float | None,
) -> Tabletop:
    """Find the table when it is not given, and what rises above it."""
    if table is not None:
        near = np.abs(table.heights(cloud))
        near = near[near < 0.006]
        noise = 1.4826 * float(np.median(near)) if len(near) > 0.1 * len(cloud) else 0.0
        surface = _seen_from(table, noise, cloud, chosen, min_height)
        if surface is None:
            raise PushwiseError("nothing in the cloud stands out from the table that is given.")
        return surface
    found = find_table(cloud if chosen is None or chosen.all() else cloud[~chosen])
    if found is not None:
        surface = _either_side(found, cloud, chosen, min_height)
        if surface is not None:
            if is_among(surface.view, surface.blobs[0].mask):
                return surface
        elif (np.abs(found.plane.heights(cloud)) < 0.02).mean() > 0.5:
            raise PushwiseError(
                "all points lie on one plane, and nothing stands out from it; if they are the top "
                "of a flat object, give the table's plane, such as table=(0, 0, 1, 0) for z = 0."
            )
    if np.median(cloud[:, 2]) > 0.0:
        # No table in sight: the cloud is the object alone, in the table's own frame.
        surface = _seen_from(Plane((0.0, 0.0, 1.0, 0.0)), 0.0, cloud, chosen, min_height)
        if surface is not None:
            return surface
    raise PushwiseError(
        "found no table in the cloud and no object above z = 0; "
        "give the table's plane as table=(a, b, c, d), a x + b y + c z + d = 0."
    )


def _seen_from(
    table: Plane,
    noise: float,
    cloud: Array,
    chosen: Flags | None,
    min_height: float | None,
) -> Tabletop | None:
    """Look down on a table from its upper side; None when nothing stands out there."""
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
    """Look down on the side of a plane that something stands on."""
    # Most clouds are in the camera's frame, and the camera is over the table.
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
    # Threads, which a product of matrices would start, only wait for each other here.
    along: Array = np.einsum("ij,kj->ik", points, axes)
    return along


def _axes(normal: Array) -> Array:
    """Return two directions along a table and its normal, shape (3, 3), right-handed."""
    # The cloud's own x axis where it can be, so that tables in the table's frame keep theirs.
    along = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
    x = along - (along @ normal) * normal
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(normal, x), normal])
