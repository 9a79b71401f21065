"""Result rows: plain values by column name, kept in CSV files that return them exactly.

A value is written as Python prints it, so that its type can be read back: ``5`` is an int, ``5.0``
a float (the shortest text that reads back as the same number), ``True`` a bool, an empty cell None,
and everything else text. A value that would read back as another one is refused.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pushwise.atomic_write import write_text
from pushwise.documents import read_text
from pushwise.errors import PushwiseError
from pushwise.records.log_file import csv_rows
from pushwise.typing import Array

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "Row",
    "Value",
    "grouped",
    "load_rows",
    "mean",
    "merge_rows",
    "numbers",
    "plain",
    "read_rows",
    "where",
    "write_rows",
]

Kind = TypeVar("Kind", bound="DataclassInstance")
Value = str | int | float | bool | None
Row = dict[str, Value]


def where(rows: Iterable[Row], **wanted: Value) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def grouped(rows: Iterable[Row], name: str) -> dict[str, list[Row]]:
    """Return the rows by the value of a column, in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(row[name]), []).append(row)
    return groups


def numbers(rows: Iterable[Row], name: str) -> Array:
    """Return the numbers of a column without its empty cells, shape (k,)."""
    return np.array([value for row in rows if isinstance(value := row[name], int | float)], float)


def mean(rows: Iterable[Row], name: str) -> float:
    """Return the mean of a column; NaN if it is empty."""
    values = numbers(rows, name)
    return float(values.mean()) if len(values) else float("nan")


def plain(row: Mapping[str, object]) -> Row:
    """Return a row as Python scalars; raise PushwiseError for values a CSV file would change."""
    return {name: _plain(name, value) for name, value in row.items()}


def _plain(name: str, value: object) -> Value:
    """Return one value as a Python scalar."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise PushwiseError(f"{name} must be finite, or None for no value; got {value}.")
    if value is not None and not isinstance(value, str | int | float | bool):
        raise PushwiseError(f"{name} must be text, a number, a bool or None; got {value!r}.")
    back = _parsed(_text(value))
    if back != value or type(back) is not type(value):
        raise PushwiseError(f"{name} must not be text that looks like {back!r}; got {value!r}.")
    return value


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    """Write rows with the same columns to a CSV file, completely or not at all."""
    checked = [plain(row) for row in rows]
    names = list(checked[0]) if checked else []
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in checked:
        if list(row) != names:
            raise PushwiseError(f"all rows must have the columns {names}; got {list(row)}.")
        writer.writerow(_text(value) for value in row.values())
    write_text(path, text.getvalue())


def read_rows(path: Path) -> list[Row]:
    """Read the rows that `write_rows` wrote."""
    table = csv_rows(path, list(io.StringIO(read_text(path), newline="")))
    _, names = next(table, (1, []))
    rows = []
    for line, cells in table:
        if len(cells) != len(names):
            raise PushwiseError(
                f"{path}, line {line}: expected {len(names)} values; got {len(cells)}."
            )
        rows.append(dict(zip(names, map(_parsed, cells), strict=True)))
    return rows


def load_rows(path: Path, kind: type[Kind]) -> list[Kind]:
    """Read rows as dataclass instances; none if the file does not exist."""
    rows: list[dict[str, Any]] = [*read_rows(path)] if path.is_file() else []
    names = [field.name for field in fields(kind)]
    if rows and list(rows[0]) != names:
        raise PushwiseError(
            f"{path} must have the columns {', '.join(names)}; it has {', '.join(rows[0])}."
        )
    return [kind(**row) for row in rows]


def merge_rows(path: Path, new: Sequence[Kind], kind: type[Kind], *by: str) -> list[Kind]:
    """Add rows to a file; they replace those with the same values in the columns `by`.

    Numbers are rounded to four digits, which is all that these measurements can support.

    Returns:
        All rows of the file.

    """

    def key(row: Kind) -> tuple[Any, ...]:
        return tuple(getattr(row, name) for name in by)

    replaced = {key(row) for row in new}
    rows = [row for row in load_rows(path, kind) if key(row) not in replaced]
    for row in new:
        values = asdict(row).items()
        rows.append(
            replace(row, **{k: float(f"{v:.4g}") for k, v in values if isinstance(v, float)})
        )
    if new:
        write_rows(path, [asdict(row) for row in rows])
    return rows


def _text(value: Value) -> str:
    """Return the text of a value in the file."""
    return "" if value is None else str(value)


def _parsed(text: str) -> Value:
    """Return the value that was written as this text."""
    if text == "":
        return None
    if text in ("True", "False"):
        return text == "True"
    for number in (int, float):
        try:
            value = number(text)
        except ValueError:
            continue
        # int accepts "1_000" and float "infinity"; only what Python itself prints is a number.
        if str(value) == text:
            return value
    return text
