"""Whether recorded forces can be those of a finger that pushes an object over a table.

A finger cannot pull: its force on the object points into it, within the friction cone around the
normal of the outline. What it takes to slide an object depends on its weight, which is known within
wide bounds from its size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pushwise.identification.contact_evidence import PushedOutline, Seen
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Push
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["force_mistake"]

FELT = 0.2  # of the greatest force: less is noise, or no contact
PRESSES = 0.6  # mean cosine between a force and the inward normal; friction 1.3 at the finger
SLACK = 0.3  # a cosine below this contradicts it
WRONG = 0.2  # of the pushes: as many are no accident if a usual mistake explains them
RIGHT = 0.9  # of the pushes, after a mistake is undone
TURNS = 72  # directions that are tried if nothing else explains them
TURN_PUSHES = 3  # that are wrong; fewer fit some turn by themselves

DENSEST = 2e4  # kg/m^3; gold
ROUGHEST = 1.5  # coefficient of friction
LIGHTEST = 0.5  # N of friction per m^2 of the object: a sheet of paper
ORDINARY = 15.0, 6e3  # kg/m^3 times friction: from cardboard to steel
TO_NEWTONS = {
    "millinewtons": 1e-3,
    "grams-force": 1e-3 * GRAVITY,
    "pounds-force": 4.448,
    "kilograms-force": GRAVITY,
    "kilonewtons": 1e3,
}


class _Pressed(NamedTuple):
    """The forces of a record that are clearly felt while the finger is at the object."""

    force: Array  # (k, 2), table frame
    inward: Array  # (k, 2), unit normal of the outline, into the object
    theta: Array  # (k,)


class _Load(NamedTuple):
    """How great the forces of a record are [N]."""

    greatest: float
    resisted: float  # by friction at least, whatever the object's inertia


def force_mistake(grid: CellGrid, log: Sequence[Seen], body: PushedOutline) -> str:
    """Return a sentence that names the likely mistake in the forces; empty if there is none.

    Args:
        grid: The object's cells.
        log: Records whose poses and finger positions agree with each other.
        body: The object.

    """
    felt = [one for one in log if one.record.force is not None and one.record.force[1:].any()]
    moved = [one for one in felt if one.strides(body)]
    pressed = [found for one in moved if (found := _pressed(one, body)) is not None]
    loads = [_load(one, body) for one in moved]
    return (_direction(pressed) if pressed else "") or (_size(grid, loads) if loads else "")


def _pressed(seen: Seen, body: PushedOutline) -> _Pressed | None:
    """Return the forces that are clearly felt in a record; None if there are none."""
    record, push = seen.record, seen.record.push
    assert record.force is not None and isinstance(push, Push)
    force = record.force[1:]
    size = np.hypot(*force.T)
    noise = record.noise.force if record.noise is not None else 0.0
    pose = 0.5 * (record.pose[1:] + record.pose[:-1])
    gap, normal = body.toward(pose, push.at(0.5 * (record.t[1:] + record.t[:-1])))
    near = (size > max(FELT * size.max(), 3.0 * noise)) & (np.abs(gap) < seen.tolerance)
    return _Pressed(force[near], -normal[near], pose[near, 2]) if near.any() else None


def _load(seen: Seen, body: PushedOutline) -> _Load:
    """Return how great the forces of a record are."""
    assert seen.record.force is not None
    force = seen.record.force[1:]
    size = np.hypot(*force.T)
    felt = size > FELT * size.max()
    return _Load(float(size.max()), _resisted(seen.record.t, force, felt, _speed(seen, body)))


def _speed(seen: Seen, body: PushedOutline) -> float:
    """Return a speed [m/s] that no part of the object exceeds."""
    push, twist = seen.record.push, seen.record.twist
    assert isinstance(push, Push)
    strides = (one.length / (seen.t[one.last] - seen.t[one.first]) for one in seen.strides(body))
    thrown = float(np.hypot(*twist[:2])) + body.gyration * abs(float(twist[2]))
    return float(2.0 * max(push.top_speed, thrown, *strides))


def _resisted(t: Array, force: Array, felt: Array, speed: float) -> float:
    """Return the greatest mean force [N] that friction must have resisted at least.

    The impulse of the finger, less that of friction, is the momentum of the object. With friction
    of at most mu m g for a time T, and a speed of at most v, m >= impulse / (v + mu g T).

    Args:
        t: Times of the samples [s], shape (k + 1,).
        force: Mean forces between them [N], shape (k, 2).
        felt: Which of them are felt, shape (k,).
        speed: A speed that the object does not exceed [m/s].

    """
    first = int(np.argmax(felt))
    impulse = np.hypot(*np.cumsum(force[first:] * np.diff(t)[first:, None], axis=0).T)
    seconds = t[first + 1 :] - t[first]
    pull = ROUGHEST * GRAVITY
    return float((impulse * pull / (speed + pull * seconds)).max())


def _direction(felt: list[_Pressed]) -> str:
    """Return what is wrong with the directions of forces; empty if nothing is."""
    straight = np.array([_pressing(one, one.force) for one in felt])
    bad = int(np.sum(straight < SLACK))
    if bad < WRONG * len(felt):
        return ""
    seen = f"in {bad} of {len(felt)} pushes the force does not press on the object at the finger"
    rule = "fx, fy must be the force of the finger on the object, in the axes of the table"

    def fits(change: str) -> bool:
        after = [_pressing(one, _changed(one, change)) for one in felt]
        return float(np.mean(np.array(after) > PRESSES)) >= RIGHT

    looks = [words for change, words in _CHANGES.items() if fits(change)]
    if looks:
        return f"{', or '.join(looks)}: {seen}, and undoing that makes it press; {rule}."
    if bad < TURN_PUSHES:
        return ""
    angles = np.linspace(-np.pi, np.pi, TURNS, endpoint=False)
    press = np.array([[_pressing(one, _turned(one.force, a)) for one in felt] for a in angles])
    best = int(np.argmax(press.mean(axis=1)))
    if np.mean(press[best] > PRESSES) < RIGHT:
        return ""
    return (
        f"fx, fy look as if they were in axes turned by {-np.degrees(angles[best]):.0f} degrees: "
        f"{seen}, and turning them back makes it press; {rule}."
    )


_CHANGES = {
    "negated": "fx, fy look negated, like the force on the finger",
    "swapped": "fx and fy look swapped",
    "swapped and negated": "fx and fy look swapped and negated",
    "object": "fx, fy look like components along the axes of the object",
    "object negated": "fx, fy look like the force on the finger, along the axes of the object",
}


def _changed(felt: _Pressed, change: str) -> Array:
    """Return the forces (k, 2) with one of `_CHANGES` undone."""
    force = -felt.force if change.endswith("negated") else felt.force
    if change.startswith("swapped"):
        return force[:, ::-1]
    return _turned(force, felt.theta) if change.startswith("object") else force


def _turned(force: Array, angle: Array | float) -> Array:
    """Return forces (k, 2) turned by an angle [rad], a number or shape (k,)."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = force.T
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=1)


