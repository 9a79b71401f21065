"""`Scan`: an object found by a sensor, with its grid, its place, and the points left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from pushwise.checks import positive_number
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.shape.files import IMAGES, naming, read_image, read_shape
from pushwise.shape.grid import CellGrid
from pushwise.shape.plane import Plane
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.sensors import DEPTH_SCALE, depth_points
from pushwise.typing import Array

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import ArrayLike

__all__ = ["Dropped", "Scan", "scan_file"]

# The table's normal counts as vertical when its cosine with z exceeds this (10 degrees).
_UPRIGHT = 0.985
_SIZES = 0.002, 10.0  # m; files with smaller or larger objects have other units


class Dropped(NamedTuple):
    """A group of points that are not part of the object."""

    what: str
    """What they show."""
    points: int
    """Number of points."""
    share: float = 0.0
    """The area of another object relative to this one's; zero for what is not an object."""


@dataclass(frozen=True, eq=False)
class Scan:
    """An object found in a point cloud, a depth image or a mesh.

    `CellGrid.from_points`, `from_depth` and `from_mesh` return its grid alone. A scan also has the
    pose of the grid frame in the cloud's frame and the points that were left out.
    """

    grid: CellGrid
    """The object's cells. The origin is the centre of the outline's bounding box."""
    frame: Array
    """Pose of the grid frame in the cloud's frame, shape (4, 4): a point (x, y) of the grid
    at height z is at `frame @ (x, y, z, 1)` [m]."""
    holes: tuple[Array, ...]
    """Outlines [m], each of shape (k, 2), of the holes that are larger than a cell and show the
    table."""
    table: Plane
    """The table, in the cloud's frame."""
    noise: float
    """Standard deviation of the table's points from its plane [m]; zero without such points."""
    points: int
    """Number of points on the object."""
    dropped: tuple[Dropped, ...]
    """The other points of the cloud, by what they show."""

    @staticmethod
    def from_points(points: ArrayLike, options: ScanOptions = ScanOptions()) -> Scan:
        """Find the object in a cloud; see `CellGrid.from_points`."""
        from pushwise.shape.find_object import find_object

        return find_object(points, options)

    @staticmethod
    def from_depth(
        depth: ArrayLike,
        intrinsics: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        scale: float = DEPTH_SCALE,
        options: ScanOptions = ScanOptions(),
    ) -> Scan:
        """Find the object in a depth image; see `CellGrid.from_depth`."""
        from pushwise.shape.find_object import find_object

        points, chosen = depth_points(depth, intrinsics, mask=mask, scale=scale)
        return find_object(points, options, chosen=chosen)

    @staticmethod
    def from_mesh(
        vertices: ArrayLike, faces: ArrayLike, options: ScanOptions = ScanOptions()
    ) -> Scan:
        """View a mesh from above; see `CellGrid.from_mesh`."""
        from pushwise.shape.find_object import scan_of
        from pushwise.shape.mesh_surface import mesh_tabletop

        if any(value is not None for value in (options.near, options.table, options.min_height)):
            raise PushwiseError(
                "near, table and min_height are for clouds; a mesh stands on the table, z up."
            )
        surface = mesh_tabletop(vertices, faces)
        return scan_of(surface, surface.blobs[0], options)

    @property
    def pose(self) -> tuple[float, float, float] | None:
        """Pose of the grid frame on the table, in the cloud's frame: x, y [m], theta [rad].

        None when the z axis of the cloud's frame is not vertical, as in a camera's frame.
        """
        if self.frame[2, 2] < _UPRIGHT:
            return None
        x, y = self.frame[:2, 3].tolist()
        return x, y, float(np.arctan2(self.frame[1, 0], self.frame[0, 0]))

    def summary(self) -> str:
        """Return a description of the scan for people, one fact per line."""
        grid = self.grid
        length, width = np.ptp(grid.outline, axis=0).tolist()
        x, y, z = (np.round(self.frame[:3, 3], 4) + 0.0).tolist()  # no minus before a zero
        pose = self.pose
        heading = "whose z axis is not vertical" if pose is None else f"x axis at {pose[2]:.4f} rad"
        lines = [
            f"size     {length:.3f} x {width:.3f} m, up to {grid.heights.max():.3f} m high",
            f"cells    {grid.n_cells} of {grid.cell_size:g} m",
            f"outline  {len(grid.outline)} corners",
            *([f"holes    {len(self.holes)}, in which there are no cells"] if self.holes else []),
            f"origin   ({x:.4f}, {y:.4f}, {z:.4f}) m in the cloud's frame, {heading}",
            f"table    {self.table}"
            + (f", noise {1000.0 * self.noise:.1f} mm" if self.noise else ""),
            f"object   {self.points} points",
        ]
        lines += [f"dropped  {group.points} points: {group.what}" for group in self.dropped]
        return "\n".join(lines)

    def warned(self) -> Self:
        """Warn of dropped objects at least a quarter as large as this one, and return the scan."""
        for group in self.dropped:
            if group.share >= 0.25:
                warnings.warn(
                    f"dropped {group.what}; to scan that one, give a point on it as near.",
                    PushwiseWarning,
                    stacklevel=3,
                )
        return self

    def facts(self) -> Mapping[str, object]:
        """Return the facts of `summary` as a dictionary for JSON; lengths in metres."""
        return {
            "size": [*np.ptp(self.grid.outline, axis=0).tolist(), float(self.grid.heights.max())],
            "n_cells": self.grid.n_cells,
            "cell_size": self.grid.cell_size,
            "frame": self.frame.tolist(),
            "pose": self.pose,
            "table": list(self.table.coefficients),
            "noise": self.noise,
            "points": self.points,
            "dropped": [group._asdict() for group in self.dropped],
        }


