"""From a sensor to cells: the footprint of an object as a `CellGrid`."""

from pushwise.shape.grid import CellGrid

__all__ = ["CellGrid"]
