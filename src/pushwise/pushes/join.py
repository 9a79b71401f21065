"""Several logs of one object, read as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.pushes.log import PushLog
from pushwise.shape.grid import CellGrid

__all__ = ["load_logs"]

_SAME_OUTLINE = 0.01  # m; two scans of one thing agree to better than this


def load_logs(paths: Sequence[Path], grid: CellGrid) -> PushLog:
    """Read logs of the object with a grid, one after the other, and check that they are of it.

    The finger's radius is that which the headers tell, None when none does.
    """
    logs = [PushLog.load(path) for path in paths]
    radii: dict[float, Path] = {}
    for path, log in zip(paths, logs, strict=True):
        if log.grid is not None:
            _check_same(path, log.grid, grid)
        if log.finger_radius is not None:
            radii.setdefault(log.finger_radius, path)
    if len(radii) > 1:
        (a, one), (b, other) = list(radii.items())[:2]
        raise PushwiseError(
            f"{one} has a finger of radius {a:g} m and {other} one of {b:g} m; "
            "identify from logs of one finger."
        )
    records = tuple(record for log in logs for record in log)
    return PushLog(records, grid, next(iter(radii), None))


def _check_same(path: Path, told: CellGrid, grid: CellGrid) -> None:
    """Refuse a log whose header describes an object of another size or place in its frame."""
    box = [np.concatenate([g.outline.min(axis=0), g.outline.max(axis=0)]) for g in (told, grid)]
    if np.abs(box[0] - box[1]).max() > max(_SAME_OUTLINE, told.cell_size, grid.cell_size):
        sizes = [
            " x ".join(f"{1e3 * side:.0f}" for side in np.ptp(g.outline, axis=0))
            for g in (told, grid)
        ]
        raise PushwiseError(
            f"{path} is the log of another object, or in another frame: by its header that is "
            f"{sizes[0]} mm, the grid {sizes[1]} mm."
        )
