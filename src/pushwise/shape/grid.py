"""`CellGrid`: an object seen from above, as equal square cells and the outline around them."""

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
from pushwise.typing import Array, Integers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["CellGrid"]

_T = TypeVar("_T", bound=np.generic)


@dataclass(frozen=True, eq=False, repr=False, init=False)
class CellGrid:
    """Equal square cells on a regular lattice, joined side to side into one rigid object.

    Cells carry mass and friction; the finger touches the outline. All lengths are in
    the grid frame, whose origin and axes are the caller's. Arrays are read-only.
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

        Heights are the cell size when not given; the outline, the outer border of
        the cells' squares.
        """
        set_field = object.__setattr__
        set_field(self, "cell_size", positive_number("cell_size", cell_size))
        set_field(self, "centres", finite_array("centres", centres, ("n", 2)))
        if self.n_cells == 0:
            raise PushwiseError("centres must hold at least one cell; got shape (0, 2).")
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
                f"outline must go around the cells, but only {inside} of {self.n_cells} centres "
                "lie inside it; give both in the same frame and in metres."
            )

    @classmethod
    def from_outline(cls, polygon: ArrayLike, *, cell_size: float) -> Self:
        """Fill a polygon [m], shape (k, 2), with cells of side `cell_size` [m].

        The polygon's frame is kept, the lattice is centred on its bounding box, and
        a square becomes a cell when at least half of it is covered.
        """
        outline = simple_polygon("polygon", polygon)
        lattice = lattice_over(outline, cell_size=positive_number("cell_size", cell_size))
        # The slack lets a square that is covered by half, but for rounding, count.
        kept = coverage(outline, lattice) >= 0.5 - 1e-9
        remedy = f"polygon has parts too thin for cell_size {cell_size:g} m"
        if not kept.any():
            raise PushwiseError(f"{remedy}: no square is half covered; use a smaller cell_size.")
        j, i = np.nonzero(kept)
        count = int(parts(neighbours(np.stack([i, j], axis=1))).max()) + 1
        if count > 1:
            raise PushwiseError(
                f"{remedy}: its cells fall into {count} separate pieces; use a smaller cell_size."
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
        """Fill the largest part of a boolean image with cells of side `cell_size` [m].

        mask: shape (rows, columns), row 0 at the top, pixels of side `pixel_size` [m].
        The grid frame has its origin at the image's lower left corner, x to the right
        and y up. The outline follows the pixels' border without its staircase. Without a
        `cell_size`, about `n_cells` cells; without either, 28 to 127 of them. Cells join
        thin parts, and holes smaller than a cell are filled.
        """
        footprint = mask_footprint(mask, pixel_size=positive_number("pixel_size", pixel_size))
        cells = choose_cells(footprint, cell_size=cell_size, n_cells=n_cells)
        return cls(cells.centres, cells.cell_size, outline=footprint.outline)

    @staticmethod
    def from_points(
        points: ArrayLike,
        *,
        cell_size: float | None = None,
        n_cells: int | None = None,
        near: ArrayLike | None = None,
        axis: ArrayLike | None = None,
        table: ArrayLike | None = None,
        min_height: float | None = None,
    ) -> CellGrid:
        """Make the grid of the thing on the table in a cloud [m], shape (n, 3).

        The table is found when the cloud shows it, however the camera is tilted; when it
        does not, the cloud is the object alone in a frame with z up from the table, or
        `table` is (a, b, c, d), a x + b y + c z + d = 0 with (a, b, c) pointing up. Of
        several things the largest is taken, or the one nearest to the point `near` (3,).
        Its upper surface is projected straight down, with cells along its principal axes,
        or with x along `axis` (3,), and the origin in the middle of its bounding box.
        Without a `cell_size` [m], about `n_cells` cells; without either, 28 to 127 of them.
        What rises less than `min_height` [m] is no object; by default, what the noise allows.

        `Scan.from_points` also tells where the grid is and what was dropped.
        """
        from pushwise.shape.scan import Scan

        return (
            Scan.from_points(
                points,
                cell_size=cell_size,
                n_cells=n_cells,
                near=near,
                axis=axis,
                table=table,
                min_height=min_height,
            )
            .warned()
            .grid
        )

    @staticmethod
    def from_depth(
        depth: ArrayLike,
        intrinsics: ArrayLike,
        *,
        mask: ArrayLike | None = None,
        scale: float = 0.001,
        cell_size: float | None = None,
        n_cells: int | None = None,
    ) -> CellGrid:
        """Make the grid of the thing on the table in a depth image, as `from_points` does.

        depth: shape (rows, columns), in units of `scale` [m], zero where nothing was read.
        intrinsics: (fx, fy, cx, cy) or the camera matrix (3, 3) [px]. mask: non-zero on the
        object's pixels, shape (rows, columns), when they are known.
        """
        from pushwise.shape.scan import Scan

        return (
            Scan.from_depth(
                depth, intrinsics, mask=mask, scale=scale, cell_size=cell_size, n_cells=n_cells
            )
            .warned()
            .grid
        )

    @staticmethod
    def from_mesh(
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        cell_size: float | None = None,
        n_cells: int | None = None,
    ) -> CellGrid:
        """Make the grid of a mesh that lies on the table, z up, seen from above.

        vertices: [m], shape (n, 3); faces: triangles of vertex numbers, shape (f, 3).
        """
        from pushwise.shape.scan import Scan

        scan = Scan.from_mesh(vertices, faces, cell_size=cell_size, n_cells=n_cells)
        return scan.warned().grid

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
        """Outer cells in counter-clockwise walking order, shape (b,).

        A cell appears once for each time the walk around the object passes it: a cell
        of a handle one cell wide appears twice, with opposite normals.
        """
        return self._visits[0]

    @property
    def normals(self) -> Array:
        """Outward unit normals of the `boundary` cells, shape (b, 2)."""
        return self._visits[1]

    def __repr__(self) -> str:
        """Tell the size, not the numbers."""
        return f"CellGrid({self.n_cells} cells of {self.cell_size:g} m)"

    def refuse_one_cell_wide(self) -> None:
        """Raise when the cells are a single row: nothing can be told of what is across it."""
        if self._ij.max(axis=0).min() == 0:
            raise PushwiseError(
                "the object is one cell wide, which leaves nothing to distribute across it: make "
                "its grid with a smaller cell_size."
            )

    @cached_property
    def _ij(self) -> Integers:
        """Lattice positions of the cells, shape (n, 2), from zero up."""
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
            # Said here because positions this far apart may not fit an integer.
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
        """The boundary cells and their normals: one entry a run of edges of one cell."""
        cells, sides = self._loop.cells, self._loop.sides
        starts = np.flatnonzero(cells != np.roll(cells, 1))
        if len(starts) == 0:  # A lone cell: its normals would cancel, so each side counts.
            starts = np.arange(4)
        # Begin at the start of a run, so that none is split between end and beginning.
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


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    """Make an array read-only."""
    array.flags.writeable = False
    return array
