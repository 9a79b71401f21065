"""A mesh seen straight from above, as the cloud of its upper surface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["upper_points"]

# The mesh is looked at in this many pixels along its longer side.
_PIXELS = 400
_MOST_POINTS = 20_000_000


def upper_points(vertices: ArrayLike, faces: ArrayLike) -> tuple[NDArray[np.float64], float]:
    """Return the cloud [m], shape (m, 3), of a mesh's upper surface, and its lowest z [m].

    vertices: [m], shape (n, 3), z up; faces: triangles of vertex numbers, shape (f, 3).
    """
    corners = finite_array("vertices", vertices, ("n", 3))
    triangles = np.asarray(faces)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu":
        raise PushwiseError(
            "faces must be whole numbers of shape (f, 3); "
            f"got dtype {triangles.dtype}, shape {triangles.shape}."
        )
    if len(triangles) == 0:
        raise PushwiseError("faces must hold at least one triangle; the mesh has none.")
    if triangles.min() < 0 or triangles.max() >= len(corners):
        raise PushwiseError(
            f"faces must number the {len(corners)} vertices from 0 to {len(corners) - 1}; "
            f"they run from {triangles.min()} to {triangles.max()}."
        )
    abc = corners[triangles]
    flat = abc[:, 1:, :2] - abc[:, :1, :2]
    if np.abs(flat[:, 0, 0] * flat[:, 1, 1] - flat[:, 0, 1] * flat[:, 1, 0]).sum() == 0.0:
        raise PushwiseError("the mesh has no area seen from above, along z.")
    used = abc.reshape(-1, 3)
    low = used.min(axis=0)
    pixel = float(np.ptp(used[:, :2], axis=0).max()) / _PIXELS
    points = _on_triangles(abc, pixel)
    ij = np.floor((points[:, :2] - low[:2]) / pixel).astype(np.int64)
    # The highest point over each pixel, last when sorted by height, is what a camera sees.
    order = np.argsort(points[:, 2], kind="stable")
    top = np.full((_PIXELS + 2, _PIXELS + 2), -1, dtype=np.int64)
    top[ij[order, 1], ij[order, 0]] = order
    return points[top[top >= 0]], float(low[2])


def _on_triangles(abc: NDArray[np.float64], pixel: float) -> NDArray[np.float64]:
    """Return points [m], shape (m, 3), on triangles (f, 3, 3), less than a pixel apart."""
    edges = np.linalg.norm((abc - np.roll(abc, 1, axis=1))[:, :, :2], axis=2).max(axis=1)
    # In powers of two, so that triangles of any size fall into a few groups.
    steps = 2 ** np.ceil(np.log2(np.maximum(1.5 * edges / pixel, 1.0))).astype(np.int64)
    if np.sum(0.5 * (steps + 1) * (steps + 2)) > _MOST_POINTS:
        raise PushwiseError(
            f"the mesh is too fine: its {len(abc)} triangles would give more than "
            f"{_MOST_POINTS} points; simplify it."
        )
    groups = []
    for step in np.unique(steps).tolist():
        i, j = np.nonzero(np.add.outer(np.arange(step + 1), np.arange(step + 1)) <= step)
        weights = np.stack([step - i - j, i, j], axis=1) / step
        groups.append((weights @ abc[steps == step]).reshape(-1, 3))
    return np.concatenate(groups)
