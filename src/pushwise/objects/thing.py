"""`Thing`: an object made of parts whose true mass and friction are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.objects.camera import Camera, Surface
from pushwise.objects.drawings import DRAWINGS, ObjectDrawing
from pushwise.objects.shapes import SHAPES
from pushwise.physics.model import ObjectModel
from pushwise.shape.grid import CellGrid
from pushwise.shape.lattice import coverage, lattice_over
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Part", "Thing", "all_names", "load", "names", "scene_points", "shapes"]

names: tuple[str, ...] = tuple(DRAWINGS)
"""Names of the paper's nine objects."""

shapes: tuple[str, ...] = tuple(SHAPES)
"""Names of further shapes, which are harder to push."""

all_names: tuple[str, ...] = (*names, *shapes)
"""Names of everything that `load` knows."""

# `Thing.sample` multiplies or divides the drawn values by up to these factors. The paper's
# simulated part masses differ by factors of 1.1 to 1.9 within one object.
_MASS_FACTOR = 1.6
_FRICTION_FACTOR = 1.4
# Rubber grips and steel heads: the frictions of two parts differ by up to a factor of 3. Parts of
# one material differ by up to 8 % each way, a standard deviation of 5 %.
_UNEVEN_FACTOR = 3.0**0.5
_EVEN_FACTOR = 1.08
_SOLID = 0.25  # share of a cell that parts must cover; the others are in a hole


@dataclass(frozen=True, eq=False)
class Part:
    """A part of uniform mass and friction."""

    name: str
    """Its name."""
    polygons: tuple[Array, ...]
    """Its outlines [m], each of shape (k, 2), counter-clockwise."""
    height: float
    """Height of its upper surface above the table [m]."""
    mass: float
    """Its mass [kg]."""
    friction: float
    """Its coefficient of friction on the table."""


@dataclass(frozen=True, eq=False)
class Thing:
    """An object with its true mass and friction, which experiments hide from the method."""

    name: str
    """Its name."""
    parts: tuple[Part, ...]
    """Its parts."""
    grid: CellGrid
    """Its cells, in a frame at the centre of its bounding box."""

    @property
    def outline(self) -> Array:
        """The outline of all parts together [m], shape (k, 2), counter-clockwise."""
        return self.grid.outline

    @property
    def mass(self) -> Array:
        """True mass of each cell [kg], shape (n,)."""
        return self.model.mass

    @property
    def friction(self) -> Array:
        """True coefficient of friction of each cell, shape (n,)."""
        return self.model.friction

    @cached_property
    def model(self) -> ObjectModel:
        """The true model: the mass of each part, distributed over the cells by covered area.

        A cell shared by several parts has the mean of their frictions, weighted by mass.
        """
        covered = _covered(self.parts, self.grid)
        part_mass = np.array([part.mass for part in self.parts])
        part_friction = np.array([part.friction for part in self.parts])
        # Parts keep their whole mass, although slivers of them are outside the cells.
        mass = part_mass[:, None] * covered / covered.sum(axis=1, keepdims=True)
        total = mass.sum(axis=0)
        return ObjectModel(self.grid, mass=total, friction=part_friction @ mass / total)

    def sample(self, rng: np.random.Generator, *, uneven: bool = True) -> Thing:
        """Return the same object with part masses and frictions drawn around the given ones.

        Masses vary by a factor of up to 1.6 each way, frictions by a common factor of up to 1.4,
        and in addition from part to part; all are log-uniform.

        Args:
            rng: Source of randomness.
            uneven: Whether parts differ in friction by up to a factor of 3, or only by 8 % each
                way.

        """
        factor = _UNEVEN_FACTOR if uneven else _EVEN_FACTOR
        common = _FRICTION_FACTOR ** rng.uniform(-1.0, 1.0)
        parts = tuple(
            replace(
                part,
                mass=part.mass * _MASS_FACTOR ** rng.uniform(-1.0, 1.0),
                friction=part.friction * common * factor ** rng.uniform(-1.0, 1.0),
            )
            for part in self.parts
        )
        return replace(self, parts=parts)

    def points(
        self,
        rng: np.random.Generator,
        *,
        noise: float = 0.002,
        outliers: float = 0.0,
        tilt: float = 0.0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        camera: Camera | None = None,
    ) -> Array:
        """Return the cloud [m], shape (n, 3), that a depth camera over the table sees.

        The cloud is in the camera's frame; `Camera(tilt).pose` transforms it to the table frame. It
        includes the table, except where the object hides it.

        Args:
            rng: Source of the noise.
            noise: Standard deviation of each point along its ray [m].
            outliers: Share of points that are up to 0.2 m off.
            tilt: Tilt of the camera [rad], 0 for straight down.
            pose: Pose (x, y, theta) of the object on the table.
            camera: The camera, instead of `Camera(tilt)`.

        """
        at = finite_array("pose", pose, (3,))
        camera = Camera(tilt) if camera is None else camera
        return camera.cloud([(self.surface, at)], rng, noise=noise, outliers=outliers)

    @cached_property
    def surface(self) -> Surface:
        """Its upper surface, as a camera sees it."""
        return Surface.of_parts(self.parts)


