"""Reading PCD files of the Point Cloud Library: ascii, binary and binary_compressed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError, reason
from pushwise.shape.cloud_limits import check_count
from pushwise.typing import Array

__all__ = ["parse_pcd"]

_KINDS = {"F": "f", "I": "i", "U": "u"}
_MOST_FIELDS = 1_000


class _Header(NamedTuple):
    """The fields of a point and the number of points."""

    names: list[str]
    types: list[np.dtype[np.generic]]
    counts: list[int]
    points: int
    encoding: str


def parse_pcd(data: bytes, fields: tuple[str, ...] = ("x", "y", "z")) -> Array:
    """Return fields of a PCD file's points, by default x, y and z, shape (n, fields)."""
    header, body = _header(data)
    if not {*fields} <= {*header.names}:
        raise PushwiseError(
            f"FIELDS must name {', '.join(fields[:-1])} and {fields[-1]}; it is "
            f"{' '.join(header.names) or 'missing'!r}."
        )
    if header.encoding == "ascii":
        return _ascii(header, body, fields)
    # Entries are named by their index: the names in a file may repeat.
    layout = np.dtype(
        [
            (f"{at}", kind, (count,))
            for at, (kind, count) in enumerate(zip(header.types, header.counts, strict=True))
        ]
    )
    if header.encoding == "binary":
        _require(len(body), layout.itemsize * header.points, header)
        rows = np.frombuffer(body, dtype=layout, count=header.points)
        columns = [_floats(rows[str(header.names.index(name))][:, 0]) for name in fields]
    else:
        columns = _compressed(header, body, layout, fields)
    return np.stack(columns, axis=1)


def _floats(values: Array) -> Array:
    """Return numbers of any type as float64; damaged ones become NaN, without a warning."""
    with np.errstate(all="ignore"):
        return values.astype(np.float64)


def _header(data: bytes) -> tuple[_Header, bytes]:
    """Return the header and the data after it."""
    entries: dict[str, list[str]] = {}
    at = 0
    while "DATA" not in entries:
        end = data.find(b"\n", at)
        if end < 0 or at > 10_000:
            raise PushwiseError("not a PCD file: its header has no DATA line.")
        words = data[at:end].decode("ascii", errors="replace").split()
        at = end + 1
        if words and not words[0].startswith("#"):
            entries[words[0].upper()] = words[1:]
    names = entries.get("FIELDS", [])
    sizes = _numbers("SIZE", entries, len(names))
    kinds = entries.get("TYPE", [])
    counts = _numbers("COUNT", entries, len(names)) if "COUNT" in entries else [1] * len(names)
    if len(kinds) != len(names) or not 0 < sum(counts) <= _MOST_FIELDS or min(counts) < 1:
        raise PushwiseError(f"TYPE and COUNT must have an entry for each of {len(names)} FIELDS.")
    try:
        types = [np.dtype(f"<{_KINDS[k]}{s}") for k, s in zip(kinds, sizes, strict=True)]
    except (KeyError, TypeError):
        raise PushwiseError("TYPE and SIZE must be F, I or U of 1, 2, 4 or 8 bytes.") from None
    width, height = _numbers("WIDTH", entries, 1)[0], _numbers("HEIGHT", entries, 1)[0]
    points = _numbers("POINTS", entries, 1)[0] if "POINTS" in entries else width * height
    if points != width * height or points < 0:
        raise PushwiseError(f"POINTS is {points}, but WIDTH x HEIGHT is {width} x {height}.")
    check_count(points)
    encoding = " ".join(entries["DATA"]).lower()
    if encoding not in ("ascii", "binary", "binary_compressed"):
        raise PushwiseError(
            f"DATA must be ascii, binary or binary_compressed; it is {encoding[:40]!r}."
        )
    return _Header(names, types, counts, points, encoding), data[at:]


def _numbers(name: str, entries: dict[str, list[str]], count: int) -> list[int]:
    """Return the integers of a header line."""
    words = entries.get(name, [])
    if len(words) != count or not all(w.isascii() and w.isdigit() and len(w) < 12 for w in words):
        raise PushwiseError(
            f"{name} must be {count} integer{'s' * (count > 1)}; "
            f"it is {' '.join(words)[:40] or 'missing'!r}."
        )
    return [int(word) for word in words]


def _require(have: int, need: int, header: _Header) -> None:
    """Refuse a file with fewer bytes than its header says."""
    if have < need:
        raise PushwiseError(
            f"the PCD file is truncated: POINTS is {header.points}, which takes {need} bytes, "
            f"and {have} are there."
        )


def _ascii(header: _Header, body: bytes, fields: tuple[str, ...]) -> Array:
    """Return the points of an ascii body."""
    rows = [line for line in body.decode("ascii", errors="replace").splitlines() if line.strip()]
    if len(rows) != header.points:
        raise PushwiseError(f"POINTS is {header.points}, but {len(rows)} rows of data follow.")
    if not rows:
        return np.empty((0, len(fields)))
    starts = np.cumsum([0, *header.counts])
    columns = tuple(int(starts[header.names.index(name)]) for name in fields)
    try:
        return np.loadtxt(rows, dtype=np.float64, usecols=columns, ndmin=2, comments=None)
    except ValueError as error:
        why = reason(error)
        raise PushwiseError(f"a row of the PCD file is not a list of numbers ({why}).") from None


def _compressed(
    header: _Header, body: bytes, layout: np.dtype[np.void], fields: tuple[str, ...]
) -> list[Array]:
    """Return fields of a compressed body, which stores one field after the other."""
    _require(len(body), 8, header)
    packed, unpacked = np.frombuffer(body, dtype="<u4", count=2).tolist()
    if unpacked != layout.itemsize * header.points:
        raise PushwiseError(
            f"POINTS is {header.points}, which takes {layout.itemsize * header.points} bytes, but "
            f"the compressed data is said to hold {unpacked}."
        )
    _require(len(body) - 8, packed, header)
    data = _decompressed(body[8 : 8 + packed], unpacked)
    found: dict[str, Array] = {}
    at = 0
    for name, kind, count in zip(header.names, header.types, header.counts, strict=True):
        length = header.points * count
        values = np.frombuffer(data, dtype=kind, count=length, offset=at)
        found.setdefault(name, _floats(values[::count]))
        at += length * kind.itemsize
    return [found[name] for name in fields]


def _decompressed(packed: bytes, length: int) -> bytes:
    """Decompress LZF: runs of literal bytes, and copies of earlier bytes."""
    out = bytearray()
    at, end = 0, len(packed)
    try:
        while at < end and len(out) <= length:
            token = packed[at]
            at += 1
            if token < 32:
                out += packed[at : at + token + 1]
                at += token + 1
                continue
            count = token >> 5
            if count == 7:
                count += packed[at]
                at += 1
            start = len(out) - ((token & 31) << 8) - packed[at] - 1
            at += 1
            if start < 0:
                raise IndexError
            # A copy that overlaps what it writes repeats itself.
            period = bytes(out[start : start + count + 2])
            repeats = -(-(count + 2) // len(period))
            out += (period * repeats)[: count + 2]
    except IndexError:
        raise PushwiseError("the compressed data of the PCD file is damaged.") from None
    if len(out) != length:
        raise PushwiseError(
            f"the compressed data of the PCD file is damaged: it has {len(out)} bytes, "
            f"not {length}."
        )
    return bytes(out)
