"""What commands share: options, how they check what they write, and how they stop."""

from __future__ import annotations

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


def check_outputs(*paths: Path | None, force: bool) -> None:
    """Refuse files that cannot be written, or exist, before any work is done."""
    for path in paths:
        if path is None:
            continue
        if path.exists() and not force:
            raise PushwiseError(f"{path} exists; add --force to overwrite it.")
        if not path.parent.is_dir():
            raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")
