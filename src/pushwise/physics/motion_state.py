"""`MotionState`: where an object and the finger are and how they move, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.physics.kernels.control_step import COLUMNS, DOWN, FINGER, JAMS, RAISED, STATUS, TIME
from pushwise.physics.kernels.rollout import STARTED_INSIDE, TIPPED
from pushwise.typing import Array, Flags, Integers

__all__ = ["MotionState", "frozen_state"]


@dataclass(frozen=True, eq=False)
class MotionState:
    """The state of an object and of the finger that pushes it, or of many: a value.

    Simulating on from a state that was kept, or saved and read again, gives the same numbers to the
    last bit, in the middle of a contact as well.
    """

    numbers: Array
    """All of it, shape (23,), or (B, 23) for many states; `to_json` names the columns."""

    @property
    def pose(self) -> Array:
        """Pose (x, y, theta) of the grid frame [m, m, rad], shape (3,) or (B, 3)."""
        return self._columns(0, 3)

    @property
    def twist(self) -> Array:
        """Twist (vx, vy, omega) of the grid origin [m/s, m/s, rad/s], shape (3,) or (B, 3)."""
        return self._columns(3, 6)

    @property
    def force(self) -> Array:
        """Mean force of the finger on the object in the last time step [N], (2,) or (B, 2)."""
        return self._columns(9, 11)

    @property
    def finger(self) -> Array:
        """The finger's centre [m], shape (2,) or (B, 2); where it was last if it is raised."""
        return self._columns(FINGER, FINGER + 2)

    @property
    def finger_is_down(self) -> Flags:
        """Whether there is a finger on the table, shape () or (B,)."""
        return np.asarray(self.numbers[..., DOWN] != RAISED)

    @property
    def mode(self) -> Integers:
        """`Mode` of the last time step, shape () or (B,)."""
        return np.asarray(self.numbers[..., 6].astype(np.int64))

    @property
    def tipped(self) -> Flags:
        """Whether the object has tipped over the table's edge, shape () or (B,)."""
        return np.asarray(self.numbers[..., STATUS] == TIPPED)

    @property
    def inside(self) -> Flags:
        """Whether a finger was lowered deep into the object, shape () or (B,)."""
        return np.asarray(self.numbers[..., STATUS] == STARTED_INSIDE)

    @property
    def jams(self) -> Integers:
        """Number of time steps until now in which no contact mode had a solution, () or (B,)."""
        return np.asarray(self.numbers[..., JAMS].astype(np.int64))

    @property
    def t(self) -> Array:
        """Time since the start [s], shape () or (B,)."""
        return np.asarray(self.numbers[..., TIME])

    def _columns(self, first: int, last: int) -> Array:
        found: Array = self.numbers[..., first:last]
        return found

    def __len__(self) -> int:
        """Count the states of many."""
        return len(np.atleast_2d(self.numbers))

    def __getitem__(self, index: Any) -> MotionState:
        """Return one of many states, or some of them."""
        return frozen_state(np.atleast_2d(self.numbers)[index])

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON can hold it, exactly."""
        return {"columns": list(COLUMNS), "numbers": self.numbers.tolist()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Return a state that `to_json` wrote."""
        if not isinstance(document, Mapping) or list(document.get("columns", ())) != [*COLUMNS]:
            raise PushwiseError(
                f"a state must have the columns {', '.join(COLUMNS)}; got {document!r:.80}."
            )
        numbers = np.asarray(document["numbers"])
        shape = (len(COLUMNS),) if numbers.ndim == 1 else ("B", len(COLUMNS))
        return cls(finite_array("numbers of a state", numbers, shape))


def frozen_state(numbers: Array) -> MotionState:
    """Return a state with a copy of some numbers, shape (23,) or (B, 23)."""
    numbers = np.array(numbers)
    numbers.flags.writeable = False
    return MotionState(numbers)
