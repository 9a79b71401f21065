"""`Pusher`: evaluates pushes in the model, each simulated once.

- Seen from the object, a push is the same anywhere on the table. So its simulation is kept and
  reused at every other pose, except where the object would leave the table.
- A push that stops earlier is the beginning of a longer one. So one simulation shows the result of
  every duration, except for the coasting after the stop, a millimetre or two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.polygon import outline_distances, placed
from pushwise.physics.model import Physics
from pushwise.physics.prepared import (
    Ending,
    PreparedObject,
    action_of,
    clock_of,
    time_step,
)
from pushwise.physics.push import Finger, Push
from pushwise.planning.approach import Approach
from pushwise.planning.deadline import Deadline
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.support_polygon import CellsOnTable
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Flags

__all__ = ["Candidate", "Pusher", "contacts"]


GAP = 0.003  # m between finger and object at the start
SPEED = 0.1  # m/s of the finger
MAX_TRAVEL = 0.3  # m of the finger in a push
_STEP = 0.002  # m the finger moves in a step of a trial; the end changes by less than 0.1 mm
_CLEARANCES = (0.015, 0.01, 0.005)  # m kept from obstacles, where the goal allows it
_CLOSE = 0.01  # m kept from obstacles when a push deviates
_FAR = 0.15  # m from obstacles throughout: no push deviates as far
_LOOK = 4  # steps between the poses that are checked


class _Deviation(NamedTuple):
    """How a push may differ from the planned one."""

    aside: float
    """Offset of the finger to the left of its planned path [m]."""
    grip: float
    """Its friction relative to the belief."""


_NONE = _Deviation(0.0, 1.0)
# Near obstacles these must be safe, too. A push through an unstable equilibrium turns left or right
# by chance: in MuJoCo one ended 33 mm from its prediction, as if it had begun 0.7 mm aside. And
# whether a finger jammed in a hollow (a wrench's jaw) sticks or slips is unpredictable: 150 mm.
_DEVIATIONS = (_Deviation(-0.002, 1.0), _Deviation(0.002, 1.0), _Deviation(0.0, 1.0 / 3.0))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A push that was simulated from a pose."""

    contact: int
    """Index of the contact."""
    turn: float
    """Angle between the push and the inward normal [rad]."""
    duration: float
    """Duration of the push [s]."""
    end: Array
    """Pose in which the object stops, shape (3,)."""
    gap: float
    """Distance of its cells to the target [m]."""


@compiled
def _move(
    poses: Array, x: float, y: float, theta: float, cells: CellsOnTable, found: Array
) -> bool:
    """Fill in `found`, poses (k, 3) seen from an object at a pose; return whether all are inland.

    Inland all of the object is on the table however it turns, so that a push moves it as it would
    anywhere else.
    """
    cos = np.cos(theta)
    sin = np.sin(theta)
    inland = True
    for i in range(poses.shape[0]):
        found[i, 0] = x + cos * poses[i, 0] - sin * poses[i, 1]
        found[i, 1] = y + sin * poses[i, 0] + cos * poses[i, 1]
        found[i, 2] = theta + poses[i, 2]
        if inland:
            _, d = nearest_feature(found[i, 0], found[i, 1], cells.table_x, cells.table_y)
            inland = -d > cells.reach
    return inland


@compiled
def _measure(
    poses: Array, target: Array, centroid: Array, mean_square: float, found: Array
) -> None:
    """Fill in the `cell_distance` (k,) of poses (k, 3) from a target (3,)."""
    x = centroid[0]
    y = centroid[1]
    tx = target[0] + np.cos(target[2]) * x - np.sin(target[2]) * y
    ty = target[1] + np.sin(target[2]) * x + np.cos(target[2]) * y
    for i in range(poses.shape[0]):
        cos = np.cos(poses[i, 2])
        sin = np.sin(poses[i, 2])
        dx = poses[i, 0] + cos * x - sin * y - tx
        dy = poses[i, 1] + sin * x + cos * y - ty
        turn = 1.0 - np.cos(poses[i, 2] - target[2])
        found[i] = np.sqrt(dx * dx + dy * dy + 2.0 * mean_square * turn)


def contacts(grid: CellGrid, finger: Finger) -> tuple[Array, Array]:
    """Return where the finger starts and the outward normals, shape (b, 2) each, grid frame.

    There is one contact per outer cell, in their order along the outline: the finger is moved along
    the cell's normal until it is clear of the outline.
    """
    starts = []
    bx, by = np.ascontiguousarray(grid.outline.T)
    clear = finger.radius + GAP
    for cell, normal in zip(grid.boundary, grid.normals, strict=True):
        point = grid.centres[cell]
        # Moving by the distance to the outline never crosses it.
        while (away := nearest_feature(point[0], point[1], bx, by)[1]) < clear - 1e-6:
            point = point + max(clear - away, 1e-4) * normal
        starts.append(point)
    return np.array(starts), np.array(grid.normals)


