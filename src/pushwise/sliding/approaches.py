"""`Approaches`: how the finger comes to the start of a push without touching the object.

An object may be larger than it was seen to be. Whenever the finger touches it on the way, or does
not fit where it should be set down, later approaches keep farther away, where there is room.
"""

from __future__ import annotations

from collections.abc import Sequence

from pushwise.geometry.polygon import outline_distance, outline_distances, placed
from pushwise.physics.push import Finger
from pushwise.planning.approach import Approach
from pushwise.planning.push_library import PushLibrary
from pushwise.planning.push_search import PlannedPush
from pushwise.sliding.finger_motion import GAP, FingerMotion
from pushwise.typing import Array

__all__ = ["Approaches"]

_NODES = 4  # every fourth contact is a corner of approaches
_FARTHER = 0.003  # m that are kept more after a touch
_FARTHEST = 0.012  # m that are kept more at most
_TOUCHES = 2  # approaches that touch the object before the next one is through the air


class Approaches:
    """The finger's ways to the starts of pushes."""

    def __init__(
        self, outline: Array, library: PushLibrary, obstacles: Sequence[Array], finger: Finger
    ) -> None:
        """Prepare for an outline (k, 2) [m], grid frame, and what the finger must not touch."""
        self._outline, self._library = outline, library
        self._obstacles, self._finger = obstacles, finger
        self._usual = self._kept = self._at(0.0)
        self._margin = 0.0
        self._touches = 0  # approaches, one after the other, that touched the object on their way

    @property
    def hemmed_in(self) -> bool:
        """Whether the last approaches touched the object, which may be in the way of others too."""
        return self._touches >= _TOUCHES

    def forget(self) -> None:
        """Trust the outline again."""
        self._margin, self._kept, self._touches = 0.0, self._usual, 0

    def arrived(self) -> None:
        """Note that an approach touched nothing."""
        self._touches = 0

    def touched(self) -> None:
        """Note that an approach touched the object, or nearly so, and keep farther away."""
        self._touches += 1
        self.keep_away()

    def keep_away(self) -> None:
        """Keep farther away from now on."""
        self._margin = min(self._margin + _FARTHER, _FARTHEST)
        self._kept = self._at(self._margin)

    def start(self, push: PlannedPush, motion: FingerMotion, pose: Array) -> Array:
        """Return where the finger starts a push (2,), table frame, the object at a pose (3,)."""
        start = motion.start_of(push, GAP + self._margin)
        if self._margin and outline_distance(self._outline, start) < self._finger.radius + GAP:
            start = motion.start_of(push)  # on the other side of a hollow
        there: Array = placed(start[None], pose)[0]
        return there

    def path(self, push: PlannedPush, motion: FingerMotion, pose: Array) -> Array | None:
        """Return the path (w, 2) to the start of a push, table frame; None if it is blocked.

        A finger that is up is set down there.
        """
        start = self.start(push, motion, pose)
        if motion.place is None:
            return start[None]
        path = self._kept.path(pose, motion.place, start)
        if path is None and self._margin:
            start = placed(motion.start_of(push)[None], pose)[0]
            path = self._usual.path(pose, motion.place, start)
        return path

    def _at(self, margin: float) -> Approach:
        """Return paths that keep farther away from the object by a margin [m]."""
        library = self._library
        starts = (library.contacts + (GAP + margin) * library.normals)[::_NODES]
        if margin:
            apart = outline_distances(self._outline, starts)
            starts = starts[apart >= self._finger.radius + GAP]
        return Approach(self._outline, starts, self._obstacles, self._finger, margin=margin)