def scan_file(
    path: Path,
    options: ScanOptions = ScanOptions(),
    *,
    scale: float | None = None,
    intrinsics: ArrayLike | None = None,
    mask: Path | None = None,
) -> tuple[Scan, Array]:
    """Scan a file with a cloud, a mesh or a depth image; its suffix says which.

    Args:
        path: The file. A mesh stands on the table, z up.
        options: How the object is found and divided into cells.
        scale: Metres per unit of the file; by default 1, or 0.001 for depth images.
        intrinsics: fx, fy, cx, cy [px] of the camera; depth images need them, nothing else does.
        mask: An image that is not zero on the object, only for depth images.

    Returns:
        The scan and the cloud [m], shape (n, 3), that it was made from.

    """
    if path.suffix.lower() in IMAGES:
        if intrinsics is None:
            raise PushwiseError(
                f"{path.name} is a depth image: give the camera's intrinsics fx, fy, cx, cy."
            )
        depth = read_image(path)
        chosen = None if mask is None else read_image(mask)
        unit = DEPTH_SCALE if scale is None else scale
        with naming(path):
            scan = Scan.from_depth(depth, intrinsics, mask=chosen, scale=unit, options=options)
        return _plausible(path, scan), depth_points(depth, intrinsics, mask=chosen, scale=unit)[0]
    if intrinsics is not None or mask is not None:
        raise PushwiseError(f"intrinsics and mask are for depth images; {path.name} is not one.")
    content = read_shape(path)
    points = content.points * positive_number("scale", 1.0 if scale is None else scale)
    with naming(path):
        if content.faces is None:
            scan = Scan.from_points(points, options)
        else:
            scan = Scan.from_mesh(points, content.faces, options)
    return _plausible(path, scan), points


def _plausible(path: Path, scan: Scan) -> Scan:
    """Return a scan whose size is that of something to be pushed on a table."""
    size = float(np.ptp(scan.grid.outline, axis=0).max())
    if not _SIZES[0] < size < _SIZES[1]:
        raise PushwiseError(
            f"{path.name}: the object is {size:.3g} m across; give the scale in metres per unit of "
            "the file, such as 0.001 for millimetres."
        )
    return scan
