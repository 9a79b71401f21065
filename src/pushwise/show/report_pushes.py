"""Pushes in the report: each as it was seen beside what the model says."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from pushwise.errors import SimulationError
from pushwise.identification.result import Identification
from pushwise.physics.actions import Finger
from pushwise.physics.model import ObjectModel, Table
from pushwise.planning.stability import model_of
from pushwise.pushes.record import PushRecord
from pushwise.show import report_figures as pictures
from pushwise.show.page import paragraph
from pushwise.show.predicted import compared

__all__ = ["pushes"]


def pushes(
    found: Identification | ObjectModel,
    records: Sequence[PushRecord],
    finger: Finger,
    table: Table,
) -> str:
    """Return a list of pushes and a sentence on how well the model predicts them.

    finger: as it was believed, for a model without an identified one.
    """
    model = model_of(found)
    used = found.finger if isinstance(found, Identification) else finger
    cards, apart = [], []
    for number, record in enumerate(records):
        try:
            push = compared(model, record, used, table)
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
