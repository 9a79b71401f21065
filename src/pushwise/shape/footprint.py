"""`Footprint`: the area an object covers, as polygons traced from the pixels of a mask.

Tracing follows the border of the pixels, but removes its staircase: straight lines are fitted to
the middles of the border's unit edges, and their intersections are the corners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import ndimage

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area, simple_polygon
from pushwise.shape.lattice import HEADINGS, neighbours, outer_loop
from pushwise.typing import Array, Flags, Integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Footprint", "largest_part", "mask_footprint", "trace_mask"]

# Holes of fewer pixels are gaps in the data.
_LEAST_HOLE = 9


class Footprint(NamedTuple):
    """An outline and its holes."""

    outline: Array
    """[m], shape (k, 2), counter-clockwise."""
    holes: tuple[Array, ...] = ()
    """[m], each of shape (k, 2), counter-clockwise."""

    def area(self) -> float:
        """Return the area [m^2], not counting the holes."""
        return signed_area(self.outline) - sum(signed_area(hole) for hole in self.holes)


def mask_footprint(mask: ArrayLike, *, pixel_size: float) -> Footprint:
    """Return the footprint [m] of the largest connected part of a mask, with its holes.

    The frame has its origin at the image's lower left corner, x to the right and y up.

    Args:
        mask: Boolean image, shape (rows, columns), row 0 at the top.
        pixel_size: Side of a pixel [m].

    """
    solid = largest_part(mask)
    labels, count = ndimage.label(ndimage.binary_fill_holes(solid) & ~solid)
    sizes = np.bincount(labels.ravel(), minlength=count + 1)
    holes = tuple(
        trace_mask(labels == hole, pixel_size=pixel_size)
        for hole in range(1, count + 1)
        if sizes[hole] >= _LEAST_HOLE
    )
    return Footprint(trace_mask(solid, pixel_size=pixel_size), holes)


def trace_mask(mask: ArrayLike, *, pixel_size: float) -> Array:
    """Return the outline [m], shape (k, 2), of the largest connected part of a mask.

    The frame is that of `mask_footprint`. Holes are filled. The outline stays within about a pixel
    of the pixels' border, and within half a pixel along most of it.

    Args:
        mask: Boolean image, shape (rows, columns), row 0 at the top.
        pixel_size: Side of a pixel [m].

    """
    image = largest_part(mask)
    rows = image.shape[0]
    row, column = np.nonzero(image)
    ij = np.stack([column, rows - 1 - row], axis=1).astype(np.int64)
    loop = outer_loop(ij, neighbours(ij))
    # Unlike the corners of the pixel border, the middles of its unit edges scatter evenly to
    # both sides of a straight edge.
    middles = loop.corners + 0.5 * HEADINGS[loop.sides]
    # Middles are up to half a pixel off a straight edge, so they are up to a pixel off the chord
    # between two of them; a smaller tolerance would break straight sides into pieces.
    corners = _fit_corners(middles, _breaks(middles, tolerance=1.0))
    try:
        return simple_polygon("the mask's outline", corners * pixel_size)
    except PushwiseError:
        # Where a part is a pixel or two wide, fitted sides may meet; the pixels' own never do.
        turns = loop.sides != np.roll(loop.sides, 1)
        return simple_polygon("the mask's outline", loop.corners[turns] * pixel_size)


def largest_part(mask: ArrayLike) -> Flags:
    """Return the largest side-connected part of a mask, after checking that it is a mask."""
    image = np.asarray(mask)
    if image.dtype != np.bool_ or image.ndim != 2:
        raise PushwiseError(
            "mask must be a boolean image of shape (rows, columns); "
            f"got dtype {image.dtype}, shape {image.shape}."
        )
    labels, count = ndimage.label(image)
    if count == 0:
        raise PushwiseError(
            f"mask must have at least one pixel set; all of its {image.size} pixels are False."
        )
    sizes = np.bincount(labels.ravel())[1:]
    part: Flags = labels == 1 + int(np.argmax(sizes))
    return part


def _breaks(points: Array, *, tolerance: float) -> Integers:
    """Return the indices of a closed chain (e, 2) at which its straight pieces meet.

    The algorithm of Douglas and Peucker: a piece with points farther from its chord than the
    tolerance is split at the farthest one.
    """
    n = len(points)
    start = int(np.argmax(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))
    ring = np.roll(points, -start, axis=0)
    opposite = int(np.argmax(np.sum((ring - ring[0]) ** 2, axis=1)))
    closed = np.vstack([ring, ring[:1]])
    keep = {0, opposite}
    pieces = [(0, opposite), (opposite, n)]
    while pieces:
        a, b = pieces.pop()
        if b - a < 2:
            continue
        chord = closed[b] - closed[a]
        apart = closed[a + 1 : b] - closed[a]
        away = np.abs(chord[0] * apart[:, 1] - chord[1] * apart[:, 0]) / np.hypot(*chord)
        worst = a + 1 + int(np.argmax(away))
        if away[worst - a - 1] > tolerance:
            keep.add(worst)
            pieces += [(a, worst), (worst, b)]
    return np.sort((np.array(sorted(keep)) + start) % n)


def _fit_corners(points: Array, breaks: Integers) -> Array:
    """Return the corners (k, 2) at which the lines fitted to neighbouring pieces intersect."""
    lines = []
    for a, b in zip(breaks.tolist(), np.roll(breaks, -1).tolist(), strict=True):
        count = (b - a) % len(points) + 1
        piece = points[(a + np.arange(count)) % len(points)]
        if count > 4:
            piece = piece[1:-1]  # The end points belong to the adjacent sides as well.
        middle = piece.mean(axis=0)
        normal = np.linalg.eigh((piece - middle).T @ (piece - middle))[1][:, 0]
        lines.append((middle, normal))
    corners = points[breaks].copy()
    for k, ((p, n), (q, m)) in enumerate(zip(lines[-1:] + lines[:-1], lines, strict=True)):
        sine = n[0] * m[1] - n[1] * m[0]
        # Nearly parallel lines may intersect far away: keep the chain's own point.
        if abs(sine) > 0.05:
            crossing = np.linalg.solve(np.array([n, m]), np.array([n @ p, m @ q]))
            # A corner of the pixel border is at most this far from the adjacent edge middles.
            shift = crossing - corners[k]
            corners[k] += shift * min(1.0, 0.75 / max(float(np.hypot(*shift)), 1e-12))
    return corners
