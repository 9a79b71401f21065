"""Segmenting a height map: which pixels belong to which object on the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from pushwise.shape.footprint import Footprint, largest_part, mask_footprint
from pushwise.shape.heightmap import HeightMap
from pushwise.typing import Array, Flags, Integers

__all__ = [
    "Blob",
    "Unevenness",
    "blobs_above",
    "chosen_blob",
    "is_among",
    "over_shadows",
    "trace_footprint",
    "unevenness",
]

# No depth camera resolves objects lower than this [m].
_LEAST_HEIGHT = 0.0015
# The share [%] of the pixels below the table's plane that may be deeper than the least height; of
# normal noise, what is beyond three standard deviations.
_DIP = 0.3
# An object rises this many times as far as the deepest dip.
_HIGHER = 1.5
# Fewer pixels below the table show nothing; what is deeper than this [m] is not the table.
_FEWEST_DIPS, _DEEPEST = 1_000, 0.02
# The share of the pixels around one in the middle of a table that show the table.
_INNER = 0.6
# Parts of one object between which the camera lost the surface are at most this far apart [m].
_GAP = 0.003
# A gap narrower than this [m] in which nothing is seen does not divide an object.
_SHADOW = 0.045
# Fewer pixels than this are noise.
_LEAST_PIXELS = 9
# A surface may belong to an object if it reaches this share of the least height.
_WEAK = 0.6
# An object this many times as high as the least height is clear of the noise.
_CLEARLY = 4.0
# A surface below this share of the object's median height does not belong to it.
_LOW = 0.1
# What covers a smaller share of the largest part's area is no part that a shadow could divide.
_LEAST_SHARE = 0.02
# What covers less than this [m^2], or a smaller share of the largest object's area, is no object.
_LEAST_AREA, _LEAST_SPECK = 5e-5, 0.002
# The slopes that cameras draw along edges are not wider than this [m].
_RAMP = 0.005
# The table must be visible within this distance of an object [m].
_AROUND = 0.01
# More than this share of a part's pixels along a gap are wall where the gap ends at its side.
_WALLED = 0.3
_EXTREMES = (ndimage.minimum, ndimage.maximum)


class Blob(NamedTuple):
    """A connected part of the surface above the table."""

    mask: Flags
    """Its pixels, shape (rows, columns)."""
    pixels: int
    """Number of its pixels."""


class Unevenness(NamedTuple):
    """How far a table seems to rise where nothing stands on it."""

    least: float
    """Height [m] above which a surface is hardly ever the table."""
    wave: float
    """Height [m] that the table never seems to reach."""


def unevenness(view: HeightMap, heights: Array) -> Unevenness:
    """Return how far noise, and the waves that cameras draw on a table, seem to raise it.

    Nothing is below a table, so the depth of its dips shows how high its waves are.

    Args:
        view: The height map.
        heights: Smoothed heights [m], shape (rows, columns).

    """
    # The front of a table is below it as well, but at its border.
    level = ~np.isnan(view.heights) & (np.abs(heights) < _DEEPEST)
    width = 2 * max(2, round(_AROUND / view.pixel)) + 1
    inner = ndimage.uniform_filter(level.astype(np.float32), width, mode="constant") > _INNER
    dips = -heights[level & inner & (heights < 0.0)]
    if len(dips) < _FEWEST_DIPS:
        return Unevenness(_LEAST_HEIGHT, 0.0)
    deepest = float(np.partition(dips, -_LEAST_PIXELS)[-_LEAST_PIXELS])
    usual = float(np.percentile(dips, 100.0 - _DIP))
    return Unevenness(max(usual, _LEAST_HEIGHT), _HIGHER * deepest)


def over_shadows(
    view: HeightMap, heights: Array, raised: Flags, walls: Flags
) -> tuple[Array, Flags]:
    """Return heights [m] and raised pixels, continued across gaps in which nothing is seen.

    A high part hides low parts behind it from a tilted camera, and shiny or transparent parts are
    not seen at all; such a gap does not divide an object. It does where a wall is seen behind it:
    there something else begins.
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
    owners = labels[j, i]
    radius = 0.5 * _SHADOW / view.pixel
    near = np.pad(away <= radius, 1, constant_values=True)
    between = ndimage.distance_transform_edt(near)[1:-1, 1:-1] > radius
    gaps, count = ndimage.label(between & ~view.seen & ~raised)
    gaps[_behind_walls(gaps, owners, raised, walls)] = 0
    # Keep the gaps between different parts.
    rim = gaps * (away < 6.0)
    numbers = np.arange(1, count + 1)
    first, last = (np.asarray(f(owners, rim, numbers)) for f in _EXTREMES)
    hidden = np.isin(gaps, numbers[first != last])
    # Extend up to the parts: smoothing has lowered the pixels along a gap to the table.
    hidden = ndimage.maximum_filter(hidden, 7) & between & ~raised
    return np.where(hidden, heights[j, i], heights), raised | hidden


