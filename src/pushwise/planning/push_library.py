"""`PushLibrary`: what pushes do to an object, seen from the object.

On a table without an edge in reach, a push is the same at every pose. So the pushes are simulated
once: contacts all along the outline, a few directions at each, and every travel of the finger. The
direction of a push is fixed in the frame of the object, not of the table: the finger turns with the
object, as a controller with feedback makes it do. Where the contact sticks, the object then moves
along an arc, and a push can be long. Where the finger slides, the push ends once it has left the
object or has slid far from its contact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.motion_state import MotionState
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import Mode
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array, Flags, Integers

__all__ = [
    "DIRECTIONS",
    "LOCAL_DIRECTIONS",
    "PUSH_SPEED",
    "STRIDE",
    "TIME_STEP",
    "LocalPushes",
    "PushLibrary",
    "contour_points",
    "local_pushes",
    "push_directions",
    "seen_from",
]

PUSH_SPEED = 0.2
"""Speed of the finger in a push [m/s]."""
STRIDE = 0.005
"""Travel of the finger between two poses of a push [m]; it turns with the object as often."""
SPACING = 0.008  # m of outline between contacts
DIRECTIONS = (-0.5, -0.2, 0.0, 0.2, 0.5)  # rad from the inward normal; positive is to the left
LOCAL_DIRECTIONS = (-0.6, -0.35, -0.15, 0.0, 0.15, 0.35, 0.6)  # rad
_LOCAL_STRIDES = 12
LONGEST = 0.8  # m of travel
_MOST_TURN = 3.4  # rad that a push turns the object; half a turn is enough
_FARTHEST_SLIDE = 0.03  # m along the outline
TIME_STEP = 0.002 / PUSH_SPEED  # s; finer steps change the end of a push by less than 0.1 mm
_TOUCH = 1e-6  # m between finger and outline at the start
_ROOM = 0.0025  # m around a contact into which the finger must fit as well
_OVERLAP = 5e-4  # m; what outlines that are not quite straight may lack there
_LOST = 2  # strides without contact after which a push is over


@dataclass(frozen=True, eq=False)
class PushLibrary:
    """Simulated pushes of one object by one finger; C contacts, D directions, T travels."""

    contacts: Array
    """The finger's centre where it touches [m], grid frame, shape (C, 2), along the outline."""
    normals: Array
    """Outward normals of the outline there, shape (C, 2)."""
    directions: Array
    """Angle of the push from the inward normal, in the grid frame [rad], shape (D,)."""
    displacements: Array
    """Pose of the object after a travel, in its own frame before the push [m, m, rad], shape
    (C, D, T, 3); travel k is k times `STRIDE`."""
    paths: Array
    """The finger's centre then [m], in the same frame, shape (C, D, T, 2)."""
    counts: Integers
    """How many travels of each push are valid, shape (C, D), at least 1: the first is no push."""
    ends_at: Integers
    """Index of the contact nearest to where the finger then is, shape (C, D, T)."""

    @classmethod
    def of(cls, model: ObjectModel, finger: Finger) -> PushLibrary:
        """Simulate the pushes of a model.

        Raises:
            PushwiseError: If the finger fits nowhere along the outline.

        """
        contacts, normals = contour_points(model.grid.outline, finger)
        simulator = Simulator(model, finger=finger, physics=Physics(dt=TIME_STEP))
        turns = np.array(DIRECTIONS)
        along = push_directions(normals, turns).reshape(-1, 2)
        starts = np.repeat(contacts, len(turns), axis=0)
        poses, fingers, counts = _pushed(simulator, starts, along, round(LONGEST / STRIDE))
        shape = len(contacts), len(turns)
        return cls(
            contacts,
            normals,
            turns,
            poses.reshape(*shape, -1, 3),
            fingers.reshape(*shape, -1, 2),
            counts.reshape(shape),
            _nearest_contacts(contacts, poses, fingers).reshape(*shape, -1),
        )

    def nearest_contact(self, place: Array) -> int:
        """Return the index of the contact nearest to a place (2,) of the grid frame."""
        return int(np.argmin(np.sum((self.contacts - place) ** 2, axis=1)))

    def push(self, contact: int, direction: int, travel: int, speed: float = PUSH_SPEED) -> Push:
        """Return a push of an object at pose (0, 0, 0) as a path of the finger."""
        path = self.paths[contact, direction, : travel + 1]
        return Push(STRIDE / speed * np.arange(travel + 1.0), path)


def contour_points(outline: Array, finger: Finger) -> tuple[Array, Array]:
    """Return places where the finger touches an outline (k, 2), and the normals, (C, 2) each.

    They are at most 8 mm apart along each side; those where the finger does not fit, or only just,
    are left out: in a hollow hardly wider than the finger, noise decides which side it touches.
    """
    corners = np.ascontiguousarray(outline.T)
    places, normals = [], []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        count = int(np.ceil(length / SPACING))
        share = (np.arange(count) + 0.5) / count
        normal = np.array([b[1] - a[1], a[0] - b[0]]) / length
        aside = _ROOM * (b - a) / length
        for point in a + share[:, None] * (b - a) + (finger.radius + _TOUCH) * normal:
            around = (point, point - aside, point + aside, point + _ROOM * normal)
            away = [nearest_feature(x, y, *corners)[1] for x, y in around]
            if away[0] > finger.radius and min(away) > finger.radius - _OVERLAP:
                places.append(point)
                normals.append(normal)
    if not places:
        raise PushwiseError(
            f"a finger of radius {finger.radius:g} m touches the outline nowhere without "
            "overlapping it elsewhere; use a thinner finger."
        )
    return np.array(places), np.array(normals)


