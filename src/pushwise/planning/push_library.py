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
from pushwise.geometry.polygon import placed
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulator import Simulator
from pushwise.physics.stride_pushes import StrideOptions, StrideOutcomes, stride_pushes
from pushwise.typing import Array, Integers

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
    "seen_poses",
    "strides_of",
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
TIME_STEP = 0.002 / PUSH_SPEED  # s; finer steps change the end of a push by less than 0.1 mm
_TOUCH = 1e-6  # m between finger and outline at the start
_ROOM = 0.0025  # m around a contact into which the finger must fit as well
_OVERLAP = 5e-4  # m; what outlines that are not quite straight may lack there
_STRIDES = StrideOptions(
    length=STRIDE,
    dt=STRIDE / PUSH_SPEED,
    lost=2,
    slide=0.03,
    turn=3.4,  # half a turn is enough
)


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
        most = round(LONGEST / STRIDE)
        every = np.full(len(starts), most)
        at = np.zeros((len(starts), 3))
        poses, fingers, counts = strides_of(simulator, at, starts, along, every)
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


def local_pushes(
    library: PushLibrary, simulator: Simulator, pose: Array, place: Array
) -> LocalPushes:
    """Simulate pushes from where the finger is, with what the table carries of the object there.

    Args:
        library: The pushes of the object.
        simulator: The object on its table.
        pose: Where it is [m, m, rad], shape (3,).
        place: Where the finger touches it, grid frame, shape (2,).

    """
    outline = simulator.prepared.body.ox, simulator.prepared.body.oy
    feature, away = nearest_feature(place[0], place[1], *outline)
    _, nx, ny, _ = feature_normal(feature, place[0], place[1], *outline)
    normal = np.array([nx, ny])
    # Noise may have put the finger into the object.
    start = place + max(simulator.finger.radius + _TOUCH - away, 0.0) * normal
    along = push_directions(normal[None], np.array(LOCAL_DIRECTIONS))[0]
    starts = np.repeat(placed(start[None], pose), len(along), axis=0)
    every, at = np.full(len(along), _LOCAL_STRIDES), np.repeat(pose[None], len(along), axis=0)
    found = strides_of(simulator, at, starts, along, every)
    moved, paths = seen_poses(pose, found.poses), seen_from(pose, found.fingers)
    ends_at = _nearest_contacts(library.contacts, moved, paths)
    return LocalPushes(normal, moved, paths, found.counts, ends_at)


def strides_of(
    simulator: Simulator, poses: Array, starts: Array, along: Array, most: Integers
) -> StrideOutcomes:
    """Simulate pushes as those of a library; arguments as for `stride_pushes`."""
    return stride_pushes(simulator, poses, starts, along, most=most, options=_STRIDES)


def seen_from(poses: Array, points: Array) -> Array:
    """Return points (..., 2) as objects at poses (..., 3) see them."""
    cos, sin = np.cos(poses[..., 2]), np.sin(poses[..., 2])
    dx, dy = points[..., 0] - poses[..., 0], points[..., 1] - poses[..., 1]
    return np.stack([cos * dx + sin * dy, cos * dy - sin * dx], axis=-1)


def seen_poses(pose: Array, poses: Array) -> Array:
    """Return poses (..., 3) as an object at a pose (3,) sees them."""
    return np.concatenate([seen_from(pose, poses[..., :2]), poses[..., 2:] - pose[2]], axis=-1)


def _nearest_contacts(contacts: Array, poses: Array, fingers: Array) -> Integers:
    """Return the contact nearest to each place of the finger, shape (B, T)."""
    seen = seen_from(poses, fingers)
    nearest = np.empty(seen.shape[:-1], np.int64)
    for i, places in enumerate(seen):
        apart = np.sum((places[:, None] - contacts) ** 2, axis=-1)
        nearest[i] = np.argmin(apart, axis=1)
    return nearest