def _pressing(felt: _Pressed, force: Array) -> float:
    """Return the mean cosine between forces (k, 2) and the inward normal."""
    return float(np.sum(force * felt.inward) / np.hypot(*force.T).sum())


def _size(grid: CellGrid, loads: list[_Load]) -> str:
    """Return what is wrong with the unit of forces; empty if they are plausible."""
    height = float(grid.heights.mean())
    if (grid.heights == grid.cell_size).all():  # not stated
        height = max(height, float(np.sqrt(grid.area)))
    most = DENSEST * grid.area * height * ROUGHEST * GRAVITY
    least = LIGHTEST * grid.area
    low, high = (load * grid.area * height * GRAVITY for load in ORDINARY)
    resisted = float(np.median([one.resisted for one in loads]))
    greatest = max(one.greatest for one in loads)
    rule = "fx, fy must be in newtons"
    if resisted > most:
        mass = resisted / (ROUGHEST * GRAVITY)
        return (
            f"fx, fy look like {_units(resisted, low, high, small=True)}: forces of "
            f"{greatest:.3g} N would need an object of {mass:.3g} kg or more, but one of this size "
            f"would weigh {most / (ROUGHEST * GRAVITY):.2g} kg if it were of solid gold; {rule}."
        )
    if greatest < least:
        return (
            f"fx, fy look like {_units(greatest, low, high, small=False)}: no force exceeds "
            f"{greatest:.2g} N, which would not move a sheet of paper of the object's size; {rule}."
        )
    return ""


def _units(force: float, low: float, high: float, *, small: bool) -> str:
    """Return the units in which a force would be between two others [N], joined by "or"."""
    fitting = [
        unit
        for unit, newtons in TO_NEWTONS.items()
        if (newtons < 1.0) == small and low < force * newtons < high
    ]
    return " or ".join(fitting) or f"a {'smaller' if small else 'larger'} unit than newtons"
