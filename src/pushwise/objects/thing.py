"""`Thing`: an object whose true mass and friction are known, made of parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.objects.camera import Camera, Surface
from pushwise.objects.drawings import DRAWINGS, Drawing
from pushwise.physics.model import ObjectModel
from pushwise.shape.grid import CellGrid
from pushwise.shape.lattice import coverage, lattice_over
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Part", "Thing", "load", "names"]

names: tuple[str, ...] = tuple(DRAWINGS)
"""The objects that can be loaded."""

# How far `Thing.sample` strays from the drawing, as a factor either way. The paper's
# simulated part masses stray by 1.1 to 1.9 within an object.
_MASS_SPREAD = 1.6
_FRICTION_SPREAD = 1.4
# Parts of one object rub nearly alike: up to 8 % either way has a standard deviation of 5 %, what
# `Prior.friction_spread` believes. Where they do not, slow pushes cannot tell where the weight is.
_PART_FRICTION_SPREAD = 1.08


@dataclass(frozen=True, eq=False)
class Part:
    """A part of one material; its mass is spread evenly over its polygons."""

    name: str
    """What it is called."""
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
    """An object and the truth about it, which an experiment hides from the method."""

    name: str
    """What it is called."""
    parts: tuple[Part, ...]
    """What it is made of."""
    grid: CellGrid
    """Its cells, in a frame at the middle of its bounding box."""

    @property
    def outline(self) -> Array:
        """The border of all parts together [m], shape (k, 2), counter-clockwise."""
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
        """The true model: each part's mass shared out to the cells by the area it covers.

        A cell that two parts share rubs as they do, each in proportion to its weight there.
        """
        covered = _covered(self.parts, self.grid)
        part_mass = np.array([part.mass for part in self.parts])
        part_friction = np.array([part.friction for part in self.parts])
        # Parts keep their whole mass although slivers of them lie beyond the cells.
        mass = part_mass[:, None] * covered / covered.sum(axis=1, keepdims=True)
        total = mass.sum(axis=0)
        return ObjectModel(self.grid, mass=total, friction=part_friction @ mass / total)

    def sample(self, rng: np.random.Generator) -> Thing:
        """Return the same object with random part masses and frictions about the drawn ones.

        Frictions change together, by up to 1.4, and from part to part by up to 8 %.
        """
        common = _FRICTION_SPREAD ** rng.uniform(-1.0, 1.0)
        parts = tuple(
            replace(
                part,
                mass=part.mass * _MASS_SPREAD ** rng.uniform(-1.0, 1.0),
                friction=part.friction * common * _PART_FRICTION_SPREAD ** rng.uniform(-1.0, 1.0),
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

        The object's frame is at `pose` (x, y, theta) in the table frame, and the cloud is
        in the frame of `Camera(tilt)`: `Camera(tilt).pose` takes it to the table frame.
        The table is in it, but not what the object hides. noise: standard deviation of
        each point along its ray [m]. outliers: share of points up to 0.2 m off theirs.
        tilt: of the camera [rad], 0 for straight down; a `camera` brings its own.
        """
        at = finite_array("pose", pose, (3,))
        camera = Camera(tilt) if camera is None else camera
        return camera.cloud(self._surface, at, rng, noise=noise, outliers=outliers)

    @cached_property
    def _surface(self) -> Surface:
        """Its upper surface."""
        return Surface.of_parts(self.parts)


def load(name: str, cell_size: float | None = None) -> Thing:
    """Return one of the paper's objects, life size; `names` lists them.

    cell_size: side of a cell [m]; without it, one that gives 28 to 127 cells as in the
    paper (the hammer: its 88).
    """
    if name not in DRAWINGS:
        raise PushwiseError(f"there is no object {name!r}; the objects are {', '.join(names)}.")
    drawing = DRAWINGS[name]
    if cell_size is None:
        cell_size = drawing.cell_size
    parts = _centred_parts(drawing)
    outline = _union(polygon for part in parts for polygon in part.polygons)
    flat = CellGrid.from_outline(outline, cell_size=positive_number("cell_size", cell_size))
    covered = _covered(parts, flat)
    heights = np.array([part.height for part in parts]) @ covered / covered.sum(axis=0)
    return Thing(name, parts, CellGrid(flat.centres, flat.cell_size, heights, flat.outline))


def _centred_parts(drawing: Drawing) -> tuple[Part, ...]:
    """Return a drawing's parts in metres about the middle of its bounding box."""
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
    """Return the border [m], shape (k, 2), of polygons that meet along shared edges.

    Edges that two polygons run along in opposite directions cancel; the rest is one loop.
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
