"""A line on stderr that is there while a block runs.

Progress of an identification on the terminal, and the best model it has seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress
    from rich.status import Status

    from pushwise.identification.result import Step
    from pushwise.physics.model import ObjectModel

__all__ = ["Identifying", "Line"]


class Line:
    """Shows what Rich draws for as long as a `with` block runs, whatever ends it."""

    def __init__(self, drawn: Progress | Status) -> None:
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
    """A line on stderr while `identify` runs; `update` is its callback."""

    def __init__(self, *, budget: float | None) -> None:
        """Prepare a line; budget: how many simulations there will be, None when unknown."""
        console = Console(stderr=True)
        bar = [BarColumn()] if budget is not None else [SpinnerColumn()]
        self._progress = Progress(
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
        self._step: Step | None = None
        self.best: ObjectModel | None = None
        """The model with the least error so far."""

    def update(self, step: Step, model: ObjectModel) -> None:
        """Take note of a step, and of its model when it is the best."""
        if self._step is None or step.error < self._step.error:
            self._step, self.best = step, model
        self._progress.update(
            self._task,
            completed=step.simulations,
            description=f"{step.simulations} simulations, error {1e3 * step.error:.1f} mm",
        )

    def words(self) -> str:
        """Return how good the best model is."""
        if self._step is None:
            return "of which nothing is known"
        return (
            f"after {self._step.simulations} simulations, "
            f"{1e3 * self._step.error:.1f} mm from the observed poses"
        )
