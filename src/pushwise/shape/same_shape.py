"""Whether two grids are of the same object, and how the frame of one lies in that of the other.

A scan finds the axes of an object from its shape, which looks much the same when turned by half a
turn: two scans of one object may have frames that differ by quarter turns.
"""

from __future__ import annotations

import numpy as np

from pushwise.geometry.polygon import contains, placed
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["QUARTERS", "SAME_SHAPE", "TURNED", "shared_cells", "turned_onto"]

SAME_SHAPE = 0.75
"""The least share of cells that two scans of one object have in common."""
TURNED = 0.05
"""So much more must a shape fit when turned, to be in another frame."""
QUARTERS = 4
"""Turns by 90 degrees that a scan may have made."""


def shared_cells(a: CellGrid, b: CellGrid, pose: Array) -> float:
    """Return the share of cells that shapes have in common; b at a pose (3,) in the frame of a."""
    pairs = ((a.outline, placed(b.centres, pose)), (placed(b.outline, pose), a.centres))
    return min(float(contains(edge, inside).mean()) for edge, inside in pairs)


def turned_onto(a: CellGrid, b: CellGrid, turns: int) -> Array:
    """Return the pose (3,) of b turned by 90 degrees some times, its middle on that of a."""
    angle = 0.5 * np.pi * turns
    middle = placed(b.centres, np.array([0.0, 0.0, angle])).mean(axis=0)
    return np.append(a.centres.mean(axis=0) - middle, angle)
