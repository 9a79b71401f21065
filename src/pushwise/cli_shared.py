"""What commands share: options, how they check what they write, and how they stop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pushwise.errors import PushwiseError

__all__ = ["INTERRUPTED", "Force", "Json", "Stopped", "check_outputs"]

INTERRUPTED = 130
"""The exit code of a command stopped by Ctrl-C, as shells have it: 128 and the signal's number."""

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Stopped(Exception):
    """Ctrl-C was pressed; the message says what is left of the work."""


def check_outputs(output: Path | None, plot: Path | None = None, *, force: bool) -> None:
    """Refuse files that cannot be written, or exist, before any work is done.

    plot: a picture, whose ending says in which format.
    """
    for path in (output, plot):
        if path is None:
            continue
        if path.is_dir():
            raise PushwiseError(f"{path} cannot be written: it is a folder; give a file's name.")
        if path.exists() and not force:
            raise PushwiseError(f"{path} exists; add --force to overwrite it.")
        if not path.parent.is_dir():
            raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")
        if not os.access(path.parent, os.W_OK):
            raise PushwiseError(f"{path} cannot be written: the folder {path.parent} is read-only.")
    if plot is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        endings = FigureCanvasBase.get_supported_filetypes()
        if plot.suffix[1:].lower() not in endings:
            raise PushwiseError(
                f"{plot} cannot be written: a picture's name must end in .{', .'.join(endings)}."
            )
