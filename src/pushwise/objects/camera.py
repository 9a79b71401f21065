"""`Camera`: a depth camera above a table, and the cloud it sees of an object made of parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pushwise.checks import (
    finite_number,
    non_negative_integer,
    non_negative_number,
    positive_number,
)
from pushwise.errors import PushwiseError
from pushwise.shape.lattice import Lattice, coverage, lattice_over
from pushwise.typing import Array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pushwise.objects.thing import Part

__all__ = ["Camera", "Surface"]

# Objects are rasterised in pixels of this size [m], their walls in steps of this height [m].
_RASTER = 0.0005
_WALL_STEP = 0.001
# Outliers are up to this far in front of or behind the surface [m].
_OUTLIER = 0.2


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole depth camera that looks at the centre of the table.

    Its frame has x to the right, y down and z in the viewing direction.
    """

    tilt: float = 0.0
    """Angle between the viewing direction and straight down [rad]."""
    distance: float = 0.6
    """From the camera to the centre of the table [m]."""
    columns: int = 640
    """Width of the image [px]."""
    rows: int = 480
    """Height of the image [px]."""
    focal: float = 615.0
    """Focal length [px]."""

    def __post_init__(self) -> None:
        """Refuse a camera that does not look down on the table."""
        for name, pixels in (("columns", self.columns), ("rows", self.rows)):
            positive_number(name, non_negative_integer(name, pixels))
        positive_number("distance", self.distance)
        positive_number("focal", self.focal)
        if abs(finite_number("tilt", self.tilt)) > np.deg2rad(60.0):
            raise PushwiseError(f"tilt must be within 60 degrees (1.047 rad); got {self.tilt:g}.")

    @property
    def pose(self) -> Array:
        """Pose of the camera in the table frame, shape (4, 4): x, y on the table, z up."""
        s, c = np.sin(self.tilt), np.cos(self.tilt)
        pose = np.eye(4)
        pose[:3, :3] = np.array([[1.0, 0.0, 0.0], [0.0, -c, s], [0.0, -s, -c]])
        pose[:3, 3] = -self.distance * pose[:3, 2]
        return pose

    def cloud(
        self,
        standing: Sequence[tuple[Surface, Array]],
        rng: np.random.Generator,
        *,
        noise: float,
        outliers: float,
    ) -> Array:
        """Return the cloud [m], shape (n, 3), in the camera's frame, one point per pixel.

        Args:
            standing: The objects on the table, each with the pose (x, y, theta) of its frame.
            rng: Source of the noise.
            noise: Standard deviation of each distance [m].
            outliers: Share of outliers among the distances.

        """
        if not standing:
            raise PushwiseError("a cloud needs at least one object on the table.")
        rays = self._rays()
        depths = np.min([self._depths(rays, *each) for each in standing], axis=0)
        depths = depths + non_negative_number("noise", noise) * rng.standard_normal(len(depths))
        if not 0.0 <= finite_number("outliers", outliers) <= 1.0:
            raise PushwiseError(f"outliers must be a share from 0 to 1; got {outliers:g}.")
        wrong = rng.random(len(depths)) < outliers
        depths[wrong] += rng.uniform(-_OUTLIER, _OUTLIER, int(wrong.sum()))
        cloud: Array = rays * depths[:, None]
        return cloud

    def _rays(self) -> Array:
        """Return the unit direction of each pixel in the camera's frame, (rows * columns, 3)."""
        v, u = np.mgrid[: self.rows, : self.columns].reshape(2, -1) + 0.5
        x, y = (u - 0.5 * self.columns) / self.focal, (v - 0.5 * self.rows) / self.focal
        rays = np.stack([x, y, np.ones_like(x)], axis=1)
        unit: Array = rays / np.linalg.norm(rays, axis=1, keepdims=True)
        return unit

    def _depths(self, rays: Array, surface: Surface, pose: Array) -> Array:
        """Return the distance [m] along each ray to the surface or the table, shape (n,)."""
        camera = self.pose
        down = np.einsum("ij,kj->ik", rays, camera[:3, :3])
        eye = camera[:3, 3]
        if down[:, 2].max() > -0.1:
            raise PushwiseError(
                f"tilt {self.tilt:g} rad is too large: the camera sees past the horizon."
            )
        depths: Array = -eye[2] / down[:, 2]
        # Transform to the frame of the object, in which its raster is.
        turn = np.array([[np.cos(pose[2]), np.sin(pose[2])], [-np.sin(pose[2]), np.cos(pose[2])]])
        eye_xy, steps = turn @ (eye[:2] - pose[:2]), np.einsum("ij,kj->ik", down[:, :2], turn)
        # Only rays that pass over the object's bounding box can hit it.
        top = float(surface.heights.max())
        ends = [eye_xy + steps * ((z - eye[2]) / down[:, 2])[:, None] for z in (0.0, top)]
        low, high = surface.box()
        above, below = np.maximum(*ends) >= low, np.minimum(*ends) <= high
        over = above[:, 0] & above[:, 1] & below[:, 0] & below[:, 1]
        left = np.flatnonzero(over)
        for z in np.arange(top, 0.0, -_WALL_STEP):
            if not len(left):
                break
            t = (z - eye[2]) / down[left, 2]
            height = surface.at(eye_xy + steps[left] * t[:, None])
            hit = height >= z
            # A ray hits a top at its height; a wall, which continues above, at z.
            met = np.where(height[hit] < z + _WALL_STEP, height[hit], z)
            depths[left[hit]] = (met - eye[2]) / down[left[hit], 2]
            left = left[~hit]
        return depths


@dataclass(frozen=True, eq=False)
class Surface:
    """The upper surface of an object, as heights over a raster in its own frame."""

    lattice: Lattice
    heights: Array
    """[m], shape (rows, columns); zero outside the object."""

    @classmethod
    def of_parts(cls, parts: tuple[Part, ...]) -> Self:
        """Return the surface of parts that stand side by side."""
        corners = np.concatenate([polygon for part in parts for polygon in part.polygons])
        lattice = lattice_over(corners, cell_size=_RASTER)
        heights = np.zeros((lattice.rows, lattice.columns))
        for part in parts:
            for polygon in part.polygons:
                covered = coverage(polygon, lattice) >= 0.5
                heights[covered] = np.maximum(heights[covered], part.height)
        return cls(lattice, heights)

    def box(self) -> tuple[Array, Array]:
        """Return the lower and upper corner of the raster [m], shape (2,) each."""
        size = np.array([self.lattice.columns, self.lattice.rows]) * self.lattice.cell_size
        return self.lattice.origin, self.lattice.origin + size

    def at(self, xy: Array) -> Array:
        """Return the heights [m], shape (n,), at positions [m], shape (n, 2)."""
        x, y = ((xy - self.lattice.origin) / self.lattice.cell_size).T
        inside = (x >= 0.0) & (x < self.lattice.columns) & (y >= 0.0) & (y < self.lattice.rows)
        result = np.zeros(len(xy))
        result[inside] = self.heights[y[inside].astype(np.int64), x[inside].astype(np.int64)]
        return result
