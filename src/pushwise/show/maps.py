"""The picture of an identification: maps of mass, friction load and doubt over the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pushwise.counting import counted
from pushwise.show.drawing import ellipse
from pushwise.show.picture import save_picture
from pushwise.show.quantities import Quantity, quantities

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pushwise.identification.result import Identification

__all__ = ["plot_maps"]

_CENTRE = "tab:red"


def plot_maps(found: Identification, path: Path) -> None:
    """Draw mass, friction load and uncertainty of the cells, and the centre of mass, to a file."""
    from matplotlib.figure import Figure

    shown = quantities(found)
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
