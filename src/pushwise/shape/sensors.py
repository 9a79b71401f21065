"""Point clouds from depth images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.shape.cloud_limits import check_count
from pushwise.typing import Array, Flags

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["DEPTH_SCALE", "depth_points"]

DEPTH_SCALE = 0.001
"""Metres per unit of a depth image; most cameras write millimetres."""


def depth_points(
    depth: ArrayLike, intrinsics: ArrayLike, *, mask: ArrayLike | None, scale: float
) -> tuple[Array, Flags | None]:
    """Return the cloud of a depth image, and which of its points the mask selects.

    The cloud is in the camera's frame: x to the right, y down and z into the image.

    Args:
        depth: Integers or floats in units of `scale`, shape (rows, columns); zero or NaN where the
            camera read nothing.
        intrinsics: (fx, fy, cx, cy) or the camera matrix (3, 3) [px].
        mask: Non-zero on the object, shape (rows, columns).
        scale: Metres per unit of depth.

    Returns:
        Points [m], shape (n, 3), and flags, shape (n,), or None without a mask.

    """
    image = np.asarray(depth)
    if image.ndim != 2 or image.size == 0 or image.dtype.kind not in "iuf":
        raise PushwiseError(
            "depth must be an image of shape (rows, columns) with one number per pixel; "
            f"got dtype {image.dtype}, shape {image.shape}."
        )
    check_count(image.size)
    if image.dtype.itemsize == 1:
        raise PushwiseError(
            "depth must have at least 16 bits per pixel; got 8: this is a picture for people, "
            "without the distances."
        )
    fx, fy, cx, cy = _intrinsics(intrinsics)
    z = image * positive_number("scale", scale)
    read = np.isfinite(z) & (z > 0.0)
    chosen = None if mask is None else _chosen(mask, read)
    if not read.any():
        raise PushwiseError(f"depth must have distances; none of its {z.size} pixels has one.")
    if chosen is not None:
        # Pixels of the object without a reading take the nearest reading on it.
        nearest = ndimage.distance_transform_edt(
            ~(chosen & read), return_distances=False, return_indices=True
        )
        z = np.where(chosen & ~read, z[tuple(nearest)], z)
        read = read | chosen
    row, column = np.nonzero(read)
    away = z[read].astype(np.float64)
    points = np.stack([(column - cx) * away / fx, (row - cy) * away / fy, away], axis=1)
    return points, None if chosen is None else chosen[read]


def _chosen(mask: ArrayLike, read: Flags) -> Flags:
    """Return a mask as a boolean image, shape (rows, columns), after checking it."""
    image = np.asarray(mask)
    if image.shape != read.shape or image.dtype.kind not in "biu":
        raise PushwiseError(
            f"mask must be an image of the depth image's shape {read.shape}, zero off the object; "
            f"got dtype {image.dtype}, shape {image.shape}."
        )
    if not image.any():
        raise PushwiseError(
            f"mask must have at least one pixel set; all of its {image.size} pixels are zero."
        )
    chosen: Flags = image != 0
    if not (chosen & read).any():
        raise PushwiseError("mask must cover pixels with a depth; none of its pixels has one.")
    return chosen


def _intrinsics(value: ArrayLike) -> tuple[float, float, float, float]:
    """Return (fx, fy, cx, cy) [px], given as such or as a camera matrix."""
    array = np.asarray(value)
    if array.shape == (3, 3):
        matrix = finite_array("intrinsics", value, (3, 3))
        array = matrix[[0, 1, 0, 1], [0, 1, 2, 2]]
    elif array.shape != (4,):
        raise PushwiseError(
            "intrinsics must be (fx, fy, cx, cy) or a camera matrix of shape (3, 3); "
            f"got shape {array.shape}."
        )
    fx, fy, cx, cy = finite_array("intrinsics", array, (4,)).tolist()
    positive_number("intrinsics fx", fx)
    positive_number("intrinsics fy", fy)
    return fx, fy, cx, cy
