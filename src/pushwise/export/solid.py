"""`Solid`: a model as one rigid body in space, and its shape as boxes.

Planar motion reveals the mass of each cell, but not how it is distributed over the height. A cell
is taken as a uniform box from the table up to its upper surface. Since boxes have a thickness, the
inertia even of a thin object is positive definite, and the sum of any two of its principal moments
exceeds the third.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["Solid", "SolidBox", "boxes"]

# Neighbours become one box if their heights differ by less than this share of a cell's side.
_LEVEL = 0.1


@dataclass(frozen=True, eq=False)
class Solid:
    """Mass, centre and inertia of an object; the frame is the grid's, z up from the table."""

    mass: float
    """[kg]"""
    centre: Array
    """Centre of mass [m], shape (3,)."""
    inertia: Array
    """Inertia tensor [kg m^2] about the centre of mass, axes of the grid frame, shape (3, 3)."""
    friction: float
    """The single coefficient of friction that gives the same friction force in translation."""

    @classmethod
    def of(cls, model: ObjectModel) -> Solid:
        """Return the rigid body that a model's cells form together."""
        grid, mass = model.grid, model.mass
        middles = np.column_stack([grid.centres, 0.5 * grid.heights])
        centre = mass @ middles / model.total_mass
        sides = np.column_stack([np.full((grid.n_cells, 2), grid.cell_size), grid.heights])
        # A box about its own centre: m (b^2 + c^2) / 12 and its cyclic permutations.
        square = mass @ sides**2 / 12.0
        arm = np.sqrt(mass)[:, None] * (middles - centre)
        second = np.diag(square) + arm.T @ arm
        second = 0.5 * (second + second.T)  # Symmetric to the last bit.
        inertia = np.trace(second) * np.eye(3) - second
        return cls(model.total_mass, centre, inertia, model.mean_friction)


@dataclass(frozen=True)
class SolidBox:
    """A box that stands on the table."""

    x: float
    """x of its centre [m]."""
    y: float
    """y of its centre [m]."""
    width: float
    """Side along x [m]."""
    depth: float
    """Side along y [m]."""
    height: float
    """[m]"""


def boxes(model: ObjectModel) -> list[SolidBox]:
    """Return a model's shape as few boxes, joining neighbours along x of about the same height."""
    grid = model.grid
    row = np.rint((grid.centres[:, 1] - grid.centres[0, 1]) / grid.cell_size)
    order = np.lexsort([grid.centres[:, 0], row])
    runs = [[int(order[0])]]
    for i in order[1:].tolist():
        first, last = runs[-1][0], runs[-1][-1]
        joined = row[i] == row[last] and (
            grid.centres[i, 0] - grid.centres[last, 0] < 1.5 * grid.cell_size
        )
        level = abs(grid.heights[i] - grid.heights[first]) <= _LEVEL * grid.cell_size
        if joined and level:
            runs[-1].append(i)
        else:
            runs.append([i])
    return [
        SolidBox(
            float(grid.centres[run, 0].mean()),
            float(grid.centres[run, 1].mean()),
            len(run) * grid.cell_size,
            grid.cell_size,
            float(grid.heights[run].mean()),
        )
        for run in runs
    ]
