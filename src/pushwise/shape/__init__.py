"""From sensor data to cells: finding an object and its footprint, as a `CellGrid`."""

from pushwise.shape.grid import CellGrid

__all__ = ["CellGrid"]
