"""`World`: anything that can look at an object and push it, a robot or a simulation.

A `StreamingWorld` also moves its finger bit by bit, as a controller needs it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

import numpy as np

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.records.record import Noise, PushRecord
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.physics.push import Push

__all__ = [
    "Observation",
    "Sensing",
    "StreamingWorld",
    "World",
    "checked_world",
    "moved",
    "observed",
    "pushed",
]

T = TypeVar("T")


@dataclass(frozen=True, eq=False, init=False)
class Observation:
    """What is seen of an object."""

    points: Array
    """Cloud of its upper surface [m] in the table frame, z up from the table, shape (N, 3).

    Empty if only the pose was looked at, as `StreamingWorld.move` does."""
    pose: Array
    """Pose (x, y, theta) [m, m, rad] of the grid frame on the table, shape (3,)."""

    def __init__(self, points: ArrayLike, pose: ArrayLike) -> None:
        """Check and copy the arrays; leave out points that are not finite, as a camera has them."""
        cloud = _floats(points)
        if cloud is not None and len(cloud):
            points = cloud[np.isfinite(cloud).all(axis=1)]
            if not len(points):
                raise PushwiseError("none of the observed points is finite; check the camera.")
        object.__setattr__(self, "points", finite_array("observed points", points, ("N", 3)))
        object.__setattr__(self, "pose", finite_array("observed pose", pose, (3,)))


@dataclass(frozen=True)
class Sensing:
    """What a simulated world measures, and how well; by default everything, exactly."""

    noise: Noise = field(default_factory=Noise)
    """Noise of the records and of `observe`."""
    rate: float = 50.0
    """Samples of a record per second [Hz]."""
    forces: bool = True
    """Whether records include the force of the finger; a camera alone does not measure it."""
    lift: bool = False
    """Whether records include height and tilt, as a tracker in six dimensions measures them."""

    def __post_init__(self) -> None:
        """Check the noise and the rate."""
        if not isinstance(self.noise, Noise):
            raise PushwiseError(f"noise must be a Noise; got {self.noise!r}.")
        object.__setattr__(self, "rate", positive_number("rate", self.rate))


@runtime_checkable
class World(Protocol):
    """A place where a push really happens."""

    def observe(self) -> Observation:
        """Look at the object."""

    def push(self, push: Push) -> PushRecord:
        """Carry out a push, wait until the object rests, and return what was measured."""

    def reset(self, seed: int) -> None:
        """Put the object back where it started.

        Args:
            seed: Random seed of everything that follows.

        """


@runtime_checkable
class StreamingWorld(World, Protocol):
    """A world that a controller can drive, some 10 to 50 times per second."""

    def move(self, finger: ArrayLike | None, dt: float) -> Observation:
        """Move the finger in a straight line while the world runs, and return what is seen then.

        The object keeps its velocity and the finger its contact from one move to the next. Only
        the pose is looked at, because a cloud takes too long; `observe` also takes the cloud.

        Args:
            finger: Where the finger's centre is at the end [m], shape (2,). If it is up, it is set
                down there and stands still. None raises it.
            dt: Duration of the move [s].

        """


def _floats(points: ArrayLike) -> Array | None:
    """Return rows of floats as an array; None for anything else, which `finite_array` judges."""
    try:
        cloud = np.asarray(points)
    except ValueError:  # rows of unequal length
        return None
    return cloud if cloud.ndim == 2 and cloud.dtype.kind == "f" else None


def checked_world(world: World) -> None:
    """Refuse what has not the methods of a world."""
    if isinstance(world, type) or not isinstance(world, World):
        raise PushwiseError(
            "a world must be an object with the methods observe, push and reset; got "
            f"{world.__name__ + ', a class' if isinstance(world, type) else type(world).__name__}."
        )


def observed(world: World) -> Observation:
    """Look at the object of a world that anyone may have written."""
    checked_world(world)
    return _returned(world, "observe", world.observe(), Observation)


def pushed(world: World, push: Push) -> PushRecord:
    """Carry out a push in a world that anyone may have written."""
    return _returned(world, "push", world.push(push), PushRecord)


def moved(world: StreamingWorld, finger: ArrayLike | None, dt: float) -> Observation:
    """Move the finger in a world that anyone may have written."""
    return _returned(world, "move", world.move(finger, dt), Observation)


def _returned(world: World, method: str, value: T, kind: type[T]) -> T:
    """Return what a method returned; refuse anything of another kind."""
    if not isinstance(value, kind):
        raise PushwiseError(
            f"{type(world).__name__}.{method} must return an object of the class {kind.__name__}; "
            f"got {'None' if value is None else 'a ' + type(value).__name__}."
        )
    return value
