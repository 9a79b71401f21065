"""The header of every kind of file that Pushwise writes, and reading within limits.

A JSON document begins with its header, and a file of arrays (.npz) has it as an array of text:

    {"format": "pushwise", "version": 1, "kind": "grid", ...

A log is a CSV file with its header in a JSON file next to it. `_VERSIONS` has the current version
of each kind. Another version is refused, unless the reader of that kind names it.

Limits: a JSON document has at most 50 MB, which take about a second and 0.5 GB of memory to read;
a text file 200 MB and 1 MB per line; the arrays of an .npz file 1 GB once unpacked.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from pushwise.atomic_write import write_bytes, write_text
from pushwise.errors import PushwiseError, reason

__all__ = [
    "KINDS",
    "LARGEST_ARRAYS",
    "LARGEST_JSON",
    "document_text",
    "header",
    "read_arrays",
    "read_bytes",
    "read_document",
    "read_json",
    "read_text",
    "unpacked_array",
    "write_arrays",
    "write_document",
]

_FORMAT = "pushwise"
_VERSIONS = {
    "grid": 1,
    "scan": 1,
    "scene": 1,
    "model": 1,
    "log": 2,
    "plan": 2,
    "run": 1,
    "goal": 1,
    "grasp": 1,
    "outcome": 1,
    "cloud": 1,
    "posterior": 1,
}
KINDS = tuple(_VERSIONS)
"""Every kind of file."""
_HEADER = "header"  # the array with the header of an .npz file

_MB = 1_000_000
LARGEST_JSON = 50 * _MB
LARGEST_TEXT = 200 * _MB
LONGEST_LINE = _MB
LARGEST_ARRAYS = 1000 * _MB

# What NumPy and its decompressors raise on damaged files.
_DAMAGE = (
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def header(kind: str) -> dict[str, Any]:
    """Return the fields with which a document of a kind begins."""
    return {"format": _FORMAT, "version": _VERSIONS[kind], "kind": kind}


def document_text(kind: str, fields: Mapping[str, Any]) -> str:
    """Return the content of a JSON document of a kind."""
    return json.dumps({**header(kind), **fields}, indent=1, allow_nan=False) + "\n"


def write_document(path: Path, kind: str, fields: Mapping[str, Any]) -> None:
    """Write a JSON document of a kind, in one step."""
    write_text(path, document_text(kind, fields))


def read_document(path: Path, *kinds: str) -> dict[str, Any]:
    """Read a JSON document of one of some kinds, and check its header.

    Raises:
        PushwiseError: It cannot be read, or is not such a document; the message names the file.

    """
    document = read_json(path)
    try:
        _check(document, kinds)
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None
    return cast("dict[str, Any]", document)


def _check(document: object, kinds: tuple[str, ...]) -> None:
    """Refuse what has no header of one of some kinds."""
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise PushwiseError(f'format must be "{_FORMAT}": Pushwise did not write this file.')
    kind, version = document.get("kind"), document.get("version")
    if not isinstance(kind, str) or kind not in kinds:
        listed = kinds[0] if len(kinds) == 1 else f"one of {', '.join(kinds)}"
        raise PushwiseError(f"kind must be {listed}; it is {kind!r:.40}.")
    if isinstance(version, bool) or version != _VERSIONS[kind]:
        raise PushwiseError(
            f"version must be {_VERSIONS[kind]}, the one this release reads; it is {version!r:.40}."
        )


def read_json(path: Path) -> Any:
    """Read any JSON file; NaN and infinity, which JSON does not have, are refused."""
    data = read_bytes(path, LARGEST_JSON)
    try:
        return json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except RecursionError:
        raise PushwiseError(f"{path}: not a JSON file of ours (nested too deeply).") from None
    except UnicodeDecodeError:
        raise PushwiseError(f"{path}: not a JSON file (it is not text in UTF-8).") from None
    except ValueError as error:
        raise PushwiseError(f"{path}: not a JSON file ({reason(error)}).") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def read_text(path: Path) -> str:
    """Read a text file in UTF-8, such as a CSV file."""
    data = read_bytes(path, LARGEST_TEXT)
    start = 0
    while len(data) - start > LONGEST_LINE:
        end = max(data.rfind(mark, start, start + LONGEST_LINE) for mark in (b"\n", b"\r"))
        if end < 0:
            line = len(data[:start].splitlines()) + 1
            raise PushwiseError(
                f"{path}, line {line}: a line has at most {LONGEST_LINE // _MB} MB; this one is "
                "longer."
            )
        start = end + 1
    try:
        # Spreadsheets put a byte order mark before the first name.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PushwiseError(f"{path} must be a text file in UTF-8.") from None


def read_bytes(path: Path, largest: int) -> bytes:
    """Read a file of at most `largest` bytes."""
    try:
        with path.open("rb") as file:
            # A pipe has no size: it is read until it has more than allowed.
            whole = os.fstat(file.fileno()).st_size <= largest
            data = file.read(largest + 1) if whole else b""
    except FileNotFoundError:
        raise PushwiseError(f"cannot read {path}: there is no such file.") from None
    except IsADirectoryError:
        raise PushwiseError(f"cannot read {path}: it is a folder; give a file name.") from None
    except OSError as error:
        raise PushwiseError(f"cannot read {path} ({error.strerror}).") from None
    except MemoryError:
        raise PushwiseError(f"{path} does not fit in memory.") from None
    if not whole or len(data) > largest:
        raise PushwiseError(f"{path} is too large: at most {largest // _MB:,} MB are read.")
    return data


def write_arrays(path: Path, kind: str, arrays: Mapping[str, Any]) -> None:
    """Write arrays to an .npz file of a kind, in one step."""
    packed = io.BytesIO()
    np.savez_compressed(packed, **{_HEADER: np.array(json.dumps(header(kind))), **arrays})
    write_bytes(path, packed.getvalue())


def read_arrays(path: Path, kind: str) -> dict[str, Any]:
    """Read the arrays of an .npz file of a kind, and check its header."""
    data = read_bytes(path, LARGEST_ARRAYS)
    try:
        arrays = _unpacked(data)
        _check(json.loads(str(arrays.pop(_HEADER, "null"))), (kind,))
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None
    except (ValueError, RecursionError):
        raise PushwiseError(f"{path}: the header is not JSON; the file is damaged.") from None
    return arrays


def _unpacked(data: bytes) -> dict[str, Any]:
    """Return the arrays of an .npz file that is not larger than allowed."""
    with _damage_named(), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        _check_unpacked(data)
        return {name: arrays[name] for name in arrays.files}


def unpacked_array(data: bytes, name: str) -> Any:
    """Return the array in an .npy file, or in an .npz file the only one or the one of a name.

    Raises:
        PushwiseError: The file is damaged, has other arrays, or has more than 1 GB once unpacked.

    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        with _damage_named():
            return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    with _damage_named(), np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        _check_unpacked(data)
        names = arrays.files
        if name not in names and len(names) != 1:
            raise PushwiseError(
                f"the file must have a single array, or one named {name}; it has "
                f"{', '.join(names)[:200] or 'none'}."
            )
        return arrays[name if name in names else names[0]]


def _check_unpacked(data: bytes) -> None:
    """Refuse an .npz file that is small, but has enormous arrays once unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > LARGEST_ARRAYS:
        raise PushwiseError(
            f"the arrays have {size // _MB:,} MB once unpacked; at most {LARGEST_ARRAYS // _MB:,} "
            "MB are read."
        )


@contextmanager
def _damage_named() -> Iterator[None]:
    """Name what is wrong with a file that NumPy cannot read."""
    try:
        yield
    except PushwiseError:
        raise
    except _DAMAGE as error:
        raise PushwiseError(f"not a readable NumPy file ({reason(error)}).") from None
