"""Choosing the lattice squares that represent a footprint: covered, connected, nothing lost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from pushwise.checks import non_negative_integer
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import signed_area
from pushwise.shape.footprint import Footprint
from pushwise.shape.lattice import Lattice, coverage, lattice_over
from pushwise.shape.scan_options import ScanOptions
from pushwise.typing import Array, Flags

__all__ = ["CellLayout", "CellTooLargeError", "choose_cells", "fit_cells"]

# The paper's objects have 28 to 127 cells.
FEWEST_CELLS, MOST_CELLS = 28, 127
_USUAL_CELLS = 80
# Coverage is computed at this many parts per side of a square, which are also the trial shifts.
_FINE = 4
# Only a shift that gains this much overlap moves the lattice off the centre.
_LEAST_GAIN = 0.005
_MOST_SQUARES = 200_000


class CellTooLargeError(PushwiseError):
    """Cells of the size asked for are larger than the object."""


class CellLayout(NamedTuple):
    """Where the cells of a footprint are."""

    centres: Array
    """Cell centres [m], shape (n, 2)."""
    cell_size: float
    """Side of a cell [m]."""


def choose_cells(footprint: Footprint, options: ScanOptions) -> CellLayout:
    """Return cells of `options.cell_size`, or about `options.n_cells` of them.

    Without either, the size gives 28 to 127 cells, as in the paper's experiments.
    """
    cell_size, n_cells = options.cell_size, options.n_cells
    if cell_size is not None:
        side = float(np.ptp(footprint.outline, axis=0).min())
        if cell_size > side + 1e-9:  # The slack is for rounding.
            raise CellTooLargeError(
                f"cell_size {cell_size:g} m is larger than the object, whose shorter side is "
                f"{side:.3g} m; give it in metres."
            )
        return fit_cells(footprint, cell_size)
    target = _USUAL_CELLS
    if n_cells is not None:
        target = non_negative_integer("n_cells", n_cells)
        if not 1 <= target <= _MOST_SQUARES:
            raise PushwiseError(f"n_cells must be from 1 to {_MOST_SQUARES}; got {target}.")
    first = fit_cells(footprint, _rounded(np.sqrt(footprint.area() / target)))
    if n_cells is None and FEWEST_CELLS <= len(first.centres) <= MOST_CELLS:
        return first
    # The count jumps as the size changes: try sizes on either side for the nearest count.
    best = first
    guess = first.cell_size * np.sqrt(len(first.centres) / target)
    for factor in np.linspace(0.85, 1.15, 13):
        if len(best.centres) == target:
            break
        trial = fit_cells(footprint, _rounded(guess * factor))
        if abs(len(trial.centres) - target) < abs(len(best.centres) - target):
            best = trial
    return best


def fit_cells(footprint: Footprint, cell_size: float) -> CellLayout:
    """Return the cells of side `cell_size` [m] that represent a footprint.

    Of sixteen lattices, shifted by quarters of a cell, the one whose cells overlap the footprint
    best is taken; a square becomes a cell when at least half of it is covered. Cells are then
    added along the best covered squares until all are joined side to side and no part of the
    footprint is more than a cell away from them, so a handle narrower than a cell becomes a row
    of cells. Holes smaller than a cell are filled.
    """
    middle = lattice_over(footprint.outline, cell_size=cell_size)
    if middle.columns * middle.rows > _MOST_SQUARES:
        raise PushwiseError(
            f"cell_size {cell_size:g} m is too small: the grid would have "
            f"{middle.columns * middle.rows} squares; use a larger cell_size."
        )
    fine_lattice = Lattice(
        middle.origin - cell_size,
        cell_size / _FINE,
        (middle.columns + 3) * _FINE,
        (middle.rows + 3) * _FINE,
    )
    fine = coverage(footprint.outline, fine_lattice)
    for hole in footprint.holes:
        if signed_area(hole) >= cell_size**2:
            fine = np.maximum(fine - coverage(hole, fine_lattice), 0.0)
    shift, shares = _best_shift(fine)
    origin = fine_lattice.origin + np.array(shift) * fine_lattice.cell_size
    window = fine[shift[1] :, shift[0] :]
    window = window[: shares.shape[0] * _FINE, : shares.shape[1] * _FINE]
    kept = _joined(shares, window)
    j, i = np.nonzero(kept)
    # Rounded to a nanometre, so that the numbers are short in files that people read.
    centres = origin + (np.stack([i, j], axis=1) + 0.5) * cell_size
    return CellLayout(centres.round(9), cell_size)


def _best_shift(fine: Array) -> tuple[tuple[int, int], Array]:
    """Return the shift of the lattice that overlaps best, and the coverage of its squares.

    The shift is in fine squares along x and y; the coverage has shape (rows, columns).
    """
    rows, columns = fine.shape[0] // _FINE - 1, fine.shape[1] // _FINE - 1
    total = float(fine.sum()) / _FINE**2
    best = -1.0
    for a, b in sorted(np.ndindex(_FINE, _FINE), key=lambda ab: (_off(ab[0]) + _off(ab[1]), ab)):
        block = fine[b : b + rows * _FINE, a : a + columns * _FINE]
        shares = block.reshape(rows, _FINE, columns, _FINE).mean(axis=(1, 3))
        kept = shares >= 0.5 - 1e-9
        common = float(shares[kept].sum())
        overlap = common / (total + float(kept.sum()) - common)
        if overlap > best + _LEAST_GAIN:
            best, result = overlap, ((a, b), shares)
    return result


def _off(shift: int) -> int:
    """Return the distance of a shift from the centred lattice, which recurs after a whole cell."""
    return min(shift, _FINE - shift)


def _joined(shares: Array, fine: Array) -> Flags:
    """Return which squares become cells: the well covered ones, and those that connect them."""
    kept: Flags = shares >= 0.5 - 1e-9
    if not kept.any():
        kept[np.unravel_index(np.argmax(shares), shares.shape)] = True
    while True:
        labels, count = ndimage.label(kept)
        if count > 1:
            sizes = np.bincount(labels.ravel())[1:]
            main = labels == 1 + int(np.argmax(sizes))
            kept |= _path(shares, main, kept & ~main)
            continue
        away = ndimage.distance_transform_cdt(
            ~np.kron(kept, np.ones((_FINE, _FINE), dtype=np.bool_)), metric="chessboard"
        )
        away[fine < 0.5] = 0
        if away.max() <= _FINE:
            return kept
        row, column = np.unravel_index(np.argmax(away), away.shape)
        target = np.zeros_like(kept)
        target[row // _FINE, column // _FINE] = True
        kept |= _path(shares, kept, target)


def _path(shares: Array, start: Flags, end: Flags) -> Flags:
    """Return the squares on the best covered path from `start` to the nearest of `end`."""
    number = np.arange(shares.size).reshape(shares.shape)
    links = [
        (number[:, :-1], number[:, 1:]),
        (number[:, 1:], number[:, :-1]),
        (number[:-1], number[1:]),
        (number[1:], number[:-1]),
    ]
    source = np.concatenate([a.ravel() for a, _ in links])
    target = np.concatenate([b.ravel() for _, b in links])
    # Entering a square costs its uncovered share, and always a little.
    cost = 1.01 - shares.ravel()[target]
    graph = coo_array((cost, (source, target)), shape=(shares.size, shares.size)).tocsr()
    far, before, _ = dijkstra(
        graph, indices=np.flatnonzero(start), min_only=True, return_predecessors=True
    )
    ends = np.flatnonzero(end)
    at = int(ends[np.argmin(far[ends])])
    path = np.zeros(shares.size, dtype=np.bool_)
    while at >= 0:
        path[at] = True
        at = int(before[at])
    return path.reshape(shares.shape)


def _rounded(length: float) -> float:
    """Return a length rounded to three significant digits."""
    return float(f"{length:.3g}")
