"""Writing text files atomically: a reader sees the old content or the new, never a part of it."""

from __future__ import annotations

import os
from pathlib import Path

from pushwise.errors import PushwiseError

__all__ = ["unfinished", "write_text"]


def unfinished(path: Path) -> Path:
    """Return the temporary file in which `write_text` prepares the content of `path`."""
    return path.with_name(f".{path.name}.half")


def write_text(path: Path, text: str) -> None:
    """Write a file in one step: if writing fails, what was there before stays.

    What is not a file, such as /dev/stdout, cannot be replaced and is written to directly.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        half = unfinished(path)
        with half.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())  # or a power cut may leave the new name with no content
        half.replace(path)
    except OSError as error:
        raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None
