"""Cells as whole-number positions on a square lattice: neighbours, parts, the outer loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["HEADINGS", "NORMALS", "OuterLoop", "neighbours", "outer_loop", "parts"]

# The sides of a cell, counter-clockwise from the bottom one.
NORMALS = np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])
HEADINGS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
_FIRST_CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


class OuterLoop(NamedTuple):
    """The outer border of a connected patch, one unit edge an entry, counter-clockwise."""

    corners: NDArray[np.int64]
    """Where each edge starts, shape (e, 2); cell (i, j) spans (i, j) to (i+1, j+1)."""
    cells: NDArray[np.int64]
    """Which cell each edge belongs to, shape (e,)."""
    sides: NDArray[np.int64]
    """Which side of that cell it is, shape (e,); an index into NORMALS."""


def neighbours(ij: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cell across each side of each cell, shape (n, 4); -1 where there is none.

    ij: distinct lattice positions, shape (n, 2).
    """
    found = np.full((len(ij), 4), -1, dtype=np.int64)
    for axis, (ahead, behind) in enumerate([(1, 3), (2, 0)]):
        # Sorted line by line along this axis, touching cells follow each other.
        order = np.lexsort((ij[:, axis], ij[:, 1 - axis]))
        step = np.diff(ij[order], axis=0)
        touches = (step[:, axis] == 1) & (step[:, 1 - axis] == 0)
        first, second = order[:-1][touches], order[1:][touches]
        found[first, ahead] = second
        found[second, behind] = first
    return found


def parts(next_to: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of the side-connected part each cell is in, shape (n,)."""
    n = len(next_to)
    cell, side = np.nonzero(next_to >= 0)
    links = coo_array((np.ones(len(cell)), (cell, next_to[cell, side])), shape=(n, n))
    labels = connected_components(links, directed=False)[1]
    return np.asarray(labels, dtype=np.int64)


def outer_loop(ij: NDArray[np.int64], next_to: NDArray[np.int64]) -> OuterLoop:
    """Walk once around a side-connected patch, counter-clockwise.

    Where two cells touch only at a corner the walk crosses from one to the other:
    the pocket behind them is closed to any finger, and the loop stays simple.
    """
    cells, sides = np.nonzero(next_to < 0)
    starts = ij[cells] + _FIRST_CORNERS[sides]
    ends = (starts + HEADINGS[sides]).tolist()
    leaving: dict[tuple[int, int], list[int]] = {}
    for edge, (x, y) in enumerate(starts.tolist()):
        leaving.setdefault((x, y), []).append(edge)
    # The lowest bottom side has nothing of the patch below it, so it is on the outer loop.
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
