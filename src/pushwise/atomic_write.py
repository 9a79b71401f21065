"""Writing files atomically: a reader sees the old content or the new, never a part of it.

Every file that Pushwise replaces goes through `replacing`; logs, which only grow, through
`LogWriter`. tests/test_house.py checks that nothing else writes files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pushwise.errors import WriteError, reason

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "is_unfinished",
    "make_folder",
    "replacing",
    "save_figure",
    "write_bytes",
    "write_text",
    "write_together",
]

_HALF = ".half"
_OLD = ".old"


def is_unfinished(path: Path) -> bool:
    """Return whether a file is what a killed process left of one that it was writing."""
    return path.name.startswith(".") and path.name.endswith(_HALF)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary file to write to, which replaces `path` once the block has ended well.

    If writing fails or is interrupted, what was there before stays, and the temporary file is
    removed. What is not a file, such as /dev/stdout, cannot be replaced and is given itself.
    """
    path = path.resolve() if path.is_symlink() else path  # or the link would be replaced
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        # Two processes that write the same file must not write into each other's copy.
        half = path.with_name(f".{path.name}.{os.getpid()}{_HALF}")
        try:
            yield half
            _flush_to_disk(half)  # or a power cut may leave the new name with no content
            half.replace(path)
        except BaseException:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise WriteError(f"cannot write {path} ({error.strerror or error}){_kept(path)}.") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step: if writing fails, what was there before stays."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file in one step: if writing fails, what was there before stays."""
    with replacing(path) as half:
        half.write_bytes(content)


def write_together(texts: Mapping[Path, str]) -> None:
    """Write text files that belong together, the last one first.

    If writing one fails, all that was there before stays. A process that is killed may leave some
    of them missing, but never an old one next to a new one; the old ones are then next to them,
    under names that end in .old.
    """
    aside: list[tuple[Path, Path]] = []
    try:
        with ExitStack() as files:
            for path, text in texts.items():
                half = files.enter_context(replacing(path))
                half.write_bytes(text.encode())
                _flush_to_disk(half)  # nothing but renaming is left
            for path in texts:
                if path.is_file():
                    old = path.resolve()
                    kept = old.with_name(f".{old.name}.{os.getpid()}{_OLD}")
                    old.replace(kept)
                    aside.append((old, kept))
    except BaseException:
        for old, kept in aside:
            with suppress(OSError):
                kept.replace(old)
        raise
    for _, kept in aside:
        with suppress(OSError):
            kept.unlink()


def save_figure(figure: Figure, path: Path, *, dpi: int) -> None:
    """Write a picture in one step; its suffix says in which format."""
    with replacing(path) as half:
        try:
            figure.savefig(half, dpi=dpi, format=path.suffix[1:] or "png")
        except ValueError as error:  # no such format
            raise WriteError(f"cannot write {path} ({reason(error)}).") from None


def make_folder(path: Path) -> None:
    """Make a folder and those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{path} cannot be made ({error.strerror}).") from None


def _flush_to_disk(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _kept(path: Path) -> str:
    """Return what to say about the content of a file that could not be replaced."""
    try:
        return "; its previous content is kept" if path.is_file() else ""
    except OSError:
        return ""
