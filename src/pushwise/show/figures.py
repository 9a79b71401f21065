"""Pictures of a scan, of an identified model and of a plan, written with Matplotlib.

Each picture has a function that returns the figure, and one that writes it to a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from pushwise.atomic_write import save_figure
from pushwise.checks import counted
from pushwise.geometry.polygon import placed
from pushwise.physics.model import Table
from pushwise.planning.plan import Plan
from pushwise.shape.grid import CellGrid
from pushwise.show.figure_style import CENTRE, styled
from pushwise.show.quantities import Quantity, cell_corners, ellipse, finger_path, quantities
from pushwise.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pushwise.identification.result import Identification
    from pushwise.shape.scan import Scan

__all__ = [
    "maps_figure",
    "plan_figure",
    "plot_maps",
    "plot_plan",
    "plot_scan",
    "save_picture",
    "scan_figure",
]

_MOST_POINTS = 40_000  # drawn of a point cloud
_BADGE: dict[str, Any] = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": "0.5"}


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, whose suffix says in which format."""
    save_figure(figure, path, dpi=120)


def plot_maps(found: Identification, path: Path | str) -> None:
    """Write the picture of `maps_figure` to a file."""
    save_picture(maps_figure(found), Path(path))


@styled
def maps_figure(found: Identification) -> Figure:
    """Draw mass, friction load and uncertainty per cell, and the centre of mass."""
    shown = quantities(found.belief)
    maps = [shown[name] for name in ("mass", "load", "uncertainty")]
    low, high = found.model.grid.outline.min(axis=0), found.model.grid.outline.max(axis=0)
    margin = 0.08 * float((high - low).max())
    width, depth = (high - low + 2.0 * margin).tolist()
    # Maps of a long object are stacked, which uses the page best.
    tall = width > 1.3 * depth
    rows, columns = (3, 1) if tall else (1, 3)
    side = 7.5 if tall else 4.2
    size = (side + 1.6, 3 * (side * depth / width + 0.5) + 0.9)
    if not tall:
        size = (3 * (side + 1.4), side * depth / width + 1.6)
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    for ax, each in zip(axes.flat, maps, strict=True):
        _draw_cells(figure, ax, found, each)
        _draw_centre(ax, found)
        ax.set_title(each.title)
        _frame(ax, 1e3 * low, 1e3 * high, 1e3 * margin, "mm")
    for ax in axes.flat if not tall else ():
        ax.label_outer()
    for ax in axes.flat[:-1] if tall else ():
        ax.set_xlabel("")
    count = len(found.posterior.problem.records)
    pushes = counted(count, "push", "pushes")
    figure.suptitle(f"{found.model.grid.n_cells} cells, learned from {pushes}")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def _frame(ax: Axes, low: Array, high: Array, margin: float, unit: str) -> None:
    """Show a box with a margin around it, all in a unit, at the same scale along both axes."""
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_aspect("equal")
    ax.set_xlabel(f"x [{unit}]")
    ax.set_ylabel(f"y [{unit}]")


def _draw_cells(figure: Figure, ax: Axes, found: Identification, shown: Quantity) -> None:
    """Colour the cells by a quantity, with a colour bar, and draw the outline around them."""
    grid = found.model.grid
    squares = PolyCollection(
        list(1e3 * cell_corners(grid)),
        array=shown.values,
        cmap=shown.scheme,
        edgecolor="white",
        linewidth=0.4,
    )
    squares.set_clim(0.0, float(shown.values.max()))
    ax.add_collection(squares)
    squares.set_clip_path(Polygon(1e3 * grid.outline).get_path(), ax.transData)
    closed = 1e3 * np.vstack([grid.outline, grid.outline[:1]])
    ax.plot(closed[:, 0], closed[:, 1], color="0.15", linewidth=1.2)
    figure.colorbar(squares, ax=ax, label=f"per cell [{shown.unit}]", pad=0.02)


