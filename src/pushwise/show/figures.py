"""Writing a figure to a picture file that a person asked for.

The picture of an identification: maps of mass, friction load and doubt over the cells.

A plan as a picture: the object's outline along the way, and every push.

The picture of a scan: the cells over the cloud, coloured by height.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike

from pushwise.checks import counted
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.physics.model import Table
from pushwise.planning.plan import Plan
from pushwise.shape.grid import CellGrid
from pushwise.show.quantities import Quantity, quantities
from pushwise.show.svg import ellipse
from pushwise.typing import Array

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pushwise.identification.result import Identification
    from pushwise.shape.scan import Scan

__all__ = ["plot_maps", "plot_plan", "plot_scan", "save_picture"]


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure; the file's ending says in which format."""
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:  # no such folder, or no such format
        reason = " ".join(str(error).split()).rstrip(".")
        raise PushwiseError(f"cannot write {path} ({reason}).") from None


_CENTRE = "tab:red"


def plot_maps(found: Identification, path: Path) -> None:
    """Draw mass, friction load and uncertainty of the cells, and the centre of mass, to a file."""
    from matplotlib.figure import Figure

    shown = quantities(found.belief)
    maps = [shown[name] for name in ("mass", "load", "uncertainty")]
    low, high = found.model.grid.outline.min(axis=0), found.model.grid.outline.max(axis=0)
    margin = 0.08 * float((high - low).max())
    width, depth = (high - low + 2.0 * margin).tolist()
    # A long thing lies flat: one map above the other uses the page best.
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
        ax.set_xlim(1e3 * (low[0] - margin), 1e3 * (high[0] + margin))
        ax.set_ylim(1e3 * (low[1] - margin), 1e3 * (high[1] + margin))
        ax.set_aspect("equal")
        ax.set_title(each.title, loc="left")
        ax.set_xlabel("x [mm]")
        ax.set_ylabel("y [mm]")
    for ax in axes.flat if not tall else ():
        ax.label_outer()
    for ax in axes.flat[:-1] if tall else ():
        ax.set_xlabel("")
    count = len(found.posterior.problem.records)
    pushes = counted(count, "push", "pushes")
    figure.suptitle(f"{found.method}: {pushes}, {found.model.grid.n_cells} cells")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    save_picture(figure, path)


def _draw_cells(figure: Figure, ax: Axes, found: Identification, shown: Quantity) -> None:
    """Colour the cells by a quantity, with a bar beside them and the outline around them."""
    from matplotlib.collections import PolyCollection

    grid = found.model.grid
    corners = 0.5 * grid.cell_size * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    squares = PolyCollection(
        list(1e3 * (grid.centres[:, None, :] + corners)),
        array=shown.values,
        cmap=shown.scheme,
        edgecolor="white",
        linewidth=0.4,
    )
    squares.set_clim(0.0, float(shown.values.max()))
    ax.add_collection(squares)
    closed = 1e3 * np.vstack([grid.outline, grid.outline[:1]])
    ax.plot(closed[:, 0], closed[:, 1], color="0.15", linewidth=1.2)
    figure.colorbar(squares, ax=ax, label=f"of a cell [{shown.unit}]", pad=0.02)


def _draw_centre(ax: Axes, found: Identification) -> None:
    """Mark the centre of mass and the ellipse that holds it with 95 %."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.5, foreground="white")]
    x, y = 1e3 * found.model.centre_of_mass
    ring = 1e3 * ellipse(found.model.centre_of_mass, found.posterior.centre_of_mass_covariance)
    ring = np.vstack([ring, ring[:1]])
    ax.plot(x, y, ".", color=_CENTRE, markersize=5, zorder=4, label="centre of mass")
    ax.plot(
        ring[:, 0],
        ring[:, 1],
        color=_CENTRE,
        linewidth=1.5,
        path_effects=halo,
        label="where it is with 95 %",
    )


def plot_plan(
    plan: Plan, grid: CellGrid, table: Table, path: Path, *, obstacles: Sequence[ArrayLike] = ()
) -> None:
    """Draw a plan on its table to a picture file, from light (start) to dark (goal).

    Arrows are pushes, dotted lines the finger's ways between them.
    """
    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    axes = figure.subplots()
    axes.add_patch(Polygon(table.polygon, facecolor="0.96", edgecolor="0.4"))
    for obstacle in obstacles:
        axes.add_patch(Polygon(np.asarray(obstacle, float), facecolor="0.6"))
    colours = colormaps["viridis_r"](np.linspace(0.1, 1.0, len(plan.poses)))
    for pose, colour in zip(plan.poses, colours, strict=True):
        axes.add_patch(Polygon(placed(grid.outline, pose), fill=False, edgecolor=colour))
    for way, colour in zip(plan.approaches, colours, strict=False):
        axes.plot(*way.T, color=colour, linewidth=0.7, linestyle=":")
    for push, colour in zip(plan.pushes, colours, strict=False):
        x, y = push.start
        dx, dy = push.duration * push.velocity
        axes.annotate(
            "", (x + dx, y + dy), (x, y), arrowprops={"arrowstyle": "->", "color": colour}
        )
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.set_aspect("equal")
    axes.autoscale_view()
    save_picture(figure, path)


_MOST_POINTS = 40_000


def plot_scan(scan: Scan, points: Array, path: Path) -> None:
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
