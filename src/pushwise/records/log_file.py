"""Read the rows of a log's CSV file, with errors that name the line.

The push of a record is the path of the finger through its rows; see `finger_path`. Some cells
may be empty: the finger's position after it was raised, and the twist in all rows but the first of
a push, or in all of them where the object starts at rest.
"""

from __future__ import annotations

import csv
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from pushwise.documents import read_text
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.records.finger_path import TOLERANCE, path_through, rest_at_start
from pushwise.records.record import Noise, PushRecord
from pushwise.typing import Array

__all__ = ["COLUMNS", "FASTEST", "FORCES", "LIFT", "SLOW", "TWIST", "csv_rows", "read_records"]

COLUMNS = ("push", "t", "x", "y", "theta", "finger_x", "finger_y")
"""The columns of every log."""
FORCES = ("fx", "fy")
"""Those of a log with measured forces."""
TWIST = ("vx", "vy", "omega")
"""Those of a log in which objects start in motion."""
LIFT = ("z", "tilt")
"""Those of a log with measured heights and tilts."""

_VALUES = (*COLUMNS[1:], *FORCES, *TWIST, *LIFT)
_MAY_BE_EMPTY = ("finger_x", "finger_y", *TWIST)

FASTEST = 5.0
"""Neither a finger nor an object is faster [m/s]; one in millimetres is."""

# No push on a table exceeds these, but one written in millimetres or degrees does.
_FAR = 5.0, "metres", "millimetres or centimetres"
_SPEED = FASTEST, "metres per second", "millimetres per second"
_UNITS = {
    **dict.fromkeys(("x", "y", "z", "finger_x", "finger_y"), _FAR),
    "theta": (20.0, "radians", "degrees"),
    **dict.fromkeys(("vx", "vy"), _SPEED),
    "tilt": (3.2, "radians", "degrees"),
    "omega": (100.0, "radians per second", "degrees per second"),
}
_ANY = math.inf, "", ""
_CONVERT = "pushwise convert reads other columns and units"

SLOW = 1e-3
"""A finger slower than this [m/s] is at rest, or its times are in milliseconds."""

_AT_REST = 1e-4  # m; an object that moves no more than this does not move
_TURNS = 1e-3  # rad
# An object that waits for the finger may seem to move by this much, because its pose is noisy.
_WAITS = 5e-3  # m
_WAITS_TURNED = 0.05  # rad


@dataclass(frozen=True)
class _LogRow:
    """A line of the file as numbers."""

    line: int
    push: str
    values: tuple[float, ...]  # of `_VALUES`; NaN where there is none


def read_records(
    path: Path, *, noise: Noise | None, complete_lines: bool
) -> tuple[PushRecord, ...]:
    """Read the records of a CSV file.

    Args:
        path: The file.
        noise: Noise of the records, if known.
        complete_lines: Whether the file's writer ends every row with a line end. A last line
            without one was then cut off by a crash, and is ignored with a warning.

    """
    text = read_text(path)
    if complete_lines and not text:
        return ()  # a new file without a push
    lines = text.splitlines()
    torn = ""
    if complete_lines and not text.endswith("\n"):
        torn = (
            f"line {len(lines)} is ignored, because it has no line end; add one if it is complete"
        )
        lines.pop()
    rows = _rows(path, lines)
    starts = [i for i in range(len(rows)) if i == 0 or rows[i].push != rows[i - 1].push]
    seen: dict[str, int] = {}
    records = []
    for start, end in pairwise([*starts, len(rows)]):
        first = rows[start]
        if first.push in seen:
            raise _refused(
                path,
                first.line,
                f"push {first.push} appears again after its rows from line {seen[first.push]} on; "
                "give every push its own number",
            )
        seen[first.push] = first.line
        records.append(_record(path, rows[start:end], noise, torn if end == len(rows) else ""))
    if torn:
        warnings.warn(f"{path}: {torn}.", PushwiseWarning, stacklevel=3)
    return tuple(records)


