"""Segmenting a height map: which pixels belong to which object on the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from pushwise.shape.footprint import Footprint, largest_part, mask_footprint
from pushwise.shape.heightmap import HeightMap
from pushwise.typing import Array, Flags

__all__ = [
    "Blob",
    "blobs_above",
    "chosen_blob",
    "is_among",
    "least_height",
    "over_shadows",
    "trace_footprint",
]

# No depth camera resolves objects lower than this [m].
_LEAST_HEIGHT = 0.0015
# Parts of one object between which the camera lost the surface are at most this far apart [m].
_GAP = 0.003
# A gap narrower than this [m] in which nothing is seen does not divide an object.
_SHADOW = 0.045
# Fewer pixels than this are noise.
_LEAST_PIXELS = 9
# A surface may belong to an object if it reaches this share of the least height.
_WEAK = 0.6
# A surface below this share of the object's median height does not belong to it.
_LOW = 0.1
# What covers a smaller share of the largest object's area is not an object.
_LEAST_SHARE = 0.02
# The slopes that cameras draw along edges are not wider than this [m].
_RAMP = 0.005
# The table must be visible within this distance of an object [m].
_AROUND = 0.01
_EXTREMES = (ndimage.minimum, ndimage.maximum)


class Blob(NamedTuple):
    """A connected part of the surface above the table."""

    mask: Flags
    """Its pixels, shape (rows, columns)."""
    pixels: int
    """Number of its pixels."""


def least_height(heights: Array, *, noise: float) -> float:
    """Return the height [m] above which a smoothed surface is more than the table's noise.

    Args:
        heights: Smoothed heights [m], shape (rows, columns).
        noise: Standard deviation of the height of a point [m].

    """
    flat = np.abs(heights[np.abs(heights) < max(3.0 * noise, _LEAST_HEIGHT)])
    left = 1.4826 * float(np.median(flat)) if len(flat) else 0.0
    return max(4.0 * left, _LEAST_HEIGHT)


def over_shadows(view: HeightMap, heights: Array, raised: Flags) -> tuple[Array, Flags]:
    """Return heights [m] and raised pixels, continued across gaps in which nothing is seen.

    A high part hides low parts behind it from a tilted camera, and shiny or transparent parts are
    not seen at all; such a gap does not divide an object.
    """
    # Eroded, so that a thread of pixels at the end of a shadow does not connect two parts.
    labels, _ = ndimage.label(ndimage.minimum_filter(raised, 5))
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    large = sizes >= max(_LEAST_PIXELS, _LEAST_SHARE * sizes.max())
    if large.sum() < 2:
        return heights, raised
    labels[~large[labels]] = 0
    away, (j, i) = ndimage.distance_transform_edt(labels == 0, return_indices=True)
    radius = 0.5 * _SHADOW / view.pixel
    near = np.pad(away <= radius, 1, constant_values=True)
    between = ndimage.distance_transform_edt(near)[1:-1, 1:-1] > radius
    gaps, count = ndimage.label(between & ~view.seen & ~raised)
    # Keep the gaps between different parts.
    rim = gaps * (away < 6.0)
    numbers = np.arange(1, count + 1)
    owners = labels[j, i]
    first, last = (np.asarray(f(owners, rim, numbers)) for f in _EXTREMES)
    hidden = np.isin(gaps, numbers[first != last])
    # Extend up to the parts: smoothing has lowered the pixels along a gap to the table.
    hidden = ndimage.maximum_filter(hidden, 7) & between & ~raised
    return np.where(hidden, heights[j, i], heights), raised | hidden


def chosen_blob(view: HeightMap, heights: Array, chosen: Flags) -> tuple[Array, list[Blob]]:
    """Return the heights [m] and the one object that the chosen points show.

    The object is above the table however low its points are.

    Args:
        view: The height map.
        heights: Smoothed heights [m], shape (rows, columns).
        chosen: Which points of the cloud are on the object, shape (n,).

    """
    inside = view.indices >= 0
    counts = np.bincount(view.indices[inside], minlength=heights.size)
    votes = np.bincount(view.indices[inside & chosen], minlength=heights.size)
    share = ndimage.uniform_filter((votes / np.maximum(counts, 1)).reshape(heights.shape), 3)
    filled = ndimage.uniform_filter((counts > 0).astype(np.float64).reshape(heights.shape), 3)
    heights, raised = over_shadows(view, heights, share > 0.5 * np.maximum(filled, 0.3))
    heights = np.where(raised, np.maximum(heights, _LEAST_HEIGHT), heights)
    size = int(raised.sum())
    return heights, [Blob(raised, size)] if size >= _LEAST_PIXELS else []


def blobs_above(view: HeightMap, heights: Array, least: float) -> list[Blob]:
    """Return the objects that rise more than `least` [m], the largest first.

    Adjacent pixels that are slightly lower belong to the object, too.
    """
    weak = heights > _WEAK * least
    reach = max(1, round(0.5 * _GAP / view.pixel))
    labels, count = ndimage.label(ndimage.binary_dilation(weak, _disc(reach)), np.ones((3, 3)))
    labels[~weak] = 0
    strong = np.bincount(labels[heights > least], minlength=count + 1)[1:]
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    sizes[strong < _LEAST_PIXELS] = 0
    if not sizes.any():
        return []
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] >= _LEAST_SHARE * sizes[order[0]]]
    return [_trimmed(view, heights, labels == at + 1, least) for at in order]


def _trimmed(view: HeightMap, heights: Array, mask: Flags, least: float) -> Blob:
    """Return an object without the slopes that a camera sees around it.

    Stereo cameras draw an edge as a slope, and a tilted camera sees the wall below it: the edge is
    where half of the height is reached. Low parts next to high ones are kept, except unevenness of
    the table next to a much higher object.
    """
    radius = max(1, round(_RAMP / view.pixel))
    j, i = np.nonzero(mask)
    box = (
        slice(max(0, j.min() - radius), j.max() + radius + 1),
        slice(max(0, i.min() - radius), i.max() + radius + 1),
    )
    local = np.where(mask[box], heights[box], 0.0)
    usual = float(np.median(local[local > least]))
    on_it = local > max(_WEAK * least, _LOW * usual)
    top = ndimage.maximum_filter(local, size=2 * radius + 1)
    inner = ndimage.minimum_filter(on_it, size=2 * radius + 1, mode="constant")
    kept = np.zeros_like(mask)
    trimmed = on_it & ((local > 0.5 * top) | inner)
    # A slope too many is better than a thin part cut off.
    whole = largest_part(trimmed).sum() > 0.9 * trimmed.sum()
    kept[box] = _without_spurs(trimmed if whole else on_it)
    return Blob(kept, int(kept.sum()))


def _without_spurs(mask: Flags) -> Flags:
    """Return a mask without parts up to two pixels wide, unless the object itself is that thin."""
    opened: Flags = ndimage.binary_opening(mask, np.ones((3, 3)))
    return opened if opened.sum() > 0.97 * mask.sum() else mask


def is_among(view: HeightMap, mask: Flags) -> bool:
    """Return whether enough is seen around an object for it to stand on a table."""
    width = 2 * max(2, round(_AROUND / view.pixel)) + 1
    around = ndimage.maximum_filter(mask, width) & ~ndimage.maximum_filter(mask, 3)
    # A shadow may hide more than half of it.
    return bool(around.any() and view.seen[around].mean() > 0.3)


def trace_footprint(view: HeightMap, mask: Flags) -> Footprint:
    """Return the footprint of an object's pixels, in the height map's coordinates [m].

    A hole is kept if the table is seen through it, and filled if nothing is seen.
    """
    solid = mask
    if largest_part(solid).sum() < 0.95 * solid.sum():
        # Bridge what the camera lost between the parts, but only if needed: it rounds corners.
        radius = 1 + max(1, round(0.5 * _GAP / view.pixel))
        pad = radius + 1
        solid = ndimage.binary_closing(np.pad(solid, pad), _disc(radius))[pad:-pad, pad:-pad]
    inside = ndimage.binary_fill_holes(solid) & ~solid
    labels, count = ndimage.label(inside)
    if count:
        seen = ndimage.mean(view.seen, labels, np.arange(1, count + 1))
        solid = solid | np.isin(labels, 1 + np.flatnonzero(np.asarray(seen) <= 0.5))
    # Row 0 is at the top of an image, but at the bottom of a height map.
    outline, holes = mask_footprint(solid[::-1], pixel_size=view.pixel)
    return Footprint(view.origin + outline, tuple(view.origin + hole for hole in holes))


def _disc(radius: int) -> Flags:
    """Return a disc as a boolean image, shape (2 radius + 1, 2 radius + 1)."""
    j, i = np.ogrid[-radius : radius + 1, -radius : radius + 1]
    disc: Flags = i * i + j * j <= radius * radius + 1
    return disc
