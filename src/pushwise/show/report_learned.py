"""What was learned, in the report: maps, the centre of mass, and what stays unknown."""

from __future__ import annotations

from html import escape

import numpy as np

from pushwise.identification.result import Identification
from pushwise.identification.words import UNKNOWN
from pushwise.physics.model import ObjectModel
from pushwise.show import report_figures as pictures
from pushwise.show.page import figure, paragraph, ramp, section

__all__ = ["learned"]


def learned(found: Identification | ObjectModel) -> list[str]:
    """Return the sections on what is known of the object."""
    if not isinstance(found, Identification):
        return [
            section(
                "What was learned",
                paragraph(
                    "Nothing: there were no pushes to learn from. The object is taken to be the "
                    "same stuff everywhere, and its centre of mass to be the middle of its shape. "
                    "Nobody knows how wrong that is."
                ),
                figure(pictures.footprint(found, None), "Red: the assumed centre of mass."),
            )
        ]
    return [_maps(found), _known(found)]


def _maps(found: Identification) -> str:
    """Show mass, friction load and uncertainty over the cells, and the centre of mass."""
    model, posterior = found.model, found.posterior
    weighed = found.known.total_mass_std is not None
    mass, load = model.mass, posterior.load
    doubt = 1e2 * np.expm1(posterior.log_load_std)
    # Without forces only shares of the whole are known: grams would be the prior's.
    if weighed:
        masses, loads = 1e3 * mass, 1e3 * load
        top_mass, top_load = f"{masses.max():.3g} g", f"{loads.max():.3g} mN"
    else:
        masses, loads = 1e2 * mass / mass.sum(), 1e2 * load / load.sum()
        top_mass = f"{masses.max():.3g} % of the whole"
        top_load = f"{loads.max():.3g} % of the whole"
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
        figure(
            pictures.cell_map(
                model.grid, masses, "viridis", f"Map of mass: up to {top_mass} in a cell."
            ),
            "The mass that each cell carries.",
            title="Mass",
            below=ramp("viridis", top_mass),
        ),
        figure(
            pictures.cell_map(
                model.grid, loads, "viridis", f"Map of friction load: up to {top_load} in a cell."
            ),
            "The force it would take to drag each cell alone.",
            title="Friction load",
            below=ramp("viridis", top_load),
        ),
        figure(
            pictures.cell_map(
                model.grid,
                doubt,
                "Purples",
                f"Map of uncertainty: up to {doubt.max():.0f} % in a cell.",
                dotted=posterior.load_known < UNKNOWN,
            ),
            "One standard deviation of each cell’s share of the load. Dots: cells of which the "
            "pushes told nearly nothing by themselves. A single cell is hard to know; sums over "
            "many, such as the centre of mass, are known far better.",
            title="Uncertainty of the load",
            below=ramp("Purples", f"{doubt.max():.0f} %"),
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
