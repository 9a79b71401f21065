"""`FingerMotion`: where the finger goes, step by step: to a contact, and then along a push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Finger
from pushwise.planning.contact_routes import APPROACH_SPEED, ContactRoutes
from pushwise.planning.push_library import (
    DIRECTIONS,
    LOCAL_DIRECTIONS,
    PUSH_SPEED,
    STRIDE,
    LocalPushes,
    PushLibrary,
    seen_from,
)
from pushwise.planning.push_search import PlannedPush
from pushwise.planning.value import CONTACT_COST
from pushwise.sliding.push_outcomes import direction_of
from pushwise.typing import Array

__all__ = ["GAP", "NEAR", "FingerMotion"]

GAP = 0.003
"""Distance between finger and object where an approach ends [m]."""
NEAR = 0.015
"""Gap within which an outline may be wrong, and the finger touch [m]."""
_TOUCHED = 0.001  # m; a smaller gap counts as contact
_LOST = 0.006  # m; a larger gap is the end of a contact
_SEEK_SPEED = 0.1  # m/s until the object is touched
_SEEK = 0.03  # m of travel without touching it after which it is not there
_ACCELERATION = 0.5  # m/s^2 of a pushing finger
_BRAKING = 0.4  # m/s^2; an object that slows down more by itself does not glide ahead
_GLIDE = 0.01  # m; an object that slows down less by itself must not glide on farther
_FIRST_SPEED, _LAST_SPEED = 0.05, 0.01  # m/s
_RAISING = 0.4  # s to raise the finger and to lower it again
_SHORT = 2.0  # strides; a shorter first push is left out when the search continues from it
_NOTHING = 1e-4  # m of travel that are as good as none


@dataclass
class _Leg:
    """A part of a push in one direction, which turns with the object."""

    along: Array  # (2,) grid frame
    left: float  # m


class FingerMotion:
    """The finger of a controller."""

    def __init__(self, outline: Array, library: PushLibrary, finger: Finger) -> None:
        """Start with a finger that is up."""
        self._outline = np.ascontiguousarray(outline.T)
        self._library, self._radius = library, finger.radius
        self.place: Array | None = None
        """The finger's centre [m], table frame, shape (2,); None while it is up."""
        self.touching = False
        """Whether it touches the object."""
        self.travelled = 0.0
        """Travel in the current push [m]."""
        self._path: list[Array] = []
        self._in_air = 0.0  # s until it is lowered at the end of the path
        self._legs: list[_Leg] = []
        self._speed = 0.0
        self._met_at = 0.0  # m; the gap at which the object was touched

    @property
    def speed(self) -> float:
        """Speed of the finger in the current push [m/s]."""
        return self._speed

    @property
    def left(self) -> float:
        """Travel that is left of the push [m]."""
        return sum(leg.left for leg in self._legs)

    def move_to(self, place: ArrayLike | None) -> None:
        """Correct where the finger is (2,), table frame; None leaves it where it is."""
        if place is not None:
            self.place = np.array(finite_array("finger", place, (2,)))

    def start_of(self, push: PlannedPush, gap: float = GAP) -> Array:
        """Return where the finger starts a push (2,), grid frame: a gap [m] before it touches."""
        along = direction_of(self._library, push, None)
        back = gap / -float(along @ self._library.normals[push.contact])
        start: Array = self._library.contacts[push.contact] - back * along
        return start

    def begin_costs(self, pose: Array, routes: ContactRoutes) -> tuple[Array, int | None]:
        """Return what beginning at each contact costs [s], (C,), and the contact touched now.

        Args:
            pose: Where the object is, shape (3,).
            routes: The finger's ways around the object.

        """
        if self.place is None:
            return np.full(len(self._library.contacts), CONTACT_COST), None
        seen = seen_from(pose, self.place)
        costs = CONTACT_COST + routes.from_place(seen)
        if not self.touching:
            return costs, None
        here = self._library.nearest_contact(seen)
        costs[here] = 0.0
        return costs, here

    def begin(self, pushes: Sequence[PlannedPush], path: Array | None, *, raised: bool) -> None:
        """Begin pushes at one contact.

        Args:
            pushes: The pushes.
            path: Path of the finger to their start (w, 2), table frame; None where it is there.
            raised: Whether the finger goes there through the air.

        """
        self.redirect(pushes, None)
        self._speed, self.travelled = 0.0, 0.0
        if path is None:
            self._path = []
            return
        self.touching = False
        self._path = list(path)
        if raised and self.place is not None:
            self._in_air = _RAISING + float(np.hypot(*(path[-1] - self.place))) / APPROACH_SPEED
            self.place = None

    def redirect(self, pushes: Sequence[PlannedPush], local: LocalPushes | None) -> None:
        """Continue with other pushes."""
        self._legs = [
            _Leg(direction_of(self._library, push, local), STRIDE * push.travel)
            for push in pushes
            if push.travel > 0.0
        ]

    def pair_left(self, place: Array, local: LocalPushes) -> tuple[PlannedPush, ...]:
        """Return what is left of the push as two pushes at one contact, if anything is.

        Args:
            place: Where the finger is, grid frame, shape (2,).
            local: Pushes from there.

        """
        legs = [leg for leg in self._legs if leg.left > _NOTHING]
        if not legs:
            return ()
        here = len(self._library.contacts)
        contact = self._library.nearest_contact(place)
        first, second = legs[0], legs[-1]
        left = [leg.left / STRIDE for leg in (first, second)]
        longest = local.displacements.shape[1] - 1
        if first is second:
            # The second is there to be made longer, or the rest of one that is too long.
            left = [min(left[0], longest), max(left[0] - longest, 0.0)]
        elif left[0] > longest:
            here = contact
        elif left[0] < _SHORT:
            first, left = second, [min(left[1], longest), max(left[1] - longest, 0.0)]
        at_contact = self._library.normals[contact], DIRECTIONS
        at_first = at_contact if here == contact else (local.normal, LOCAL_DIRECTIONS)
        return (
            PlannedPush(here, _index_of(first.along, *at_first), left[0]),
            PlannedPush(contact, _index_of(second.along, *at_contact), left[1]),
        )

    def approach(self, period: float) -> bool:
        """Move for a period [s] on the way to a contact; return whether the finger is there."""
        if self.place is None:
            self._in_air -= period
            if self._in_air <= 0.0:
                self.place, self._path = self._path[-1], []
            return not self._path
        left = APPROACH_SPEED * period
        while self._path and left > 0.0:
            ahead = self._path[0] - self.place
            length = float(np.hypot(*ahead))
            if length <= left:
                self.place = self._path.pop(0)
            else:
                self.place = self.place + left / length * ahead
            left -= length
        return not self._path

    def gap(self, pose: Array) -> float:
        """Return the distance [m] between the finger and the outline at a pose (3,)."""
        assert self.place is not None
        seen = seen_from(pose, self.place)
        return float(nearest_feature(seen[0], seen[1], *self._outline)[1]) - self._radius

    def follow_contact(self, pose: Array, *, moves: bool) -> bool:
        """Note whether the finger touches the object at a pose (3,); return False if it lost it.

        An object that moves is touched, although its outline is not there yet.
        """
        gap = self.gap(pose)
        if self.touching:
            self.touching = gap < self._met_at + _LOST
            return self.touching
        self.touching = gap < _TOUCHED or (moves and gap < NEAR)
        if self.touching:
            self.travelled, self._met_at = 0.0, max(gap, 0.0)
        return self.touching or self.travelled < _SEEK

    def advance(self, pose: Array, period: float, braking: float = np.inf) -> bool:
        """Push on for a period [s]; return False if the push is over.

        Args:
            pose: Where the object is, shape (3,).
            period: Time to push [s].
            braking: Deceleration of the object where the finger stops [m/s^2].

        """
        assert self.place is not None
        left = self.left
        if left < _NOTHING:
            return False
        if not self.touching:
            step = _SEEK_SPEED * period
            self.place = self.place + step * _turned(self._legs[0].along, pose[2])
            self.travelled += step
            return True
        # An object must not be faster than it can stop: it would glide on by v^2 / (2 mu g).
        fastest = float(np.sqrt(2.0 * min(braking, _BRAKING) * left))
        if braking < _BRAKING:
            fastest = min(fastest, float(np.sqrt(2.0 * braking * _GLIDE)))
        faster = max(self._speed, _FIRST_SPEED) + _ACCELERATION * period
        self._speed = min(PUSH_SPEED, faster, max(fastest, _LAST_SPEED))
        step = min(self._speed * period, left)
        while step > 0.0 and self._legs:
            leg = self._legs[0]
            part = min(step, leg.left)
            self.place = self.place + part * _turned(leg.along, pose[2])
            self.travelled += part
            leg.left -= part
            step -= part
            if leg.left <= 0.0:
                self._legs.pop(0)
        return True

    def stop(self) -> None:
        """End the push."""
        self._legs, self._speed = [], 0.0

    def lift(self) -> None:
        """Forget the push and where the finger is: it is up."""
        self.stop()
        self.place, self.touching, self._path, self._in_air = None, False, [], 0.0

    def stop_at(self, place: Array) -> None:
        """Go back on the last step, which was not made: stay at a place (2,)."""
        self.place = place


def _index_of(along: Array, normal: Array, turns: Sequence[float]) -> float:
    """Return the index, or between two, of a direction (2,) among turns from an inward normal."""
    turn = np.arctan2(along[0] * normal[1] - along[1] * normal[0], -float(along @ normal))
    return float(np.interp(turn, turns, np.arange(len(turns))))


def _turned(vector: Array, theta: float) -> Array:
    """Return a vector (2,) of the grid frame in table axes."""
    turned: Array = placed(vector[None], np.array([0.0, 0.0, theta]))[0]
    return turned
