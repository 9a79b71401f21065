"""The text of CSV files that people and programs write."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from pushwise.errors import PushwiseError

__all__ = ["csv_rows", "read_csv"]


def read_csv(path: Path) -> str:
    """Return the text of a CSV file."""
    try:
        # Spreadsheets put a byte order mark before the first name.
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise PushwiseError(f"cannot read {path} ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise PushwiseError(f"{path} must be a CSV file in UTF-8.") from None


def csv_rows(path: Path, lines: list[str], delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Walk over the rows of a CSV file's lines: the number of the line, and its cells."""
    table = csv.reader(lines, delimiter=delimiter)
    line = 1
    try:
        for cells in table:
            yield table.line_num, cells
            line = table.line_num + 1
    except csv.Error as error:
        raise PushwiseError(
            f"{path}, line {line}: no row of a CSV file begins here ({error}); look for a stray "
            "quote or a missing line end."
        ) from None
