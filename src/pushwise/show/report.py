"""`report`: a run of `slide` as one HTML page, for readers who do not know the method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pushwise import __version__
from pushwise.atomic_write import write_text
from pushwise.checks import counted
from pushwise.identification.belief import centre_error
from pushwise.physics.model import ObjectModel
from pushwise.planning.stability import Balance
from pushwise.show import report_figures as pictures
from pushwise.show.advice import advice
from pushwise.show.quantities import duration, gradient, millimetres, point, probability
from pushwise.show.report_chart import distance_chart
from pushwise.show.report_film import film_clips, film_scene
from pushwise.show.report_learned import map_rows, statements
from pushwise.show.report_pushes import ReportPush, chart_points, median_error, report_pushes
from pushwise.show.run_summary import NOT_COUNTED, centre_truth, total_time
from pushwise.show.svg import outline_definitions
from pushwise.sliding.outcome import Outcome
from pushwise.typing import Array

__all__ = ["RunSource", "report", "write_report"]

_PHASES = {
    "look": "Looking, and dividing into cells",
    "explore": "Pushing to learn",
    "identify": "Learning from the pushes",
    "plan": "Choosing a goal and planning",
    "follow": "Pushing to the goal",
    "grasp": "Grasping",
}


@dataclass(frozen=True, eq=False)
class RunSource:
    """Where a run comes from, and what is known about it besides its outcome."""

    name: str = "object"
    """What the object is called."""
    truth: ObjectModel | None = None
    """The true model, in the frame of the poses; None for a real object."""
    command: str = ""
    """The command line that made the run; empty if there was none."""
    files: Sequence[str] = ()
    """The files of the run, to which the report links, relative to it."""


@dataclass(frozen=True)
class _Fact:
    """A number at the top of the report."""

    name: str
    value: str
    detail: str = ""


def write_report(outcome: Outcome, path: Path | str, source: RunSource = RunSource()) -> None:
    """Write the report of a run to an HTML file."""
    write_text(Path(path), report(outcome, source))


def report(outcome: Outcome, source: RunSource = RunSource()) -> str:
    """Return the report of a run as HTML that opens without a network."""
    environment = Environment(
        loader=PackageLoader("pushwise.show"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"mm": millimetres, "s": duration, "counted": counted}
    pushes = report_pushes(outcome)
    points = chart_points(outcome, pushes)
    film = [push.film() for push in pushes]
    return environment.get_template("report.html").render(
        outcome=outcome,
        source=source,
        version=__version__,
        title=f"Sliding the {source.name} to the table’s edge",
        advice=advice(outcome),
        facts=_facts(outcome, source.truth),
        definitions=_definitions(outcome, source.truth),
        film=film_scene(outcome, film) if film and outcome.grid is not None else None,
        clips=film_clips(film),
        chart=distance_chart(points, outcome.options.plan.tolerance) if points else None,
        looked=_looked(outcome),
        rows=map_rows(outcome, source.truth),
        statements=statements(outcome),
        truth=centre_truth(outcome, source.truth),
        footprint=_footprint(outcome, source.truth),
        goal=_goal(outcome, source.truth),
        path=_path(outcome),
        groups=_groups(pushes),
        times=_times(outcome),
        limit=_unbroken(probability(outcome.options.plan.max_fall_probability)),
    )


def _facts(outcome: Outcome, truth: ObjectModel | None) -> list[_Fact]:
    """Return the numbers that sum the run up."""
    facts = [_Fact("Pushes to learn from", f"{len(outcome.records)}")]
    if outcome.found is not None:
        error = centre_error(outcome.found.posterior.centre_of_mass_covariance)
        at = point(outcome.found.model.centre_of_mass)
        facts.append(_Fact("Centre of mass", at, f"standard error {error}"))
    true = centre_truth(outcome, truth)
    if true is not None:
        facts.append(_Fact("Distance from the true centre", millimetres(true.off), true.where))
    if outcome.goal is not None:
        which = "first goal" if outcome.other_goal else "goal"
        fall = outcome.fall_probability
        risk = "unknown" if fall is None else _unbroken(probability(fall))
        why = "nothing was learned" if fall is None else _risk_on_the_way(outcome)
        facts.append(_Fact(f"Fall risk at the {which}", risk, why))
    if outcome.followed is not None:
        planned = f"{len(outcome.plan.pushes)} planned" if outcome.plan is not None else ""
        facts.append(_Fact("Pushes to the goal", f"{len(outcome.followed.records)}", planned))
        which = "last goal" if outcome.other_goal else "goal"
        tolerance = f"tolerance {millimetres(outcome.options.plan.tolerance)}"
        off = millimetres(outcome.followed.error)
        facts.append(_Fact(f"Distance from the {which}", off, tolerance))
    if outcome.grasp is not None:
        facts.append(_Fact("Lifted by", f"{1e3 * outcome.grasp.raised:.0f} mm"))
    return [*facts, _Fact("Total time", total_time(outcome), NOT_COUNTED)]


def _risk_on_the_way(outcome: Outcome) -> str:
    """Say how large the fall risk was where the object was seen on its way; empty if nowhere."""
    if outcome.belief is None or outcome.followed is None or not outcome.followed.records:
        return ""
    poses = np.concatenate([record.pose for record in outcome.followed.records])
    balance = Balance.planned(outcome.belief, outcome.table, outcome.options.plan)
    return f"on the way {_unbroken(probability(float(balance.fall_probabilities(poses).max())))}"


def _definitions(outcome: Outcome, truth: ObjectModel | None) -> Markup:
    """Return the outlines that the pictures of the page use."""
    drawn = Markup()
    if outcome.grid is not None:
        drawn += outline_definitions(outcome.grid, "outline")
    if truth is not None:
        drawn += outline_definitions(truth.grid, "truth")
    return drawn


def _looked(outcome: Outcome) -> dict[str, Any] | None:
    """Return what was seen; None where the run ended before that."""
    seen, grid = outcome.seen, outcome.grid
    if seen is None or grid is None:
        return None
    return {
        "picture": pictures.seen(seen, grid),
        "points": len(seen.points),
        "cells": grid.n_cells,
        "side": f"{1e3 * grid.cell_size:.0f} mm",
        "ramp": gradient("viridis"),
        "top": f"{1e3 * grid.heights.max():.0f} mm",
    }


def _footprint(outcome: Outcome, truth: ObjectModel | None) -> dict[str, Any] | None:
    """Return the picture of the centre of mass; None without a model."""
    belief = outcome.belief
    if belief is None:
        return None
    true = None if truth is None else truth.centre_of_mass
    off = belief.centre_of_mass - belief.model.grid.centres.mean(axis=0)
    error = None if belief.centre_covariance is None else centre_error(belief.centre_covariance)
    unknowns = 2 * belief.model.grid.n_cells
    return {
        "picture": pictures.footprint(belief.model, belief.centre_covariance, true),
        "error": error,
        "from_middle": millimetres(float(np.hypot(*off))),
        "unknowns": unknowns,
        "determined": 0 if outcome.found is None else outcome.found.posterior.determined,
    }


def _goal(outcome: Outcome, truth: ObjectModel | None) -> dict[str, Any] | None:
    """Return the goal and why the object does not fall there; None without one."""
    belief, goal = outcome.belief, outcome.goal
    if belief is None or goal is None:
        return None
    rests = Balance.planned(belief, outcome.table, outcome.options.plan).at(goal.pose)
    true = None if truth is None else truth.centre_of_mass
    x, y, theta = goal.pose
    return {
        "picture": pictures.balance(belief.model, outcome, goal, rests, true),
        "overhang": f"{1e3 * goal.overhang:.0f} mm",
        "width": f"{1e3 * goal.width:.0f} mm",
        "margin": f"{1e3 * goal.margin:.0f} mm",
        "risk": _unbroken(probability(goal.fall_probability)) if belief.learned else None,
        "others": len(goal.alternatives),
        "pose": f"x = {1e3 * x:.0f} mm, y = {1e3 * y:.0f} mm, rotated by {np.degrees(theta):.0f}°",
    }


def _path(outcome: Outcome) -> dict[str, Any] | None:
    """Return the plan, if there is one, and how it went; None without a goal."""
    goal, plan, followed = outcome.goal, outcome.plan, outcome.followed
    if goal is None or outcome.grid is None:
        return None
    goals: list[Array] = [goal.pose]
    if followed is not None:
        goals = [*(each.pose for each in followed.abandoned), followed.goal]
    return {
        "picture": pictures.way(outcome, goals),
        "pushes": None if plan is None else len(plan.pushes),
        "simulations": 0 if plan is None else plan.simulations,
        "goals": len(goals),
    }


def _groups(pushes: list[ReportPush]) -> list[dict[str, Any]]:
    """Return the pushes to learn from and those to the goal, each with a title."""
    kinds = (("Pushes to learn from", False), ("Pushes to the goal", True))
    made = [(title, [push for push in pushes if push.to_goal == which]) for title, which in kinds]
    return [
        {"title": title, "pushes": some, "median": median_error(some), "to_goal": some[0].to_goal}
        for title, some in made
        if some
    ]


def _times(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the duration of each phase, and its share of the longest."""
    longest = max(outcome.seconds.values(), default=0.0) or 1.0
    return [
        {"name": _PHASES[phase], "time": duration(seconds), "share": 100.0 * seconds / longest}
        for phase, seconds in outcome.seconds.items()
    ]


def _unbroken(words: str) -> str:
    """Return words that are not broken over two lines."""
    return words.replace(" ", "\u00a0")
