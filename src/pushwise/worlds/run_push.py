"""Watching an engine carry out a push: samples, coming to rest, and falling."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from pushwise.physics.push import Push
from pushwise.typing import Array

__all__ = ["TILTED", "Engine", "Look", "Motion", "sample_times", "watch"]

TILTED = 0.35
"""An object tilted by more [rad] no longer lies on the table."""
_LEANING = 0.05  # rad; tilted by more it is no longer flat on it
_LIE = 0.1  # s an object must be still to count as resting
_PATIENCE = 5.0  # s after the push an object counts as resting in any case


class Motion(NamedTuple):
    """A push carried out, free of noise (table frame)."""

    t: Array  # (T,)
    pose: Array  # (T, 3)
    force: Array  # (T, 2), mean since the sample before
    finger: Array  # (T, 2)
    fell: bool


class Look(NamedTuple):
    """An instant."""

    pose: Array  # (3,)
    finger: Array  # (2,)
    tilt: float  # rad
    still: bool


class Engine(Protocol):
    """A scene in an engine, in the middle of a push."""

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""

    def look(self, near: float) -> Look:
        """Return what there is now; theta within half a turn of `near` [rad]."""


def watch(engine: Engine, push: Push, theta: float, rate: float) -> Motion:
    """Run an engine, `rate` samples a second, until the object rests or has fallen.

    theta: the object's angle at the start [rad], from which its turns are counted. The motion of
    an object that falls ends where it stops to lie flat.
    """
    during = sample_times(push.duration, push.duration, rate)
    times, looks, forces = [0.0], [engine.look(theta)], [np.zeros(2)]
    still = 0.0
    while still < _LIE and looks[-1].tilt <= TILTED and times[-1] < push.duration + _PATIENCE:
        k = len(times)
        end = float(during[k]) if k < len(during) else times[-1] + 1.0 / rate
        forces.append(engine.advance(times[-1], end))
        looks.append(engine.look(looks[-1].pose[2]))
        resting = end > push.duration and looks[-1].still
        still = still + end - times[-1] if resting else 0.0
        times.append(end)
    fell = looks[-1].tilt > TILTED
    leaning = (i for i, look in enumerate(looks) if look.tilt > _LEANING)
    flat = next(leaning) if fell else len(looks)
    kept = slice(0, max(flat, 2))
    return Motion(
        np.array(times)[kept],
        np.array([look.pose for look in looks])[kept],
        np.array(forces)[kept],
        np.array([look.finger for look in looks])[kept],
        fell,
    )


def sample_times(duration: float, end: float, rate: float) -> Array:
    """Return sample times [s], `rate` a second, from 0 to `end`, with the push's end among them."""
    stop = min(duration, end)
    t = np.linspace(0.0, stop, int(np.ceil(stop * rate)) + 1)
    if end <= stop:
        return t
    rest = np.linspace(stop, end, int(np.ceil((end - stop) * rate)) + 1)
    return np.concatenate([t, rest[1:]])
