"""A plan as a picture: the object's outline along the way, and every push."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike

from pushwise.physics.model import Table
from pushwise.planning.plan import Plan
from pushwise.shape.grid import CellGrid
from pushwise.shape.polygon import placed
from pushwise.show.picture import save_picture

__all__ = ["plot_plan"]


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
