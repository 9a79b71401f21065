"""`Scan`: what became of a cloud: the object's grid, where it is, and what was dropped.

A scan straight from a file, whatever kind of file it is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from pushwise.checks import positive_number
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.shape.files import IMAGES, read_image, read_shape
from pushwise.shape.grid import CellGrid
from pushwise.shape.plane import Plane
from pushwise.shape.sensors import depth_points
from pushwise.typing import Array

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike

__all__ = ["Dropped", "Scan", "scan_file"]

# A table's normal this near to z, as a cosine (10 degrees), is up.
_UPRIGHT = 0.985


class Dropped(NamedTuple):
    """Points of a cloud that are no part of the grid, and why."""

    what: str
    """What they are."""
    points: int
    """How many they are."""
    share: float = 0.0
    """The area they cover, as a share of the object's; zero for what is no thing."""


@dataclass(frozen=True, eq=False)
class Scan:
    """An object found in what a camera saw.

    `CellGrid.from_points` and its like return the grid alone; this also tells where the
    grid frame lies in the cloud's frame and what was left out.
    """

    grid: CellGrid
    """The object's cells. The origin is at the middle of the outline's bounding box."""
    frame: Array
    """Pose of the grid frame in the cloud's frame, shape (4, 4): a point (x, y) of the grid
    at height z is at `frame @ (x, y, z, 1)` [m]."""
    holes: tuple[Array, ...]
    """The borders [m], each of shape (k, 2), of holes larger than a cell that
    the table is seen through."""
    table: Plane
    """The table, in the cloud's frame."""
    noise: float
    """Standard deviation of the table's points about it [m]; zero when there are none."""
    points: int
    """How many points of the cloud are on the object."""
    dropped: tuple[Dropped, ...]
    """What else the cloud held."""

    @classmethod
    def from_points(
        cls,
        points: ArrayLike,
        *,
        cell_size: float | None = None,
        n_cells: int | None = None,
        near: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        table: ArrayLike | None = None,
        min_height: float | None = None,
    ) -> Self:
        """Find the object in a cloud; see `CellGrid.from_points`."""
        from pushwise.shape.find_object import find_object

        return cls(
            **find_object(
                points,
                cell_size=cell_size,
                n_cells=n_cells,
                near=near,
                axis=axis,
                table=table,
                min_height=min_height,
            )
        )

    @classmethod
    def from_depth(
        cls,
        depth: ArrayLike,
        intrinsics: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        scale: float = 0.001,
        cell_size: float | None = None,
        n_cells: int | None = None,
        near: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        table: ArrayLike | None = None,
        min_height: float | None = None,
    ) -> Self:
        """Find the object in a depth image; see `CellGrid.from_depth`."""
        from pushwise.shape.find_object import find_object
        from pushwise.shape.sensors import depth_points

        points, chosen = depth_points(depth, intrinsics, mask=mask, scale=scale)
        return cls(
            **find_object(
                points,
                chosen=chosen,
                cell_size=cell_size,
                n_cells=n_cells,
                near=near,
                axis=axis,
                table=table,
                min_height=min_height,
            )
        )

    @classmethod
    def from_mesh(
        cls,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        cell_size: float | None = None,
        n_cells: int | None = None,
        axis: ArrayLike | None = None,
    ) -> Self:
        """See a mesh from above; see `CellGrid.from_mesh`."""
        from pushwise.shape.find_object import find_object
        from pushwise.shape.sensors import upper_points

        points, floor = upper_points(vertices, faces)
        return cls(
            **find_object(
                points,
                table=(0.0, 0.0, 1.0, -floor),
                cell_size=cell_size,
                n_cells=n_cells,
                axis=axis,
            )
        )

    @property
    def pose(self) -> tuple[float, float, float] | None:
        """Where the grid frame is on the table of the cloud's frame: x, y [m], theta [rad].

        None when the z axis of the cloud's frame is not up, as in a camera's frame.
        """
        if self.frame[2, 2] < _UPRIGHT:
            return None
        x, y = self.frame[:2, 3].tolist()
        return x, y, float(np.arctan2(self.frame[1, 0], self.frame[0, 0]))

    def summary(self) -> str:
        """Return what a person wants to know of the scan, a fact a line."""
        grid = self.grid
        length, width = np.ptp(grid.outline, axis=0).tolist()
        a, b, c, d = self.table.coefficients
        x, y, z = self.frame[:3, 3].tolist()
        pose = self.pose
        heading = "whose z axis is not up" if pose is None else f"x axis at {pose[2]:.4f} rad"
        lines = [
            f"size     {length:.3f} x {width:.3f} m, up to {grid.heights.max():.3f} m high",
            f"cells    {grid.n_cells} of {grid.cell_size:g} m",
            f"outline  {len(grid.outline)} corners",
            f"origin   ({x:.4f}, {y:.4f}, {z:.4f}) m in the cloud's frame, {heading}",
            f"table    {a:.4f} x + {b:.4f} y + {c:.4f} z + {d:.4f} = 0"
            + (f", noise {1000.0 * self.noise:.1f} mm" if self.noise else ""),
            f"object   {self.points} points",
        ]
        lines += [f"dropped  {gone.points} points: {gone.what}" for gone in self.dropped]
        return "\n".join(lines)

    def warned(self) -> Self:
        """Warn when something a quarter as large as the object was dropped."""
        for gone in self.dropped:
            if gone.share >= 0.25:
                warnings.warn(
                    f"dropped {gone.what}; to take it instead, point at it with near=.",
                    PushwiseWarning,
                    stacklevel=3,
                )
        return self

    def facts(self) -> Mapping[str, object]:
        """Return what `summary` says, for machines; lengths in metres."""
        return {
            "size": [*np.ptp(self.grid.outline, axis=0).tolist(), float(self.grid.heights.max())],
            "n_cells": self.grid.n_cells,
            "cell_size": self.grid.cell_size,
            "frame": self.frame.tolist(),
            "pose": self.pose,
            "table": list(self.table.coefficients),
            "noise": self.noise,
            "points": self.points,
            "dropped": [gone._asdict() for gone in self.dropped],
        }


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
) -> tuple[Scan, Array]:
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
