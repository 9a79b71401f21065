"""CSV files with columns of any names and in any units, as spreadsheets and scripts write them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from pushwise.documents import read_text
from pushwise.errors import PushwiseError
from pushwise.records.log_file import csv_rows
from pushwise.records.recordings import CsvColumns
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.typing import Array, Integers

__all__ = ["UNITS", "read_columns"]

_OBJECT = ("x", "y", "theta")
_FINGER = ("finger_x", "finger_y")
_FORCE = ("fx", "fy")
_NAMES = ("push", "t", *_OBJECT, *_FINGER, *_FORCE)
_OPTIONAL = ("push", *_FORCE)

UNITS = {
    "length": {"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    "angle": {"rad": 1.0, "deg": math.pi / 180.0},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9},
    "force": {"N": 1.0, "mN": 1e-3},
}
"""The valid units of a column by what it measures, and their sizes in SI units."""

_KINDS = {
    "t": "time",
    "theta": "angle",
    **dict.fromkeys(("x", "y", *_FINGER), "length"),
    **dict.fromkeys(_FORCE, "force"),
}


def read_columns(path: str | Path, columns: CsvColumns) -> list[Recording]:
    """Read a CSV file with a line of column names.

    Rows need not have every value: a row with the object alone and one with the finger alone are
    samples of one stream each.

    Args:
        path: The file.
        columns: What the file calls its columns, and their units.

    """
    path = Path(path)
    _check_names(columns)
    names, rows = _rows(path)
    where = _where(path, names, columns.names)
    scale = {name: UNITS[_KINDS[name]][unit] for name, unit in columns.units.items()}
    numbers = {
        name: scale.get(name, 1.0) * _column(path, rows, names[i], i)
        for name, i in where.items()
        if name != "push"
    }
    groups = {path.name: np.arange(len(rows))}
    if "push" in where:
        ids = np.array([row[1][where["push"]].strip() for row in rows])
        if (ids == "").any():
            line = rows[int(np.argmax(ids == ""))][0]
            raise PushwiseError(
                f"{path}, line {line}: the row does not say to which push it belongs."
            )
        groups = {
            f"{path.name}, push {name}": np.flatnonzero(ids == name) for name in dict.fromkeys(ids)
        }
    return [_recording(source, numbers, chosen) for source, chosen in groups.items()]


def _recording(source: str, numbers: Mapping[str, Array], chosen: Integers) -> Recording:
    """Return the recording in some of the rows."""
    # Times count from the first row; seconds since 1970 would be hard to read in the report.
    t = numbers["t"][chosen] - np.nanmin(numbers["t"], initial=np.inf)

    def stream(name: str, parts: tuple[str, ...]) -> Stream:
        values = np.column_stack([numbers[part][chosen] for part in parts])
        # A row with values of other streams only is not a sample of this one.
        meant = ~np.isnan(values).all(axis=1)
        return Stream.ordered(name, f"{source} {', '.join(parts)}", t[meant], values[meant])

    force = stream("force", _FORCE) if "fx" in numbers else None
    return Recording(source, stream("object", _OBJECT), stream("finger", _FINGER), force)


def _check_names(columns: CsvColumns) -> None:
    """Refuse unknown columns, and units that do not fit them."""
    for name in (*columns.names, *columns.units):
        if name not in _NAMES:
            raise PushwiseError(f"a column must be one of {', '.join(_NAMES)}; got {name!r}.")
    for name, unit in columns.units.items():
        known = UNITS.get(_KINDS.get(name, ""), {})
        if unit not in known:
            raise PushwiseError(
                f"the unit of {name} must be {' or '.join(known) or 'left out'}; got {unit!r}."
            )


def _rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the column names, and the rows with their line numbers."""
    lines = read_text(path).splitlines()
    head = lines[0] if lines else ""
    table = csv_rows(path, lines, delimiter=max(",;\t", key=head.count))
    names = [name.strip() for name in next(table, (1, []))[1]]
    rows = []
    for line, cells in table:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(names):
            raise PushwiseError(
                f"{path}, line {line}: a row has {len(names)} values; got {len(cells)}."
            )
        rows.append((line, cells))
    if not rows:
        raise PushwiseError(
            f"{path} must have a line of column names and rows of numbers; it has no rows."
        )
    return names, rows


def _where(path: Path, names: list[str], columns: Mapping[str, str]) -> dict[str, int]:
    """Return the index of each of our columns in the file."""
    where = {}
    missing = []
    for name in _NAMES:
        called = columns.get(name, name)
        if called in names:
            if (times := names.count(called)) > 1:
                raise PushwiseError(
                    f"{path} has {times} columns called {called}; give each a name of its own."
                )
            where[name] = names.index(called)
        elif name in columns or name not in _OPTIONAL:
            missing.append(name)
    if missing:
        absent = ", ".join(columns.get(name, name) for name in missing)
        raise PushwiseError(
            f"{path} has no column {absent}; it has {', '.join(names)[:200]}: specify which of "
            f"them is {', '.join(missing)}, as in --column {missing[0]}=NAME."
        )
    if ("fx" in where) != ("fy" in where):
        raise PushwiseError(f"{path} has one of fx and fy; a force has both.")
    for name, other in combinations(where, 2):
        if where[name] == where[other]:
            raise PushwiseError(
                f"{path}: {name} and {other} are both taken from column {names[where[name]]}; "
                "give each a column of its own."
            )
    return where


def _column(path: Path, rows: list[tuple[int, list[str]]], name: str, i: int) -> Array:
    """Return a column as numbers, NaN where a cell is empty or marked as missing."""
    numbers = np.full(len(rows), np.nan)
    for k, (line, cells) in enumerate(rows):
        text = cells[i].strip()
        if not text or text.lower() in ("na", "none", "null", "-"):
            continue
        try:
            numbers[k] = float(text)
        except ValueError:
            numbers[k] = np.inf
        if np.isinf(numbers[k]):
            raise PushwiseError(f"{path}, line {line}: {name} must be a number; got {text!r:.40}.")
    return numbers
