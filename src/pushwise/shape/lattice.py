"""Square lattices: how much of each square a polygon covers, and how patches of squares connect.

`coverage` rasterises a polygon exactly. `neighbours`, `parts` and `outer_loop` describe a set of
squares given by their integer positions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pushwise.errors import PushwiseError
from pushwise.typing import Array, Integers

__all__ = [
    "HEADINGS",
    "NORMALS",
    "Lattice",
    "OuterLoop",
    "coverage",
    "lattice_over",
    "neighbours",
    "outer_loop",
    "parts",
]

# A lattice with more squares is a mistake in units, and would exhaust the memory.
_MOST_SQUARES = 4_000_000

# The sides of a cell, counter-clockwise from the bottom one.
NORMALS = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])
HEADINGS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
_FIRST_CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


class Lattice(NamedTuple):
    """A block of equal squares: column i, row j starts at origin + (i, j) * cell_size."""

    origin: Array
    """Lower left corner [m], shape (2,)."""
    cell_size: float
    """Side of a square [m]."""
    columns: int
    rows: int

    def centres(self) -> Array:
        """Return the centres of the squares [m], shape (rows, columns, 2)."""
        i, j = np.meshgrid(np.arange(self.columns), np.arange(self.rows))
        return self.origin + (np.stack([i, j], axis=-1) + 0.5) * self.cell_size


def lattice_over(polygon: Array, *, cell_size: float) -> Lattice:
    """Return the lattice that fits a polygon (k, 2) best, centred on its bounding box."""
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    # After rounding, at most a quarter of a square is left out on each side.
    columns, rows = np.maximum(np.rint((high - low) / cell_size), 1.0).tolist()
    if columns * rows > _MOST_SQUARES:
        width, depth = (high - low).tolist()
        raise PushwiseError(
            f"cell_size {cell_size:g} m is too small for an outline of {width:g} x {depth:g} m: "
            f"the grid would have {columns * rows:.3g} squares; use a larger cell_size."
        )
    origin = 0.5 * (low + high) - 0.5 * cell_size * np.array([columns, rows])
    return Lattice(origin, cell_size, int(columns), int(rows))


def coverage(polygon: Array, lattice: Lattice) -> Array:
    """Return the covered fraction of each square, shape (rows, columns).

    The polygon (k, 2) is counter-clockwise. Its area is the integral of x dy along its edges:
    cut at the lattice lines, each piece adds its share to the square it crosses, and a full strip
    of height dy to the squares on its left.
    """
    corners = (polygon - lattice.origin) / lattice.cell_size
    pieces = [_cut(a, b) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    middle = np.concatenate([middles for middles, _ in pieces])
    dy = np.concatenate([rises for _, rises in pieces])
    inside = (middle[:, 1] > 0.0) & (middle[:, 1] < lattice.rows) & (middle[:, 0] > 0.0)
    middle, dy = middle[inside], dy[inside]
    row = np.floor(middle[:, 1]).astype(np.int64)
    # Pieces to the right of the lattice go to an extra column, which is dropped at the end.
    column = np.minimum(np.floor(middle[:, 0]), lattice.columns).astype(np.int64)
    own = np.zeros((lattice.rows, lattice.columns + 1))
    strip = np.zeros_like(own)
    np.add.at(own, (row, column), dy * (middle[:, 0] - column))
    np.add.at(strip, (row, column), dy)
    to_the_right = np.cumsum(strip[:, ::-1], axis=1)[:, ::-1] - strip
    return np.clip((own + to_the_right)[:, :-1], 0.0, 1.0)


def _cut(a: Array, b: Array) -> tuple[Array, Array]:
    """Cut the edge a b at integer coordinates; return the pieces' middles (p, 2) and rises (p,)."""
    ts = [np.array([0.0, 1.0])]
    for axis in (0, 1):
        low, high = sorted((a[axis], b[axis]))
        if high > low:
            lines = np.arange(np.floor(low) + 1.0, np.ceil(high))
            ts.append((lines - a[axis]) / (b[axis] - a[axis]))
    t = np.sort(np.concatenate(ts))
    middle = 0.5 * (t[1:] + t[:-1])
    return a + middle[:, None] * (b - a), np.diff(t) * (b[1] - a[1])


class OuterLoop(NamedTuple):
    """The outer border of a connected patch, one entry per unit edge, counter-clockwise."""

    corners: Integers
    """Start of each edge, shape (e, 2); cell (i, j) spans (i, j) to (i+1, j+1)."""
    cells: Integers
    """Index of the cell that each edge belongs to, shape (e,)."""
    sides: Integers
    """The side of that cell, shape (e,), as an index into NORMALS."""


def neighbours(ij: Integers) -> Integers:
    """Return the index of the cell across each side of each cell, shape (n, 4), or -1 for none.

    Args:
        ij: Distinct lattice positions, shape (n, 2).

    """
    found = np.full((len(ij), 4), -1, dtype=np.int64)
    for axis, (ahead, behind) in enumerate([(1, 3), (2, 0)]):
        # Sorted line by line along this axis, adjacent cells follow each other.
        order = np.lexsort((ij[:, axis], ij[:, 1 - axis]))
        step = np.diff(ij[order], axis=0)
        touches = (step[:, axis] == 1) & (step[:, 1 - axis] == 0)
        first, second = order[:-1][touches], order[1:][touches]
        found[first, ahead] = second
        found[second, behind] = first
    return found


def parts(next_to: Integers) -> Integers:
    """Return which side-connected part each cell belongs to, shape (n,), counted from zero."""
    n = len(next_to)
    cell, side = np.nonzero(next_to >= 0)
    links = coo_array((np.ones(len(cell)), (cell, next_to[cell, side])), shape=(n, n))
    labels = connected_components(links, directed=False)[1]
    return np.asarray(labels, dtype=np.int64)


def outer_loop(ij: Integers, next_to: Integers) -> OuterLoop:
    """Return the outer border of a side-connected patch, counter-clockwise.

    Where two cells touch only at a corner, the border crosses from one to the other: no finger can
    enter the pocket behind them, and the loop stays simple.
    """
    cells, sides = np.nonzero(next_to < 0)
    starts = ij[cells] + _FIRST_CORNERS[sides]
    ends = (starts + HEADINGS[sides]).tolist()
    leaving: dict[tuple[int, int], list[int]] = {}
    for edge, (x, y) in enumerate(starts.tolist()):
        leaving.setdefault((x, y), []).append(edge)
    # No cell is below the lowest bottom side, so it is on the outer border.
    bottoms = np.flatnonzero(sides == 0)
    first = int(bottoms[np.argmin(starts[bottoms, 1])])
    walk = [first]
    while True:
        options = leaving[tuple(ends[walk[-1]])]
        right = (int(sides[walk[-1]]) + 3) % 4
        edge = next((e for e in options if sides[e] == right), options[0])
        if edge == first:
            break
        walk.append(edge)
    return OuterLoop(starts[walk], cells[walk], sides[walk])