def _behind_walls(gaps: Integers, owners: Integers, raised: Flags, walls: Flags) -> Flags:
    """Return the pixels of gaps that are nearest to a part with a wall along that gap.

    Args:
        gaps: Numbers of the gaps, shape (rows, columns); zero elsewhere.
        owners: Number of the nearest part, shape (rows, columns).
        raised: Pixels above the table, shape (rows, columns).
        walls: Pixels over which a wall is seen, shape (rows, columns).

    """
    # The number of the nearest gap, on the raised pixels along it.
    away, (j, i) = ndimage.distance_transform_edt(gaps == 0, return_indices=True)
    along = raised & (away <= 4.0)
    parts = int(owners.max()) + 1
    pair = gaps[j, i] * parts + owners
    length = (int(gaps.max()) + 1) * parts
    total = np.bincount(pair[along], minlength=length)
    walled = np.bincount(pair[along & walls], minlength=length)
    behind: Flags = (gaps > 0) & (walled > _WALLED * total)[gaps * parts + owners]
    return behind


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
    chosen_pixels = share > 0.5 * np.maximum(filled, 0.3)
    heights, raised = over_shadows(view, heights, chosen_pixels, np.zeros_like(chosen_pixels))
    heights = np.where(raised, np.maximum(heights, _LEAST_HEIGHT), heights)
    size = int(raised.sum())
    return heights, [Blob(raised, size)] if size >= _LEAST_PIXELS else []


def blobs_above(view: HeightMap, heights: Array, walls: Flags, uneven: Unevenness) -> list[Blob]:
    """Return the objects that rise higher than the table seems to, the largest first.

    Adjacent pixels that are slightly lower belong to the object, too.
    """
    least = uneven.least
    labels, count = _joined_parts(view, heights, least)
    strong = np.bincount(labels[heights > least], minlength=count + 1)[1:]
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    risen = np.bincount(labels[heights > uneven.wave], minlength=count + 1)[1:]
    sizes[(strong < _LEAST_PIXELS) | (risen < _LEAST_PIXELS)] = 0
    if not sizes.any():
        return []
    order = np.argsort(-sizes, kind="stable")
    fewest = max(_LEAST_PIXELS, _LEAST_AREA / view.pixel**2, _LEAST_SPECK * sizes[order[0]])
    order = order[sizes[order] >= fewest]
    found = [_trimmed(view, heights, walls, labels == at + 1, least) for at in order]
    # Hardly anything is left of a few outliers on a slope.
    return [blob for blob in found if blob.pixels >= _LEAST_PIXELS]


def _joined_parts(view: HeightMap, heights: Array, least: float) -> tuple[Integers, int]:
    """Return a number for each connected part above the table, shape (rows, columns), and a count.

    Pixels below `least` [m] connect parts of a low object, which noise divides. Between objects
    that are much higher than those pixels, they are waves of the table.
    """
    weak = heights > _WEAK * least
    labels, _ = _connected(view, weak)
    strong, count = _connected(view, heights > least)
    numbers = np.arange(1, count + 1)
    usual = np.asarray(ndimage.median(heights, strong, numbers)).reshape(count)
    size = np.bincount(strong.ravel(), minlength=count + 1)[1:]
    inside = np.asarray(ndimage.maximum(labels, strong, numbers), dtype=np.int64).reshape(count)
    # The level of each weak part: a share of the height of the lowest part in it that counts.
    level = np.full(int(labels.max()) + 1, np.inf)
    counts = size >= _LEAST_PIXELS
    np.minimum.at(level, inside[counts], _LOW * usual[counts])
    several = np.bincount(inside[counts], minlength=len(level)) > 1
    return _connected(view, weak & ~(several[labels] & (heights < level[labels])))


def _connected(view: HeightMap, mask: Flags) -> tuple[Integers, int]:
    """Return a number for each part of a mask, and a count; narrow gaps do not divide a part."""
    # Two coarse pixels may be the whole gap between two objects, so only one of them is bridged.
    side = 1 + max(1, int(_GAP / view.pixel))
    grown = ndimage.binary_dilation(mask, np.ones((side, side)))
    labels, count = ndimage.label(grown, np.ones((3, 3)))
    labels[~mask] = 0
    return labels, count


def _trimmed(view: HeightMap, heights: Array, walls: Flags, mask: Flags, least: float) -> Blob:
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
    # Next to an object that is clearly higher, what noise could be is noise.
    on_it = local > max((1.0 if usual > _CLEARLY * least else _WEAK) * least, _LOW * usual)
    top = ndimage.maximum_filter(local, size=2 * radius + 1)
    inner = ndimage.minimum_filter(on_it, size=2 * radius + 1, mode="constant")
    kept = np.zeros_like(mask)
    trimmed = on_it & ((local > 0.5 * top) | inner)
    # A slope too many is better than a thin part cut off.
    whole = largest_part(trimmed).sum() > 0.9 * trimmed.sum()
    kept[box] = _without_spurs(trimmed if whole else on_it, walls[box])
    return Blob(kept, int(kept.sum()))


def _without_spurs(mask: Flags, walls: Flags) -> Flags:
    """Return a mask without parts up to two pixels wide, unless the object itself is that thin.

    Walls are that thin when seen from above.
    """
    opened: Flags = ndimage.binary_opening(mask, np.ones((3, 3))) | (mask & walls)
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
