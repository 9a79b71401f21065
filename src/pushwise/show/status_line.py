"""A line on stderr that is there while a block runs.

Progress of an identification on the terminal, and the best model it has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, cast

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from types import TracebackType

    from rich.status import Status

    from pushwise.physics.model import ObjectModel
    from pushwise.progress import Progress

__all__ = ["Identifying", "Line"]


class Line:
    """Shows what Rich draws for as long as a `with` block runs, whatever ends it."""

    def __init__(self, drawn: rich.progress.Progress | Status) -> None:
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


class Identifying(Line):
    """A line on stderr while `identify` runs; `update` is its `progress`."""

    def __init__(self, *, budget: float | None) -> None:
        """Prepare a line; budget: how many simulations there will be, None when unknown."""
        console = Console(stderr=True)
        bar = [BarColumn()] if budget is not None else [SpinnerColumn()]
        self._progress = rich.progress.Progress(
            *bar,
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            # A line that nobody sees would still leave an empty one.
            disable=not console.is_terminal,
        )
        super().__init__(self._progress)
        self._task = self._progress.add_task("Identifying", total=budget)
        self._news: Progress | None = None
        self.best: ObjectModel | None = None
        """The best model so far."""

    def update(self, news: Progress) -> None:
        """Show the news, and keep the best model."""
        if news.result is not None and news.result is not self.best:
            self._news, self.best = news, cast("ObjectModel", news.result)
        self._progress.update(
            self._task,
            completed=news.done,
            description=f"{news.done} simulations, {news.text}",
        )

    def words(self) -> str:
        """Return how good the best model is."""
        if self._news is None:
            return "before any simulation"
        return f"after {self._news.done} simulations, {self._news.text}"
