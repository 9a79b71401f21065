"""Reading clouds, meshes and depth images from files; errors name the file and the fault.

A file has at most 1 GB, or 200 MB of text, and a cloud at most 10 million points: these take about
20 s and 3 GB of memory to scan.
"""

from __future__ import annotations

import io
import lzma
import struct
import tokenize
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pushwise.documents import read_bytes, read_text, unpacked_array
from pushwise.errors import PushwiseError, reason
from pushwise.shape.cloud_limits import check_count
from pushwise.shape.pcd import parse_pcd
from pushwise.typing import Array, Integers

__all__ = ["IMAGES", "LARGEST_SHAPE", "CloudOrMesh", "naming", "read_image", "read_shape"]

IMAGES = (".png", ".pgm", ".tif", ".tiff")
_MESHES = (".ply", ".obj", ".stl")
_TABLES = (".xyz", ".csv", ".txt")
_ARRAYS = (".npy", ".npz")
LARGEST_SHAPE = 1_000_000_000  # bytes
# What the parsers of trimesh, Pillow and NumPy raise on damaged files.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zlib.error,
)


class CloudOrMesh(NamedTuple):
    """The points of a file, and its triangles if it is a mesh."""

    points: Array
    """In the units of the file, shape (n, 3)."""
    faces: Integers | None = None
    """Triangles of point indices, shape (f, 3); None for a cloud."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the name of a file before what is wrong with its content."""
    try:
        yield
    except PushwiseError as error:
        raise PushwiseError(f"{path.name}: {error}") from None


def read_shape(path: Path) -> CloudOrMesh:
    """Read a cloud or a mesh: PLY, PCD, XYZ, CSV, NPY, NPZ, OBJ or STL, by the file's suffix."""
    kind = path.suffix.lower()
    every = (*_MESHES, ".pcd", *_TABLES, *_ARRAYS)
    if path.is_dir():
        raise PushwiseError(f"cannot read {path}: it is a folder; give a file name.")
    if kind not in every:
        known = ", ".join(ending[1:] for ending in every)
        images = ", ".join(ending[1:] for ending in IMAGES)
        raise PushwiseError(
            f"{path.name}: cannot read {kind!r} files; valid suffixes are {known}, and of depth "
            f"images {images}."
        )
    text = read_text(path) if kind in _TABLES else ""
    data = b"" if kind in _TABLES else read_bytes(path, LARGEST_SHAPE)
    try:
        with naming(path):
            if kind in _MESHES:
                return _mesh(data, kind[1:])
            if kind == ".pcd":
                return CloudOrMesh(parse_pcd(data))
            return CloudOrMesh(_table(text) if kind in _TABLES else _array(data))
    except MemoryError:
        raise PushwiseError(f"{path.name}: the file does not fit in memory.") from None


def read_image(path: Path) -> Array:
    """Read an image with one number per pixel, shape (rows, columns), in the file's own type."""
    from PIL import Image

    data = read_bytes(path, LARGEST_SHAPE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Damage shows in the data.
            with Image.open(io.BytesIO(data)) as image:
                pixels = np.asarray(image)
    except (*_DAMAGE, MemoryError, Image.DecompressionBombError) as error:
        raise PushwiseError(f"{path.name}: not a readable image ({reason(error)}).") from None
    if pixels.ndim != 2 or pixels.dtype.kind not in "biuf":
        raise PushwiseError(
            f"{path.name}: the image must have one number per pixel; got shape {pixels.shape}."
        )
    return pixels


def _mesh(data: bytes, kind: str) -> CloudOrMesh:
    """Return the content of a PLY, OBJ or STL file, which trimesh reads."""
    import trimesh

    if kind == "ply":
        _check_ply_size(data)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # Damage shows in the data.
            loaded = trimesh.load(
                io.BytesIO(data), file_type=kind, process=False, maintain_order=True
            )
        if isinstance(loaded, trimesh.Scene):
            loaded = loaded.to_geometry()
        vertices = np.asarray(getattr(loaded, "vertices", np.empty((0, 3))), dtype=np.float64)
        faces = np.asarray(getattr(loaded, "faces", np.empty((0, 3))), dtype=np.int64)
    except _DAMAGE as error:
        raise PushwiseError(f"not a readable {kind.upper()} file ({reason(error)}).") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) == 0:
        raise PushwiseError(f"no points in this {kind.upper()} file.")
    return CloudOrMesh(vertices, faces if len(faces) else None)


