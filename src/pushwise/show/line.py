"""A line on stderr that is there while a block runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress
    from rich.status import Status

__all__ = ["Line"]


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
