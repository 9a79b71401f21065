"""What commands check of the files they write."""

from __future__ import annotations

from pathlib import Path

from pushwise.errors import PushwiseError

__all__ = ["check_outputs"]


def check_outputs(*paths: Path | None, force: bool) -> None:
    """Refuse files that cannot be written, or exist, before any work is done."""
    for path in paths:
        if path is None:
            continue
        if path.exists() and not force:
            raise PushwiseError(f"{path} exists; add --force to overwrite it.")
        if not path.parent.is_dir():
            raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")
