"""The rows of a log's CSV file: read with errors that name the line, and written safely.

A push is written at once and flushed, so that a crash loses at most the push being written. An
incomplete last line is dropped when the file is read or continued.
"""

from __future__ import annotations

import csv
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np

from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.physics.push import Push
from pushwise.records.record import Noise, PushRecord

__all__ = ["SLOW", "LogWriter", "csv_rows", "read_csv", "read_records"]

_COLUMNS = ("push", "t", "x", "y", "theta", "finger_x", "finger_y")
_FORCES = ("fx", "fy")

# No push on a table exceeds these, but one written in millimetres or degrees does.
_FAR = 5.0  # m
_FAST = 5.0  # m/s
_TURNED = 20.0  # rad

SLOW = 1e-3
"""A finger slower than this [m/s] is at rest, or its times are in milliseconds."""

_AT_REST = 1e-4  # m; a finger that moves less has stopped
_ASTRAY = 0.01  # m; how far a finger may be from a straight path at constant velocity


@dataclass(frozen=True)
class _LogRow:
    """A line of the file as numbers."""

    line: int
    push: str
    values: tuple[float, ...]  # t, x, y, theta, finger_x, finger_y[, fx, fy]


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
    text = read_csv(path)
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
    if sorted(names) not in (sorted(_COLUMNS), sorted(_COLUMNS + _FORCES)):
        raise _refused(
            path,
            1,
            f"the columns must be {', '.join(_COLUMNS)} and, if measured, fx, fy; "
            f"got {', '.join(names) or 'nothing'}",
        )
    order = [names.index(name) for name in _COLUMNS + _FORCES if name in names]
    rows = []
    for line, cells in table:
        if not cells:
            continue
        if len(cells) != len(names):
            raise _refused(path, line, f"a row has {len(names)} values; got {len(cells)}")
        push, *texts = (cells[i].strip() for i in order)
        values = tuple(
            _number(path, line, name, text)
            for name, text in zip((_COLUMNS + _FORCES)[1:], texts, strict=False)
        )
        rows.append(_LogRow(line, push, values))
    return rows


def _number(path: Path, line: int, name: str, text: str) -> float:
    """Return a cell as a number, after checking that its size fits its unit."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _refused(path, line, f"{name} must be a finite number; got {text!r}")
    if name in ("x", "y", "finger_x", "finger_y") and abs(value) > _FAR:
        raise _refused(path, line, f"{name} must be in metres; {text} looks like millimetres")
    if name == "theta" and abs(value) > _TURNED:
        raise _refused(path, line, f"theta must be in radians; {text} looks like degrees")
    return value


def _record(path: Path, rows: list[_LogRow], noise: Noise | None, torn: str) -> PushRecord:
    """Return the record of one push, which is inferred from the finger's path.

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
    step = np.diff(data[:, 0])
    if not (step > 0.0).all():
        late = int(np.argmin(step > 0.0)) + 1
        raise _refused(
            path,
            rows[late].line,
            f"t must increase within {name}; {data[late, 0]:g} follows {data[late - 1, 0]:g}",
        )
    for what, columns in (("the object", slice(1, 3)), ("the finger", slice(4, 6))):
        speed = np.hypot(*np.diff(data[:, columns], axis=0).T) / step
        if speed.max() > _FAST:
            at = int(np.argmax(speed > _FAST)) + 1
            raise _refused(
                path,
                rows[at].line,
                f"{what} moves at {speed[at - 1]:.3g} m/s; positions must be in metres and "
                "times in seconds",
            )
    finger = data[:, 4:6]
    moving = np.hypot(*(finger - finger[0]).T) > _AT_REST
    if not moving.any():
        raise _refused(path, rows[-1].line, f"the finger does not move during {name}")
    # Rows before the finger moves carry no information: the object rests until it is touched.
    begin = int(np.argmax(moving)) - 1
    data, rows, finger = data[begin:], rows[begin:], finger[begin:]
    end = int(np.argmax(np.hypot(*(finger - finger[-1]).T) <= _AT_REST))
    if end == 0:
        raise _refused(path, rows[-1].line, f"the finger ends where it began in {name}")
    t = data[:, 0] - data[0, 0]
    push = Push.line(finger[0], (finger[end] - finger[0]) / t[end], float(t[end]))
    speed = float(np.hypot(*push.velocity))
    if speed < SLOW:
        raise _refused(
            path,
            rows[0].line,
            f"the finger of {name} moves at {1e3 * speed:.2g} mm/s; positions must be in "
            "metres and times in seconds",
        )
    stray = np.hypot(*(finger - push.at(t)).T)
    if stray.max() > _ASTRAY:
        at = int(np.argmax(stray))
        raise _refused(
            path,
            rows[at].line,
            f"the finger is {stray[at]:.3f} m from a straight path at constant velocity; "
            f"split {name} into straight pushes, as pushwise convert does",
        )
    pose = np.column_stack([data[:, 1:3], np.unwrap(data[:, 3])])
    force = data[:, 6:8] if data.shape[1] == 8 else None
    source = f"{path.name}, {name}"
    return PushRecord(push, t, pose, force, noise=noise, source=source)