def _rows(path: Path, lines: list[str]) -> list[_LogRow]:
    """Return the rows as numbers, after the line of column names."""
    table = csv_rows(path, lines)
    names = [name.strip() for name in next(table, (1, []))[1]]
    more = [name for part in (FORCES, TWIST, LIFT) if part[0] in names for name in part]
    if sorted(names) != sorted([*COLUMNS, *more]):
        raise _refused(
            path,
            1,
            f"the columns must be {', '.join(COLUMNS)} and, if measured, fx, fy and z, tilt and, "
            "if an object starts in motion, vx, vy, omega; "
            f"got {', '.join(names)[:200] or 'nothing'}{_faults(names, [*COLUMNS, *more])}; "
            f"{_CONVERT}",
        )
    rows = []
    for line, cells in table:
        if not cells:
            continue
        if len(cells) != len(names):
            raise _refused(path, line, f"a row has {len(names)} values; got {len(cells)}")
        texts = dict(zip(names, (cell.strip() for cell in cells), strict=True))
        values = tuple(
            _number(path, line, name, texts[name]) if name in texts else math.nan
            for name in _VALUES
        )
        if math.isnan(values[4]) != math.isnan(values[5]):
            raise _refused(
                path,
                line,
                "finger_x and finger_y must both be numbers, or both be empty once the finger is "
                "raised",
            )
        rows.append(_LogRow(line, texts["push"], values))
    return rows


def _faults(names: list[str], expected: list[str]) -> str:
    """Return in brackets which of the columns are missing, unknown or there twice."""
    missing = [name for name in expected if name not in names]
    unknown = [name for name in dict.fromkeys(names) if name not in expected]
    twice = [name for name in expected if names.count(name) > 1]
    faults = (("missing", missing), ("unknown", unknown), ("twice", twice))
    said = "; ".join(f"{what}: {', '.join(which)[:80]}" for what, which in faults if which)
    return f" ({said})"


def _number(path: Path, line: int, name: str, text: str) -> float:
    """Return a cell as a number, after checking that its size fits its unit; NaN if left empty."""
    if not text and name in _MAY_BE_EMPTY:
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refused(path, line, f"{name} must be a finite number; got {text!r:.40}")
    limit, unit, other = _UNITS.get(name, _ANY)
    if abs(value) > limit:
        raise _refused(
            path, line, f"{name} must be in {unit}; {text:.40} looks like {other}; {_CONVERT}"
        )
    return value


def _record(path: Path, rows: list[_LogRow], noise: Noise | None, torn: str) -> PushRecord:
    """Return the record of one push, whose path is that of the finger.

    Args:
        path: The file, for error messages.
        rows: Its rows.
        noise: Noise of the record, if known.
        torn: A sentence about an ignored row at the end, or empty.

    """
    name = f"push {rows[0].push}"
    if len(rows) < 2:
        why = f"{name} has one row; give at least two, before and after"
        raise _refused(path, rows[0].line, f"{why}; {torn}" if torn else why)
    data = np.array([row.values for row in rows])
    if np.ptp(data[:, 3]) < 2.0 * np.pi:  # otherwise it does not jump at pi, and may be in degrees
        data[:, 3] = np.unwrap(data[:, 3])
    step = np.diff(data[:, 0])
    if not (step > 0.0).all():
        late = int(np.argmin(step > 0.0)) + 1
        raise _refused(
            path,
            rows[late].line,
            f"t must increase within {name}; {data[late, 0]:g} follows {data[late - 1, 0]:g}",
        )
    on_table = _rows_on_table(path, rows, data)
    for what, places in (("the object", data[:, 1:3]), ("the finger", data[:on_table, 4:6])):
        speed = np.hypot(*np.diff(places, axis=0).T) / step[: len(places) - 1]
        if speed.max() > FASTEST:
            at = int(np.argmax(speed > FASTEST)) + 1
            raise _refused(
                path,
                rows[at].line,
                f"{what} moves at {speed[at - 1]:.3g} m/s; positions must be in metres and "
                "times in seconds",
            )
    twist = _twist(path, rows[0], data[0, 8:11])
    moves = bool((np.hypot(*(data[:on_table, 4:6] - data[0, 4:6]).T) > TOLERANCE).any())
    if not moves and not twist.any() and _rests(data, _AT_REST, _TURNS):
        raise _refused(
            path, rows[-1].line, f"neither the finger nor the object moves during {name}"
        )
    begin = 0 if twist.any() else _begin(data[:on_table])
    t = data[:, 0] - data[begin, 0]
    push = path_through(t[begin:on_table], data[begin:on_table, 4:6], raised=on_table < len(rows))
    if push.top_speed < SLOW and moves:
        raise _refused(
            path,
            rows[begin].line,
            f"the finger of {name} moves at {1e3 * push.top_speed:.2g} mm/s; positions must be in "
            "metres and times in seconds",
        )
    force = None if np.isnan(data[0, 6]) else data[begin:, 6:8]
    source = f"{path.name}, {name}"
    record = PushRecord(
        push, t[begin:], data[begin:, 1:4], force, twist=twist, noise=noise, source=source
    )
    return record.with_lift(None if np.isnan(data[0, 11]) else data[begin:, 11:])


