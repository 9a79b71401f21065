"""The pushes of a run next to what the model predicts, with the unexpected ones marked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from pushwise.errors import SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.identification.summary import outliers
from pushwise.physics.push import Push
from pushwise.planning.pose_uncertainty import PoseUncertainty
from pushwise.records.record import PushRecord
from pushwise.show import report_figures as pictures
from pushwise.show.quantities import Compared, compared, millimetres
from pushwise.show.report_chart import ChartPoint
from pushwise.show.report_film import FilmPush
from pushwise.sliding.follow import is_surprising
from pushwise.sliding.moved import End
from pushwise.sliding.outcome import Outcome
from pushwise.typing import Array

__all__ = ["ReportPush", "chart_points", "median_error", "report_pushes"]


@dataclass(frozen=True, eq=False)
class ReportPush:
    """A push, what the model predicts of it, and whether that is unexpected."""

    record: PushRecord
    """What was observed."""
    number: int
    """Its number among the pushes to learn from, or among those to the goal, from 1."""
    to_goal: bool
    """Whether it was made to reach the goal."""
    goal: Array | None
    """The goal at that time [m, m, rad], shape (3,); None before one was chosen."""
    comparison: Compared | None
    """The prediction; None where there is no model, or it cannot predict the push."""
    unexpected: str
    """What is unexpected about it, as a sentence; empty for an ordinary push."""

    @property
    def name(self) -> str:
        """What it is called."""
        return f"Push {self.number} {'to the goal' if self.to_goal else 'to learn from'}"

    @property
    def label(self) -> str:
        """What it is called where there is little room."""
        return f"{self.number}" if self.to_goal else f"L{self.number}"

    @property
    def moved(self) -> str:
        """How far the object moved and turned, and how far off the prediction is."""
        way = self.record.pose[-1] - self.record.pose[0]
        said = (
            f"moved by {1e3 * np.hypot(*way[:2]):.0f} mm, rotated by {np.degrees(abs(way[2])):.0f}°"
        )
        if self.record.fell:
            said += "; the object fell"
        if self.comparison is not None:
            said += f"; prediction off by {millimetres(self.comparison.apart)}"
        return said

    @property
    def turned(self) -> str:
        """How far the angle of the prediction is off; empty without one."""
        return "" if self.comparison is None else f"{np.degrees(self.comparison.turned):.1f}°"

    def pictures(self) -> tuple[Markup, Markup] | None:
        """Draw it as observed and as predicted; None without a prediction."""
        if self.comparison is None:
            return None
        return pictures.pair(self.comparison, self.comparison.grid, self.name)

    def film(self) -> FilmPush:
        """Return it as a part of the film."""
        end = None
        if self.comparison is not None:
            end = self.comparison.path.pose_at(self.record.t[-1])
        return FilmPush(self.record, self.name, self.to_goal, self.goal, end)


def report_pushes(outcome: Outcome) -> list[ReportPush]:
    """Return all pushes of a run, those to learn from first."""
    known = _Known(outcome)
    learned = [known.push(i, record) for i, record in enumerate(outcome.records)]
    followed = outcome.followed
    if followed is None:
        return learned
    goals = [(each.pushes, each.pose) for each in followed.abandoned]
    made = []
    for i, record in enumerate(followed.records):
        goal = next((pose for until, pose in goals if i < until), followed.goal)
        made.append(known.push(i, record, goal))
    return [*learned, *made]


def chart_points(outcome: Outcome, pushes: list[ReportPush]) -> list[ChartPoint]:
    """Return how far the object is from the goal after each push; none without a goal.

    Before a goal was chosen, the first one counts.
    """
    if outcome.goal is None or outcome.grid is None:
        return []
    first, grid = outcome.goal.pose, outcome.grid
    goals = (first if push.goal is None else push.goal for push in pushes)
    away = [
        mean_cell_error(grid, push.record.pose[-1], goal)
        for push, goal in zip(pushes, goals, strict=True)
    ]
    followed = outcome.followed
    if followed is not None and followed.records and followed.end is not End.FELL:
        away[-1] = followed.error  # of the last look at the object, after it came to rest
    return [
        ChartPoint(push.name, push.label, push.to_goal, distance)
        for push, distance in zip(pushes, away, strict=True)
    ]


def median_error(pushes: list[ReportPush]) -> str:
    """Return the median distance between predicted and observed ends; empty without any."""
    apart = [push.comparison.apart for push in pushes if push.comparison is not None]
    return millimetres(float(np.median(apart))) if apart else ""


class _Known:
    """What the model of a run says about its pushes."""

    def __init__(self, outcome: Outcome) -> None:
        self._belief, self._table = outcome.belief, outcome.table
        self._outliers: Mapping[int, str] = {}
        if outcome.found is not None:
            self._outliers = outliers(outcome.found.posterior)
        self._doubt: PoseUncertainty | None = None

    def push(self, index: int, record: PushRecord, goal: Array | None = None) -> ReportPush:
        """Return a push, the one of an index in its log."""
        to_goal = goal is not None
        belief, comparison, unexpected = self._belief, None, ""
        if belief is not None:
            try:
                comparison = compared(belief.model, record, belief.finger, self._table)
            except SimulationError as error:
                unexpected = f"The model cannot predict this push: {error}"
            else:
                unexpected = self._unexpected(belief, comparison)
        if not to_goal and index in self._outliers:
            # The log counts from 0, the report from 1.
            unexpected = re.sub(rf"\bpush {index}\b", "this push", self._outliers[index])
            unexpected = unexpected[0].upper() + unexpected[1:]
        if record.fell:
            unexpected = "The object fell off the table during this push."
        return ReportPush(record, index + 1, to_goal, goal, comparison, unexpected)

    def _unexpected(self, belief: Belief, push: Compared) -> str:
        """Say that a push did not end where it was predicted to, if that is so."""
        record = push.record
        if not belief.learned or not isinstance(record.push, Push):
            return ""
        expected = push.path.pose_at(record.t[-1])
        if self._doubt is None:
            self._doubt = PoseUncertainty(belief, self._table)
        try:
            std = self._doubt.after(record.pose[0], record.push, expected)
        except SimulationError:  # some model that is believed possible cannot be pushed there
            return ""
        if not is_surprising(push.grid, record.pose[-1], expected, std, record.noise):
            return ""
        return (
            "It ended farther from the prediction than the model’s own uncertainty and the noise "
            "of the measurements explain."
        )
