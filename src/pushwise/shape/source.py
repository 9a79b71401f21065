"""A scan straight from a file, whatever kind of file it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushwise.checks import positive_number
from pushwise.errors import PushwiseError
from pushwise.shape.depth import depth_points
from pushwise.shape.files import IMAGES, read_image, read_shape
from pushwise.shape.scan import Scan

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["scan_file"]


def scan_file(
    path: Path,
    *,
    cell_size: float | None = None,
    n_cells: int | None = None,
    near: ArrayLike | None = None,
    axis: ArrayLike | None = None,
    table: ArrayLike | None = None,
    min_height: float | None = None,
    scale: float | None = None,
    intrinsics: ArrayLike | None = None,
    mask: Path | None = None,
) -> tuple[Scan, NDArray[np.float64]]:
    """Return the scan of a file, and the cloud [m], shape (n, 3), it was made from.

    A depth image needs `intrinsics` and may have a `mask` image; a mesh lies on the table,
    z up. scale: metres a unit of the file, by default 1 and for depth images 0.001. For
    the rest see `CellGrid.from_points`.
    """
    if path.suffix.lower() in IMAGES:
        if intrinsics is None:
            raise PushwiseError(
                f"{path.name} is a depth image: give the camera's intrinsics fx, fy, cx, cy."
            )
        depth = read_image(path)
        chosen = None if mask is None else read_image(mask)
        unit = 0.001 if scale is None else scale
        scan = Scan.from_depth(
            depth,
            intrinsics,
            mask=chosen,
            scale=unit,
            cell_size=cell_size,
            n_cells=n_cells,
            near=near,
            axis=axis,
            table=table,
            min_height=min_height,
        )
        return scan, depth_points(depth, intrinsics, mask=chosen, scale=unit)[0]
    if intrinsics is not None or mask is not None:
        raise PushwiseError(f"intrinsics and mask are for depth images; {path.name} is none.")
    shape = read_shape(path)
    points = shape.points * positive_number("scale", 1.0 if scale is None else scale)
    if shape.faces is not None:
        if near is not None or table is not None or min_height is not None:
            raise PushwiseError(
                f"near, table and min_height are for clouds; {path.name} is a mesh, z up."
            )
        scan = Scan.from_mesh(points, shape.faces, cell_size=cell_size, n_cells=n_cells, axis=axis)
        return scan, points
    scan = Scan.from_points(
        points,
        cell_size=cell_size,
        n_cells=n_cells,
        near=near,
        axis=axis,
        table=table,
        min_height=min_height,
    )
    return scan, points