def _draw_centre(ax: Axes, found: Identification) -> None:
    """Mark the centre of mass and its 95 % ellipse."""
    halo = [withStroke(linewidth=3.5, foreground="white")]
    x, y = 1e3 * found.model.centre_of_mass
    ring = 1e3 * ellipse(found.model.centre_of_mass, found.posterior.centre_of_mass_covariance)
    ring = np.vstack([ring, ring[:1]])
    ax.plot(x, y, ".", color=CENTRE, markersize=5, zorder=4, label="centre of mass")
    ax.plot(
        ring[:, 0],
        ring[:, 1],
        color=CENTRE,
        linewidth=1.5,
        path_effects=halo,
        label="95 % confidence ellipse",
    )


def plot_plan(
    plan: Plan, grid: CellGrid, table: Table, path: Path, *, obstacles: Sequence[ArrayLike] = ()
) -> None:
    """Write the picture of `plan_figure` to a file."""
    save_picture(plan_figure(plan, grid, table, obstacles=obstacles), path)


@styled
def plan_figure(
    plan: Plan, grid: CellGrid, table: Table, *, obstacles: Sequence[ArrayLike] = ()
) -> Figure:
    """Draw a plan on its table, from light (start) to dark (goal), its pushes numbered from 1.

    Outlines are the object before each push and at the end, arrows the paths of the finger, dotted
    lines its approaches.

    Args:
        plan: The plan.
        grid: The object's cells.
        table: The table.
        obstacles: Polygons [m], shape (k, 2) each.

    """
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    axes = figure.subplots()
    axes.add_patch(Polygon(table.polygon, facecolor="0.96", edgecolor="0.4"))
    for obstacle in obstacles:
        axes.add_patch(Polygon(np.asarray(obstacle, float), facecolor="0.6"))
    colours = colormaps["viridis_r"](np.linspace(0.1, 1.0, len(plan.poses)))
    for pose, colour in zip(plan.poses, colours, strict=True):
        axes.add_patch(Polygon(placed(grid.outline, pose), fill=False, edgecolor=colour))
    for approach, colour in zip(plan.approaches, colours, strict=False):
        axes.plot(*approach.T, color=colour, linewidth=0.7, linestyle=":")
    for push, colour in zip(plan.pushes, colours, strict=False):
        *bends, last, tip = finger_path(push).tolist()
        if bends:
            axes.plot(*np.array([*bends, last]).T, color=colour, linewidth=1.0)
        axes.annotate("", tip, last, arrowprops={"arrowstyle": "->", "color": colour})
    for number, push in enumerate(plan.pushes, 1):
        x, y = push.start
        axes.text(x, y, f"{number}", fontsize=8, ha="center", va="center", bbox=_BADGE)
    last_error = f"{1e3 * plan.error:.1f} mm from the goal"
    axes.set_title(f"{counted(len(plan.pushes), 'push', 'pushes')} planned, ending {last_error}")
    lines = {
        "object, from start (light) to end (dark)": {"color": colours[len(colours) // 2]},
        "finger approaches": {"color": "0.4", "linestyle": ":", "linewidth": 0.9},
    }
    handles = [Line2D([], [], label=label, **style) for label, style in lines.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    return figure


def plot_scan(scan: Scan, points: Array, path: Path) -> None:
    """Write the picture of `scan_figure` to a file."""
    save_picture(scan_figure(scan, points), path)


@styled
def scan_figure(scan: Scan, points: Array) -> Figure:
    """Draw the cells of a scan, coloured by height, over its point cloud [m], shape (n, 3)."""
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
    squares = PolyCollection(
        list(cell_corners(grid)),
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
        ax.plot(closed[:, 0], closed[:, 1], color=CENTRE, linewidth=1.2, zorder=3)
    _frame(ax, low, high, margin, "m")
    ax.set_title(f"{grid.n_cells} cells of {1000.0 * grid.cell_size:g} mm, outline in red")
    figure.colorbar(squares, ax=ax, label="height [mm]", shrink=0.8)
    return figure
