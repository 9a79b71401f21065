"""Files of the MIT push dataset, as published: one push per file, HDF5 or JSON.

Yu, Bauza, Fazeli and Rodriguez, "More than a million ways to be pushed", IROS 2016. A file has
three tables, each with its own clock: `object_pose` and `tip_pose` with rows (time, x, y, theta),
and `ft_wrench` with rows (time, fx, fy, torque); metres, radians, newtons and seconds in the
robot's frame. The force is the reaction on the pusher, which `cut_pushes` recognises.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pushwise.documents import LARGEST_ARRAYS, read_json
from pushwise.errors import PushwiseError, reason
from pushwise.extras import require
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.typing import Array

__all__ = ["read_mit"]

_TABLES = ("object_pose", "tip_pose", "ft_wrench")


def read_mit(path: str | Path) -> Recording:
    """Read one push of the MIT push dataset from its HDF5 or JSON file."""
    path = Path(path)
    tables = _json(path) if path.suffix.lower() == ".json" else _hdf5(path)
    seen, tip, wrench = (_table(path, name, tables[name]) for name in _TABLES)
    begin = min(float(np.nanmin(table[:, 0])) for table in (seen, tip, wrench))
    for table in (seen, tip, wrench):
        table[:, 0] -= begin
    return Recording(
        path.name,
        Stream.ordered("object", f"{path.name} object_pose", seen[:, 0], seen[:, 1:4]),
        Stream.ordered("finger", f"{path.name} tip_pose", tip[:, 0], tip[:, 1:3]),
        Stream.ordered("force", f"{path.name} ft_wrench", wrench[:, 0], wrench[:, 1:3]),
    )


def _hdf5(path: Path) -> dict[str, Any]:
    """Return the three tables of an HDF5 file."""
    require("h5py", extra="recordings", purpose="reading HDF5 files")
    import h5py

    try:
        with h5py.File(path, "r") as file:
            _check_names(path, list(file))
            for name in _TABLES:
                size = getattr(file[name], "nbytes", 0)  # none of a group
                if size > LARGEST_ARRAYS:
                    raise PushwiseError(
                        f"{path}: {name} has {size // 10**6:,} MB; at most "
                        f"{LARGEST_ARRAYS // 10**6:,} MB are read."
                    )
            return {name: np.asarray(file[name]) for name in _TABLES}
    except (OSError, KeyError, RuntimeError, TypeError) as error:
        raise PushwiseError(f"{path} cannot be read as an HDF5 file: {reason(error)}.") from None


def _json(path: Path) -> dict[str, Any]:
    """Return the three tables of a JSON file."""
    document = read_json(path)
    if not isinstance(document, dict):
        raise PushwiseError(f"{path} must be a JSON object with the tables {', '.join(_TABLES)}.")
    _check_names(path, list(document))
    return document


def _check_names(path: Path, names: list[str]) -> None:
    """Refuse a file without the three tables, and list what it has."""
    missing = [name for name in _TABLES if name not in names]
    if missing:
        raise PushwiseError(
            f"{path} has no {' and no '.join(missing)}; a file of the MIT push dataset has "
            f"{', '.join(_TABLES)}, this one {', '.join(sorted(names))[:200] or 'nothing'}."
        )


def _table(path: Path, name: str, rows: Any) -> Array:
    """Return a table with one time and three values per row."""
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        table = np.zeros(0)
    if table.ndim != 2 or table.shape[1] != 4 or not np.isfinite(table[:, 0]).any():
        shape = np.shape(rows) if isinstance(rows, np.ndarray) else "something else"
        raise PushwiseError(
            f"{path}: {name} must have rows of a time and three numbers, shape (n, 4); got {shape}."
        )
    return table
