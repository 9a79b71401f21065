"""`run_push` steps an engine through a push, takes samples, and waits until the object rests."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from pushwise.physics.push import Push
from pushwise.typing import Array

__all__ = ["PATIENCE", "TILTED", "Engine", "Look", "Motion", "run_push", "sample_times"]

TILTED = 0.35
"""An object tilted by more than this [rad] has left the table."""
PATIENCE = 5.0
"""How long after a push [s] an object counts as resting in any case."""
_LEANING = 0.05  # rad; an object tilted by more than this does not lie flat
_BELOW = 0.05  # m; an object that much lower than at the start has left the table, too
_LIE = 0.1  # s an object must be still to count as resting
_BEND = 0.2  # of the top speed; a smaller change of velocity is part of a curve


class Motion(NamedTuple):
    """The noise-free motion during a push, in the table frame."""

    t: Array  # (T,)
    pose: Array  # (T, 3)
    force: Array  # (T, 2), mean since the previous sample
    finger: Array  # (T, 2), where the finger really was
    lift: Array  # (T, 2), height of the grid origin and tilt
    fell: bool


class Look(NamedTuple):
    """The state at one instant."""

    pose: Array  # (3,)
    finger: Array  # (2,)
    height: float  # of the grid origin above the table, m
    tilt: float  # rad
    still: bool


class Engine(Protocol):
    """A scene in a physics engine, in the middle of a push."""

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""

    def look(self, near: float) -> Look:
        """Return the current state, theta within half a turn of `near` [rad]."""


def run_push(engine: Engine, push: Push, theta: float, rate: float) -> Motion:
    """Step an engine through a push until the object rests or has fallen.

    Args:
        engine: The scene, at the start of the push.
        push: The push.
        theta: The object's angle at the start [rad]; later angles count turns from it.
        rate: Samples per second [Hz].

    Returns:
        The motion. If the object falls, it ends where the object no longer lies flat.

    """
    during = sample_times(push, push.duration, rate)
    times, looks, forces = [0.0], [engine.look(theta)], [np.zeros(2)]
    still = 0.0
    while still < _LIE and looks[-1].tilt <= TILTED and times[-1] < push.duration + PATIENCE:
        k = len(times)
        end = float(during[k]) if k < len(during) else times[-1] + 1.0 / rate
        forces.append(engine.advance(times[-1], end))
        looks.append(engine.look(looks[-1].pose[2]))
        resting = end > push.duration and looks[-1].still
        still = still + end - times[-1] if resting else 0.0
        times.append(end)
    low = looks[0].height - _BELOW
    fell = looks[-1].tilt > TILTED or looks[-1].height < low  # it may land flat on the floor
    gone = (i for i, look in enumerate(looks) if look.tilt > _LEANING or look.height < low)
    flat = next(gone) if fell else len(looks)
    kept = slice(0, max(flat, 2))
    return Motion(
        np.array(times)[kept],
        np.array([look.pose for look in looks])[kept],
        np.array(forces)[kept],
        np.array([look.finger for look in looks])[kept],
        np.array([(look.height - looks[0].height, look.tilt) for look in looks])[kept],
        fell,
    )


def sample_times(push: Push, end: float, rate: float) -> Array:
    """Return sample times [s] from 0 to `end`, the bends and the end of the push among them.

    A bend is where the velocity jumps by more than a fifth of the top speed. A straight line from
    one sample to the next therefore cuts no corner, and knots of a smooth curve add no samples.

    Args:
        push: The push.
        end: Time of the last sample [s].
        rate: Samples per second, at least [Hz].

    """
    jump = np.hypot(*np.diff(push.velocities, axis=0).T)
    bends = push.times[1:-1][jump > _BEND * push.top_speed]
    marks = np.array([0.0, *bends, push.duration])
    marks = np.append(marks[marks < end], end)
    parts = [np.linspace(a, b, int(np.ceil((b - a) * rate)) + 1)[1:] for a, b in pairwise(marks)]
    return np.concatenate([[0.0], *parts])
