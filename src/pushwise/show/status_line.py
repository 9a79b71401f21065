"""Progress on the terminal: a line on stderr while a command works, and a summary after `slide`.

Little is imported here, so that a command can show a line before it loads what it needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as RichProgress

if TYPE_CHECKING:
    from types import TracebackType

    from pushwise.physics.model import ObjectModel
    from pushwise.progress import Progress
    from pushwise.sliding.outcome import Outcome

__all__ = [
    "Identifying",
    "PushBar",
    "Sliding",
    "StatusLine",
    "next_steps",
    "say_compiling",
    "summary",
]

_DOING = {
    "look": "looking at the object",
    "explore": "pushing to learn",
    "identify": "learning mass and friction from the pushes",
    "plan": "choosing a goal and planning the path",
    "follow": "pushing to the goal",
    "grasp": "grasping",
}


def say_compiling(news: Progress) -> None:
    """Print a line that explains why nothing seems to happen; for `compiling_reported`."""
    Console(stderr=True).print(f"compiling, {news.text}", highlight=False)


class StatusLine:
    """Shows what Rich draws for as long as a `with` block runs, whatever ends it."""

    def __init__(self, drawn: RichProgress) -> None:
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
    """The phases of `slide` on stderr, the current one with a spinner; `update` is its `progress`.

    All of it is wiped in the end: `summary` says what each phase found. Without a terminal, there
    is a line when a phase begins.
    """

    def __init__(self) -> None:
        """Prepare the lines."""
        self._console = Console(stderr=True)
        self._bar = RichProgress(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        super().__init__(self._bar)
        self._stage = self._words = ""
        self._task: TaskID | None = None

    def update(self, news: Progress) -> None:
        """Show what a phase is doing."""
        doing = _DOING.get(news.stage, news.stage)
        if news.stage != self._stage:
            self._stage = news.stage
            self._begin(doing)
        words = doing
        if news.done is not None:
            # The news is that a push has been made; the next one is under way.
            most = "" if news.total is None else f" of at most {news.total}"
            words += f": push {news.done + 1}{most}"
        if news.stage == "follow" and news.text:
            words += f", {news.text}"
        self._say(words)

    @property
    def tasks(self) -> list[Task]:
        """The lines that are shown."""
        return self._bar.tasks

    def say(self, words: str) -> None:
        """Show something after the last phase."""
        self._begin(words)

    def _begin(self, words: str) -> None:
        """Tick off what was being done, and begin another line."""
        if self._task is not None:
            self._say(self._words)
            self._bar.update(self._task, total=1, completed=1)
        self._words = words
        self._task = self._bar.add_task(words, total=None)
        if self._bar.disable:
            self._console.print(words, highlight=False)

    def _say(self, words: str) -> None:
        """Show words in the current line."""
        assert self._task is not None
        self._bar.update(self._task, description=words)


def summary(outcome: Outcome, truth: ObjectModel | None = None) -> str:
    """Return what each phase of a run of `slide` found, and how long it took."""
    from pushwise.show.quantities import duration
    from pushwise.show.run_summary import NOT_COUNTED, phase_results, total_time

    lines = []
    for phase, found in phase_results(outcome, truth).items():
        first, *more = found
        seconds = duration(outcome.seconds[phase]) if phase in outcome.seconds else ""
        lines.append(f"{phase:<9}{seconds:>8}  {first}")
        lines += [f"{'':<19}{each}" for each in more]
    return "\n".join([*lines, f"{'total':<9}{total_time(outcome):>8}  {NOT_COUNTED}"])


def next_steps(outcome: Outcome, folder: Path) -> str:
    """Return what to try after a failure, and what to open."""
    from pushwise.show.advice import advice

    lines = []
    if (said := advice(outcome)) is not None:
        lines.append(said.nearest)
        lines += [said.detail] if said.detail else []
        lines += ["Try next:", *(f"  - {each}" for each in said.tries)]
    lines.append(f"Open {folder / 'report.html'} in a browser, or run: pushwise view {folder}")
    return "\n".join(lines)
