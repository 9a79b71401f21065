"""`Scene`: a table and every object on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import counted, non_negative_integer, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
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

__all__ = ["Scene", "SceneObject", "scan_scene"]


@dataclass(frozen=True, eq=False)
class SceneObject:
    """An object of a scene."""

    grid: CellGrid
    """Its cells. The origin is the centre of the outline's bounding box."""
    pose: tuple[float, float, float]
    """Pose of the grid frame in the scene's frame: x, y [m], theta [rad]."""
    holes: tuple[Array, ...]
    """Outlines [m], each of shape (k, 2), of the holes that are larger than a cell and show the
    table."""
    points: int
    """Number of points on it."""
    may_touch: tuple[int, ...]
    """Numbers of the objects that it may touch: the gap is hidden, or narrower than the cloud
    resolves."""
    levels: tuple[float, ...]
    """Heights [m] of its level parts, the highest first, where they differ so much that they may
    be several objects that touch, or stand on each other; otherwise one."""

    @property
    def outline(self) -> Array:
        """Its outline in the scene's frame [m], shape (k, 2)."""
        return placed(self.grid.outline, np.array(self.pose))

    @property
    def height(self) -> float:
        """Height of its highest cell [m]."""
        return float(self.grid.heights.max())


@dataclass(frozen=True, eq=False)
class Scene:
    """A table and the objects on it, the largest first.

    The scene's frame is on the table: z is up, x follows the x axis of the cloud's frame, and the
    origin is where the origin of the cloud's frame, often a camera, is projected to.
    """

    objects: tuple[SceneObject, ...]
    """Every object that is seen."""
    table: Plane
    """The table, in the cloud's frame."""
    frame: Array
    """Pose of the scene's frame in the cloud's frame, shape (4, 4)."""
    region: Array
    """The part of the table that is seen: a convex polygon in the scene's frame [m], (k, 2). Where
    the table ends, a cloud does not show."""
    noise: float
    """Standard deviation of the table's points from its plane [m]."""
    least_height: float
    """Height [m] up to which nothing can be distinguished from the table."""

    @staticmethod
    def from_points(points: ArrayLike, options: ScanOptions = ScanOptions()) -> Scene:
        """Find the table and every object on it in a cloud.

        The table is found at any tilt of the camera.

        Args:
            points: The cloud [m], shape (n, 3); rows that are not finite are dropped.
            options: How objects are found and divided into cells; `near` is for one object.

        """
        from pushwise.shape.find_scene import find_scene

        return find_scene(points, options)

    @staticmethod
    def from_depth(
        depth: ArrayLike,
        intrinsics: ArrayLike,
        *,
        scale: float = DEPTH_SCALE,
        options: ScanOptions = ScanOptions(),
    ) -> Scene:
        """Find the table and every object on it in a depth image; see `CellGrid.from_depth`."""
        points, _ = depth_points(depth, intrinsics, mask=None, scale=scale)
        return Scene.from_points(points, options)

    def chosen(self, number: int) -> SceneObject:
        """Return one of the objects, after checking its number."""
        at = non_negative_integer("object", number)
        if at >= len(self.objects):
            count = len(self.objects)
            right = "0" if count == 1 else f"0 to {count - 1}"
            raise PushwiseError(
                f"object must be {right}: the scene has {counted(count, 'object', 'objects')}; "
                f"got {at}."
            )
        return self.objects[at]

    def obstacles(self, of: int) -> tuple[Array, ...]:
        """Return the outlines [m], shape (k, 2) each, of all objects but one, in the scene's frame.

        Args:
            of: Number of the object that is to be moved.

        """
        moved = self.chosen(of)
        return tuple(other.outline for other in self.objects if other is not moved)

    def summary(self) -> str:
        """Return a description of the scene for people, one object per line."""
        lines = [
            f"table    {self.table}, noise {1e3 * self.noise:.1f} mm",
            f"least    {1e3 * self.least_height:.1f} mm: what is lower cannot be distinguished "
            "from the table; try min_height (--min-height)",
            f"objects  {len(self.objects)}",
        ]
        for number, each in enumerate(self.objects):
            length, width = np.ptp(each.grid.outline, axis=0).tolist()
            x, y, theta = each.pose
            lines.append(
                f"{number:7}  {length:.3f} x {width:.3f} m, {each.height:.3f} m high, at "
                f"({x:.3f} m, {y:.3f} m, {theta:.3f} rad), {each.grid.n_cells} cells of "
                f"{each.grid.cell_size:g} m, {each.points} points{_doubts(each)}"
            )
        return "\n".join(lines)

    def facts(self) -> Mapping[str, object]:
        """Return the facts of `summary` as a dictionary for JSON; lengths in metres."""
        return {
            "table": list(self.table.coefficients),
            "frame": self.frame.tolist(),
            "noise": self.noise,
            "least_height": self.least_height,
            "objects": [
                {
                    "size": [*np.ptp(each.grid.outline, axis=0).tolist(), each.height],
                    "pose": list(each.pose),
                    "n_cells": each.grid.n_cells,
                    "cell_size": each.grid.cell_size,
                    "points": each.points,
                    "may_touch": list(each.may_touch),
                    "levels": list(each.levels),
                }
                for each in self.objects
            ],
        }


def _doubts(each: SceneObject) -> str:
    """Return what a cloud does not show about an object, as the end of a line."""
    said = ""
    if each.may_touch:
        said += f"; may touch {', '.join(map(str, each.may_touch))}"
    if len(each.levels) > 1:
        heights = " and ".join(f"{1e3 * level:.0f}" for level in each.levels)
        kinds = counted(len(each.levels), "object", "objects")
        said += f"; level parts at {heights} mm, perhaps {kinds} that touch"
    return said


def scan_scene(
    path: Path,
    options: ScanOptions = ScanOptions(),
    *,
    scale: float | None = None,
    intrinsics: ArrayLike | None = None,
) -> tuple[Scene, Array]:
    """Find every object in a file with a cloud or a depth image; its suffix says which.

    Args:
        path: The file.
        options: How objects are found and divided into cells.
        scale: Metres per unit of the file; by default 1, or 0.001 for depth images.
        intrinsics: fx, fy, cx, cy [px] of the camera; depth images need them, nothing else does.

    Returns:
        The scene and the cloud [m], shape (n, 3), that it was made from.

    """
    if path.suffix.lower() in IMAGES:
        if intrinsics is None:
            raise PushwiseError(
                f"{path.name} is a depth image: give the camera's intrinsics fx, fy, cx, cy."
            )
        unit = DEPTH_SCALE if scale is None else scale
        depth = read_image(path)
        with naming(path):
            points, _ = depth_points(depth, intrinsics, mask=None, scale=unit)
    else:
        if intrinsics is not None:
            raise PushwiseError(f"intrinsics are for depth images; {path.name} is not one.")
        content = read_shape(path)
        if content.faces is not None:
            raise PushwiseError(f"{path.name} is a mesh of one object; a scene needs a cloud.")
        points = content.points * positive_number("scale", 1.0 if scale is None else scale)
    with naming(path):
        return Scene.from_points(points, options), points
