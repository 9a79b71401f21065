"""The pictures of the report, as SVG elements with descriptions for screen readers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from pushwise.checks import counted
from pushwise.geometry.polygon import placed
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Push
from pushwise.planning.goals import Goal
from pushwise.planning.stability import Stability
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.show.quantities import Compared, colours, ellipse, finger_path
from pushwise.show.svg import CellColours, SvgDrawing
from pushwise.sliding.outcome import Outcome
from pushwise.typing import Array
from pushwise.worlds.world import Observation

__all__ = ["balance", "cell_map", "footprint", "pair", "seen", "way"]


_MOST_POINTS = 1200  # of a point cloud; more would overlap
_CROSS = 0.035  # of the object's length: an arm of the mark of a centre of mass
_BADGE = 0.02  # of the picture's size: the radius of a push's number
_MOST_NUMBERED = 12  # pushes on the path; more would hide each other
_ORIGIN = np.zeros(3)


def seen(look: Observation, grid: CellGrid) -> Markup:
    """Draw the point cloud and the cells, coloured by height."""
    drawing = SvgDrawing()
    some = np.random.default_rng(0).permutation(len(look.points))[:_MOST_POINTS]
    tall = CellColours(colours(grid.heights, "viridis"), 1e3 * grid.heights, "mm high")
    drawing.cells(grid, tall, pose=look.pose)
    drawing.dots(look.points[some, :2], "cloud")
    drawing.outline(grid, look.pose, "outline")
    return drawing.svg(
        f"The object from above: {len(look.points)} measured points and the {grid.n_cells} square "
        "cells made from them, coloured by height."
    )


def cell_map(grid: CellGrid, shown: CellColours, label: str, name: str = "outline") -> Markup:
    """Draw the cells in the object's own frame.

    Args:
        grid: The cells.
        shown: Their colours and values.
        label: What it shows, for screen readers.
        name: The name of the grid's outline in the page.

    """
    drawing = SvgDrawing()
    drawing.cells(grid, shown, name=name)
    drawing.outline(grid, _ORIGIN, "outline", name)
    return drawing.svg(label, bar=False)


def footprint(model: ObjectModel, covariance: Array | None, truth: Array | None) -> Markup:
    """Draw the centre of mass on the footprint, next to the centroid of the shape.

    Args:
        model: The model.
        covariance: Covariance of its centre of mass [m^2], shape (2, 2); None if assumed.
        truth: The true centre of mass [m], shape (2,); None if unknown.

    """
    grid = model.grid
    arm = _CROSS * _length(grid)
    drawing = SvgDrawing()
    drawing.outline(grid, _ORIGIN, "object")
    drawing.disc(grid.centres.mean(axis=0), 0.5 * arm, "middle")
    said = "The object's footprint with its centre of mass"
    if covariance is not None:
        drawing.polygon(ellipse(model.centre_of_mass, covariance), "ellipse")
        said += ", its 95 % confidence ellipse"
    drawing.cross(model.centre_of_mass, arm, "centre")
    if truth is not None:
        drawing.cross(truth, arm, "truth", diagonal=True)
        said += ", the true centre of mass"
    return drawing.svg(f"{said}, and the centroid of its shape.")


def pair(push: Compared, grid: CellGrid, name: str) -> tuple[Markup, Markup]:
    """Draw a push as observed and as predicted, in two pictures of the same frame."""
    record, path = push.record, push.path
    ends = [record.pose[0], record.pose[-1], path.pose_at(record.t[-1])]
    finger = [finger_path(record.push)] if isinstance(record.push, Push) else []
    frame = np.vstack([*(placed(grid.outline, pose) for pose in ends), *finger])
    drawings = []
    for kind, end in (("observed", ends[1]), ("predicted", ends[2])):
        drawing = SvgDrawing(frame)
        drawing.outline(grid, ends[0], "before")
        drawing.outline(grid, end, f"after {kind}")
        if kind == "predicted":
            drawing.outline(grid, ends[1], "observed-end")
        _finger(drawing, record)
        drawings.append(drawing)
    first, second = drawings
    return (
        first.svg(f"{name} as observed: the object before and after.", small=True),
        second.svg(
            f"{name} as the model predicts it, with the observed end as a thin line.",
            small=True,
        ),
    )


def balance(
    model: ObjectModel, outcome: Outcome, goal: Goal, rests: Stability, truth: Array | None
) -> Markup:
    """Draw the object at its goal over the edge: its support polygon and its centre of mass."""
    outline = placed(model.grid.outline, goal.pose)
    low, high = outline.min(axis=0), outline.max(axis=0)
    room = 0.1 * float((high - low).max())
    drawing = SvgDrawing([low - room, high + room])
    drawing.polygon(outcome.table.polygon, "table")
    drawing.outline(model.grid, goal.pose, "object")
    drawing.polygon(rests.polygon, "support")
    arm = _CROSS * _length(model.grid)
    centre = placed(model.centre_of_mass[None], goal.pose)[0]
    covariance = None if outcome.belief is None else outcome.belief.centre_covariance
    if covariance is not None:
        cos, sin = np.cos(goal.pose[2]), np.sin(goal.pose[2])
        turn = np.array([[cos, -sin], [sin, cos]])
        drawing.polygon(ellipse(centre, turn @ covariance @ turn.T), "ellipse")
    drawing.cross(centre, arm, "centre")
    if truth is not None:
        drawing.cross(placed(truth[None], goal.pose)[0], arm, "truth", diagonal=True)
    return drawing.svg(
        "The object at its goal, partly over the table's edge, with its support polygon and its "
        "centre of mass inside it."
    )


def way(outcome: Outcome, goals: Sequence[Array]) -> Markup:
    """Draw the planned path, the pushes made, numbered, and the goals (3,) on the table.

    Of many pushes, only some are drawn with their number and the finger.
    """
    grid, plan, seen = outcome.grid, outcome.plan, outcome.seen
    assert grid is not None and seen is not None
    records = () if outcome.followed is None else outcome.followed.records
    before = [seen.pose, *(record.pose[-1] for record in outcome.records)]
    last = records[-1].pose[-1] if records else before[-1]
    waypoints = np.zeros((0, 3)) if plan is None else plan.waypoints
    shown = [*waypoints, last, *goals, *(record.pose[0] for record in records)]
    frame = np.vstack([placed(grid.outline, pose) for pose in shown])
    drawing = SvgDrawing(frame)
    drawing.polygon(outcome.table.polygon, "table")
    for obstacle in outcome.options.obstacles:
        drawing.polygon(obstacle, "obstacle")
    every = -(-len(records) // _MOST_NUMBERED)
    drawn = {i + 1: record for i, record in enumerate(records) if i % every == 0}
    for record in drawn.values():
        drawing.outline(grid, record.pose[0], "passed")
    drawing.outline(grid, last, "after observed")
    for goal in goals[:-1]:
        drawing.outline(grid, goal, "goal abandoned")
    drawing.outline(grid, goals[-1], "goal")
    if len(waypoints):
        drawing.line(waypoints[:, :2], "predicted")
    for point in waypoints[:, :2]:
        drawing.disc(point, 0.004, "waypoint")
    for record in records:
        drawing.line(record.pose[:: max(1, len(record.pose) // 40), :2], "observed")
    for number, record in drawn.items():
        _finger(drawing, record)
        at = record.push.start if isinstance(record.push, Push) else record.pose[0, :2]
        drawing.badge(at, _BADGE * drawing.size, str(number))
    return drawing.svg(
        f"The table from above: the planned path through {len(waypoints)} poses, the "
        f"{counted(len(records), 'push', 'pushes')} made, and the final pose next to the goal."
    )


def _finger(drawing: SvgDrawing, record: PushRecord) -> None:
    """Draw the finger's path as an arrow; nothing for a push that is a force."""
    if isinstance(record.push, Push):
        drawing.arrow(finger_path(record.push), "finger")


def _length(grid: CellGrid) -> float:
    """Return the longer side of the outline's bounding box [m]."""
    return float(np.ptp(grid.outline, axis=0).max())
