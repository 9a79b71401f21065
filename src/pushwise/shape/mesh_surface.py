"""A mesh on a table, seen from straight above, without noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.shape.heightmap import HeightMap
from pushwise.shape.plane import Plane
from pushwise.shape.surface import Blob, Unevenness
from pushwise.shape.tabletop import Tabletop
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["mesh_tabletop"]

# A mesh covers about this many pixels, and its bounding box at most so many.
_PIXELS, _MOST_PIXELS = 40_000, 4_000_000
# Triangles smaller than this many pixels are sampled together, larger ones one by one.
_SMALL = 8.0
# A mesh that is lower than this [m] shows an outline, not an object.
_FLAT = 1e-5
# What covers a smaller share of the largest part is not worth mentioning.
_LEAST_SHARE = 0.02


def mesh_tabletop(vertices: ArrayLike, faces: ArrayLike) -> Tabletop:
    """Return a mesh that stands on a table, z up, seen from above.

    Args:
        vertices: [m], shape (n, 3).
        faces: Triangles of vertex indices, shape (f, 3).

    """
    corners = finite_array("vertices", vertices, ("n", 3))
    triangles = np.asarray(faces)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise PushwiseError(
            "faces must be integers of shape (f, 3); "
            f"got dtype {triangles.dtype}, shape {triangles.shape}."
        )
    if len(triangles) == 0:
        raise PushwiseError("faces must have at least one triangle; the mesh has none.")
    if triangles.min() < 0 or triangles.max() >= len(corners):
        raise PushwiseError(
            f"faces must be indices of the {len(corners)} vertices, 0 to {len(corners) - 1}; "
            f"they run from {triangles.min()} to {triangles.max()}."
        )
    abc = corners[triangles]
    flat = abc[:, 1:, :2] - abc[:, :1, :2]
    areas = 0.5 * np.abs(flat[:, 0, 0] * flat[:, 1, 1] - flat[:, 0, 1] * flat[:, 1, 0])
    if areas.sum() == 0.0:
        raise PushwiseError("the mesh covers no area when seen from above, along z.")
    low, high = abc.reshape(-1, 3).min(axis=0), abc.reshape(-1, 3).max(axis=0)
    if high[2] - low[2] < _FLAT:
        raise PushwiseError(
            f"the mesh is flat: its z runs from {low[2]:g} to {high[2]:g} m; give it the height of "
            "the object, z up from the table."
        )
    box = float(np.prod(high[:2] - low[:2]))
    # Seen from above, a closed mesh covers what is below it twice.
    pixel = max((0.5 * areas.sum() / _PIXELS) ** 0.5, (box / _MOST_PIXELS) ** 0.5)
    tops = _tops(abc[areas > 0.0], low[:2], high[:2], pixel) - low[2]
    covered = ~np.isnan(tops)
    labels, count = ndimage.label(covered, np.ones((3, 3)))
    if count == 0:
        raise PushwiseError("the mesh covers no area when it is seen from above, along z.")
    sizes = np.bincount(labels.ravel(), minlength=count + 1)[1:]
    order = [
        at for at in np.argsort(-sizes, kind="stable") if sizes[at] > _LEAST_SHARE * sizes.max()
    ]
    view = HeightMap(
        origin=low[:2] - pixel,
        pixel=pixel,
        heights=tops,
        seen=np.ones_like(covered),
        indices=np.flatnonzero(covered),
    )
    return Tabletop(
        table=Plane((0.0, 0.0, 1.0, -float(low[2]))),
        noise=0.0,
        axes=np.eye(3),
        view=view,
        heights=np.where(covered, np.maximum(tops, 1e-6), 0.0),
        blobs=[Blob(labels == at + 1, int(sizes[at])) for at in order],
        uneven=Unevenness(0.0, 0.0),
        below=0,
    )


def _tops(abc: Array, low: Array, high: Array, pixel: float) -> Array:
    """Return the greatest z of triangles (f, 3, 3) over each pixel [m], (rows, columns), or NaN.

    There is a margin of one pixel around the corners `low` and `high` (2,).
    """
    columns, rows = (np.ceil((high - low) / pixel).astype(np.int64) + 2).tolist()
    tops = np.full((rows, columns), -np.inf)
    spans = np.ptp(abc[:, :, :2], axis=1).max(axis=1) / pixel
    # Points at most half a pixel apart, so that none is missed.
    steps = int(2.0 * _SMALL)
    i, j = np.nonzero(np.add.outer(np.arange(steps + 1), np.arange(steps + 1)) <= steps)
    weights = np.stack([steps - i - j, i, j], axis=1) / steps
    small = abc[spans < _SMALL]
    for begin in range(0, len(small), 10_000):
        points = (weights @ small[begin : begin + 10_000]).reshape(-1, 3)
        column, row = (np.floor((points[:, :2] - low) / pixel).astype(np.int64) + 1).T
        np.maximum.at(tops, (row, column), points[:, 2])
    for triangle in abc[spans >= _SMALL]:
        _raise(tops, triangle, low, pixel)
    return np.where(np.isinf(tops), np.nan, tops)


def _raise(tops: Array, triangle: Array, low: Array, pixel: float) -> None:
    """Raise the pixels whose centres a triangle (3, 3) covers to its height there."""
    at = (triangle[:, :2] - low) / pixel + 1.0
    (left, bottom), (right, top) = np.floor(at.min(axis=0)), np.ceil(at.max(axis=0))
    window = tops[int(bottom) : int(top), int(left) : int(right)]
    y, x = np.ogrid[bottom : bottom + window.shape[0], left : left + window.shape[1]]
    a, b, c = at
    span = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    u, v = x + 0.5 - a[0], y + 0.5 - a[1]
    second = (u * (c[1] - a[1]) - v * (c[0] - a[0])) / span
    third = (v * (b[0] - a[0]) - u * (b[1] - a[1])) / span
    # The slack is for centres on an edge between two triangles.
    inside = (second >= -1e-9) & (third >= -1e-9) & (second + third <= 1.0 + 1e-9)
    za, zb, zc = triangle[:, 2]
    np.maximum(window, za + second * (zb - za) + third * (zc - za), out=window, where=inside)
