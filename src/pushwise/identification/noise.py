"""How far poses deviate from a model: sensor noise, and errors of the model itself.

The error of a sample is white noise (the sensor, sigma) plus a random walk along the push (what the
model does not know: a load that shifts, an engine that is not Coulomb's). The standard deviation of
the walk after a whole push is `drift`. Near a point of balance a push turns left or right by tiny
differences: there the walk grows as an error of the starting pose would (`growth_of`). Residuals
are whitened by taking the innovations of such an error, which are independent: what each sample
adds to a prediction from the samples before it.

A long push is simulated in `windows`, and its walk continues from one to the next: where a window
ends, the start of the next one, an unknown, is where the walk has led to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = [
    "SLIDE_DRIFT",
    "Errors",
    "StatedNoise",
    "Walk",
    "counts_of",
    "growth_of",
    "innovations",
    "limit_slope",
    "stated_noise",
    "whitened",
]


# No unknown moves an object by 3e5 sigmas, 300 m, within its own standard deviation. Where a push
# jumps, derivatives are meaningless, and their squares drown the prior in rounding errors.
STEEPEST = 3e5
# Drift of a free slide relative to that of a push. In MuJoCo pushes deviate by 1 to 3 mm from those
# of the true model, slides by 0.02 to 0.15 mm and 0.1 to 2 mrad. Chosen with coverage in view.
SLIDE_DRIFT = 0.6
LEAST_GROWTH = 0.5  # of an error of the start; what has died away more has no growth to speak of


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


class Walk(NamedTuple):
    """How the error of the model grows over the samples of a window, after its first one."""

    share: Array
    """Variance of the drift that has passed since the window began, relative to that of a push of
    usual length, shape (k,)."""
    noise: Array
    """Noise of the finger [m, m, rad], as far as the poses show it, shape (3,)."""
    weight: float
    """How much each sample counts: below one where the errors of windows are the same ones, and
    nothing in a record that is left out."""
    linked: bool
    """Whether the last sample is the start of the next window, an unknown without noise."""


def growth_of(by_start: Array, size: float) -> Array:
    """Return by which factor the push makes an error of the pose grow before each sample, (k,).

    Only growth counts, not decay: a drift that dies away is renewed.

    Args:
        by_start: Derivatives of the poses in the starting pose, shape (k, 3, 3).
        size: Length by which angles count [m].

    """
    scale = np.array([1.0, 1.0, size])
    errors = np.linalg.norm(by_start * scale[:, None] / scale, ord=2, axis=(1, 2))
    errors = np.maximum(errors, LEAST_GROWTH)
    growth: Array = np.maximum(errors / np.concatenate([[1.0], errors[:-1]]), 1.0)
    return growth


@compiled
def innovations(
    s: Array,
    growth: Array,
    sigma: float,
    drift: float,
    last_sigma: float,
    rows: Array,
    state: Array,
) -> float:
    """Whiten rows of errors in place, by a scalar Kalman filter.

    The gains depend on s and growth alone and are therefore the same for every column.

    Args:
        s: Share of the variance of the drift that has passed at each row, shape (k,).
        growth: By which factor errors grow before each row, shape (k,).
        sigma: Noise of the sensor, in all rows but the last.
        drift: Error of the model after the whole push.
        last_sigma: Noise of the last row.
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
        for j in range(columns):
            state[j] *= growth[i]
        spread = spread * growth[i] * growth[i] + drift * drift * (s[i] - last)
        last = s[i]
        noise = sigma if i < k - 1 else last_sigma
        variance = spread + noise * noise
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
    walks: Sequence[Walk],
    growth: Array,
    residual: Array,
    jacobian: Array | None,
    errors: Errors,
) -> tuple[Array, Array, float]:
    """Return the innovations of residuals, their Jacobian, and the logs of `innovations`.

    Args:
        walks: How the model's error grows, one per window of a push.
        growth: By which factor errors grow before each sample, shape (samples,).
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
    for share, noise, weight, linked in walks:
        last = first + len(share)
        sigma = np.hypot(errors.sigma, noise)
        last_sigma = noise if linked else sigma
        for axis in range(3):
            block = np.ascontiguousarray(rows[first:last, axis])
            logs += weight * innovations(
                share,
                growth[first:last],
                sigma[axis],
                errors.drift[axis],
                last_sigma[axis],
                block,
                state,
            )
            rows[first:last, axis] = block
        first = last
    return rows[..., 0], limit_slope(rows[..., 1:]), logs


def counts_of(walks: Sequence[Walk]) -> Array:
    """Return how much each sample counts, shape (samples,)."""
    return np.concatenate([np.full(len(walk.share), walk.weight) for walk in walks])


def limit_slope(jacobian: Array) -> Array:
    """Scale down rows of a whitened Jacobian (..., unknowns) that are steeper than `STEEPEST`."""
    steep = np.linalg.norm(jacobian, axis=-1, keepdims=True)
    if (steep <= STEEPEST).all():
        return jacobian
    limited: Array = jacobian * (STEEPEST / np.maximum(steep, STEEPEST))
    return limited