class Pusher:
    """Evaluates pushes of a model within free space, and counts simulations."""

    def __init__(
        self,
        free: FreeSpace,
        finger: Finger,
        goal: Array,
        *,
        deadline: Deadline | None = None,
    ) -> None:
        """Prepare the model for all simulations on the way to a goal (3,), up to a deadline."""
        self.free = free
        self.model = free.balance.model
        self.grid = self.model.grid
        self.finger = finger
        self.simulations = 0
        self.starts, self.normals = contacts(self.grid, finger)
        self.approach = Approach(self.grid.outline, self.starts, free.obstacles, finger)
        self.place: Array | None = None
        """Where the finger is [m], shape (2,); None while it is raised."""
        self.enclosed = 0
        """Number of pushes whose start the finger could not reach along the table."""
        self._deadline = deadline
        kept = (gap for gap in _CLEARANCES if free(goal[None], clearance=gap)[0])
        self._clearance = next(kept, 0.0)
        self._physics = Physics()
        self._table = PreparedObject.of(self.model, free.balance.table, self._physics)
        self._plane = PreparedObject.of(self.model, None, self._physics)
        self._centroid = self.grid.centres.mean(axis=0)
        arms = self.grid.centres - self._centroid
        self._mean_square = float(np.mean(np.sum(arms**2, axis=1)))
        # What was simulated, seen from where the object was before: times (k,), poses (k, 3).
        self._seen: dict[tuple[int, float, float, bool, _Deviation], tuple[Array, Array]] = {}

    def gap(self, pose: Array, target: Array) -> float:
        """Return the distance of the cells between two poses (3,) [m]."""
        return float(self._gaps(pose[None], target)[0])

    def until_nearest(
        self, pose: Array, target: Array, contact: int, turn: float = 0.0
    ) -> Candidate | None:
        """Push at a contact, against its normal turned by `turn` [rad], until the gap is least.

        None when the push never gets closer than at its start, or its path is not free.
        """
        t, poses = self._outcome(pose, contact, turn, MAX_TRAVEL, settle=False)
        if len(t) < 2:
            return None
        gaps = self._gaps(poses, target)
        if gaps.min() >= gaps[0]:
            return None
        good = self._passable(self.ray(pose, contact, turn), t, poses)
        good &= t <= self._safe_until(pose, contact, turn, MAX_TRAVEL, poses)
        best = int(np.argmin(np.where(good, gaps, np.inf)))
        if gaps[best] >= gaps[0]:
            return None
        return Candidate(contact, turn, float(t[best]), poses[best], float(gaps[best]))

    def for_travel(
        self, pose: Array, target: Array, contact: int, travel: float
    ) -> Candidate | None:
        """Push at a contact, against its normal, for a travel [m], until the object rests.

        None when the push would bring the object closer but its path is not free.
        """
        t, poses = self._outcome(pose, contact, 0.0, travel, settle=True)
        if len(t) < 2:
            return None
        before, after = self._gaps(poses[[0, -1]], target)
        duration = (travel + GAP) / SPEED
        if after < before and not (
            self._passable(self.ray(pose, contact, 0.0), t, poses)[-1]
            and duration <= self._safe_until(pose, contact, 0.0, travel, poses)
        ):
            return None
        return Candidate(contact, 0.0, duration, poses[-1], float(after))

    def settled(self, pose: Array, target: Array, tried: Candidate) -> Candidate | None:
        """Return a candidate with the pose in which the object comes to rest; None if not free."""
        push = self.push(pose, tried)
        t, poses = self._rolled(pose, push, self.finger, settle=True, edge=True)
        ray = (push.start, push.velocity)
        if len(t) < 2 or not self._passable(ray, t, poses)[-1]:
            return None
        return replace(tried, end=poses[-1], gap=self.gap(poses[-1], target))

    def push(self, pose: Array, tried: Candidate) -> Push:
        """Return a candidate of a pose as a push."""
        return Push.line(*self.ray(pose, tried.contact, tried.turn), tried.duration)

    def ray(self, pose: Array, contact: int, turn: float) -> tuple[Array, Array]:
        """Return where a push at a contact starts [m] and its velocity [m/s], (2,) each."""
        cos, sin = np.cos(pose[2] + turn), np.sin(pose[2] + turn)
        nx, ny = self.normals[contact]
        start = placed(self.starts[contact][None], pose)[0]
        return start, -SPEED * np.array([cos * nx - sin * ny, sin * nx + cos * ny])

    def approach_to(self, pose: Array, push: Push) -> Array | None:
        """Return the finger's path to the start of a push, shape (w, 2); None if there is none."""
        if self.place is None:
            return push.start[None].copy()
        path = self.approach.path(pose, self.place, push.start)
        self.enclosed += path is None
        return path

    def _gaps(self, poses: Array, target: Array) -> Array:
        """Return the distance of the cells at poses (k, 3) from a target (3,) [m], shape (k,)."""
        found = np.empty(len(poses))
        _measure(np.array(poses), np.array(target), self._centroid, self._mean_square, found)
        return found

    def _safe_until(
        self, pose: Array, contact: int, turn: float, travel: float, planned: Array
    ) -> float:
        """Return how long a push may last [s] and still be safe among obstacles if it deviates.

        planned: Poses along the planned push, shape (k, 3).
        """
        until = np.inf
        if not self.free.obstacles or self.free.leading(planned, clearance=_FAR) == len(planned):
            return until
        for deviation in _DEVIATIONS:
            t, poses = self._outcome(pose, contact, turn, travel, settle=False, deviation=deviation)
            if len(t) < 2:
                return 0.0
            passable = self._clear(poses, min(self._clearance, _CLOSE))
            if not passable.all():
                until = min(until, float(t[max(int(np.argmin(passable)) - 1, 0)]))
        return until

    def _outcome(
        self,
        pose: Array,
        contact: int,
        turn: float,
        travel: float,
        *,
        settle: bool,
        deviation: _Deviation = _NONE,
    ) -> tuple[Array, Array]:
        """Return times (k,) and poses (k, 3) of a push, from earlier simulations where possible."""
        key = (contact, turn, travel, settle, deviation)
        finger = replace(self.finger, friction=deviation.grip * self.finger.friction)

        def push_from(pose: Array) -> Push:
            start, velocity = self.ray(pose, contact, turn)
            left = np.array([-velocity[1], velocity[0]]) / SPEED
            return Push.line(start + deviation.aside * left, velocity, (travel + GAP) / SPEED)

        if key not in self._seen:
            origin = np.zeros(3)
            self._seen[key] = self._rolled(
                origin, push_from(origin), finger, settle=settle, edge=False
            )
        t, seen = self._seen[key]
        x, y, theta = pose.tolist()
        poses = np.empty_like(seen)
        if _move(seen, x, y, theta, self.free.rules.cells, poses):
            return t, poses
        return self._rolled(pose, push_from(pose), finger, settle=settle, edge=True)

    def _rolled(
        self, pose: Array, push: Push, finger: Finger, *, settle: bool, edge: bool
    ) -> tuple[Array, Array]:
        """Simulate, and return times (k,) and poses (k, 3) to check; none after a fall."""
        if self._deadline is not None:
            self._deadline.check()
        self.simulations += 1
        # A trial may be coarse; the push that is chosen is simulated with the usual time step.
        step = self._physics if settle else replace(self._physics, dt=_STEP / SPEED)
        action = action_of(self.model, push, finger)
        clock = clock_of(action, time_step(push, finger, step), push.duration, settle=settle)
        prepared = self._table if edge else self._plane
        ending, track = prepared.roll(action, pose, clock)
        count = len(track.mode)
        if ending is Ending.STARTED_INSIDE:
            return track.t[:0], track.pose[:0]
        last = count if ending is Ending.DONE else max(count - 2 * _LOOK, 0)
        often = _LOOK * (4 if settle else 1)
        kept = np.unique(np.append(np.arange(0, last, often), last))
        return track.t[kept], track.pose[kept]

    def _clear(self, poses: Array, clearance: float) -> Flags:
        """Return which poses (k, 3) the object reaches before a blocked one, shape (k,).

        Where it already is closer to an obstacle than the clearance [m], it need not keep it.
        """
        near = self.free.leading(poses[:1], clearance=clearance) == 0
        clear = self.free.leading(poses, clearance=0.0 if near else clearance)
        return np.arange(len(poses)) < clear

    def _passable(self, ray: tuple[Array, Array], t: Array, poses: Array) -> Flags:
        """Return which poses (k, 3) are reached before object or finger is blocked, (k,)."""
        free = self._clear(poses, self._clearance)
        start, velocity = ray
        for polygon in self.free.obstacles:
            # After the push the finger stands still; checking it a little further is harmless.
            free &= outline_distances(polygon, start + t[:, None] * velocity) > self.finger.radius
        passable: Flags = np.logical_and.accumulate(free)
        return passable
