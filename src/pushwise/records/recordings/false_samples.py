"""Samples of sensors that are not what they seem: values repeated, and values far from the others.

Which they are is decided by the samples alone: a pushed object moves steadily, and a sensor has
noise.
"""

from __future__ import annotations

import numpy as np

from pushwise.typing import Array, Flags, Integers

__all__ = ["frozen_samples", "held_samples", "jumping_samples", "too_far"]


_STEPS = 10  # changes of value needed to see how long a sensor holds each
_JUMP = np.array([0.02, 0.2])  # m, rad; a step that is larger than this,
_JUMP_RATE = np.array([5.0, 30.0])  # m/s, rad/s; and faster than this, is not motion;
_RETURN_RATE = 1.0  # m/s; nor is a step this fast if it is taken back at once
_FLIPS = 5  # samples that jump away together at most
_FROZEN = 3  # equal samples in the midst of a motion,
_LEAP = 2e-3  # m; and a larger step after them,
_LEAPS = 2.0  # times as fast as the steps around: they were repeated while it moved on
_MOVES = 0.3  # times the mean speed until then: a slower step is no motion
_ARM = 0.05  # m; displacement equivalent to a rotation by one radian


def _runs(values: Array) -> tuple[Integers, Integers]:
    """Return the first samples of runs of equal values (k, d), and how long they are."""
    changes = np.any(np.diff(values, axis=0) != 0.0, axis=1)
    first = np.flatnonzero(np.append(True, changes)) if len(values) else np.zeros(0, np.int64)
    return first, np.diff(np.append(first, len(values)))


def held_samples(_: Array, values: Array) -> Flags:
    """Return which samples only repeat a value: the sensor is read more often than it measures.

    Its values (k, d) change in steps. While they change, each holds for about the same number of
    samples. A longer hold is rest, during which samples are kept at the same rate.
    """
    first, length = _runs(values)
    held = np.zeros(len(values), bool)
    if len(first) < _STEPS or (hold := int(np.median(length))) < 2:
        return held
    since = np.arange(len(values)) - np.repeat(first, length)
    rests = np.repeat(length >= 2 * hold, length)
    held |= (since > 0) & ~(rests & (since % hold == 0))
    return held


def frozen_samples(t: Array, values: Array) -> Flags:
    """Return which samples repeat a value while the object moved on, as when a tracker is lost.

    It moves before and after them. In between its values (k, d) are the same, and then leap.
    """
    frozen = np.zeros(len(t), bool)
    first, length = _runs(values)
    inside = (length >= _FROZEN) & (first > 0) & (first + length + 1 < len(t))
    begin, end = first[inside], (first + length)[inside]
    before, after = (_speed(t, values, i - 1, i) for i in (begin, end + 1))
    leap, mean = _speed(t, values, end - 1, end), _speed(t, values, begin, end)
    moves = np.minimum(before, after) > _MOVES * mean
    leaps = (leap > _LEAPS * np.maximum(before, after)) & (mean * (t[end] - t[begin]) > _LEAP)
    for i, j in zip(begin[moves & leaps], end[moves & leaps], strict=True):
        frozen[i + 1 : j] = True
    return frozen


def _speed(t: Array, values: Array, i: Integers, j: Integers) -> Array:
    """Return the mean speed [m/s] between samples i (k,) and later ones j (k,), with rotation."""
    step = values[j] - values[i]
    size = np.hypot(step[:, 0], step[:, 1])
    if step.shape[1] == 3:
        size += _ARM * np.abs(_shorter(step[:, 2]))
    speed: Array = size / (t[j] - t[i])
    return speed


def jumping_samples(t: Array, values: Array) -> Flags:
    """Return which samples, up to a few in a row, are far from those before and after.

    Those agree with each other.
    """
    jumped = np.zeros(len(t), bool)
    back = _RETURN_RATE if values.shape[1] == 3 else _JUMP_RATE[0]
    for count in range(1, _FLIPS + 1):
        i = np.arange(1, len(t) - count)
        away, home = i - 1, i + count
        left = too_far(values[i] - values[away], t[i] - t[away], back)
        came = too_far(values[home] - values[home - 1], t[home] - t[home - 1], back)
        across = too_far(values[home] - values[away], t[home] - t[away], back)
        for first in i[left & came & ~across]:
            jumped[first : first + count] = True
    return jumped


def too_far(step: Array, dt: Array, rate: float = float(_JUMP_RATE[0])) -> Flags:
    """Return which steps (k, d) over times (k,) are too large for a pushed object.

    rate: The greatest speed of an object [m/s].
    """
    size = np.hypot(step[:, 0], step[:, 1])
    far: Flags = size > np.maximum(_JUMP[0], rate * dt)
    if step.shape[1] == 3:
        far |= np.abs(_shorter(step[:, 2])) > np.maximum(_JUMP[1], _JUMP_RATE[1] * dt)
    return far


def _shorter(turn: Array) -> Array:
    """Return angles [rad] the shorter way round."""
    shorter: Array = turn - 2.0 * np.pi * np.round(turn / (2.0 * np.pi))
    return shorter
