"""`HeightMap`: a point cloud seen from straight above, as heights over a raster of the table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from pushwise.shape.plane import thinned
from pushwise.typing import Array, Flags, Integers

__all__ = ["FARTHEST", "HeightMap", "height_map", "smoothed", "with_walls"]

# Points farther from the table than this [m] belong neither to it nor to an object.
FARTHEST = 0.5
_MOST_PIXELS = 1_500  # Per side.
# Side of a pixel relative to the distance between points: 4 of 5 random pixels see a point.
_PIXEL = 1.25
# Side of a pixel relative to that which the sparsest tenth of the points asks for, at least.
_SPARSE = 0.8
# Heights are sorted as integer multiples of this length [m].
_QUANTUM = 1e-6
# A point of a surface has this many points, itself included, within so many pixels.
_COMPANY, _NEAR = 6, 2.5
# Over a pixel of a wall are this many points, and this share of those over the fullest pixel next
# to it; over a pixel of a level surface are one or two.
_STACK, _CORE = 4, 0.3


class HeightMap(NamedTuple):
    """Heights over equal pixels: row j, column i starts at origin + (i, j) * pixel."""

    origin: Array
    """Lower left corner [m], shape (2,)."""
    pixel: float
    """Side of a pixel [m]."""
    heights: Array
    """Median height of the points over each pixel [m], shape (rows, columns); NaN for none."""
    seen: Flags
    """Pixels with points, or with points in most pixels around them, shape (rows, columns)."""
    indices: Integers
    """The flat pixel index of each point of the cloud, shape (n,); -1 outside the raster."""

    def centres(self, mask: Flags) -> Array:
        """Return the centres [m], shape (m, 2), of the pixels of a mask (rows, columns)."""
        j, i = np.nonzero(mask)
        return self.origin + (np.stack([i, j], axis=1) + 0.5) * self.pixel


def height_map(xy: Array, heights: Array, *, finest: float) -> HeightMap:
    """Return the height map of a cloud; its pixels are slightly wider than the points are apart.

    Args:
        xy: Places of the points along the table [m], shape (n, 2).
        heights: Heights of the points above the table [m], shape (n,).
        finest: Smallest side of a pixel [m].

    """
    near = np.flatnonzero(np.abs(heights) < FARTHEST)
    low, high = _region(xy[near])
    pixel = max(
        _PIXEL * _spacing(xy[near], low, high), finest, float((high - low).max()) / _MOST_PIXELS
    )
    columns, rows = (np.floor((high - low) / pixel).astype(np.int64) + 1).tolist()
    # One axis at a time: reducing a million pairs row by row is slow.
    i, j = (np.floor((xy[near, k] - low[k]) / pixel).astype(np.int64) for k in (0, 1))
    inside = (i >= 0) & (i < columns) & (j >= 0) & (j < rows)
    seen = near[inside]
    indices = np.full(len(xy), -1, dtype=np.int64)
    indices[seen] = j[inside] * columns + i[inside]
    image = np.full(rows * columns, np.nan)
    pixels, medians = _medians(indices[seen], heights[seen])
    image[pixels] = medians
    image = image.reshape(rows, columns)
    filled = ~np.isnan(image)
    around = ndimage.uniform_filter(filled.astype(np.float32), 5, mode="constant")
    return HeightMap(low, pixel, image, filled | (around > 0.5), indices)


def smoothed(view: HeightMap, *, noise: float) -> Array:
    """Return the heights [m], shape (rows, columns), without noise and isolated outliers.

    Empty pixels among filled ones take the nearest height, all others that of the table, zero.
    Unlike a mean, a median leaves the object's edges in place. Taken along rows and then along
    columns, it costs a fraction of a median over squares.

    Args:
        view: The height map.
        noise: Standard deviation of the height of a point [m].

    """
    empty = np.isnan(view.heights)
    filled = view.heights
    if empty.any():
        j, i = ndimage.distance_transform_edt(empty, return_distances=False, return_indices=True)
        # In a shadow, the nearest height would make the object grow.
        around = ndimage.uniform_filter((~empty).astype(np.float32), 5, mode="nearest")
        filled = np.where(~empty | (around > 0.7), view.heights[j, i], 0.0)
    # Wide enough to leave about half a millimetre of noise, within limits.
    width = int(np.clip(2 * int(noise / 0.0008) + 1, 3, 9))
    rows = ndimage.median_filter(filled, size=(1, width), mode="nearest")
    result: Array = ndimage.median_filter(rows, size=(width, 1), mode="nearest")
    return result


def with_walls(
    view: HeightMap, cloud: Array, smooth: Array, *, noise: float
) -> tuple[Array, Flags]:
    """Return smoothed heights [m] raised to the tops of walls, and where walls are seen.

    A tilted camera sees the side of a tall object, whose points lie over one or two rows of pixels:
    too narrow for a median, but high above what surrounds them.

    Args:
        view: The height map.
        cloud: The points it was made of, along the table and above it [m], shape (n, 3).
        smooth: Smoothed heights [m], shape (rows, columns).
        noise: Standard deviation of the height of a point [m].

    """
    inside = np.flatnonzero(view.indices >= 0)
    rise = cloud[inside, 2] - smooth.ravel()[view.indices[inside]]
    high = inside[rise > max(4.0 * noise, 2.0 * view.pixel)]
    # Outliers are alone, while the points of a surface have neighbours.
    within = _NEAR * view.pixel
    far = cKDTree(cloud[high]).query(cloud[high], k=[_COMPANY], distance_upper_bound=within)[0]
    high = high[np.isfinite(far[:, 0])]
    tops = smooth.ravel().copy()
    np.maximum.at(tops, view.indices[high], cloud[high, 2])
    # Points of a wall lie above each other; noise spreads some of them to either side of it.
    counts = np.bincount(view.indices[high], minlength=smooth.size).reshape(smooth.shape)
    stacked = counts >= np.maximum(_CORE * ndimage.maximum_filter(counts, 3), _STACK)
    tops = np.where(stacked, tops.reshape(smooth.shape), smooth)
    low = np.full(smooth.size, np.inf)
    np.minimum.at(low, view.indices[inside], cloud[inside, 2])
    low = np.maximum(low.reshape(smooth.shape), 0.0)
    return tops, tops - low > max(4.0 * noise, 3.0 * view.pixel)


def _region(xy: Array) -> tuple[Array, Array]:
    """Return the lower and upper corner [m] of the points, ignoring a few distant ones."""
    low, high = np.percentile(thinned(xy, 20_000), [1.0, 99.0], axis=0)
    margin = 0.15 * (high - low) + 1e-9
    least = [xy[:, 0].min(), xy[:, 1].min()]
    most = [xy[:, 0].max(), xy[:, 1].max()]
    return np.maximum(low - margin, least), np.minimum(high + margin, most)


def _spacing(xy: Array, low: Array, high: Array) -> float:
    """Return the typical distance [m] between points [m], shape (n, 2)."""
    # Count points in squares coarse enough to have some; the median ignores outliers.
    some = thinned(xy, 20_000)
    count = min(64.0, max(1.0, len(some) ** 0.5 / 4.0))
    square = max(float((high - low).max()), 1e-9) / count
    ij = np.clip(np.floor((some - low) / square), -1, count + 1.0).astype(np.int64) + 1
    flat = ij[:, 1] * 70 + ij[:, 0]
    crowd = np.bincount(flat)[flat] * (len(xy) / len(some))
    usual, sparse = square / np.sqrt(np.percentile(crowd, [50.0, 10.0]))
    # Far from a tilted camera, points are farther apart; pixels still have to see some there.
    return float(max(usual, _SPARSE * sparse))


def _medians(groups: Integers, values: Array) -> tuple[Integers, Array]:
    """Return the distinct groups (g,) and the median of the values in each group, shape (g,)."""
    # Sorting integers with the group in the high bits is the fastest way to get all medians.
    steps = np.rint((values + FARTHEST) / _QUANTUM).astype(np.int64)
    keys = np.sort((groups << 21) | np.clip(steps, 0, (1 << 21) - 1))
    starts = np.flatnonzero(np.diff(keys >> 21, prepend=-1))
    counts = np.diff(starts, append=len(keys))
    low = keys[starts + (counts - 1) // 2] & ((1 << 21) - 1)
    high = keys[starts + counts // 2] & ((1 << 21) - 1)
    return keys[starts] >> 21, 0.5 * (low + high) * _QUANTUM - FARTHEST
