"""The text of CSV files that people and programs write."""

from __future__ import annotations

from pathlib import Path

from pushwise.errors import PushwiseError

__all__ = ["read_csv"]


def read_csv(path: Path) -> str:
    """Return the text of a CSV file."""
    try:
        # Spreadsheets put a byte order mark before the first name.
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PushwiseError(f"cannot read {path} ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise PushwiseError(f"{path} must be a CSV file in UTF-8.") from None
