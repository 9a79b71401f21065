"""XML documents, as the formats need them.

`Solid`: a model as one rigid body in space.

Planar motion knows the mass of each cell but not how it is spread over the height. A cell is taken
as a uniform box from the table up to its upper surface. Boxes have a thickness, so the inertia of
however thin an object is positive definite, and the sum of any two of its principal moments is
greater than the third.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["Box", "Element", "Solid", "boxes", "child", "document", "numbers"]

Element = ElementTree.Element


def child(parent: Element, tag: str, text: str | None = None, /, **attributes: str) -> Element:
    """Add an element to another and return it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def numbers(values: Iterable[float]) -> str:
    """Write numbers so that reading them gives the same ones back, bit for bit."""
    return " ".join(repr(float(value)) for value in values)


def document(root: Element, comment: str) -> str:
    """Return a document with a comment at its top."""
    ElementTree.indent(root)
    # Two hyphens end a comment.
    said = re.sub("-(?=-)", "- ", comment)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {said} -->\n{body}\n'


_LEVEL = 0.1  # of a cell's side: neighbours whose heights differ by less are one box


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
    """The one coefficient of friction that gives the same force when everything slides alike."""

    @classmethod
    def of(cls, model: ObjectModel) -> Solid:
        """Sum up a model's cells."""
        grid, mass = model.grid, model.mass
        middles = np.column_stack([grid.centres, 0.5 * grid.heights])
        centre = mass @ middles / model.total_mass
        sides = np.column_stack([np.full((grid.n_cells, 2), grid.cell_size), grid.heights])
        # Of a box about its own middle: m (b^2 + c^2) / 12, and so on round.
        square = mass @ sides**2 / 12.0
        arm = np.sqrt(mass)[:, None] * (middles - centre)
        second = np.diag(square) + arm.T @ arm
        second = 0.5 * (second + second.T)  # to the last bit
        inertia = np.trace(second) * np.eye(3) - second
        return cls(
            model.total_mass, centre, inertia, float(mass @ model.friction / model.total_mass)
        )


@dataclass(frozen=True)
class Box:
    """A box that stands on the table."""

    x: float
    """Middle along x [m]."""
    y: float
    """Middle along y [m]."""
    width: float
    """Side along x [m]."""
    depth: float
    """Side along y [m]."""
    height: float
    """[m]"""


def boxes(model: ObjectModel) -> list[Box]:
    """Return a model's shape as few boxes: cells side by side along x, of one height, are one."""
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
        Box(
            float(grid.centres[run, 0].mean()),
            float(grid.centres[run, 1].mean()),
            len(run) * grid.cell_size,
            grid.cell_size,
            float(grid.heights[run].mean()),
        )
        for run in runs
    ]