def _rows_on_table(path: Path, rows: list[_LogRow], data: Array) -> int:
    """Return how many rows of a push have the position of the finger; then it is raised."""
    raised = np.isnan(data[:, 4])
    if not raised.any():
        return len(rows)
    count = int(np.argmax(raised))
    if count < 2:
        raise _refused(
            path,
            rows[count].line,
            f"push {rows[0].push} must have finger_x and finger_y in its first two rows at least; "
            "for an object that slides alone, write any position clear of it",
        )
    if not raised[count:].all():
        back = count + int(np.argmin(raised[count:]))
        raise _refused(
            path,
            rows[back].line,
            f"the finger is back after it was raised in line {rows[count].line}; give the rows "
            "from here on another push number",
        )
    return count


def _twist(path: Path, first: _LogRow, given: Array) -> Array:
    """Return the twist (3,) with which a push starts: as given in its first row, or zero."""
    missing = np.isnan(given)
    if missing.any() and not missing.all():
        raise _refused(
            path,
            first.line,
            f"vx, vy and omega in the first row of push {first.push} must all be numbers, or all "
            "be empty if the object rests",
        )
    return np.zeros(3) if missing.all() else given


def _begin(data: Array) -> int:
    """Return the row at which the finger sets out, from the rows (k, ...) in which it has a place.

    Rows before it carry no information about an object that rests until it is touched.
    """
    waiting = rest_at_start(data[:, 0], data[:, 4:6])
    return waiting if _rests(data[: waiting + 1], _WAITS, _WAITS_TURNED) else 0


def _rests(data: Array, distance: float, angle: float) -> bool:
    """Return whether the object stays where it is in the first of some rows."""
    shift = np.abs(data[:, 1:4] - data[0, 1:4])
    return bool(
        (np.hypot(shift[:, 0], shift[:, 1]) <= distance).all() and (shift[:, 2] <= angle).all()
    )


def _refused(path: Path, line: int, why: str) -> PushwiseError:
    """Return an error that names the file and the line."""
    return PushwiseError(f"{path}, line {line}: {why}.")


def csv_rows(path: Path, lines: list[str], delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Iterate over the rows of a CSV file's lines: the number of the line, and its cells."""
    table = csv.reader(lines, delimiter=delimiter)
    line = 1
    try:
        for cells in table:
            yield table.line_num, cells
            line = table.line_num + 1
    except csv.Error as error:
        raise PushwiseError(
            f"{path}, line {line}: not a row of a CSV file ({error}); look for a stray quote or a "
            "missing line end."
        ) from None
