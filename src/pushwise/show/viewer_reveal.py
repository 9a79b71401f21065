"""What a push would reveal, all around an outline, as `next_push` ranks it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pushwise.identification.belief import Belief
from pushwise.identification.next_push import next_push
from pushwise.show.viewer_arrow import Arrow
from pushwise.typing import Array

__all__ = ["Revealed", "reveal"]

_STRETCH = 0.015  # m of outline per push


class Revealed(NamedTuple):
    """What pushes around an outline would reveal."""

    ends: Array
    """Stretches of the outline [m], shape (k, 2, 2)."""
    gain: Array
    """By how much a push there would lower the standard error of the centre of mass [m], shape
    (k,); NaN where the finger does not fit."""
    before: float
    """That standard error now [m]: the root of the sum of both variances."""

    @property
    def best(self) -> int:
        """The stretch that reveals most."""
        return int(np.nanargmax(self.gain))


def reveal(belief: Belief) -> Revealed | None:
    """Return what straight pushes of 0.1 m, normal to the outline, would reveal.

    None for a belief without a posterior, or where the finger fits nowhere.
    """
    if belief.posterior is None or belief.centre_covariance is None:
        return None
    outline = belief.model.grid.outline
    corners = np.vstack([outline, outline[:1]])
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(corners, axis=0).T)))
    cuts = np.linspace(0.0, along[-1], max(int(along[-1] / _STRETCH), 8) + 1)
    places = np.column_stack([np.interp(cuts, along, column) for column in corners.T])
    pushes = [
        Arrow(float(place)).push(outline, np.zeros(3), belief.finger.radius)
        for place in 0.5 * (cuts[:-1] + cuts[1:])
    ]
    before = float(np.sqrt(np.trace(belief.centre_covariance)))
    after = {id(each.push): each.centre_std for each in next_push(belief, pushes)}
    gain = np.array([before - after.get(id(push), np.nan) for push in pushes])
    if np.isnan(gain).all():
        return None
    return Revealed(np.stack([places[:-1], places[1:]], axis=1), gain, before)
