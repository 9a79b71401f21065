"""From a cloud and its table to one object: which part of the surface above the table it is."""

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

# No camera over a table sees less than this stand out from it [m].
_LEAST_HEIGHT = 0.0015
# Parts of one thing that the camera lost the surface between are no farther apart [m].
_GAP = 0.003
# A gap that nothing is seen in, narrower than this [m], does not part a thing.
_SHADOW = 0.045
# What covers less than this many pixels is noise.
_LEAST_PIXELS = 9
# A surface that rises this share of what a thing must rise may be part of one.
_WEAK = 0.6
# What is lower than this share of a thing's usual height is no part of it.
_LOW = 0.1
# What covers a smaller share of the largest thing's area is a speck.
_LEAST_SHARE = 0.02
# A camera's ramps along edges are no wider than this [m].
_RAMP = 0.005
# A table is seen within this distance [m] of what lies on it.
_AROUND = 0.01
_EXTREMES = (ndimage.minimum, ndimage.maximum)


class Blob(NamedTuple):
    """A connected part of the surface above the table."""

    mask: Flags
    """Its pixels, shape (rows, columns)."""
    pixels: int
    """How many they are."""


def least_height(heights: Array, *, noise: float) -> float:
    """Return how far [m] a smoothed surface must rise to be more than the table's noise.

    heights: smoothed [m], shape (rows, columns); noise: of a single point [m].
    """
    flat = np.abs(heights[np.abs(heights) < max(3.0 * noise, _LEAST_HEIGHT)])
    left = 1.4826 * float(np.median(flat)) if len(flat) else 0.0
    return max(4.0 * left, _LEAST_HEIGHT)


def over_shadows(view: HeightMap, heights: Array, raised: Flags) -> tuple[Array, Flags]:
    """Return heights [m] and raised pixels that go on where nothing is seen between parts.

    A high part hides what is low behind it from a tilted camera, and shiny or clear
    parts are not seen at all: a gap there does not part an object.
    """
    # Eroded, so that a thread of pixels along a shadow's end does not count as a joint.
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
    # Keep the gaps that have different parts for neighbours.
    beside = gaps * (away < 6.0)
    numbers = np.arange(1, count + 1)
    owners = labels[j, i]
    first, last = (np.asarray(f(owners, beside, numbers)) for f in _EXTREMES)
    hidden = np.isin(gaps, numbers[first != last])
    # Up to the parts: along a gap's sides the smoothing has drawn in the table.
    hidden = ndimage.maximum_filter(hidden, 7) & between & ~raised
    return np.where(hidden, heights[j, i], heights), raised | hidden


def chosen_blob(view: HeightMap, heights: Array, chosen: Flags) -> tuple[Array, list[Blob]]:
    """Return the heights [m] and the one thing that the chosen points are.

    chosen: which points of the cloud are the object, shape (n,). However low it is, it is
    higher than the table.
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
    """Return the things that rise more than `least` [m], the largest first.

    What rises a little less belongs to a thing next to it.
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
    """Return a thing without the ramps that a camera sees around it.

    Stereo cameras draw an edge as a slope, and a tilted one sees the wall below it: the
    edge is where half the height is reached. Low parts that lie beside high ones stay,
    but for waves of the table that lap at a thing many times higher.
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
    # Rather a ramp too many than a thin part cut off.
    whole = largest_part(trimmed).sum() > 0.9 * trimmed.sum()
    kept[box] = _without_spurs(trimmed if whole else on_it)
    return Blob(kept, int(kept.sum()))


def _without_spurs(mask: Flags) -> Flags:
    """Return a mask without what is two pixels thin, unless the object itself is that thin."""
    opened: Flags = ndimage.binary_opening(mask, np.ones((3, 3)))
    return opened if opened.sum() > 0.97 * mask.sum() else mask


def is_among(view: HeightMap, mask: Flags) -> bool:
    """Return whether enough is seen around an object's pixels for it to lie on a table."""
    width = 2 * max(2, round(_AROUND / view.pixel)) + 1
    around = ndimage.maximum_filter(mask, width) & ~ndimage.maximum_filter(mask, 3)
    # A shadow may hide half of it.
    return bool(around.any() and view.seen[around].mean() > 0.3)


def trace_footprint(view: HeightMap, mask: Flags) -> Footprint:
    """Return the footprint of an object's pixels, in the height map's coordinates [m].

    A hole stays one where the table is seen through it; where nothing is seen, the
    object is taken to go on.
    """
    solid = mask
    if largest_part(solid).sum() < 0.95 * solid.sum():
        # Bridge what the camera lost between the parts, and only then: it rounds corners.
        radius = 1 + max(1, round(0.5 * _GAP / view.pixel))
        pad = radius + 1
        solid = ndimage.binary_closing(np.pad(solid, pad), _disc(radius))[pad:-pad, pad:-pad]
    inside = ndimage.binary_fill_holes(solid) & ~solid
    labels, count = ndimage.label(inside)
    if count:
        seen = ndimage.mean(view.seen, labels, np.arange(1, count + 1))
        solid = solid | np.isin(labels, 1 + np.flatnonzero(np.asarray(seen) <= 0.5))
    # Images have their first row at the top, height maps at the bottom.
    outline, holes = mask_footprint(solid[::-1], pixel_size=view.pixel)
    return Footprint(view.origin + outline, tuple(view.origin + hole for hole in holes))


def _disc(radius: int) -> Flags:
    """Return a disc of pixels."""
    j, i = np.ogrid[-radius : radius + 1, -radius : radius + 1]
    disc: Flags = i * i + j * j <= radius * radius + 1
    return disc
