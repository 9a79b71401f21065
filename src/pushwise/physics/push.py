"""What is done to an object: `Push` by a `Finger`, or the paper's `ForcePush` at a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pushwise.checks import (
    finite_array,
    non_negative_integer,
    non_negative_number,
    positive_number,
)
from pushwise.errors import PushwiseError
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Finger", "ForcePush", "Push"]

_RUN_UP_PIECES = 16  # of a flick; from one to the next the speed rises by a fifteenth of the last


@dataclass(frozen=True)
class Finger:
    """The thing that pushes: an upright disc."""

    radius: float = 0.01
    """Radius [m]."""
    friction: float = 0.3
    """Coefficient of friction between finger and object."""
    height: float = 0.0
    """Height of the contact above the table [m]: it moves the load in the direction of the push,
    see `physics.kernels.tilt`. Zero if it is not known: `identify` then estimates it. Worlds with
    an engine have fingers of their own height."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        set_field = object.__setattr__
        set_field(self, "radius", positive_number("finger radius", self.radius))
        set_field(self, "friction", non_negative_number("finger friction", self.friction))
        set_field(self, "height", non_negative_number("finger height", self.height))


@dataclass(frozen=True, eq=False, init=False)
class Push:
    """A path of the finger, which it follows whatever it meets.

    Between the knots of the path the finger moves in straight lines at constant speed. It may start
    apart from the object or touching it, lose it and touch it again.
    """

    times: Array
    """Times of the knots [s], from 0 on and increasing, shape (K,), read-only."""
    positions: Array
    """The finger's centre at the knots [m] in the table frame, shape (K, 2), read-only."""
    raised: bool
    """Whether the finger is raised at the end; otherwise it stays where it is."""

    def __init__(self, times: ArrayLike, positions: ArrayLike, *, raised: bool = False) -> None:
        """Check and copy the numbers."""
        set_field = object.__setattr__
        set_field(self, "times", finite_array("push times", times, ("K",)))
        knots = len(self.times)
        set_field(self, "positions", finite_array("push positions", positions, (knots, 2)))
        set_field(self, "raised", bool(raised))
        if knots < 2:
            raise PushwiseError(f"push times must be two or more; got {knots}.")
        if self.times[0] != 0.0:
            raise PushwiseError(f"push times must start at 0 s; got {self.times[0]:g} s.")
        step = np.diff(self.times)
        if not (step > 0.0).all():
            at = int(np.argmin(step > 0.0))
            raise PushwiseError(
                f"push times must increase; times[{at + 1}] = {self.times[at + 1]:g} s follows "
                f"{self.times[at]:g} s."
            )

    @classmethod
    def line(
        cls, start: ArrayLike, velocity: ArrayLike, duration: float, *, raised: bool = False
    ) -> Self:
        """Return a straight push at a constant velocity.

        Args:
            start: Where the finger's centre starts [m], shape (2,).
            velocity: Velocity of the finger [m/s], shape (2,).
            duration: How long it moves [s].
            raised: Whether the finger is raised at the end.

        """
        first = finite_array("push start", start, (2,))
        along = finite_array("push velocity", velocity, (2,))
        seconds = positive_number("push duration", duration)
        if not along.any():
            raise PushwiseError("push velocity must not be zero; got (0, 0).")
        return cls([0.0, seconds], [first, first + seconds * along], raised=raised)

    @classmethod
    def through(cls, points: ArrayLike, speed: float, *, raised: bool = False) -> Self:
        """Return a push through points (K, 2) [m] at a constant speed [m/s]."""
        places = finite_array("push points", points, ("K", 2))
        lengths = np.hypot(*np.diff(places, axis=0).T)
        if not (lengths > 0.0).all():
            at = int(np.argmin(lengths > 0.0))
            raise PushwiseError(
                f"push points must differ from one to the next; points[{at}] and "
                f"points[{at + 1}] are the same."
            )
        times = np.concatenate([[0.0], np.cumsum(lengths)]) / positive_number("push speed", speed)
        return cls(times, places, raised=raised)

    @classmethod
    def flick(
        cls, start: ArrayLike, direction: ArrayLike, speed: float, *, run_up: float = 0.08
    ) -> Self:
        """Return a push that accelerates constantly from rest and then stops at once.

        An object that the finger touches from the start is brought up to speed without an impact,
        and slides on alone when the finger stops. The path has 16 pieces of equal duration, whose
        knots are those of a constant acceleration; the last piece has the full speed.

        Args:
            start: Where the finger's centre starts [m], shape (2,).
            direction: Direction of the motion, of any length, shape (2,).
            speed: Speed at the end [m/s].
            run_up: Length of the path [m].

        """
        first = finite_array("flick start", start, (2,))
        along = finite_array("flick direction", direction, (2,))
        size = float(np.hypot(*along))
        if size == 0.0:
            raise PushwiseError("flick direction must not be zero; got (0, 0).")
        last = positive_number("flick speed", speed)
        length = positive_number("flick run_up", run_up)
        share = np.linspace(0.0, 1.0, _RUN_UP_PIECES + 1)
        # The last piece covers 1 - (1 - 1/n)^2 = (2 - 1/n) / n of the path in an n-th of the time.
        duration = (2.0 - 1.0 / _RUN_UP_PIECES) * length / last
        return cls(duration * share, first + np.outer(length * share**2, along / size))

    @property
    def start(self) -> Array:
        """Where the finger's centre starts [m], shape (2,)."""
        first: Array = self.positions[0]
        return first

    @property
    def end(self) -> Array:
        """Where the finger's centre ends [m], shape (2,)."""
        last: Array = self.positions[-1]
        return last

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.times[-1])

    @property
    def velocities(self) -> Array:
        """Velocities of the finger between the knots [m/s], shape (K - 1, 2)."""
        found: Array = np.diff(self.positions, axis=0) / np.diff(self.times)[:, None]
        return found

    @property
    def velocity(self) -> Array:
        """Mean velocity of the finger [m/s], shape (2,): of a straight push, its velocity."""
        mean: Array = (self.end - self.start) / self.duration
        return mean

    @property
    def top_speed(self) -> float:
        """Greatest speed of the finger [m/s]."""
        return float(np.sqrt(np.square(self.velocities).sum(axis=1).max()))

    @property
    def length(self) -> float:
        """Length of the path [m]."""
        return float(np.hypot(*np.diff(self.positions, axis=0).T).sum())

    def at(self, t: ArrayLike) -> Array:
        """Return the finger's centre [m] at times t [s]: shape (2,) for a number, else (k, 2).

        It rests at its first position before the push and at its last one after it.
        """
        t = np.asarray(t, float)
        return np.stack([np.interp(t, self.times, axis) for axis in self.positions.T], axis=-1)

    def moved(self, by: ArrayLike) -> Self:
        """Return the same path moved by (x, y) [m]."""
        return type(self)(self.times, self.positions + np.asarray(by, float), raised=self.raised)


@dataclass(frozen=True, eq=False, init=False)
class ForcePush:
    """The paper's action: a constant force at the centre of a cell, for a while."""

    cell: int
    """Index of the cell the force acts on."""
    force: Array
    """The force [N] in the table frame, shape (2,), read-only."""
    duration: float
    """How long it acts [s]."""

    def __init__(self, cell: int, force: ArrayLike, duration: float) -> None:
        """Check and copy the numbers."""
        set_field = object.__setattr__
        set_field(self, "cell", non_negative_integer("push cell", cell))
        set_field(self, "force", finite_array("push force", force, (2,)))
        set_field(self, "duration", positive_number("push duration", duration))
