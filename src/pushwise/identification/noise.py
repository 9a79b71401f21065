"""How far poses stray from a model: sensor noise, and the model's own shortcomings.

A sample's error is white noise (the sensor, sigma) plus a random walk along the push (what the
model does not know: a load that shifts, an engine that is not Coulomb's). The walk's standard
deviation after a whole push is `drift`. Innovations of such an error, what each sample adds to
what the samples before it told, are independent: that is how residuals are whitened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pushwise.compilation import compiled
from pushwise.typing import Array

__all__ = ["Errors", "gentle", "innovations", "whitened"]


# No unknown moves an object by 3e5 sigmas, 300 m, within its own deviation. Where a push jumps
# derivatives have no meaning, and their squares drown the prior in rounding errors.
STEEPEST = 3e5


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


def whitened(
    shares: Sequence[Array], residual: Array, jacobian: Array | None, errors: Errors
) -> tuple[Array, Array, float]:
    """Return innovations (samples, 3), their Jacobian (samples, 3, unknowns or 0), and logs.

    shares: how much of its push each sample has seen, an array (k,) a push. residual: of all
    samples [m, m, rad], shape (samples, 3). jacobian: of it, shape (samples, 3, unknowns).
    """
    unknowns = 0 if jacobian is None else jacobian.shape[-1]
    rows = np.empty((len(residual), 3, 1 + unknowns))
    rows[..., 0] = residual
    if jacobian is not None:
        rows[..., 1:] = jacobian
    logs = 0.0
    first = 0
    for share in shares:
        last = first + len(share)
        for axis in range(3):
            block = np.ascontiguousarray(rows[first:last, axis])
            logs += innovations(share, errors.sigma[axis], errors.drift[axis], block)
            rows[first:last, axis] = block
        first = last
    return rows[..., 0], gentle(rows[..., 1:]), logs


def gentle(jacobian: Array) -> Array:
    """Return a whitened Jacobian (..., unknowns) with no row steeper than any push can be."""
    steep = np.linalg.norm(jacobian, axis=-1, keepdims=True)
    if (steep <= STEEPEST).all():
        return jacobian
    tamed: Array = jacobian * (STEEPEST / np.maximum(steep, STEEPEST))
    return tamed
