"""Write records to a log's CSV file.

A push is written at once and flushed, so that a crash loses at most the push being written. An
incomplete last line is dropped when the file is continued. No two processes write to one log.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from pushwise.atomic_write import write_text
from pushwise.checks import counted
from pushwise.errors import PushwiseError, WriteError
from pushwise.locking import exclusive
from pushwise.physics.push import Push
from pushwise.records.log_file import COLUMNS, FORCES, LIFT, TWIST
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["LogWriter", "log_text"]

_SAME_TIME = 1e-9  # s; a sample no later than this after the end of a push is at its end


class LogWriter:
    """Appends records to a log's CSV file, a whole push at once.

    Rows after a finger was raised have no position of it; where a record ends with its push, there
    are none, and that the finger is then raised is not written.
    """

    def __init__(
        self, path: Path, *, drop_last: bool = False, lock: ExitStack | None = None
    ) -> None:
        """Open a new file or an existing log.

        A push whose last line is incomplete is removed.

        Args:
            path: The CSV file.
            drop_last: Remove the last push, complete or not.
            lock: Holds the lock of the file, and is closed with it; by default it is locked here.

        """
        self.pushes = 0
        """Number of pushes in the file."""
        self._path = path
        self._names: tuple[str, ...] = ()  # of the columns; decided by the first push
        self._lock = ExitStack() if lock is None else lock
        try:
            if lock is None:
                self._lock.enter_context(exclusive(path))
            if path.exists():
                self.pushes, self._names = _cut(path, drop_last)
            self._open()
        except OSError as error:
            self._lock.close()
            raise WriteError(f"cannot write {path} ({error.strerror}).") from None
        except BaseException:
            self._lock.close()
            raise

    def append(self, record: PushRecord) -> None:
        """Write one record as the next push.

        Raises:
            WriteError: It cannot be written; the pushes before it are kept.

        """
        _check(record)
        names = self._names or _columns([record])
        for what, measured, name in (
            ("forces", record.force, FORCES[0]),
            ("heights and tilts", record.lift, LIFT[0]),
        ):
            if (measured is not None) != (name in names):
                raise PushwiseError(f"a log has {what} for all of its pushes or for none.")
        if record.twist.any() and TWIST[0] not in names:
            self._add_twist()
            names = self._names
        head = "" if self._names else _line(names)
        self._write((head + _rows(record, self.pushes, names)).encode())
        self._names = names
        self.pushes += 1

    def close(self) -> None:
        """Close the file, and let other processes write to it."""
        self._file.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        # Unbuffered: a push is handed to the system at once, so that killing the process does not
        # leave half of it.
        self._file = self._path.open("ab", buffering=0)

    def _write(self, rows: bytes) -> None:
        """Append rows to the file: all of them, or none if that fails."""
        handle = self._file.fileno()
        before = os.fstat(handle).st_size
        try:
            left = memoryview(rows)
            while left:  # a disk that fills up takes a part
                left = left[self._file.write(left) or 0 :]
            os.fsync(handle)
        except BaseException as error:
            with suppress(OSError):
                os.ftruncate(handle, before)
            if isinstance(error, OSError):
                kept = counted(self.pushes, "push is", "pushes are")
                raise WriteError(
                    f"cannot write {self._path} ({error.strerror}); {kept} kept in it."
                ) from None
            raise
        if os.fstat(handle).st_nlink == 0:
            raise WriteError(f"cannot write {self._path}: it was removed while it was written.")

    def _add_twist(self) -> None:
        """Give the file columns for a twist, empty for the pushes so far, which started at rest.

        Most logs have no object that starts in motion, and are easier to read without them.
        """
        self._file.close()
        names, *rows = self._path.read_text(encoding="utf-8").splitlines()
        lines = [",".join([names, *TWIST]), *(row + "," * len(TWIST) for row in rows if row)]
        try:
            write_text(self._path, "".join(line + "\n" for line in lines))
            self._names += TWIST
        finally:
            self._open()


def log_text(records: Sequence[PushRecord]) -> str:
    """Return the content of the CSV file of a log; empty if it has no records."""
    if not records:
        return ""
    for record in records:
        _check(record)
        for what, one, first in (
            ("forces", record.force, records[0].force),
            ("heights and tilts", record.lift, records[0].lift),
        ):
            if (one is None) != (first is None):
                raise PushwiseError(f"a log has {what} for all of its pushes or for none.")
    names = _columns(records)
    rows = (_rows(record, number, names) for number, record in enumerate(records))
    return _line(names) + "".join(rows)


def _check(record: PushRecord) -> None:
    """Refuse a record that no log can hold."""
    if not isinstance(record.push, Push):
        raise PushwiseError("a log takes pushes by a finger; a ForcePush has none.")
    if record.fell:
        raise PushwiseError(
            "a log takes motion on the table; leave out a record whose object fell."
        )


def _columns(records: Sequence[PushRecord]) -> tuple[str, ...]:
    """Return the columns that records need; the first says what was measured."""
    forces = FORCES if records[0].force is not None else ()
    lift = LIFT if records[0].lift is not None else ()
    moving = any(record.twist.any() for record in records)
    return COLUMNS + forces + lift + (TWIST if moving else ())


def _rows(record: PushRecord, number: int, names: tuple[str, ...]) -> str:
    """Return the lines of a record, the push of a given number."""
    assert isinstance(record.push, Push)
    cells = _cells(record, record.push, number)
    return "".join(_line(row) for row in zip(*(cells[name] for name in names), strict=True))


def _line(cells: Sequence[str]) -> str:
    """Return a line of the file."""
    return ",".join(cells) + "\n"


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
    numbers = list(dict.fromkeys(ids))
    if numbers != [str(k).encode() for k in range(len(numbers))]:
        raise PushwiseError(
            f"{path} was changed by hand: its first column does not number the pushes 0, 1, 2, "
            "...; write to another file."
        )
    torn = content[content.rfind(b"\n") + 1 :]  # of a push written at once: any part may be missing
    # An incomplete line may be the first one of its push; the push before it is complete.
    begun = b"," in torn and bool(ids) and torn.split(b",")[0] != ids[-1]
    if rows and (drop_last or torn) and not begun:
        rows = rows[: ids.index(ids[-1])]
    with path.open("r+b") as file:
        file.truncate(len(names) + sum(map(len, rows)))
    columns = tuple(name.strip() for name in names.decode("utf-8-sig").split(",")) if names else ()
    return len(set(ids[: len(rows)])), columns
