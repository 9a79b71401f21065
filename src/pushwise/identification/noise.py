"""How far poses deviate from a model: sensor noise, and errors of the model itself.

The error of a sample is white noise (the sensor, sigma) plus a random walk along the push (what the
model does not know: a load that shifts, an engine that is not Coulomb's). The standard deviation of
the walk after a whole push is `drift`. Residuals are whitened by taking the innovations of such an
error, which are independent: what each sample adds to a prediction from the samples before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["Errors", "StatedNoise", "innovations", "limit_slope", "stated_noise", "whitened"]


# No unknown moves an object by 3e5 sigmas, 300 m, within its own standard deviation. Where a push
# jumps, derivatives are meaningless, and their squares drown the prior in rounding errors.
STEEPEST = 3e5


@dataclass(frozen=True, eq=False)
class Errors:
    """Standard deviations of observed poses from predicted ones."""

    sigma: Array
    """Noise of the sensor [m, m, rad], shape (3,)."""
    drift: Array
    """Error of the model after a whole push [m, m, rad], shape (3,)."""


class StatedNoise(NamedTuple):
    """Sensor noise as the records state it."""

    pose: Array | None
    """Standard deviations of poses [m, m, rad], shape (3,); None to estimate them."""
    force: float | None
    """Standard deviation of forces [N]; None to estimate it."""


def stated_noise(records: Sequence[PushRecord]) -> StatedNoise:
    """Return the largest noise that the records state; nothing unless all of them state it."""
    stated = [record.noise for record in records]
    known = [noise for noise in stated if noise is not None]
    if len(known) < len(stated):
        return StatedNoise(None, None)
    position = max(noise.position for noise in known)
    angle = max(noise.angle for noise in known)
    pose = np.array([position, position, angle])
    return StatedNoise(pose, max(noise.force for noise in known))


@compiled
def innovations(s: Array, sigma: float, drift: float, rows: Array, state: Array) -> float:
    """Whiten rows of errors in place, by a scalar Kalman filter.

    The gains depend on s alone and are therefore the same for every column.

    Args:
        s: Share of the push that has passed at each row, shape (k,).
        sigma: Noise of the sensor.
        drift: Error of the model after the whole push.
        rows: Errors, shape (k, columns).
        state: Where to keep the filter's state, shape (columns,).

    Returns:
        Half the sum of the logs of the innovations' variances.

    """
    k, columns = rows.shape
    for j in range(columns):
        state[j] = 0.0
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
    """Return the innovations of residuals, their Jacobian, and the logs of `innovations`.

    Args:
        shares: Share of its push that has passed at each sample, one array (k,) per push.
        residual: Residuals of all samples [m, m, rad], shape (samples, 3).
        jacobian: Derivatives of `residual`, shape (samples, 3, unknowns), if needed.
        errors: Standard deviations.

    Returns:
        Innovations (samples, 3), their Jacobian (samples, 3, unknowns or 0), the sum of the logs.

    """
    unknowns = 0 if jacobian is None else jacobian.shape[-1]
    rows = np.empty((len(residual), 3, 1 + unknowns))
    rows[..., 0] = residual
    if jacobian is not None:
        rows[..., 1:] = jacobian
    logs = 0.0
    state = np.empty(rows.shape[2])
    first = 0
    for share in shares:
        last = first + len(share)
        for axis in range(3):
            block = np.ascontiguousarray(rows[first:last, axis])
            logs += innovations(share, errors.sigma[axis], errors.drift[axis], block, state)
            rows[first:last, axis] = block
        first = last
    return rows[..., 0], limit_slope(rows[..., 1:]), logs


def limit_slope(jacobian: Array) -> Array:
    """Scale down rows of a whitened Jacobian (..., unknowns) that are steeper than `STEEPEST`."""
    steep = np.linalg.norm(jacobian, axis=-1, keepdims=True)
    if (steep <= STEEPEST).all():
        return jacobian
    limited: Array = jacobian * (STEEPEST / np.maximum(steep, STEEPEST))
    return limited