def scene_points(
    standing: Sequence[tuple[Thing, ArrayLike]],
    rng: np.random.Generator,
    *,
    noise: float = 0.002,
    outliers: float = 0.0,
    camera: Camera | None = None,
) -> Array:
    """Return the cloud [m], shape (n, 3), that a depth camera sees of several objects.

    Args:
        standing: The objects, each with its pose (x, y, theta) on the table.
        rng: Source of the noise.
        noise: Standard deviation of each point along its ray [m].
        outliers: Share of points that are up to 0.2 m off.
        camera: The camera, whose frame the cloud is in; by default one that looks straight down.

    """
    placed = [(thing.surface, finite_array("pose", pose, (3,))) for thing, pose in standing]
    return (camera or Camera()).cloud(placed, rng, noise=noise, outliers=outliers)


def load(name: str, cell_size: float | None = None) -> Thing:
    """Return one of the paper's objects at life size, or one of some harder shapes.

    Args:
        name: One of `all_names`.
        cell_size: Side of a cell [m]; by default one that gives 28 to 127 cells, as in the paper
            (88 for the hammer).

    """
    drawing = DRAWINGS.get(name) or SHAPES.get(name)
    if drawing is None:
        valid = ", ".join(all_names)
        raise PushwiseError(f"there is no object {name!r}; valid names are {valid}.")
    if cell_size is None:
        cell_size = drawing.cell_size
    parts = _centred_parts(drawing)
    outline = _union(polygon for part in parts for polygon in part.polygons)
    flat = CellGrid.from_outline(outline, cell_size=positive_number("cell_size", cell_size))
    covered = _covered(parts, flat)
    solid = covered.sum(axis=0) > _SOLID
    covered = covered[:, solid]
    heights = np.array([part.height for part in parts]) @ covered / covered.sum(axis=0)
    grid = CellGrid(flat.centres[solid], flat.cell_size, heights, flat.outline)
    return Thing(name, parts, grid)


def _centred_parts(drawing: ObjectDrawing) -> tuple[Part, ...]:
    """Return the parts of a drawing in metres, relative to the centre of its bounding box."""
    corners = np.array([c for part in drawing.parts for polygon in part.polygons for c in polygon])
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    return tuple(
        Part(
            part.name,
            tuple(
                simple_polygon(part.name, (np.array(polygon) - middle) / 1000.0)
                for polygon in part.polygons
            ),
            part.height,
            part.mass,
            part.friction,
        )
        for part in drawing.parts
    )


def _union(polygons: Iterable[Array]) -> Array:
    """Return the outline [m], shape (k, 2), of polygons that share edges.

    Shared edges, which run in opposite directions in the two polygons, cancel; the rest is one
    loop, or several: the outermost is the outline, the others are holes.
    """
    edges: dict[tuple[float, float], set[tuple[float, float]]] = {}
    for polygon in polygons:
        corners = [(x, y) for x, y in polygon.tolist()]
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            if a in edges.get(b, ()):
                edges[b].remove(a)
            else:
                edges.setdefault(a, set()).add(b)
    after = {a: ends.pop() for a, ends in edges.items() if ends}
    start = min(after)
    loop = [start]
    while (corner := after.pop(loop[-1])) != start:
        loop.append(corner)
    return np.array(loop)


def _covered(parts: tuple[Part, ...], grid: CellGrid) -> Array:
    """Return the fraction of each cell that each part covers, shape (parts, n)."""
    lattice = lattice_over(grid.outline, cell_size=grid.cell_size)
    steps = (grid.centres - lattice.origin) / grid.cell_size
    column, row = np.floor(steps).astype(np.int64).T
    return np.array(
        [
            np.sum([coverage(polygon, lattice)[row, column] for polygon in part.polygons], axis=0)
            for part in parts
        ]
    )
