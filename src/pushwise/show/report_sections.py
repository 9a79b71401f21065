"""The longer sections of the report: what was learned, and pushes observed and predicted."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.belief import Belief, centre_error
from pushwise.identification.result import Identification
from pushwise.identification.summary import UNKNOWN
from pushwise.physics.model import Table
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.show import report_figures as pictures
from pushwise.show.html import figure, paragraph, ramp, section
from pushwise.show.quantities import Quantity, compared, quantities
from pushwise.typing import Flags

__all__ = ["learned", "pushes"]


def learned(found: Identification | None, belief: Belief) -> list[str]:
    """Return the sections on what was learned; found: None where nothing was identified."""
    if found is None:
        return [
            section(
                "What was learned",
                paragraph(
                    "Nothing: there were no pushes to learn from. Mass and friction are assumed to "
                    "be uniform, which puts the centre of mass at the centroid of the shape. How "
                    "wrong that is, is unknown."
                ),
                figure(pictures.footprint(belief.model, None), "Red: the assumed centre of mass."),
            )
        ]
    return [_maps(found), _known(found)]


def _maps(found: Identification) -> str:
    """Show mass, friction load and uncertainty per cell, and the centre of mass."""
    model, posterior = found.model, found.posterior
    shown = quantities(found.belief)
    mass, load, doubt = shown["mass"], shown["load"], shown["uncertainty"]
    middle = model.grid.centres.mean(axis=0)
    off = 1e3 * float(np.hypot(*(model.centre_of_mass - middle)))
    error = centre_error(posterior.centre_of_mass_covariance)
    return section(
        "What was learned",
        paragraph(
            "Pushes reveal the friction load of each part of the object: its weight times its "
            "coefficient of friction. Where the load is large, the object is heavy or rough. "
            "Slow pushes cannot tell the two apart: how well they show the centre of mass depends "
            "on how much friction is believed to vary over the object. Free slides after a flick "
            "show it by its inertia."
        ),
        '<div class="maps">',
        _map(model.grid, mass, "The mass of each cell."),
        _map(model.grid, load, "The force needed to drag each cell on its own."),
        _map(
            model.grid,
            doubt,
            "One standard deviation of each cell’s share of the load. Dots: cells about which the "
            "pushes alone revealed almost nothing. A single cell is hard to determine; sums over "
            "many, such as the centre of mass, are known far better.",
            posterior.load_known < UNKNOWN,
        ),
        figure(
            pictures.footprint(model, posterior.centre_of_mass_covariance),
            f"Red: the centre of mass and its 95 % confidence ellipse; its standard error is "
            f"{error}. The ring, {off:.0f} mm away, is the centroid of the shape, where the centre "
            "of mass of a uniform object would be.",
            title="Centre of mass",
        ),
        "</div>",
    )


def _map(grid: CellGrid, shown: Quantity, caption: str, dotted: Flags | None = None) -> str:
    """Show a quantity per cell, with its colour scale."""
    label = f"Map of the cells: {shown.title.lower()}, up to {shown.top} per cell."
    return figure(
        pictures.cell_map(grid, shown.values, shown.scheme, label, dotted),
        caption,
        title=shown.title,
        below=ramp(shown.scheme, shown.top),
    )


def _known(found: Identification) -> str:
    """List what is known and what is not, as the identification states it."""
    items = "".join(f"<li>{escape(each[0].upper() + each[1:])}</li>" for each in found.statements())
    count = 2 * found.model.grid.n_cells
    return section(
        "What is known, and what could not be determined",
        f"<ul>{items}</ul>",
        paragraph(
            f"The model has {count} unknowns, a mass and a friction per cell. The pushes improved "
            f"on the prior for {found.posterior.determined} independent combinations of them; the "
            f"other {count - found.posterior.determined} follow from what is likely for everyday "
            "objects."
        ),
    )


def pushes(belief: Belief, records: Sequence[PushRecord], table: Table) -> str:
    """Return a list of pushes and a sentence on how well the model predicts them."""
    model = belief.model
    cards, apart = [], []
    for number, record in enumerate(records):
        try:
            push = compared(model, record, belief.finger, table)
        except SimulationError as error:
            cards.append(f"<li><h3>Push {number}</h3>{paragraph(f'Not predicted: {error}')}</li>")
            continue
        apart.append(push.apart)
        observed, predicted = pictures.pair(push, model.grid, number)
        moved = record.pose[-1] - record.pose[0]
        cards.append(
            f"<li><h3>Push {number}</h3><figure>"
            '<span class="is-observed">Observed</span><span class="is-predicted">Predicted</span>'
            f"{observed}{predicted}<figcaption>"
            + escape(
                f"Moved by {1e3 * np.hypot(*moved[:2]):.0f} mm and rotated by "
                f"{np.degrees(abs(moved[2])):.0f}°; the prediction ends "
                f"{1e3 * push.apart:.1f} mm and {np.degrees(push.turned):.1f}° away."
                + (" The object fell." if record.fell else "")
            )
            + "</figcaption></figure></li>"
        )
    median = (
        paragraph(
            f"Half of the predicted final poses are within {1e3 * np.median(apart):.1f} mm of the "
            "observed ones (mean distance between the same cells of both)."
        )
        if apart
        else ""
    )
    return f'{median}\n<ul class="pushes">{"".join(cards)}</ul>'
