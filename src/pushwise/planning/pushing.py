"""Trying pushes: from a contact to the best moment to stop, one simulation each.

A push that stops earlier is the beginning of a longer one, so one simulation shows the outcome
of every duration; only the coasting after the stop, a millimetre or two, is not in it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pushwise.physics.actions import Finger, Push
from pushwise.physics.prepare import Settings, action_of, body_of, ground_of, time_step
from pushwise.physics.rollout import DONE, STARTED_INSIDE, roll
from pushwise.planning.free import Free
from pushwise.shape.grid import CellGrid
from pushwise.shape.metric import cell_distance
from pushwise.shape.polygon import outline_distance, placed

__all__ = ["Candidate", "Pusher", "contacts"]

Array = NDArray[np.float64]

_GAP = 0.003  # m between finger and object at the start
_STEP = 0.002  # m the finger moves in a step of a trial; the end changes by less than 0.1 mm
_CLEARANCE = 0.015  # m kept from obstacles
_LOOK = 4  # steps between the poses that are judged


@dataclass(frozen=True, eq=False)
class Candidate:
    """A push that was tried from a pose, stopped at the best moment."""

    contact: int
    """Which of the contacts."""
    push: Push
    """The push."""
    end: Array
    """Pose in which the object stops, shape (3,)."""
    gap: float
    """Distance of its cells to the target [m]."""


def contacts(grid: CellGrid, finger: Finger) -> tuple[Array, Array]:
    """Return where the finger starts and the outward normals, shape (b, 2) each, grid frame.

    One contact an outer cell, in walking order: along its normal until the finger is clear of
    the outline.
    """
    starts = []
    for cell, normal in zip(grid.boundary, grid.normals, strict=True):
        point = grid.centres[cell]
        clear = finger.radius + _GAP
        # The distance to the outline is how far one may go without passing it by.
        while (away := outline_distance(grid.outline, point)) < clear - 1e-6:
            point = point + max(clear - away, 1e-4) * normal
        starts.append(point)
    return np.array(starts), np.array(grid.normals)


class Pusher:
    """Tries pushes of a model among free poses, and counts simulations."""

    def __init__(
        self,
        free: Free,
        finger: Finger,
        *,
        speed: float = 0.1,
        max_travel: float = 0.3,
        deadline: float = np.inf,
    ) -> None:
        """Prepare the model once for all simulations.

        speed, max_travel: of the finger [m/s], [m]. deadline: of `time.perf_counter` [s], after
        which every attempt fails.
        """
        self.free = free
        self.model = free.balance.model
        self.grid = self.model.grid
        self.finger = finger
        self.simulations = 0
        self.starts, self.normals = contacts(self.grid, finger)
        self.max_travel = max_travel
        self._speed, self._deadline = speed, deadline
        self._settings = Settings(free.balance.table)
        self._body = body_of(self.model, self._settings)
        self._ground = ground_of(self.model, self._settings)

    def gap(self, pose: Array, target: Array) -> float:
        """Return the distance of the cells between two poses (3,) [m]."""
        return float(cell_distance(self.grid, pose, target))

    def attempt(
        self, pose: Array, target: Array, contact: int, turn: float = 0.0
    ) -> Candidate | None:
        """Push at a contact, against its normal turned by `turn` [rad], until nearest the target.

        None when no moment of the push is nearer than the start, or the way there is not free.
        """
        if time.perf_counter() > self._deadline:
            return None
        cos, sin = np.cos(pose[2] + turn), np.sin(pose[2] + turn)
        nx, ny = self.normals[contact]
        direction = -np.array([cos * nx - sin * ny, sin * nx + cos * ny])
        start = placed(self.starts[contact][None], pose)[0]
        now = self.gap(pose, target)
        travel = min(self.max_travel, 1.5 * now + _GAP + 0.02)
        push = Push(start, self._speed * direction, travel / self._speed)
        t, poses = self._rolled(pose, push, settle=False)
        if len(t) < 2:
            return None
        gaps = cell_distance(self.grid, poses, target)
        good = self._passable(push, t, poses)
        best = int(np.argmin(np.where(good, gaps, np.inf)))
        if best == 0 or gaps[best] >= now:
            return None
        stopped = Push(start, push.velocity, float(t[best]))
        return Candidate(contact, stopped, poses[best], float(gaps[best]))

    def settled(self, pose: Array, target: Array, tried: Candidate) -> Candidate | None:
        """Return a candidate with the pose in which the object comes to rest; None if not free."""
        t, poses = self._rolled(pose, tried.push, settle=True)
        if len(t) < 2 or not self._passable(tried.push, t, poses)[-1]:
            return None
        return Candidate(tried.contact, tried.push, poses[-1], self.gap(poses[-1], target))

    def _rolled(self, pose: Array, push: Push, *, settle: bool) -> tuple[Array, Array]:
        """Simulate, and return times (k,) and poses (k, 3) to judge; nothing after a fall."""
        self.simulations += 1
        # A trial may be coarse; what is to happen in the end is simulated as finely as ever.
        step = self._settings if settle else replace(self._settings, dt=_STEP / self._speed)
        ending, count, track = roll(
            self._body,
            self._ground,
            action_of(self.model, push, self.finger),
            pose,
            np.zeros(3),
            time_step(push, self.finger, step),
            push.duration,
            settle,
            None,
        )
        if ending == STARTED_INSIDE:
            return track.t[:0], track.pose[:0]
        last = count if ending == DONE else max(count - 2 * _LOOK, 0)
        often = _LOOK * (4 if settle else 1)
        kept = np.unique(np.append(np.arange(0, last, often), last))
        return track.t[kept], track.pose[kept]

    def _passable(self, push: Push, t: Array, poses: Array) -> NDArray[np.bool_]:
        """Return up to which pose the way is free, for the object and the finger, (k,)."""
        # Real pushes stray from their prediction; where the object already is close, it may be.
        near = not self.free(poses[:1], clearance=_CLEARANCE)[0]
        free = self.free(poses, clearance=0.0 if near else _CLEARANCE)
        for polygon in self.free.obstacles:
            for i, instant in enumerate(t):
                at = push.start + min(float(instant), push.duration) * push.velocity
                free[i] &= outline_distance(polygon, at) > self.finger.radius
        passable: NDArray[np.bool_] = np.logical_and.accumulate(free)
        return passable
