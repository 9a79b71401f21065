"""The report's section on what was learned: maps before and after the pushes, and the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from pushwise.checks import counted
from pushwise.identification.summary import UNKNOWN, outliers
from pushwise.physics.model import ObjectModel
from pushwise.show import report_figures as pictures
from pushwise.show.quantities import colours, gradient, quantities
from pushwise.show.svg import CellColours
from pushwise.sliding.outcome import Outcome
from pushwise.typing import Array

__all__ = ["CellMap", "MapRow", "map_rows", "statements"]

_SCHEME = "viridis"
_UNIT = "times the average"


@dataclass(frozen=True)
class CellMap:
    """A map of the cells."""

    title: str
    """What it shows."""
    picture: Markup
    """The map."""


@dataclass(frozen=True)
class MapRow:
    """Maps on one scale."""

    title: str
    """What they show."""
    text: str
    """What that means."""
    maps: tuple[CellMap, ...]
    """The maps."""
    ramp: str
    """The colour scale, as a CSS gradient."""
    top: str
    """The number at the end of the scale; it begins with 0."""
    mark: tuple[float, str] | None = None
    """A value on the scale as a share of it, and what it means."""


def map_rows(outcome: Outcome, truth: ObjectModel | None) -> list[MapRow]:
    """Return the maps of mass, load and uncertainty; none where nothing was learned."""
    found = outcome.found
    if found is None:
        return []
    model = found.model
    pushes = counted(len(outcome.records), "push", "pushes")
    uniform = np.ones(model.grid.n_cells)
    mass = [("Before: assumed uniform", uniform, model)]
    load = [(f"After {pushes}", _density(model.mass * model.friction), model)]
    mass.append((f"After {pushes}", _density(model.mass), model))
    if truth is not None:
        mass.append(("Truth, hidden from the method", _density(truth.mass), truth))
        load.append(("Truth, hidden from the method", _density(truth.mass * truth.friction), truth))
    left = quantities(found.belief)["uncertainty"]
    shades = CellColours(colours(left.values, left.scheme, 100.0), left.values, "% remains")
    rest = pictures.cell_map(model.grid, shades, f"Map of the cells: {left.title.lower()}.")
    return [
        _row("Mass", "The mass of each cell, as a multiple of the average over the object.", mass),
        _row(
            "Friction load",
            "What pushes reveal directly: the force that it takes to drag each cell, its weight "
            "times its coefficient of friction, as a multiple of the average.",
            load,
        ),
        MapRow(
            left.title,
            "How much of the uncertainty of each cell’s load the pushes left: 100 % where they "
            "revealed nothing. A single cell is hard to determine; sums over many cells, such as "
            "the centre of mass, are known far better.",
            (CellMap("", rest),),
            gradient(left.scheme),
            "100 %",
            (1.0 - UNKNOWN, "not determined"),
        ),
    ]


def _density(values: Array) -> Array:
    """Return values per cell (n,) as multiples of their mean."""
    relative: Array = values / values.mean()
    return relative


def _row(title: str, text: str, shown: list[tuple[str, Array, ObjectModel]]) -> MapRow:
    """Return maps of a quantity on one scale."""
    top = max(float(values.max()) for _, values, _ in shown)
    maps = []
    for name, values, model in shown:
        outline = "outline" if model.grid is shown[0][2].grid else "truth"
        cells = CellColours(colours(values, _SCHEME, top), values, _UNIT)
        label = f"Map of the cells: {title.lower()}, {name.lower()}."
        maps.append(CellMap(name, pictures.cell_map(model.grid, cells, label, outline)))
    return MapRow(title, text, tuple(maps), gradient(_SCHEME), f"{top:.1f} {_UNIT}")


def statements(outcome: Outcome) -> list[str]:
    """Return what is known and what is not, as sentences; pushes that do not fit are marked."""
    found = outcome.found
    if found is None:
        return []
    marked = set(outliers(found.posterior).values())
    said = [each for each in found.statements() if each not in marked]
    return [each[0].upper() + each[1:] for each in said]
