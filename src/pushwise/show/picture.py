"""Writing a figure to a picture file that a person asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

__all__ = ["save_picture"]


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure; the file's ending says in which format."""
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:  # no such folder, or no such format
        reason = " ".join(str(error).split()).rstrip(".")
        raise PushwiseError(f"cannot write {path} ({reason}).") from None
