"""Constant errors of a set-up: where finger and object really were, given where a log puts them.

The frames of a robot and of a camera agree to a millimetre at best, the tip of a tool is bent or
worn, and markers are not glued on exactly where they should be. Such errors are the same in every
push, so pushes reveal them:

    finger = recorded + tip + R(direction of the push) tool
    pose of the grid = tracked pose o frame

A robot turns its tool before a push and holds it while the finger moves, so that the direction is
one for the whole push: that from its start to the knot farthest from there.

Motion on a table does not depend on the position on it (shift the `Action` and the start by d, and
the path is shifted by d), so derivatives in all of these follow from those in the start alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pushwise.physics.prepared import ClearStart
from pushwise.physics.push import ForcePush, Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["NUISANCES", "Calibration", "Chain"]


NUISANCES = 8  # numbers of a calibration: tip (2), tool (2), frame (3), and the finger's radius


def _zeros(size: int) -> Array:
    zeros: Array = np.zeros(size)
    zeros.flags.writeable = False
    return zeros


class Chain(NamedTuple):
    """Derivatives that lead from a simulation to tracked poses, in the eight numbers of a set-up.

    The eight are tip, tool, frame and the log of the finger's radius. Moving the finger by d is
    the same as moving the start by -d and then the path by d.
    """

    by_tracked: Array  # (3, 3), of the start in the tracked start
    by_setup: Array  # (3, 8), of the start in the set-up
    twist_by_tracked: Array  # (3, 3), of the twist at the start in the tracked start
    twist_by_setup: Array  # (3, 8), of the twist at the start in the set-up
    seen: Array  # (k, 3, 3), of the tracked poses in the simulated ones
    direct: Array  # (k, 3, 8), of the tracked poses in the set-up for a given simulation
    shift_by_tracked: Array  # (2, 3), of how far the start is moved clear, in the tracked start
    shift_by_setup: Array  # (2, 8), likewise in the set-up


@dataclass(frozen=True, eq=False)
class Calibration:
    """Constant errors of a set of records; all zero for a perfect set-up."""

    tip: Array = field(default_factory=lambda: _zeros(2))
    """The finger's true centre minus the recorded one [m], table axes, shape (2,)."""
    tool: Array = field(default_factory=lambda: _zeros(2))
    """The same [m] along and to the left of the push, shape (2,): a tool that is turned with it,
    once for the whole push."""
    frame: Array = field(default_factory=lambda: _zeros(3))
    """Pose of the grid frame in the tracked frame [m, m, rad], shape (3,)."""
    touching: bool = False
    """Whether the finger touches the object when a record begins."""

    def offset(self, push: Push) -> Array:
        """Return the finger's true minus recorded position [m], shape (2,)."""
        return self.tip + _along(push) @ self.tool

    def push(self, push: Push | ForcePush) -> Push | ForcePush:
        """Return a push at its true position."""
        if isinstance(push, ForcePush):
            return push
        return push.moved(self.offset(push))

    def pose(self, tracked: Array) -> Array:
        """Return poses of the grid frame for tracked ones, shape (..., 3)."""
        return _compose(tracked, self.frame)

    def twist(self, tracked: Array, twist: Array) -> Array:
        """Return the twist (3,) of the grid origin for that of a tracked frame at a pose (3,)."""
        arm = _compose(tracked, self.frame)[:2] - tracked[:2]
        moved: Array = twist + twist[2] * np.array([-arm[1], arm[0], 0.0])
        return moved

    def tracked(self, pose: Array) -> Array:
        """Return tracked poses for poses of the grid frame, shape (..., 3)."""
        x, y, angle = self.frame
        cos, sin = np.cos(angle), np.sin(angle)
        back = np.array([-cos * x - sin * y, sin * x - cos * y, -angle])
        return _compose(pose, back)

    def record(self, record: PushRecord) -> PushRecord:
        """Return a record as a perfect set-up would have recorded it."""
        seen = PushRecord(
            self.push(record.push),
            record.t,
            self.pose(record.pose),
            record.force,
            noise=record.noise,
            fell=record.fell,
            twist=self.twist(record.pose[0], record.twist),
            source=record.source,
        )
        return seen.with_lift(record.lift)

    def placed(self, push: Push, tracked: Array) -> tuple[Array, Array]:
        """Return the derivatives in the set-up of the finger's offset (2, 8) and a pose (3, 8)."""
        by_pose = np.zeros((3, NUISANCES))
        by_pose[:, 4:7] = _composed(tracked, self.frame)[1]
        return _by_offset(push), by_pose

    def chain(
        self,
        push: Push | ForcePush,
        tracked: Array,
        start: ClearStart,
        predicted: Array,
        radius: float,
        spin: float,
    ) -> Chain:
        """Return the derivatives for one push.

        Args:
            push: The push as recorded.
            tracked: Starting pose as tracked [m, m, rad], shape (3,).
            start: Where the simulation starts, clear of the finger.
            predicted: Tracked poses that the simulation predicts, shape (k, 3).
            radius: Radius of the finger [m].
            spin: Angular velocity at the start [rad/s].

        """
        by_offset = _by_offset(push)
        # Moved clear of the finger: straight out along the normal, which turns with the object.
        clear = np.eye(3)
        clear[:2, :2] -= start.by_finger
        clear[:2, 2] += start.by_angle
        placed, by_frame = _composed(tracked, self.frame)
        by_setup = np.zeros((3, NUISANCES))
        by_setup[:, 4:7] = clear @ by_frame
        by_setup[:2] += (start.by_finger - np.eye(2)) @ by_offset
        by_setup[:2, 7] = radius * start.by_radius
        shift_by_setup = by_setup[:2] + by_offset
        shift_by_setup[:, 4:7] -= by_frame[:2]
        # The origin of the grid moves about that of the tracked frame.
        across = spin * np.array([[0.0, -1.0], [1.0, 0.0]])
        twist_by_tracked, twist_by_setup = np.zeros((3, 3)), np.zeros((3, NUISANCES))
        twist_by_tracked[:2] = across @ (placed - np.eye(3))[:2]
        twist_by_setup[:2, 4:7] = across @ by_frame[:2]
        # predicted o frame = simulated, differentiated; the inverse of what turns with the pose.
        count = len(predicted)
        cos, sin = np.cos(predicted[:, 2]), np.sin(predicted[:, 2])
        seen = np.tile(np.eye(3), (count, 1, 1))
        seen[:, 0, 2] = sin * self.frame[0] + cos * self.frame[1]
        seen[:, 1, 2] = sin * self.frame[1] - cos * self.frame[0]
        inner = np.tile(np.eye(3), (count, 1, 1))
        inner[:, 0, 0] = inner[:, 1, 1] = cos
        inner[:, 0, 1], inner[:, 1, 0] = -sin, sin
        direct = np.zeros((count, 3, NUISANCES))
        direct[:, :, 4:7] = -seen @ inner
        direct += seen[:, :, :2] @ by_offset
        return Chain(
            by_tracked=clear @ placed,
            by_setup=by_setup,
            twist_by_tracked=twist_by_tracked,
            twist_by_setup=twist_by_setup,
            seen=seen,
            direct=direct,
            shift_by_tracked=((clear - np.eye(3)) @ placed)[:2],
            shift_by_setup=shift_by_setup,
        )