def _refused(path: Path, line: int, why: str) -> PushwiseError:
    """Return an error that names the file and the line."""
    return PushwiseError(f"{path}, line {line}: {why}.")


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


class LogWriter:
    """Appends records to a log's CSV file, a whole push at once."""

    def __init__(self, path: Path, *, drop_last: bool = False) -> None:
        """Open a new file or an existing log.

        A push whose last line is incomplete is removed.

        Args:
            path: The CSV file.
            drop_last: Remove the last push, complete or not.

        """
        self.pushes = 0
        """Number of pushes in the file."""
        self._forces: bool | None = None
        try:
            if path.exists():
                self.pushes, self._forces = _cut(path, drop_last)
            # Unbuffered: a push is handed to the system at once, so that killing the process does
            # not leave half of it.
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None

    def append(self, record: PushRecord) -> None:
        """Write one record as the next push."""
        if not isinstance(record.push, Push) or record.finger is None:
            raise PushwiseError("a log takes pushes by a finger; a ForcePush has none.")
        if record.fell:
            raise PushwiseError(
                "a log takes motion on the table; leave out a record whose object fell."
            )
        forces = record.force is not None
        lines: list[tuple[str, ...]] = []
        if self._forces is None:
            self._forces = forces
            lines.append(_COLUMNS + _FORCES if forces else _COLUMNS)
        if forces != self._forces:
            raise PushwiseError("a log has forces for all of its pushes or for none.")
        table = [record.t[:, None], record.pose, record.finger]
        if record.force is not None:
            table.append(record.force)
        # The str of a float is the shortest text that is read back as the same number.
        lines += [(str(self.pushes), *map(str, row)) for row in np.hstack(table).tolist()]
        self._file.write("".join(",".join(line) + "\n" for line in lines).encode())
        os.fsync(self._file.fileno())
        self.pushes += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cut(path: Path, drop_last: bool) -> tuple[int, bool | None]:
    """Remove an incomplete push, or the last one; return the number of pushes and if with forces.

    The latter is None for a file without a line of column names.
    """
    content = path.read_bytes()
    names, *rows = content[: content.rfind(b"\n") + 1].splitlines(keepends=True) or [b""]
    ids = [row.split(b",", 1)[0] for row in rows]
    torn = not content.endswith(b"\n")  # a push is written at once: any part may be missing
    if (drop_last or torn) and rows:
        rows = rows[: ids.index(ids[-1])]
    with path.open("r+b") as file:
        file.truncate(len(names) + sum(map(len, rows)))
    return len(set(ids[: len(rows)])), b"fx" in names if names else None
