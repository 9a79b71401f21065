"""`CellGrid`: an object seen from above, as equal square cells and an outline around them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from pushwise.checks import finite_array, positive_number, require_all
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, simple_polygon
from pushwise.shape.cells import choose_cells
from pushwise.shape.footprint import mask_footprint
from pushwise.shape.lattice import (
    NORMALS,
    OuterLoop,
    coverage,
    lattice_over,
    neighbours,
    outer_loop,
    parts,
)
from pushwise.shape.scan_options import ScanOptions
from pushwise.shape.sensors import DEPTH_SCALE
from pushwise.typing import Array, Integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["CellGrid"]

_AnyArray = TypeVar("_AnyArray", Array, Integers)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class CellGrid:
    """Equal square cells on a regular lattice, joined side to side into one rigid object.

    Cells have mass and friction; the finger touches the outline. All lengths are in the grid
    frame, whose origin and axes the caller chooses. Arrays are read-only.
    """

    centres: Array
    """Cell centres [m], shape (n, 2)."""
    cell_size: float
    """Side of a cell [m]."""
    heights: Array
    """Height of each cell's upper surface above the table [m], shape (n,)."""
    outline: Array
    """The polygon a finger touches [m], shape (k, 2), counter-clockwise."""

    def __init__(
        self,
        centres: ArrayLike,
        cell_size: float,
        heights: ArrayLike | None = None,
        outline: ArrayLike | None = None,
    ) -> None:
        """Check and copy the arrays.

        Args:
            centres: Cell centres [m], shape (n, 2), on a lattice of pitch `cell_size`.
            cell_size: Side of a cell [m].
            heights: Height of each cell [m], shape (n,); by default `cell_size`.
            outline: The polygon a finger touches [m], shape (k, 2); by default the outer border
                of the cells.

        """
        set_field = object.__setattr__
        set_field(self, "cell_size", positive_number("cell_size", cell_size))
        set_field(self, "centres", finite_array("centres", centres, ("n", 2)))
        if self.n_cells == 0:
            raise PushwiseError("centres must have at least one cell; got shape (0, 2).")
        self._refuse_disconnected()
        if heights is None:
            heights = np.full(self.n_cells, self.cell_size)
        set_field(self, "heights", finite_array("heights", heights, (self.n_cells,)))
        require_all("heights", self.heights, self.heights > 0.0, "greater than zero")
        if outline is None:
            outline = self._border()
        set_field(self, "outline", simple_polygon("outline", outline))
        inside = int(contains(self.outline, self.centres).sum())
        if 2 * inside < self.n_cells:
            raise PushwiseError(
                f"outline must enclose the cells, but only {inside} of {self.n_cells} centres "
                "are inside it; give both in the same frame and in metres."
            )

    @classmethod
    def from_outline(cls, polygon: ArrayLike, *, cell_size: float) -> Self:
        """Fill a polygon with cells; a square becomes a cell when at least half of it is covered.

        The grid frame is that of the polygon, and the lattice is centred on its bounding box.

        Args:
            polygon: A simple polygon [m], shape (k, 2).
            cell_size: Side of a cell [m].

        """
        outline = simple_polygon("polygon", polygon)
        lattice = lattice_over(outline, cell_size=positive_number("cell_size", cell_size))
        # The slack is for squares whose coverage is half but for rounding.
        kept = coverage(outline, lattice) >= 0.5 - 1e-9
        problem = f"polygon has parts too thin for cell_size {cell_size:g} m"
        if not kept.any():
            raise PushwiseError(f"{problem}: no square is half covered; use a smaller cell_size.")
        j, i = np.nonzero(kept)
        count = int(parts(neighbours(np.stack([i, j], axis=1))).max()) + 1
        if count > 1:
            raise PushwiseError(
                f"{problem}: its cells fall into {count} separate pieces; use a smaller cell_size."
            )
        return cls(lattice.centres()[kept], cell_size, outline=outline)

    @classmethod
    def from_mask(
        cls,
        mask: ArrayLike,
        *,
        pixel_size: float,
        cell_size: float | None = None,
        n_cells: int | None = None,
    ) -> Self:
        """Fill the largest connected part of a boolean image with cells.

        The grid frame has its origin at the image's lower left corner, x to the right and y up.
        The outline follows the border of the pixels without its staircase. Thin parts stay
        connected, and holes smaller than a cell are filled.

        Args:
            mask: True on the object, shape (rows, columns), row 0 at the top.
            pixel_size: Side of a pixel [m].
            cell_size: Side of a cell [m]; by default it follows from `n_cells`.
            n_cells: Approximate number of cells; by default 28 to 127.

        """
        options = ScanOptions(cell_size=cell_size, n_cells=n_cells)
        footprint = mask_footprint(mask, pixel_size=positive_number("pixel_size", pixel_size))
        cells = choose_cells(footprint, options)
        return cls(cells.centres, cells.cell_size, outline=footprint.outline)

    @staticmethod
    def from_points(points: ArrayLike, options: ScanOptions = ScanOptions()) -> CellGrid:
        """Make the grid of the object on the table in a point cloud.

        The table is found in the cloud at any tilt of the camera. A cloud without a table must
        show the object alone in a frame whose z axis points up from the table, unless the table is
        given. The object's upper surface is projected straight down; the grid's x axis is the
        object's long principal axis, its origin the centre of the outline's bounding box.

        `Scan.from_points` also returns the pose of the grid and the points that were left out.

        Args:
            points: The cloud [m], shape (n, 3); rows that are not finite are dropped.
            options: How the object is found and divided into cells.

        """
        from pushwise.shape.scan import Scan

        return Scan.from_points(points, options).warned().grid

    @staticmethod
    def from_depth(
        depth: ArrayLike,
        intrinsics: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        scale: float = DEPTH_SCALE,
        options: ScanOptions = ScanOptions(),
    ) -> CellGrid:
        """Make the grid of the object on the table in a depth image; see `from_points`.

        Args:
            depth: Distances in units of `scale`, shape (rows, columns); zero or NaN where the
                camera read nothing.
            intrinsics: (fx, fy, cx, cy) or the camera matrix (3, 3) [px].
            mask: Non-zero on the object's pixels, shape (rows, columns), where they are known.
            scale: Metres per unit of depth.
            options: How the object is found and divided into cells.

        """
        from pushwise.shape.scan import Scan

        scan = Scan.from_depth(depth, intrinsics, mask=mask, scale=scale, options=options)
        return scan.warned().grid

    @staticmethod
    def from_mesh(
        vertices: ArrayLike, faces: ArrayLike, options: ScanOptions = ScanOptions()
    ) -> CellGrid:
        """Make the grid of a mesh that stands on the table, z up, seen from above.

        Args:
            vertices: [m], shape (n, 3).
            faces: Triangles of vertex indices, shape (f, 3).
            options: How the mesh is divided into cells; `near`, `table` and `min_height` are
                for clouds.

        """
        from pushwise.shape.scan import Scan

        return Scan.from_mesh(vertices, faces, options).warned().grid

    @property
    def n_cells(self) -> int:
        """Number of cells n."""
        return len(self.centres)

    @property
    def area(self) -> float:
        """Area of the cells [m^2]."""
        return self.n_cells * self.cell_size**2

    @cached_property
    def adjacency(self) -> Integers:
        """Pairs of cells (i, j), i < j, that share a side, shape (m, 2)."""
        cell, side = np.nonzero(self._next_to[:, 1:3] >= 0)
        pairs = np.sort(np.stack([cell, self._next_to[cell, side + 1]], axis=1), axis=1)
        return _frozen(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])

    @property
    def boundary(self) -> Integers:
        """Outer cells in counter-clockwise order, shape (b,).

        A cell appears each time a walk around the object passes it: a cell of a handle one cell
        wide appears twice, with opposite normals.
        """
        return self._visits[0]

    @property
    def normals(self) -> Array:
        """Outward unit normals of the `boundary` cells, shape (b, 2)."""
        return self._visits[1]

    def __repr__(self) -> str:
        """Return the number and size of the cells."""
        return f"CellGrid({self.n_cells} cells of {self.cell_size:g} m)"

    def refuse_one_cell_wide(self) -> None:
        """Raise when the cells form a single row, which says nothing about the direction across."""
        if self._ij.max(axis=0).min() == 0:
            raise PushwiseError(
                "the object is one cell wide, so nothing can be distributed across it: "
                "make its grid with a smaller cell_size."
            )

    @cached_property
    def _ij(self) -> Integers:
        """Lattice positions of the cells, shape (n, 2), starting at zero."""
        steps = (self.centres - self.centres[0]) / self.cell_size
        nearest = np.rint(steps)
        off = np.abs(steps - nearest).max(axis=1)
        worst = int(np.argmax(off))
        if off[worst] > 1e-6:
            x, y = self.centres[worst]
            raise PushwiseError(
                f"centres must lie on a lattice of pitch cell_size {self.cell_size:g} m; "
                f"cell {worst} at ({x:g}, {y:g}) is {off[worst]:.2g} of a cell off it."
            )
        if np.ptp(nearest, axis=0).max() >= self.n_cells:
            # Refused here, because positions this far apart may overflow an integer.
            raise PushwiseError(
                f"centres must form one patch of cells joined side to side; {self.n_cells} cells "
                f"of {self.cell_size:g} m cannot span {np.ptp(self.centres, axis=0).max():g} m."
            )
        ij: Integers = (nearest - nearest.min(axis=0)).astype(np.int64)
        return ij

    @cached_property
    def _next_to(self) -> Integers:
        """The cell across each side of each cell, shape (n, 4), or -1."""
        return neighbours(self._ij)

    @cached_property
    def _loop(self) -> OuterLoop:
        """The unit edges of the outer border, in walking order."""
        return outer_loop(self._ij, self._next_to)

    @cached_property
    def _visits(self) -> tuple[Integers, Array]:
        """The boundary cells and their normals, one entry per run of edges of the same cell."""
        cells, sides = self._loop.cells, self._loop.sides
        starts = np.flatnonzero(cells != np.roll(cells, 1))
        if len(starts) == 0:  # A single cell: its normals would cancel, so each side counts.
            starts = np.arange(4)
        # Begin at the start of a run, so that no run is split between the end and the beginning.
        order = np.roll(np.arange(len(cells)), -starts[0])
        sums = np.add.reduceat(NORMALS[sides[order]], starts - starts[0], axis=0)
        normals = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return _frozen(cells[starts]), _frozen(normals)

    def _border(self) -> Array:
        """The corners of the cells' outer border [m], shape (k, 2)."""
        turns = self._loop.sides != np.roll(self._loop.sides, 1)
        origin = np.mean(self.centres - self._ij * self.cell_size, axis=0) - 0.5 * self.cell_size
        border: Array = origin + self._loop.corners[turns] * self.cell_size
        return border

    def _refuse_disconnected(self) -> None:
        """Raise when two cells coincide or the cells are not joined side to side."""
        order = np.lexsort(self._ij.T)
        same = np.all(np.diff(self._ij[order], axis=0) == 0, axis=1)
        if same.any():
            at = int(np.argmax(same))
            i, j = sorted((int(order[at]), int(order[at + 1])))
            x, y = self.centres[i]
            raise PushwiseError(
                f"centres must not repeat a cell; cells {i} and {j} are both at ({x:g}, {y:g})."
            )
        part = parts(self._next_to)
        if part.any():
            stray = int(np.argmax(part != part[0]))
            x, y = self.centres[stray]
            raise PushwiseError(
                f"centres must form one patch of cells joined side to side; cell {stray} at "
                f"({x:g}, {y:g}) is not joined to cell 0 ({int(part.max()) + 1} separate pieces)."
            )


def _frozen(array: _AnyArray) -> _AnyArray:
    """Make an array read-only and return it."""
    array.flags.writeable = False
    return array
