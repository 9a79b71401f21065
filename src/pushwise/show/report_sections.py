"""What was learned, in the report: maps, the centre of mass, and what stays unknown.

Pushes in the report: each as it was seen beside what the model says.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.belief import Belief
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
                    "Nothing: there were no pushes to learn from. The object is taken to be the "
                    "same stuff everywhere, and its centre of mass to be the middle of its shape. "
                    "Nobody knows how wrong that is."
                ),
                figure(pictures.footprint(belief.model, None), "Red: the assumed centre of mass."),
            )
        ]
    return [_maps(found), _known(found)]


def _maps(found: Identification) -> str:
    """Show mass, friction load and uncertainty over the cells, and the centre of mass."""
    model, posterior = found.model, found.posterior
    shown = quantities(found.belief)
    mass, load, doubt = shown["mass"], shown["load"], shown["uncertainty"]
    middle = model.grid.centres.mean(axis=0)
    off = 1e3 * float(np.hypot(*(model.centre_of_mass - middle)))
    size = 1e3 * np.sqrt(np.linalg.eigvalsh(posterior.centre_of_mass_covariance))
    return section(
        "What was learned",
        paragraph(
            "A push shows how hard each part of the object rubs on the table: its friction load, "
            "which is its weight times its coefficient of friction. Where the load is large, the "
            "object is heavy or rough. Pushes alone cannot tell the two apart, so the model also "
            "uses that one object rubs nearly alike all over. Then the centre of the friction load "
            "is the centre of mass."
        ),
        '<div class="maps">',
        _map(model.grid, mass, "The mass that each cell carries."),
        _map(model.grid, load, "The force it would take to drag each cell alone."),
        _map(
            model.grid,
            doubt,
            "One standard deviation of each cell’s share of the load. Dots: cells of which the "
            "pushes told nearly nothing by themselves. A single cell is hard to know; sums over "
            "many, such as the centre of mass, are known far better.",
            posterior.load_known < UNKNOWN,
        ),
        figure(
            pictures.footprint(model, posterior.centre_of_mass_covariance),
            f"Red: the centre of mass, and the ellipse that holds it with 95 %; it is known to "
            f"{size[1]:.1f} mm along the ellipse and {size[0]:.1f} mm across (one standard "
            f"deviation). The ring is the middle of the shape, {off:.0f} mm away: where the centre "
            "of mass would be were the object the same stuff everywhere.",
            title="Centre of mass",
        ),
        "</div>",
    )


def _map(grid: CellGrid, shown: Quantity, caption: str, dotted: Flags | None = None) -> str:
    """Show a quantity over the cells, with its scale."""
    label = f"Map over the cells: {shown.title.lower()}, up to {shown.top} in a cell."
    return figure(
        pictures.cell_map(grid, shown.values, shown.scheme, label, dotted),
        caption,
        title=shown.title,
        below=ramp(shown.scheme, shown.top),
    )


def _known(found: Identification) -> str:
    """List what is known and what is not, in the words of the identification."""
    items = "".join(f"<li>{escape(each[0].upper() + each[1:])}</li>" for each in found.statements())
    count = 2 * found.model.grid.n_cells
    return section(
        "What is known, and what could not be determined",
        f"<ul>{items}</ul>",
        paragraph(
            f"The model has {count} unknowns, a mass and a friction for each cell. The pushes tell "
            f"more than was believed before about {found.posterior.determined} independent "
            f"combinations of them; the other {count - found.posterior.determined} are filled in "
            "with what is likely for everyday objects."
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
                f"Moved by {1e3 * np.hypot(*moved[:2]):.0f} mm and turned by "
                f"{np.degrees(abs(moved[2])):.0f}°; the prediction ends "
                f"{1e3 * push.apart:.1f} mm and {np.degrees(push.turned):.1f}° away."
                + (" The object fell." if record.fell else "")
            )
            + "</figcaption></figure></li>"
        )
    median = (
        paragraph(
            f"Half of the predicted ends are within {1e3 * np.median(apart):.1f} mm of the "
            "observed ones (the mean distance between the same cells of both)."
        )
        if apart
        else ""
    )
    return f'{median}\n<ul class="pushes">{"".join(cards)}</ul>'
