"""The picture of a scan: the cells over the cloud, coloured by height."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pushwise.show.picture import save_picture

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pushwise.shape.scan import Scan

__all__ = ["plot_scan"]

_MOST_POINTS = 40_000


def plot_scan(scan: Scan, points: NDArray[np.float64], path: Path) -> None:
    """Draw a scan over the cloud [m], shape (n, 3), it came from, to an image file."""
    from matplotlib.collections import PolyCollection
    from matplotlib.figure import Figure

    grid = scan.grid
    some = points[:: max(1, len(points) // _MOST_POINTS)]
    some = some[np.isfinite(some).all(axis=1)]
    x, y, _ = np.einsum("ij,jk->ki", some - scan.frame[:3, 3], scan.frame[:3, :3])
    low, high = grid.outline.min(axis=0), grid.outline.max(axis=0)
    margin = 0.25 * float((high - low).max())
    width, depth = (high - low + 2.0 * margin).tolist()

    figure = Figure(figsize=(9.0, 9.0 * depth / width + 0.6), layout="constrained")
    ax = figure.subplots()
    ax.plot(x, y, ".", color="0.75", markersize=1.0, zorder=1, rasterized=True)
    half = 0.5 * grid.cell_size
    corners = half * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    squares = PolyCollection(
        list(grid.centres[:, None, :] + corners),
        array=1000.0 * grid.heights,
        cmap="viridis",
        edgecolor="white",
        linewidth=0.5,
        alpha=0.85,
        zorder=2,
    )
    ax.add_collection(squares)
    for loop in (grid.outline, *scan.holes):
        closed = np.vstack([loop, loop[:1]])
        ax.plot(closed[:, 0], closed[:, 1], color="tab:red", linewidth=1.2, zorder=3)
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_aspect("equal")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    ax.set_title(f"{grid.n_cells} cells of {1000.0 * grid.cell_size:g} mm, outline in red")
    figure.colorbar(squares, ax=ax, label="height [mm]", shrink=0.8)
    save_picture(figure, path)
