"""How far poses stray from a model: sensor noise, and the model's own shortcomings.

A sample's error is white noise (the sensor, sigma) plus a random walk along the push (what the
model does not know: a load that shifts, an engine that is not Coulomb's). The walk's standard
deviation after a whole push is `drift`. Innovations of such an error, what each sample adds to
what the samples before it told, are independent: that is how residuals are whitened.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pushwise.physics.compiled import compiled

__all__ = ["Errors", "innovations"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard deviations of poses about a model."""

    sigma: Array
    """Of the sensor [m, m, rad], shape (3,)."""
    drift: Array
    """Of the model after a whole push [m, m, rad], shape (3,)."""


@compiled
def innovations(s: Array, sigma: float, drift: float, rows: Array) -> float:
    """Whiten rows (k, columns) of errors at shares s (k,) of a push, in place.

    Returns half the sum of the logs of the innovations' variances. A scalar Kalman filter: the
    same gains for every column, because they depend on s alone.
    """
    k, columns = rows.shape
    state = np.zeros(columns)
    spread = 0.0
    last = 0.0
    logs = 0.0
    for i in range(k):
        spread += drift * drift * (s[i] - last)
        last = s[i]
        variance = spread + sigma * sigma
        gain = spread / variance
        scale = 1.0 / np.sqrt(variance)
        logs += 0.5 * np.log(variance)
        for j in range(columns):
            new = rows[i, j] - state[j]
            state[j] += gain * new
            rows[i, j] = new * scale
        spread *= 1.0 - gain
    return logs
