"""How much of each square of a lattice a polygon covers, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Lattice", "coverage", "lattice_over"]

# A finer lattice than this is a slip of units, and would fill the memory.
_MOST_SQUARES = 4_000_000


class Lattice(NamedTuple):
    """A block of equal squares: column i, row j starts at origin + (i, j) * cell_size."""

    origin: NDArray[np.float64]
    """Lower left corner [m], shape (2,)."""
    cell_size: float
    """Side of a square [m]."""
    columns: int
    rows: int

    def centres(self) -> NDArray[np.float64]:
        """Return the squares' centres [m], shape (rows, columns, 2)."""
        i, j = np.meshgrid(np.arange(self.columns), np.arange(self.rows))
        return self.origin + (np.stack([i, j], axis=-1) + 0.5) * self.cell_size


def lattice_over(polygon: NDArray[np.float64], *, cell_size: float) -> Lattice:
    """Return the lattice that fits a polygon (k, 2) best, centred on its bounding box."""
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    # Rounded, the lattice leaves out a quarter of a square at most on either side.
    columns, rows = np.maximum(np.rint((high - low) / cell_size), 1.0).tolist()
    if columns * rows > _MOST_SQUARES:
        width, depth = (high - low).tolist()
        raise PushwiseError(
            f"cell_size {cell_size:g} m is too small for an outline of {width:g} x {depth:g} m: "
            f"the grid would have {columns * rows:.3g} squares; use a larger cell_size."
        )
    origin = 0.5 * (low + high) - 0.5 * cell_size * np.array([columns, rows])
    return Lattice(origin, cell_size, int(columns), int(rows))


def coverage(polygon: NDArray[np.float64], lattice: Lattice) -> NDArray[np.float64]:
    """Return the covered fraction of each square, shape (rows, columns).

    The polygon (k, 2) runs counter-clockwise. Its area is the integral of x dy along
    its edges; cut at the lattice lines, each piece adds its share to the square it
    crosses and a full strip of height dy to the squares on its left.
    """
    corners = (polygon - lattice.origin) / lattice.cell_size
    pieces = [_cut(a, b) for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)]
    middle = np.concatenate([middles for middles, _ in pieces])
    dy = np.concatenate([rises for _, rises in pieces])
    inside = (middle[:, 1] > 0.0) & (middle[:, 1] < lattice.rows) & (middle[:, 0] > 0.0)
    middle, dy = middle[inside], dy[inside]
    row = np.floor(middle[:, 1]).astype(np.int64)
    # Pieces right of the lattice fall in one extra column, dropped at the end.
    column = np.minimum(np.floor(middle[:, 0]), lattice.columns).astype(np.int64)
    own = np.zeros((lattice.rows, lattice.columns + 1))
    strip = np.zeros_like(own)
    np.add.at(own, (row, column), dy * (middle[:, 0] - column))
    np.add.at(strip, (row, column), dy)
    to_the_right = np.cumsum(strip[:, ::-1], axis=1)[:, ::-1] - strip
    return np.clip((own + to_the_right)[:, :-1], 0.0, 1.0)


def _cut(
    a: NDArray[np.float64], b: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cut the edge a b at whole coordinates; return the pieces' middles (p, 2) and rises (p,)."""
    ts = [np.array([0.0, 1.0])]
    for axis in (0, 1):
        low, high = sorted((a[axis], b[axis]))
        if high > low:
            lines = np.arange(np.floor(low) + 1.0, np.ceil(high))
            ts.append((lines - a[axis]) / (b[axis] - a[axis]))
    t = np.sort(np.concatenate(ts))
    middle = 0.5 * (t[1:] + t[:-1])
    return a + middle[:, None] * (b - a), np.diff(t) * (b[1] - a[1])