def _composed(pose: Array, inner: Array) -> tuple[Array, Array]:
    """Return the derivatives (3, 3) of `_compose` in a pose (3,) and in inner (3,)."""
    cos, sin = np.cos(pose[2]), np.sin(pose[2])
    by_pose = np.eye(3)
    by_pose[:2, 2] = (-sin * inner[0] - cos * inner[1], cos * inner[0] - sin * inner[1])
    by_inner = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return by_pose, by_inner


def _compose(pose: Array, inner: Array) -> Array:
    """Return the poses (..., 3) of a frame whose pose in each of the given frames is inner (3,)."""
    cos, sin = np.cos(pose[..., 2]), np.sin(pose[..., 2])
    found = np.empty(pose.shape)
    found[..., 0] = pose[..., 0] + cos * inner[0] - sin * inner[1]
    found[..., 1] = pose[..., 1] + sin * inner[0] + cos * inner[1]
    found[..., 2] = pose[..., 2] + inner[2]
    return found


def _by_offset(push: Push | ForcePush) -> Array:
    """Return the derivatives (2, 8) of the finger's offset in the numbers of a set-up."""
    by_offset = np.zeros((2, NUISANCES))
    if isinstance(push, Push):
        by_offset[:, :4] = np.hstack([np.eye(2), _along(push)])
    return by_offset


def _along(push: Push) -> Array:
    """Return the axes along and to the left of a push as columns, (2, 2); the table's at rest."""
    way = push.positions - push.start
    lengths = np.hypot(*way.T)
    farthest = int(np.argmax(lengths))
    if lengths[farthest] == 0.0:
        return np.eye(2)
    x, y = way[farthest] / lengths[farthest]
    return np.array([[x, -y], [y, x]])
