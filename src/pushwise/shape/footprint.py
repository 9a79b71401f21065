"""`Footprint`: where an object covers the table, traced from the pixels it covers.

From a picture of a thing to its outline: the pixel border without its staircase.
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

# Holes of fewer pixels are gaps between them.
_LEAST_HOLE = 9


class Footprint(NamedTuple):
    """An outline and the holes in it."""

    outline: Array
    """[m], shape (k, 2), counter-clockwise."""
    holes: tuple[Array, ...] = ()
    """[m], each of shape (k, 2), counter-clockwise."""

    def area(self) -> float:
        """Return the area [m^2] without the holes."""
        return signed_area(self.outline) - sum(signed_area(hole) for hole in self.holes)


def mask_footprint(mask: ArrayLike, *, pixel_size: float) -> Footprint:
    """Return the footprint [m] of the largest connected part of a mask, holes and all.

    mask: boolean image, shape (rows, columns), row 0 at the top. The frame has its origin
    at the image's lower left corner, x to the right and y up.
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

    mask: boolean image, shape (rows, columns), row 0 at the top. The outline's frame
    has its origin at the image's lower left corner, x to the right and y up. Holes
    are filled. The outline stays within about a pixel of the pixels' border, and along
    most of it within half a pixel.
    """
    image = largest_part(mask)
    rows = image.shape[0]
    row, column = np.nonzero(image)
    ij = np.stack([column, rows - 1 - row], axis=1).astype(np.int64)
    loop = outer_loop(ij, neighbours(ij))
    # The middles of the border's unit edges, unlike its corners, lie on both sides
    # of a straight border seen through pixels by the same amount.
    middles = loop.corners + 0.5 * HEADINGS[loop.sides]
    # A chord between two middles, each up to half a pixel off a straight border, leaves
    # others up to a pixel away; a smaller tolerance would break straight sides to bits.
    corners = _fit_corners(middles, _breaks(middles, tolerance=1.0))
    try:
        return simple_polygon("the mask's outline", corners * pixel_size)
    except PushwiseError:
        # Where a part is a pixel or two wide the fitted sides may meet; its pixels' never do.
        turns = loop.sides != np.roll(loop.sides, 1)
        return simple_polygon("the mask's outline", loop.corners[turns] * pixel_size)


def largest_part(mask: ArrayLike) -> Flags:
    """Return the mask's largest side-connected part, refusing what is not a mask."""
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
    """Return the points of a closed chain (e, 2) where its straight pieces meet.

    Douglas and Peucker: a piece whose points stray from its chord by more than the
    tolerance is broken at the farthest one.
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
        stray = np.abs(chord[0] * apart[:, 1] - chord[1] * apart[:, 0]) / np.hypot(*chord)
        worst = a + 1 + int(np.argmax(stray))
        if stray[worst - a - 1] > tolerance:
            keep.add(worst)
            pieces += [(a, worst), (worst, b)]
    return np.sort((np.array(sorted(keep)) + start) % n)


def _fit_corners(points: Array, breaks: Integers) -> Array:
    """Return where best-fitting lines through neighbouring pieces cross, shape (k, 2)."""
    lines = []
    for a, b in zip(breaks.tolist(), np.roll(breaks, -1).tolist(), strict=True):
        count = (b - a) % len(points) + 1
        piece = points[(a + np.arange(count)) % len(points)]
        if count > 4:
            piece = piece[1:-1]  # The end points belong to the next side as much as to this.
        middle = piece.mean(axis=0)
        normal = np.linalg.eigh((piece - middle).T @ (piece - middle))[1][:, 0]
        lines.append((middle, normal))
    corners = points[breaks].copy()
    for k, ((p, n), (q, m)) in enumerate(zip(lines[-1:] + lines[:-1], lines, strict=True)):
        sine = n[0] * m[1] - n[1] * m[0]
        # Nearly parallel lines cross anywhere: the chain's own point is better.
        if abs(sine) > 0.05:
            crossing = np.linalg.solve(np.array([n, m]), np.array([n @ p, m @ q]))
            # A corner of the pixel border is at most this far from the edge middles beside it.
            shift = crossing - corners[k]
            corners[k] += shift * min(1.0, 0.75 / max(float(np.hypot(*shift)), 1e-12))
    return corners
