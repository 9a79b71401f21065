"""Small objects with uneven mass, for tests of the push library and the controller."""

import numpy as np

import pushwise as pw

OUTLINES = {
    "square": [(0, 0), (0.08, 0), (0.08, 0.08), (0, 0.08)],
    "L": [(0, 0), (0.12, 0), (0.12, 0.04), (0.04, 0.04), (0.04, 0.16), (0, 0.16)],
    "T": [
        *((0, 0.08), (0.04, 0.08), (0.04, 0), (0.08, 0)),
        *((0.08, 0.08), (0.12, 0.08), (0.12, 0.12), (0, 0.12)),
    ],
    "slot": [
        *((0, 0), (0.12, 0), (0.12, 0.08), (0.0705, 0.08)),
        *((0.0705, 0.03), (0.0495, 0.03), (0.0495, 0.08), (0, 0.08)),
    ],
}


def shape(name: str, cell_size: float = 0.02) -> pw.ObjectModel:
    """Return an object that is heavier on one side."""
    outline = np.array(OUTLINES[name])
    grid = pw.CellGrid.from_outline(outline - outline.mean(axis=0), cell_size=cell_size)
    mass = 0.02 * (1.0 + (grid.centres[:, 0] > grid.centres[:, 0].mean()))
    return pw.ObjectModel(grid, mass, 0.4)
