"""Pictures of scenes, written with Matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from pushwise.geometry.polygon import placed
from pushwise.shape.scene import Scene
from pushwise.show.figure_style import CENTRE, styled
from pushwise.show.figures import save_picture
from pushwise.show.quantities import cell_corners
from pushwise.typing import Array

__all__ = ["draw_scene", "plot_scene", "scene_figure"]

_MOST_POINTS = 60_000
_MARGIN = 0.08  # m around the objects


def plot_scene(scene: Scene, points: Array, path: Path) -> None:
    """Write the picture of `scene_figure` to a file."""
    save_picture(scene_figure(scene, points), path)


@styled
def scene_figure(scene: Scene, points: Array) -> Figure:
    """Draw a scene from above: cells coloured by height, numbers, and the cloud [m], (n, 3)."""
    corners = np.concatenate([each.outline for each in scene.objects])
    width, depth = np.ptp(corners, axis=0) + 2.0 * _MARGIN
    figure = Figure(figsize=(9.0, min(9.0 * depth / width + 0.6, 14.0)), layout="constrained")
    ax = figure.subplots()
    squares = draw_scene(ax, scene, points)
    ax.set_title(f"{len(scene.objects)} objects, outlines in red")
    ax.set_xlabel("x [m]")
    ax.set_ylabel("y [m]")
    figure.colorbar(squares, ax=ax, label="height [mm]", shrink=0.8)
    return figure


def draw_scene(ax: Axes, scene: Scene, points: Array) -> PolyCollection:
    """Draw a scene and its cloud [m], shape (n, 3), and return the cells."""
    some = np.asarray(points, dtype=np.float64)[:: max(1, len(points) // _MOST_POINTS)]
    some = some[np.isfinite(some).all(axis=1)]
    x, y, _ = np.einsum("ij,jk->ki", some - scene.frame[:3, 3], scene.frame[:3, :3])
    ax.plot(x, y, ".", color="0.75", markersize=0.8, zorder=1, rasterized=True)
    cells, heights = [], []
    for number, each in enumerate(scene.objects):
        pose = np.array(each.pose)
        squares = cell_corners(each.grid)
        cells += [placed(square, pose) for square in squares]
        heights += each.grid.heights.tolist()
        for loop in (each.grid.outline, *each.holes):
            closed = placed(np.vstack([loop, loop[:1]]), pose)
            ax.plot(closed[:, 0], closed[:, 1], color=CENTRE, linewidth=1.2, zorder=3)
        ax.annotate(
            str(number),
            (pose[0], pose[1]),
            ha="center",
            va="center",
            zorder=4,
            bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": "0.3"},
        )
    drawn = PolyCollection(
        cells,
        array=1e3 * np.array(heights),
        cmap="viridis",
        edgecolor="white",
        linewidth=0.3,
        alpha=0.85,
        zorder=2,
    )
    ax.add_collection(drawn)
    corners = np.concatenate([each.outline for each in scene.objects])
    low, high = corners.min(axis=0) - _MARGIN, corners.max(axis=0) + _MARGIN
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect("equal")
    return drawn
