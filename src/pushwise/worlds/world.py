"""`World`: anything that can look at an object and push it, a robot or a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pushwise.checks import finite_array
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pushwise.physics.push import Push
    from pushwise.records.record import PushRecord

__all__ = ["Observation", "World"]


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


@runtime_checkable
class World(Protocol):
    """A place where a push really happens."""

    def observe(self) -> Observation:
        """Look at the object."""

    def push(self, push: Push) -> PushRecord:
        """Carry out a push, wait until the object rests, and tell what happened."""

    def reset(self, seed: int) -> None:
        """Put the object back where it started; `seed` decides all that is random from here."""
