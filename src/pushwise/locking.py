"""Locks against a second process that writes to the same log, run or sweep.

The system holds them, so that a lock ends with its process, however that ends.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pushwise.errors import PushwiseError, WriteError

__all__ = ["exclusive", "is_lock", "lock_file"]

_LOCK = ".lock"

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        """Lock an open file; OSError if another process has locked it."""
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        """Lock an open file; OSError if another process has locked it."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_lock(path: Path) -> bool:
    """Return whether a file is one that `exclusive` locks."""
    return path.name.startswith(".") and path.name.endswith(_LOCK)


def lock_file(path: Path) -> Path:
    """Return the file that is locked for `path`: next to a file, inside a folder."""
    return path / ".run.lock" if path.is_dir() else path.with_name(f".{path.name}{_LOCK}")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Let no other process use a log or a folder during the block.

    An empty file is locked and removed at the end. A process that is killed leaves the file, but
    not the lock, so that the next one can take it.

    Args:
        path: A file, which need not exist, or a folder, which must.

    Raises:
        PushwiseError: Another process is using it.

    """
    file = lock_file(path)
    handle = _locked(path, file)
    try:
        yield
    finally:
        with suppress(OSError):  # the folder may have vanished; the lock ends in any case
            if sys.platform != "win32":  # there, an open file cannot be removed
                file.unlink()
        os.close(handle)


def _locked(path: Path, file: Path) -> int:
    """Return a handle of the lock file, locked."""
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise WriteError(f"cannot write to {path} ({error.strerror}).") from None
        try:
            _lock(handle)
            # The process that had it may have removed the file since it was opened here.
            if os.path.samestat(os.fstat(handle), os.stat(file)):
                return handle
        except (BlockingIOError, PermissionError):
            os.close(handle)
            raise PushwiseError(
                f"another process is writing to {path}; wait until it has ended, or use another "
                "place."
            ) from None
        except FileNotFoundError:
            pass
        except OSError as error:  # a file system without locks
            os.close(handle)
            raise WriteError(f"cannot lock {path} ({error.strerror}).") from None
        os.close(handle)
