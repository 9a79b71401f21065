"""Several logs of one object, read as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pushwise.errors import PushwiseError
from pushwise.pushes.log import PushLog
from pushwise.shape.grid import CellGrid
from pushwise.shape.polygon import contains

__all__ = ["load_logs"]

_SAME_SHAPE = 0.75  # of the cells that two scans of one thing have in common, at the least


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
    """Refuse a log whose header describes an object of another shape, or elsewhere in its frame."""
    shared = min(
        float(contains(a.outline, b.centres).mean()) for a, b in ((told, grid), (grid, told))
    )
    if shared < _SAME_SHAPE:
        raise PushwiseError(
            f"{path} is the log of another object, or in another frame: the shape in its header "
            f"and that of the grid have {shared:.0%} in common."
        )