def push_directions(normals: Array, turns: Array) -> Array:
    """Return directions of pushes against outward normals (C, 2), turned, shape (C, D, 2)."""
    cos, sin = np.cos(turns), np.sin(turns)
    nx, ny = -normals[:, None, 0], -normals[:, None, 1]
    found: Array = np.stack([cos * nx - sin * ny, sin * nx + cos * ny], axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class LocalPushes:
    """Pushes from where the finger is, between two contacts of a library or on a corner."""

    normal: Array
    """Outward normal of the outline there, grid frame, shape (2,)."""
    displacements: Array
    """As in `PushLibrary`, shape (D, T, 3)."""
    paths: Array
    """As in `PushLibrary`, shape (D, T, 2)."""
    counts: Integers
    """Number of valid travels, shape (D,)."""
    ends_at: Integers
    """Nearest contact of the library, shape (D, T)."""


def local_pushes(library: PushLibrary, simulator: Simulator, place: Array) -> LocalPushes:
    """Simulate pushes of a finger at a place (2,) of the grid frame that touches the object."""
    outline = simulator.prepared.body.ox, simulator.prepared.body.oy
    feature, away = nearest_feature(place[0], place[1], *outline)
    _, nx, ny, _ = feature_normal(feature, place[0], place[1], *outline)
    normal = np.array([nx, ny])
    # Noise may have put the finger into the object.
    start = place + max(simulator.finger.radius + _TOUCH - away, 0.0) * normal
    along = push_directions(normal[None], np.array(LOCAL_DIRECTIONS))[0]
    starts = np.repeat(start[None], len(along), axis=0)
    poses, fingers, counts = _pushed(simulator, starts, along, _LOCAL_STRIDES)
    ends_at = _nearest_contacts(library.contacts, poses, fingers)
    return LocalPushes(normal, poses, fingers, counts, ends_at)


def _pushed(
    simulator: Simulator, starts: Array, along: Array, strides: int
) -> tuple[Array, Array, Integers]:
    """Return poses (B, T, 3), finger places (B, T, 2) and valid travels (B,) of pushes.

    Args:
        simulator: The object on a table without an edge.
        starts: Where the finger starts [m], shape (B, 2).
        along: Directions of the pushes as the object sees them, shape (B, 2).
        strides: Longest travel.

    """
    size, most = len(starts), strides + 1
    poses, fingers = np.zeros((size, most, 3)), np.zeros((size, most, 2))
    fingers[:, 0] = starts
    counts = np.ones(size, np.int64)
    lost = np.zeros(size, np.int64)
    dt = STRIDE / PUSH_SPEED
    going = np.arange(size)
    # The finger is set down first; this takes a moment in which nothing moves.
    state = simulator.step(simulator.start(np.zeros((size, 3))), starts, 1e-6)
    for k in range(1, most):
        turn = poses[going, k - 1, 2]
        cos, sin = np.cos(turn), np.sin(turn)
        ux, uy = along[going].T
        step = STRIDE * np.column_stack([cos * ux - sin * uy, sin * ux + cos * uy])
        fingers[going, k] = fingers[going, k - 1] + step
        state = simulator.step(state, fingers[going, k], dt)
        poses[going, k] = state.pose
        lost[going] = np.where(state.mode == Mode.SEPARATE, lost[going] + 1, 0)
        held = _held(state, starts[going]) & (lost[going] < _LOST)
        counts[going[held]] = k + 1
        if not held.any():
            break
        going, state = going[held], state[held]
    used = int(counts.max())
    for i in range(size):  # after its end, a push stays where it ended
        poses[i, counts[i] : used] = poses[i, counts[i] - 1]
        fingers[i, counts[i] : used] = fingers[i, counts[i] - 1]
    return poses[:, :used], fingers[:, :used], counts


def _held(state: MotionState, starts: Array) -> Flags:
    """Return which pushes continue, shape (B,).

    Not those that are jammed or wedged, whose outcome is hard to predict, that have slid far, or
    that have turned the object by half a turn.
    """
    slid = np.hypot(*(seen_from(state.pose, state.finger) - starts).T)
    held: Flags = (
        (state.jams == 0)
        & ~state.inside
        & (state.mode < Mode.WEDGED)
        & (slid < _FARTHEST_SLIDE)
        & (np.abs(state.pose[:, 2]) < _MOST_TURN)
    )
    return held


def seen_from(poses: Array, points: Array) -> Array:
    """Return points (..., 2) as objects at poses (..., 3) see them."""
    cos, sin = np.cos(poses[..., 2]), np.sin(poses[..., 2])
    dx, dy = points[..., 0] - poses[..., 0], points[..., 1] - poses[..., 1]
    return np.stack([cos * dx + sin * dy, cos * dy - sin * dx], axis=-1)


def _nearest_contacts(contacts: Array, poses: Array, fingers: Array) -> Integers:
    """Return the contact nearest to each place of the finger, shape (B, T)."""
    seen = seen_from(poses, fingers)
    nearest = np.empty(seen.shape[:-1], np.int64)
    for i, places in enumerate(seen):
        apart = np.sum((places[:, None] - contacts) ** 2, axis=-1)
        nearest[i] = np.argmin(apart, axis=1)
    return nearest
