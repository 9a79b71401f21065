"""Progress on the terminal: a line on stderr while a command works, and a summary after `slide`.

Little is imported here, so that a command can show a line before it loads what it needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as RichProgress
from rich.status import Status

from pushwise.checks import counted
from pushwise.compilation import working_clock

if TYPE_CHECKING:
    from types import TracebackType

    from pushwise.physics.model import ObjectModel
    from pushwise.progress import Progress
    from pushwise.sliding.outcome import Outcome

__all__ = ["Identifying", "PushBar", "Sliding", "StatusLine", "say_compiling", "summary"]

_DOING = {
    "look": "looking",
    "explore": "pushing it a few times",
    "identify": "learning its mass and friction",
    "plan": "choosing a goal and a path",
    "follow": "pushing it to the edge",
    "grasp": "grasping",
}


def say_compiling(news: Progress) -> None:
    """Print a line that explains why nothing seems to happen; for `compiling_reported`."""
    Console(stderr=True).print(f"compiling, {news.text}", highlight=False)


class StatusLine:
    """Shows what Rich draws for as long as a `with` block runs, whatever ends it."""

    def __init__(self, drawn: RichProgress | Status) -> None:
        """Prepare a line."""
        self._drawn = drawn

    def __enter__(self) -> Self:
        """Show the line."""
        self._drawn.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Wipe the line."""
        self._drawn.stop()


class PushBar(StatusLine):
    """A bar on stderr that counts pushes; `update` is the `progress` of `record`."""

    def __init__(self, title: str, total: float | None, *columns: ProgressColumn) -> None:
        """Prepare a bar.

        Args:
            title: What is being done.
            total: How much there is to do, None when unknown.
            columns: What to show, by default what Rich shows.

        """
        console = Console(stderr=True)
        # Without a terminal, a bar would still leave an empty line.
        hidden = not console.is_terminal
        self._bar = RichProgress(*columns, console=console, transient=True, disable=hidden)
        super().__init__(self._bar)
        self._task = self._bar.add_task(title, total=total)

    def update(self, news: Progress) -> None:
        """Show how much is done."""
        self._bar.update(self._task, completed=news.done)


class Identifying(PushBar):
    """A line on stderr while `identify` runs; `update` is its `progress`."""

    def __init__(self, *, budget: float | None) -> None:
        """Prepare a line; budget: the number of simulations, None when unknown."""
        drawn = SpinnerColumn() if budget is None else BarColumn()
        text = TextColumn("{task.description}")
        super().__init__("Identifying", budget, drawn, text, TimeElapsedColumn())
        self._news: Progress | None = None
        self.best: ObjectModel | None = None
        """The best model so far."""

    def update(self, news: Progress) -> None:
        """Show the progress, and keep the best model so far, which is the result."""
        if news.result is not self.best:
            self._news, self.best = news, cast("ObjectModel", news.result)
        text = f"{news.done} simulations, {news.text}"
        self._bar.update(self._task, completed=news.done, description=text)

    def words(self) -> str:
        """Return how good the best model is."""
        if self._news is None:
            return "before any simulation"
        return f"after {self._news.done} simulations, {self._news.text}"


class Sliding(StatusLine):
    """The current phase of `slide` on stderr; `update` is its `progress`."""

    def __init__(self) -> None:
        """Prepare a line."""
        self._console = Console(stderr=True)
        self._status = Status("", console=self._console)
        super().__init__(self._status)
        self._stage = ""
        self._began = working_clock()

    def update(self, news: Progress) -> None:
        """Show what a phase is doing; a phase that is over stays as a line."""
        if news.stage != self._stage:
            self._finish()
            self._stage, self._began = news.stage, working_clock()
        doing = _DOING.get(news.stage, news.stage)
        self._status.update(f"{doing}{': ' if news.text else ''}{news.text}")

    def say(self, words: str) -> None:
        """Show something after the last phase."""
        self._finish()
        self._stage = ""
        self._status.update(words)

    def _finish(self) -> None:
        """Leave a line about the phase that is over."""
        if self._stage in _DOING:
            seconds = working_clock() - self._began
            self._console.print(f"{_DOING[self._stage]}: {seconds:.1f} s", highlight=False)


def summary(outcome: Outcome, folder: Path) -> str:
    """Return the outcome of a run of `slide`, one line per phase."""
    lines = [
        f"{phase:<9}{outcome.seconds[phase]:6.1f} s  {words}"
        for phase in _DOING
        if phase in outcome.seconds and (words := _words(outcome, phase))
    ]
    return "\n".join([*lines, outcome.verdict, f"All results are in {folder}."])


def _words(outcome: Outcome, phase: str) -> str:
    """Return what a phase found; nothing when it was not reached."""
    import numpy as np

    from pushwise.identification.belief import centre_error
    from pushwise.show.quantities import probability

    grid, found, goal, plan = outcome.grid, outcome.found, outcome.goal, outcome.plan
    followed, grasp = outcome.followed, outcome.grasp
    if phase == "look" and grid is not None:
        length, width = 1e3 * np.ptp(grid.outline, axis=0)
        return f"{length:.0f} x {width:.0f} mm, {grid.n_cells} cells"
    if phase == "explore":
        return counted(len(outcome.records), "push", "pushes")
    if phase == "identify" and found is not None:
        error = centre_error(found.posterior.centre_of_mass_covariance)
        return f"standard error of the centre of mass {error}"
    if phase == "identify" and outcome.belief is not None:
        return "nothing learned: mass and friction assumed to be uniform"
    if phase == "plan" and goal is not None and plan is not None:
        fall = outcome.fall_probability
        risk = "unknown" if fall is None else probability(fall)
        pushes = counted(len(plan.pushes), "push", "pushes")
        return f"{1e3 * goal.overhang:.0f} mm over the edge, fall risk {risk}; {pushes} planned"
    if phase == "follow" and followed is not None:
        pushes = counted(len(followed.records), "push", "pushes")
        where = "another goal, chosen on the way" if outcome.other_goal else "the goal"
        return f"{pushes}, {1e3 * followed.error:.0f} mm from {where}"
    if phase == "grasp" and grasp is not None:
        return f"lifted by {1e3 * grasp.raised:.0f} mm" if grasp.held else "slipped out"
    return ""