def _check_ply_size(data: bytes) -> None:
    """Refuse a PLY file that is shorter than its header says, before allocating memory for it."""
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise PushwiseError("not a PLY file: the header does not begin with ply or has no end.")
    header = data[:end].decode("ascii", errors="replace").split("\n")
    body = data[end:].partition(b"\n")[2]
    ascii_body = any(line.split()[:2] == ["format", "ascii"] for line in header)
    least = 0
    for line in header:
        words = line.split()
        if words[:1] == ["element"]:
            try:
                count = int(words[2])
            except (IndexError, ValueError):
                raise PushwiseError(f"the PLY header is invalid at {line.strip()!r}.") from None
            least += max(count, 0)
            if words[1] == "vertex":
                check_count(count)
    # Each element takes a line of text, or at least a byte.
    have = body.count(b"\n") + (not body.endswith(b"\n")) if ascii_body else len(body)
    if have < least:
        raise PushwiseError(
            f"the PLY file is truncated: its header promises {least} elements, "
            f"and there is room for {have}."
        )


def _table(text: str) -> Array:
    """Return rows of numbers separated by semicolons, commas or spaces.

    If the first row has names, those called x, y and z are read; otherwise the first three columns.
    """
    lines = text.splitlines()
    rows = [line for line in lines if line.strip() and not line.lstrip().startswith(("#", "//"))]
    columns, named = [0, 1, 2], None
    if rows and not _is_number(_split(rows[0])[0]):
        names = _split(rows.pop(0))
        columns, named = _named(names), len(names)
    if not rows:
        raise PushwiseError("no points in this file.")
    width = len(_split(rows[0]))
    if named not in (None, width):
        raise PushwiseError(f"there are {named} column names, but {width} values in the first row.")
    if width < 3:
        raise PushwiseError(f"each row must have x, y and z; the first has {width} values.")
    try:
        return np.loadtxt(
            rows,
            dtype=np.float64,
            delimiter=_delimiter(rows[0]),
            usecols=columns,
            ndmin=2,
            comments=None,
        )
    except ValueError as error:
        raise PushwiseError(f"each row must have x, y and z ({reason(error)}).") from None


def _named(names: list[str]) -> list[int]:
    """Return the indices of the columns x, y and z."""
    plain = [name.strip("\"' ").lower() for name in names]
    if not {"x", "y", "z"} <= set(plain):
        raise PushwiseError(
            "the columns of a cloud must be named x, y and z, or have no names; "
            f"this file has {', '.join(names)[:120]}."
        )
    for name in ("x", "y", "z"):
        if plain.count(name) > 1:
            raise PushwiseError(
                f"this file has {plain.count(name)} columns called {name}; keep one."
            )
    return [plain.index(name) for name in ("x", "y", "z")]


def _delimiter(row: str) -> str | None:
    """Return the separator of the values in a row; None for spaces."""
    return next((mark for mark in ";," if mark in row), None)


def _split(row: str) -> list[str]:
    """Return the values of a row as text."""
    return [value.strip() for value in row.split(_delimiter(row))]


def _is_number(word: str) -> bool:
    """Return whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _array(data: bytes) -> Array:
    """Return a NumPy array of shape (n, 3), named points if an NPZ file has several arrays."""
    array = unpacked_array(data, "points")
    # A cloud may have the shape of its image, (rows, columns, 3).
    if array.dtype.kind not in "iuf" or array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise PushwiseError(
            f"the array must have points of shape (n, 3); got dtype {array.dtype}, "
            f"shape {array.shape}."
        )
    with np.errstate(all="ignore"):  # damaged numbers become NaN
        return np.asarray(array, dtype=np.float64).reshape(-1, 3)
