"""`PushRecord`: a push and what was seen to happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.physics.actions import ForcePush, Push

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["PushRecord"]


@dataclass(frozen=True, eq=False, init=False)
class PushRecord:
    """One push and the object's motion under it: a whole trajectory, or start and end alone."""

    push: Push | ForcePush
    """What was done."""
    t: NDArray[np.float64]
    """Times of the samples [s] since the push began, shape (T,), increasing, T >= 2."""
    pose: NDArray[np.float64]
    """Pose (x, y, theta) [m, m, rad] of the grid frame on the table, shape (T, 3).

    theta is unwrapped: it counts on past pi, so that differences are rotations.
    """
    force: NDArray[np.float64] | None
    """Force of the finger on the object [N] in the table frame, shape (T, 2), if measured."""

    def __init__(
        self,
        push: Push | ForcePush,
        t: ArrayLike,
        pose: ArrayLike,
        force: ArrayLike | None = None,
    ) -> None:
        """Check and copy the arrays."""
        if not isinstance(push, Push | ForcePush):
            raise PushwiseError(f"push must be a Push or a ForcePush; got {type(push).__name__}.")
        set_field = object.__setattr__
        set_field(self, "push", push)
        set_field(self, "t", finite_array("t", t, ("T",)))
        samples = len(self.t)
        if samples < 2:
            raise PushwiseError(f"t must have at least two times, start and end; got {samples}.")
        step = np.diff(self.t)
        if not (step > 0.0).all():
            at = int(np.argmin(step > 0.0))
            raise PushwiseError(
                f"t must increase; t[{at + 1}] = {self.t[at + 1]:g} follows {self.t[at]:g}."
            )
        set_field(self, "pose", finite_array("pose", pose, (samples, 3)))
        if force is not None:
            force = finite_array("force", force, (samples, 2))
        set_field(self, "force", force)
