"""Write records to a log's CSV file.

A push is written at once and flushed, so that a crash loses at most the push being written. An
incomplete last line is dropped when the file is continued.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.physics.push import Push
from pushwise.records.log_file import COLUMNS, FORCES, LIFT, TWIST
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["LogWriter"]

_SAME_TIME = 1e-9  # s; a sample no later than this after the end of a push is at its end


class LogWriter:
    """Appends records to a log's CSV file, a whole push at once.

    Rows after a finger was raised have no position of it; where a record ends with its push, there
    are none, and that the finger is then raised is not written.
    """

    def __init__(self, path: Path, *, drop_last: bool = False) -> None:
        """Open a new file or an existing log.

        A push whose last line is incomplete is removed.

        Args:
            path: The CSV file.
            drop_last: Remove the last push, complete or not.

        """
        self.pushes = 0
        """Number of pushes in the file."""
        self._path = path
        self._names: tuple[str, ...] = ()  # of the columns; decided by the first push
        try:
            if path.exists():
                self.pushes, self._names = _cut(path, drop_last)
            self._open()
        except OSError as error:
            raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None

    def append(self, record: PushRecord) -> None:
        """Write one record as the next push."""
        if not isinstance(record.push, Push):
            raise PushwiseError("a log takes pushes by a finger; a ForcePush has none.")
        if record.fell:
            raise PushwiseError(
                "a log takes motion on the table; leave out a record whose object fell."
            )
        moving = bool(record.twist.any())
        lines: list[str] = []
        if not self._names:
            forces = FORCES if record.force is not None else ()
            lift = LIFT if record.lift is not None else ()
            self._names = COLUMNS + forces + lift + (TWIST if moving else ())
            lines.append(",".join(self._names))
        for what, measured, name in (
            ("forces", record.force, FORCES[0]),
            ("heights and tilts", record.lift, LIFT[0]),
        ):
            if (measured is not None) != (name in self._names):
                raise PushwiseError(f"a log has {what} for all of its pushes or for none.")
        if moving and TWIST[0] not in self._names:
            self._add_twist()
        cells = _cells(record, record.push, self.pushes)
        rows = zip(*(cells[name] for name in self._names), strict=True)
        lines += [",".join(row) for row in rows]
        self._file.write("".join(line + "\n" for line in lines).encode())
        os.fsync(self._file.fileno())
        self.pushes += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        # Unbuffered: a push is handed to the system at once, so that killing the process does not
        # leave half of it.
        self._file = self._path.open("ab", buffering=0)

    def _add_twist(self) -> None:
        """Give the file columns for a twist, empty for the pushes so far, which started at rest.

        Most logs have no object that starts in motion, and are easier to read without them.
        """
        self.close()
        names, *rows = self._path.read_text(encoding="utf-8").splitlines()
        lines = [",".join([names, *TWIST]), *(row + "," * len(TWIST) for row in rows if row)]
        write_text(self._path, "".join(line + "\n" for line in lines))
        self._names += TWIST
        self._open()


def _cells(record: PushRecord, push: Push, number: int) -> dict[str, list[str]]:
    """Return the cells of all columns that a record can fill."""
    finger = _texts(push.at(record.t), COLUMNS[5:])
    if push.raised:
        after = record.t > push.duration + _SAME_TIME
        for column in finger.values():
            column[:] = ["" if up else text for up, text in zip(after, column, strict=True)]
    later = [""] * (len(record.t) - 1)
    return {
        "push": [str(number)] * len(record.t),
        **_texts(record.t[:, None], COLUMNS[1:2]),
        **_texts(record.pose, COLUMNS[2:5]),
        **finger,
        **({} if record.force is None else _texts(record.force, FORCES)),
        **({} if record.lift is None else _texts(record.lift, LIFT)),
        **{name: text + later for name, text in _texts(record.twist[None], TWIST).items()},
    }


def _texts(values: Array, names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return columns of numbers as text; str of a float is the shortest that is read back as it."""
    return {
        name: [str(value) for value in column]
        for name, column in zip(names, values.T.tolist(), strict=True)
    }


def _cut(path: Path, drop_last: bool) -> tuple[int, tuple[str, ...]]:
    """Remove an incomplete push, or the last one; return the number of pushes and the columns.

    There are no columns in a file without a line of their names.
    """
    content = path.read_bytes()
    names, *rows = content[: content.rfind(b"\n") + 1].splitlines(keepends=True) or [b""]
    ids = [row.split(b",", 1)[0] for row in rows]
    torn = not content.endswith(b"\n")  # a push is written at once: any part may be missing
    if (drop_last or torn) and rows:
        rows = rows[: ids.index(ids[-1])]
    with path.open("r+b") as file:
        file.truncate(len(names) + sum(map(len, rows)))
    columns = tuple(name.strip() for name in names.decode("utf-8-sig").split(",")) if names else ()
    return len(set(ids[: len(rows)])), columns
