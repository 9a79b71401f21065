"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import os
from pathlib import Path

from pushwise.errors import PushwiseError

__all__ = ["unfinished", "write_text"]


def unfinished(path: Path) -> Path:
    """Return where a file is until it is whole."""
    return path.with_name(f".{path.name}.half")


def write_text(path: Path, text: str) -> None:
    """Write a file, whole or not at all: whoever reads it, whenever, sees the old or the new."""
    half = unfinished(path)
    try:
        with half.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # or a power cut may leave the new name with no content
        half.replace(path)
    except OSError as error:
        raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None
