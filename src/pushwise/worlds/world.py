"""`World`: anything that can look at an object and push it, a robot or a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pushwise.checks import finite_array, positive_number
from pushwise.records.record import Noise
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.physics.push import Push
    from pushwise.records.record import PushRecord

__all__ = ["Observation", "Sensing", "World"]


@dataclass(frozen=True, eq=False, init=False)
class Observation:
    """What is seen of an object at rest."""

    points: Array
    """Cloud of its upper surface [m] in the table frame, z up from the table, shape (N, 3)."""
    pose: Array
    """Pose (x, y, theta) [m, m, rad] of the grid frame on the table, shape (3,)."""

    def __init__(self, points: ArrayLike, pose: ArrayLike) -> None:
        """Check and copy the arrays."""
        object.__setattr__(self, "points", finite_array("points", points, ("N", 3)))
        object.__setattr__(self, "pose", finite_array("pose", pose, (3,)))


@dataclass(frozen=True)
class Sensing:
    """What a simulated world measures, and how well; by default everything, exactly."""

    noise: Noise = field(default_factory=Noise)
    """Noise of the records and of `observe`."""
    rate: float = 50.0
    """Samples of a record per second [Hz]."""
    forces: bool = True
    """Whether records include the force of the finger; a camera alone does not measure it."""

    def __post_init__(self) -> None:
        """Check the rate."""
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
