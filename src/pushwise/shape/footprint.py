"""`Footprint`: where an object covers the table, traced from the pixels it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import ndimage

from pushwise.shape.polygon import signed_area
from pushwise.shape.trace import largest_part, trace_mask

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Footprint", "mask_footprint"]

# Holes of fewer pixels are gaps between them.
_LEAST_HOLE = 9


class Footprint(NamedTuple):
    """An outline and the holes in it."""

    outline: NDArray[np.float64]
    """[m], shape (k, 2), counter-clockwise."""
    holes: tuple[NDArray[np.float64], ...] = ()
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
