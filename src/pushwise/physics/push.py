"""What is done to an object: `Push` by a `Finger`, or the paper's `ForcePush` at a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


@dataclass(frozen=True)
class Finger:
    """The thing that pushes: an upright disc."""

    radius: float = 0.01
    """Radius [m]."""
    friction: float = 0.3
    """Coefficient of friction between finger and object."""
    height: float = 0.0
    """Height of the contact above the table [m]: it moves the load in the direction of the push,
    see `physics.kernels.tilt`. Worlds with an engine have fingers of their own height."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        set_field = object.__setattr__
        set_field(self, "radius", positive_number("finger radius", self.radius))
        set_field(self, "friction", non_negative_number("finger friction", self.friction))
        set_field(self, "height", non_negative_number("finger height", self.height))


@dataclass(frozen=True, eq=False, init=False)
class Push:
    """A finger moved in a straight line at a constant velocity, whatever it meets."""

    start: Array
    """Where the finger's centre starts [m] in the table frame, shape (2,), read-only."""
    velocity: Array
    """Velocity of the finger [m/s] in the table frame, shape (2,), read-only."""
    duration: float
    """How long it moves [s]."""

    def __init__(self, start: ArrayLike, velocity: ArrayLike, duration: float) -> None:
        """Check and copy the numbers."""
        set_field = object.__setattr__
        set_field(self, "start", finite_array("push start", start, (2,)))
        set_field(self, "velocity", finite_array("push velocity", velocity, (2,)))
        set_field(self, "duration", positive_number("push duration", duration))
        if not self.velocity.any():
            raise PushwiseError("push velocity must not be zero; got (0, 0).")


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
