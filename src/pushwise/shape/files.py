"""Clouds, meshes and depth images from files; every fault of a file is one sentence."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.shape.pcd import parse_pcd
from pushwise.typing import Array, Integers

__all__ = ["IMAGES", "Shape", "read_image", "read_shape"]

IMAGES = (".png", ".pgm", ".tif", ".tiff")
_MESHES = (".ply", ".obj", ".stl")
_TABLES = (".xyz", ".csv", ".txt")
_ARRAYS = (".npy", ".npz")


class Shape(NamedTuple):
    """What a file holds: points, and the triangles between them when it is a mesh."""

    points: Array
    """As the file has them, shape (n, 3)."""
    faces: Integers | None = None
    """Triangles of point numbers, shape (f, 3)."""


def read_shape(path: Path) -> Shape:
    """Read a cloud or a mesh: PLY, PCD, XYZ, CSV, NPY, NPZ, OBJ or STL, by the name's ending."""
    kind = path.suffix.lower()
    try:
        if kind in _MESHES:
            return _mesh_file(path, kind[1:])
        if kind == ".pcd":
            return Shape(parse_pcd(_bytes(path)))
        if kind in _TABLES:
            return Shape(_table(path))
        if kind in _ARRAYS:
            return Shape(_array(path))
    except PushwiseError as error:
        raise PushwiseError(f"{path.name}: {error}") from None
    except MemoryError:
        raise PushwiseError(f"{path.name}: it does not fit in memory.") from None
    known = ", ".join(ending[1:] for ending in (*_MESHES, ".pcd", *_TABLES, *_ARRAYS))
    raise PushwiseError(f"{path.name}: cannot read files ending in {kind!r}; known are {known}.")


def read_image(path: Path) -> Array:
    """Read an image with one number a pixel, shape (rows, columns), in the file's own type."""
    from PIL import Image

    try:
        data = _bytes(path)
    except PushwiseError as error:
        raise PushwiseError(f"{path.name}: {error}") from None
    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image)
    except Exception as error:  # The library raises a dozen kinds.
        raise PushwiseError(f"{path.name}: not a readable image ({_reason(error)}).") from None
    if pixels.ndim != 2 or pixels.dtype.kind not in "biuf":
        raise PushwiseError(
            f"{path.name}: the image must have one number a pixel; got shape {pixels.shape}."
        )
    return pixels


def _bytes(path: Path) -> bytes:
    """Return a file's content."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise PushwiseError("there is no such file.") from None
    except OSError as error:
        raise PushwiseError(f"cannot be read ({error.strerror}).") from None


def _mesh_file(path: Path, kind: str) -> Shape:
    """Read a PLY, OBJ or STL file with trimesh."""
    import trimesh

    data = _bytes(path)
    if kind == "ply":
        _check_ply_size(data)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # Damage shows in what is read, not in remarks.
            loaded = trimesh.load(
                io.BytesIO(data), file_type=kind, process=False, maintain_order=True
            )
        if isinstance(loaded, trimesh.Scene):
            loaded = loaded.to_geometry()
        vertices = np.asarray(getattr(loaded, "vertices", np.empty((0, 3))), dtype=np.float64)
        faces = np.asarray(getattr(loaded, "faces", np.empty((0, 3))), dtype=np.int64)
    except Exception as error:  # The library raises whatever its parsers stumble over.
        raise PushwiseError(f"not a readable {kind.upper()} file ({_reason(error)}).") from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) == 0:
        raise PushwiseError(f"no points in this {kind.upper()} file.")
    return Shape(vertices, faces if len(faces) else None)


def _check_ply_size(data: bytes) -> None:
    """Refuse a PLY file that is shorter than its header says, before anyone reserves memory."""
    end = data.find(b"end_header")
    if not data.startswith(b"ply") or end < 0:
        raise PushwiseError("not a PLY file: its header does not begin with ply or never ends.")
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
                raise PushwiseError(f"the PLY header is wrong at {line.strip()!r}.") from None
            least += max(count, 0)
    # Each element takes a line, or at least a byte.
    have = body.count(b"\n") + (not body.endswith(b"\n")) if ascii_body else len(body)
    if have < least:
        raise PushwiseError(
            f"the PLY file is cut short: its header promises {least} elements, "
            f"and there is room for {have}."
        )


def _table(path: Path) -> Array:
    """Read rows of numbers, parted by semicolons, commas or spaces: columns x, y, z, or the first.

    A first row of names says which columns those are.
    """
    try:
        text = _bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PushwiseError("not a text file.") from None
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
        raise PushwiseError(f"there are {named} names of columns; the first row has {width} cells.")
    if width < 3:
        raise PushwiseError(f"each row must hold x, y and z; the first has {width} numbers.")
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
        raise PushwiseError(f"each row must hold x, y and z ({_reason(error)}).") from None


def _named(names: list[str]) -> list[int]:
    """Return where the columns x, y and z are."""
    plain = [name.strip("\"' ").lower() for name in names]
    if not {"x", "y", "z"} <= set(plain):
        raise PushwiseError(
            "a cloud's columns must be named x, y and z, or not at all; "
            f"this file's are {', '.join(names)[:120]}."
        )
    return [plain.index(name) for name in ("x", "y", "z")]


def _delimiter(row: str) -> str | None:
    """Return what parts the cells of a row; None for spaces."""
    return next((mark for mark in ";," if mark in row), None)


def _split(row: str) -> list[str]:
    """Return the cells of a row."""
    return [cell.strip() for cell in row.split(_delimiter(row))]


def _is_number(word: str) -> bool:
    """Return whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def _array(path: Path) -> Array:
    """Read a NumPy array of shape (n, 3); of several in an NPZ file, the one named points."""
    data = io.BytesIO(_bytes(path))
    try:
        loaded = np.load(data, allow_pickle=False)
        if isinstance(loaded, np.lib.npyio.NpzFile):
            names = loaded.files
            if "points" not in names and len(names) != 1:
                raise PushwiseError(
                    f"the file must hold one array or one named points; it holds "
                    f"{', '.join(names) or 'none'}."
                )
            loaded = loaded["points" if "points" in names else names[0]]
    except PushwiseError:
        raise
    except Exception as error:  # NumPy and zipfile raise many kinds on damaged files.
        raise PushwiseError(f"not a readable NumPy file ({_reason(error)}).") from None
    array = np.asarray(loaded)
    # A cloud that kept its image's shape is as good.
    if array.dtype.kind not in "iuf" or array.ndim not in (2, 3) or array.shape[-1] != 3:
        raise PushwiseError(
            f"the array must hold points of shape (n, 3); got dtype {array.dtype}, "
            f"shape {array.shape}."
        )
    return np.asarray(array, dtype=np.float64).reshape(-1, 3)


def _reason(error: Exception) -> str:
    """Return the first line of what a library said, without its full stop."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text[:120].rstrip(".")
