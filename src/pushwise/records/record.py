"""`PushRecord`: a push and the measured motion of the object."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np

from pushwise.checks import finite_array, non_negative_number
from pushwise.errors import PushwiseError
from pushwise.physics.push import ForcePush, Push
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Noise", "PushRecord"]


@dataclass(frozen=True)
class Noise:
    """How accurate measurements are: one standard deviation for each kind."""

    position: float = 0.0
    """Of the positions x and y, and of the height [m]."""
    angle: float = 0.0
    """Of the angle theta, and of the tilt about each horizontal axis [rad]."""
    force: float = 0.0
    """Of each component of the force [N]."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        set_field = object.__setattr__
        for kind in ("position", "angle", "force"):
            set_field(self, kind, non_negative_number(f"noise {kind}", getattr(self, kind)))


@dataclass(frozen=True, eq=False, init=False)
class PushRecord:
    """One push and the object's motion: a whole trajectory, or only its start and end."""

    push: Push | ForcePush
    """The push: where the finger was, as far as that was measured, or else where it was to be."""
    t: Array
    """Times of the samples [s] since the push began, shape (T,), increasing, T >= 2."""
    pose: Array
    """Pose (x, y, theta) [m, m, rad] of the grid frame on the table, shape (T, 3).

    theta is unwrapped: it does not jump at pi, so that differences are rotations.
    """
    force: Array | None
    """Mean force of the finger on the object [N] in the table frame since the previous sample,
    shape (T, 2), if measured."""
    twist: Array
    """Twist (vx, vy, omega) [m/s, m/s, rad/s] of the grid origin at the first sample, shape (3,);
    zero for an object at rest."""
    noise: Noise | None
    """Noise of the measurements, if known."""
    fell: bool
    """Whether the object fell off the table; the record then ends where the fall began."""
    source: str
    """Where the record comes from, in words."""
    lift: Array | None = field(init=False)
    """Height of the grid origin above where it is when the object rests [m], and angle by which the
    object is tilted [rad], shape (T, 2), if measured; see `with_lift`."""

    def __init__(
        self,
        push: Push | ForcePush,
        t: ArrayLike,
        pose: ArrayLike,
        force: ArrayLike | None = None,
        *,
        twist: ArrayLike = (0.0, 0.0, 0.0),
        noise: Noise | None = None,
        fell: bool = False,
        source: str = "",
    ) -> None:
        """Check and copy the arrays."""
        if not isinstance(push, Push | ForcePush):
            raise PushwiseError(f"push must be a Push or a ForcePush; got {type(push).__name__}.")
        if not isinstance(noise, Noise | None):
            raise PushwiseError(f"noise must be a Noise or None; got {noise!r}.")
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
        set_field(self, "twist", finite_array("twist", twist, (3,)))
        set_field(self, "noise", noise)
        set_field(self, "fell", bool(fell))
        set_field(self, "source", source)
        set_field(self, "lift", None)

    @property
    def finger(self) -> Array | None:
        """The finger's centre [m] at each sample, table frame, shape (T, 2); None for a force."""
        return self.push.at(self.t) if isinstance(self.push, Push) else None

    def with_lift(self, lift: ArrayLike | None) -> Self:
        """Return the record with the measured height [m] and tilt [rad], shape (T, 2), or without.

        A tracker in six dimensions measures them. They show when a fast push lifts the object.
        """
        if lift is not None:
            lift = finite_array("lift", lift, (len(self.t), 2))
        measured = copy(self)
        object.__setattr__(measured, "lift", lift)
        return measured

    def without_force(self) -> Self:
        """Return the record as a camera alone would have made it."""
        seen = copy(self)
        object.__setattr__(seen, "force", None)
        return seen

    def called(self, index: int) -> str:
        """Return a name for this record, number `index` of several, for use in a sentence."""
        return f"push {index} ({self.source})" if self.source else f"push {index}"
