"""The pictures of the report, as SVG elements with descriptions for screen readers."""

from __future__ import annotations

import numpy as np

from pushwise.checks import counted
from pushwise.geometry.polygon import placed
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Push
from pushwise.planning.goals import Goal
from pushwise.planning.plan import Plan
from pushwise.planning.stability import Stability
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.show.html import SvgDrawing
from pushwise.show.quantities import Compared, cell_corners, colours, ellipse, finger_path
from pushwise.typing import Array, Flags
from pushwise.worlds.world import Observation

__all__ = ["balance", "cell_map", "footprint", "pair", "seen", "way"]


_MOST_POINTS = 2500  # of a point cloud; more would overlap
_CROSS = 0.03  # of the object's length: an arm of the mark of a centre of mass


def seen(look: Observation, grid: CellGrid) -> str:
    """Draw the point cloud and the cells, coloured by height."""
    drawing = SvgDrawing()
    some = np.random.default_rng(0).permutation(len(look.points))[:_MOST_POINTS]
    corners = placed(cell_corners(grid).reshape(-1, 2), look.pose).reshape(-1, 4, 2)
    drawing.squares(corners, colours(grid.heights, "viridis"))
    drawing.dots(look.points[some, :2], "cloud")
    drawing.polygon(placed(grid.outline, look.pose), "outline")
    return drawing.svg(
        f"The object from above: {len(look.points)} measured points and the {grid.n_cells} square "
        "cells made from them, coloured by height."
    )


def cell_map(
    grid: CellGrid, values: Array, scheme: str, label: str, dotted: Flags | None = None
) -> str:
    """Draw the cells in the object's own frame, coloured by a quantity.

    Args:
        grid: The cells.
        values: The quantity, shape (n,).
        scheme: Matplotlib's name of the colour map.
        label: What it shows, for screen readers.
        dotted: Which cells to mark with a dot, shape (n,).

    """
    drawing = SvgDrawing()
    drawing.squares(cell_corners(grid), colours(values, scheme))
    if dotted is not None and dotted.any():
        drawing.dots(grid.centres[dotted], "unknown")
    drawing.polygon(grid.outline, "outline")
    return drawing.svg(label)


def footprint(model: ObjectModel, covariance: Array | None) -> str:
    """Draw the centre of mass on the footprint, next to the centroid of the shape."""
    grid = model.grid
    arm = _CROSS * _length(grid)
    drawing = SvgDrawing()
    drawing.polygon(grid.outline, "object")
    drawing.disc(grid.centres.mean(axis=0), 0.4 * arm, "middle")
    said = "The object's footprint with its centre of mass"
    if covariance is not None:
        drawing.polygon(ellipse(model.centre_of_mass, covariance), "ellipse")
        said += ", its 95 % confidence ellipse"
    drawing.cross(model.centre_of_mass, arm, "centre")
    return drawing.svg(f"{said}, and the centroid of its shape.")


def pair(push: Compared, grid: CellGrid, number: int) -> tuple[str, str]:
    """Draw a push as observed and as predicted, in two pictures of the same frame."""
    record, path = push.record, push.path
    said = path.pose_at(record.t[-1])
    ends = [placed(grid.outline, pose) for pose in (record.pose[0], record.pose[-1], said)]
    finger = [finger_path(record.push)] if isinstance(record.push, Push) else []
    frame = np.vstack([*ends, *finger])
    drawings = []
    for kind, end in (("observed", ends[1]), ("predicted", ends[2])):
        drawing = SvgDrawing(frame)
        drawing.polygon(ends[0], "before")
        drawing.polygon(end, f"after {kind}")
        if kind == "predicted":
            drawing.polygon(ends[1], "observed-end")
        _finger(drawing, record)
        drawings.append(drawing)
    first, second = drawings
    return (
        first.svg(f"Push {number} as observed: the object before and after.", small=True),
        second.svg(
            f"Push {number} as the model predicts it, with the observed end as a thin line.",
            small=True,
        ),
    )


def balance(
    model: ObjectModel, table: Table, goal: Goal, rests: Stability, covariance: Array | None
) -> str:
    """Draw the object at its goal over the edge: its support polygon and its centre of mass."""
    outline = placed(model.grid.outline, goal.pose)
    low, high = outline.min(axis=0), outline.max(axis=0)
    room = 0.1 * float((high - low).max())
    drawing = SvgDrawing([low - room, high + room])
    drawing.polygon(table.polygon, "table")
    drawing.polygon(outline, "object")
    drawing.polygon(rests.polygon, "support")
    centre = placed(model.centre_of_mass[None], goal.pose)[0]
    if covariance is not None:
        cos, sin = np.cos(goal.pose[2]), np.sin(goal.pose[2])
        turn = np.array([[cos, -sin], [sin, cos]])
        drawing.polygon(ellipse(centre, turn @ covariance @ turn.T), "ellipse")
    drawing.cross(centre, _CROSS * _length(model.grid), "centre")
    return drawing.svg(
        "The object at its goal, partly over the table's edge, with its support polygon and its "
        "centre of mass inside it."
    )


def way(
    grid: CellGrid, table: Table, plan: Plan, goal: Goal, records: tuple[PushRecord, ...]
) -> str:
    """Draw the planned path, the pushes made and the goal on the table."""
    last = records[-1].pose[-1] if records else plan.poses[0]
    shown = [*plan.waypoints, last, *(record.pose[0] for record in records)]
    frame = np.vstack([placed(grid.outline, pose) for pose in shown])
    drawing = SvgDrawing(frame)
    drawing.polygon(table.polygon, "table")
    for record in records:
        drawing.polygon(placed(grid.outline, record.pose[0]), "passed")
    drawing.polygon(placed(grid.outline, last), "after observed")
    drawing.polygon(placed(grid.outline, goal.pose), "goal")
    drawing.line(plan.waypoints[:, :2], "predicted")
    for point in plan.waypoints[:, :2]:
        drawing.disc(point, 0.004, "waypoint")
    for record in records:
        drawing.line(record.pose[:, :2], "observed")
        _finger(drawing, record)
    return drawing.svg(
        f"The table from above: the planned path through {len(plan.waypoints)} poses, the "
        f"{counted(len(records), 'push', 'pushes')} made, and the final pose next to the goal."
    )


def _finger(drawing: SvgDrawing, record: PushRecord) -> None:
    """Draw the finger's path as an arrow; nothing for a push that is a force."""
    if isinstance(record.push, Push):
        drawing.arrow(finger_path(record.push), "finger")


def _length(grid: CellGrid) -> float:
    """Return the longer side of the outline's bounding box [m]."""
    return float(np.ptp(grid.outline, axis=0).max())
