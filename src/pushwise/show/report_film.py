"""The film of a run: its pushes one after the other, to be played and scrubbed in the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.show.quantities import colours, ellipse
from pushwise.show.svg import CellColours, SvgDrawing, transform
from pushwise.sliding.outcome import Outcome
from pushwise.typing import Array

__all__ = ["FilmPush", "film_clips", "film_scene"]

_RATE = 12.0  # samples per second, between which the page interpolates
_FLICK = 25.0  # Hz; of pushes shorter than a second
_MARK = 0.012  # m: an arm of the mark of the centre of mass


@dataclass(frozen=True, eq=False)
class FilmPush:
    """A push of the film."""

    record: PushRecord
    """What was observed."""
    name: str
    """What it is called in the report."""
    to_goal: bool
    """Whether it is meant to bring the object to its goal; otherwise it is learned from."""
    goal: Array | None
    """The goal that it is made for [m, m, rad], shape (3,)."""
    predicted: Array | None
    """Where the model predicts the object to end [m, m, rad], shape (3,)."""


def film_clips(pushes: Sequence[FilmPush]) -> list[dict[str, Any]]:
    """Return what the page's script plays: times [s], poses and places [mm, degrees], y down."""
    clips = []
    for push in pushes:
        t, pose = push.record.t, push.record.pose
        rate = _FLICK if t[-1] < 1.0 else _RATE
        times = np.linspace(t[0], t[-1], max(2, int(rate * (t[-1] - t[0])) + 1))
        seen = np.stack([np.interp(times, t, column) for column in pose.T], axis=1)
        clips.append(
            {
                "name": push.name,
                "goal": push.to_goal,
                "seconds": round(float(times[-1] - times[0]), 2),
                "poses": [_on_page(each) for each in seen],
                "finger": _finger(push.record, times),
                "goalPose": None if push.goal is None else transform(push.goal),
                "predicted": None if push.predicted is None else transform(push.predicted),
            }
        )
    return clips


def film_scene(outcome: Outcome, pushes: Sequence[FilmPush]) -> Markup:
    """Draw the table with the object, the finger and the goal, which the script moves."""
    grid, seen = outcome.grid, outcome.seen
    assert grid is not None and seen is not None
    poses = [seen.pose, *(each for push in pushes for each in push.record.pose[::10])]
    poses += [push.record.pose[-1] for push in pushes]
    around = [placed(grid.outline, pose) for pose in poses]
    drawing = SvgDrawing(np.vstack([outcome.table.polygon, *around]))
    drawing.polygon(outcome.table.polygon, "table")
    for obstacle in outcome.options.obstacles:
        drawing.polygon(obstacle, "obstacle")
    start = transform(seen.pose)
    drawing.raw('<use class="goal" id="film-goal" href="#outline" visibility="hidden"/>')
    drawing.raw(f'<g id="film-object" transform="{start}">')
    belief = outcome.belief
    if belief is None:
        drawing.raw('<use class="object" href="#outline"/>')
    else:
        fills = colours(belief.model.mass, "viridis")
        drawing.cells(grid, CellColours(fills))
        drawing.raw('<use class="outline" href="#outline"/><g id="film-centre">')
        if belief.centre_covariance is not None:
            drawing.polygon(ellipse(belief.centre_of_mass, belief.centre_covariance), "ellipse")
        drawing.cross(belief.centre_of_mass, _MARK, "centre")
        drawing.raw("</g>")
    drawing.raw("</g>")
    drawing.raw('<use class="film-predicted" id="film-predicted" href="#outline"/>')
    radius = 1e3 * outcome.finger.radius
    drawing.raw(
        f'<circle class="fingertip" id="film-finger" r="{radius:.1f}" visibility="hidden"/>'
    )
    return drawing.svg(
        "Film of the run, seen from above: the table, the object and the finger that pushes it.",
        attributes='id="film-scene" ',
    )


def _on_page(pose: Array) -> list[float]:
    """Return a pose (3,) in millimetres and degrees, y down."""
    x, y, theta = pose.tolist()
    values = (round(1e3 * x, 1), round(-1e3 * y, 1), round(-float(np.degrees(theta)), 1))
    return [value + 0.0 for value in values]


def _finger(record: PushRecord, times: Array) -> list[list[float]] | None:
    """Return where the finger is [mm], y down, until it is raised; None for a push by a force."""
    push = record.push
    if not isinstance(push, Push):
        return None
    there = times[times <= push.duration] if push.raised else times
    places = push.at(there) * [1e3, -1e3]
    rounded: list[list[float]] = (np.round(places, 1) + 0.0).tolist()
    return rounded
