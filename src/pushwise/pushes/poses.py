"""Poses in space, the tree of frames a robot publishes, and how they become planar.

A pose is a row (x, y, z, qx, qy, qz, qw): the place of a frame in its parent and its rotation as a
unit quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pushwise.errors import PushwiseError

__all__ = ["Frames", "Poses", "interpolated", "planar", "sorted_poses", "unit_rows"]

Array = NDArray[np.float64]

_LIFTED = 0.02  # m above or below the usual height
_TILTED = np.radians(10.0)  # from the usual up
_UPRIGHT = 0.9  # of an axis' length along z: it has no heading
_HERE = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Poses:
    """A frame's poses in another frame over time."""

    parent: str
    """The frame they are given in."""
    child: str
    """The frame that moves; empty when the messages do not name it."""
    t: Array
    """Stamps [s], shape (k,), in the order of the messages."""
    rows: Array
    """(x, y, z, qx, qy, qz, qw) [m], shape (k, 7)."""


class Frames:
    """The tree of frames that transform messages describe."""

    def __init__(self, edges: list[Poses], fixed: set[str]) -> None:
        """Take the poses of every frame in its parent; those of `fixed` frames never change."""
        self._edges = {edge.child: sorted_poses(edge) for edge in edges}
        self._fixed = fixed

    def names(self) -> list[str]:
        """Return the frames that have a parent."""
        return sorted(self._edges)

    def poses(self, child: str, frame: str | None) -> Poses:
        """Return the poses of a frame of the tree in another, by default in its root."""
        chain = self._chain(child)
        frame = chain[-1].parent if frame is None else frame
        shared = {edge.child for edge in self._chain(frame)}
        own = [edge for edge in chain if edge.child not in shared]
        moving = [edge for edge in own if edge.child not in self._fixed]
        # The frame that was seen most often says when; the others are interpolated.
        t = max((edge.t for edge in moving or own or chain), key=len)
        rows = self.at(child, frame, t)
        if rows is None:
            above = ", ".join(edge.parent for edge in chain)
            raise PushwiseError(
                f"no transforms lead from frame {child!r}, below {above}, to {frame!r}."
            )
        return Poses(frame, child, t, rows)

    def at(self, child: str, frame: str, t: Array) -> Array | None:
        """Return a frame's poses (k, 7) in another at times (k,), None if none lead there."""
        chain, other = self._chain(child), self._chain(frame)
        root = chain[-1].parent if chain else child
        if root != (other[-1].parent if other else frame):
            return None
        return _compose(_inverse(self._up(other, t)), self._up(chain, t))

    def carried(self, poses: Poses, frame: str) -> Poses | None:
        """Return poses in another frame, None if no transforms lead there."""
        outer = self.at(poses.parent, frame, poses.t)
        if outer is None:
            return None
        return Poses(frame, poses.child, poses.t, _compose(outer, poses.rows))

    def _chain(self, child: str) -> list[Poses]:
        """Return the steps from a frame to the root of its tree."""
        chain: list[Poses] = []
        at = child
        while at in self._edges:
            if any(edge.child == at for edge in chain):
                raise PushwiseError(f"the frames above {child!r} go round in a circle at {at!r}.")
            chain.append(self._edges[at])
            at = chain[-1].parent
        return chain

    def _up(self, chain: list[Poses], t: Array) -> Array:
        """Return the poses (k, 7) at times (k,) of a chain's first frame in its root."""
        rows = np.tile(_HERE, (len(t), 1))
        for edge in chain:
            fixed = edge.child in self._fixed
            rows = _compose(interpolated(edge, np.full(len(t), edge.t[-1]) if fixed else t), rows)
        return rows


def interpolated(poses: Poses, t: Array) -> Array:
    """Return sorted poses at times (k,), shape (k, 7), places and rotations interpolated."""
    columns = [np.interp(t, poses.t, column) for column in poses.rows.T]
    rows = np.column_stack(columns)
    # The straight way between two quaternions, made unit again: samples are close.
    rows[:, 3:] /= np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    return rows


def unit_rows(rows: Array) -> Array:
    """Return poses (k, 7) with unit quaternions, NaN where a quaternion has no length."""
    norm = np.linalg.norm(rows[:, 3:], axis=1, keepdims=True)
    there = norm > 1e-6
    unit: Array = rows.copy()
    unit[:, 3:] = np.where(there, rows[:, 3:] / np.where(there, norm, 1.0), np.nan)
    return unit


def planar(origin: str, poses: Poses) -> tuple[Array, NDArray[np.bool_]]:
    """Return poses (k, 7) on the table as (x, y, theta), shape (k, 3), and which lie on it.

    theta is the heading of the frame's x axis, or of its y axis where that one stands upright.
    However the frame is fixed to the object, sliding keeps its height and the direction that is
    up in it; where either leaves its usual value, the object is lifted or tilted.
    """
    finite = np.isfinite(poses.rows.sum(axis=1))
    if not finite.any():
        raise PushwiseError(f"{origin}: the object has no orientation: every quaternion is zero.")
    rows = np.where(finite[:, None], poses.rows, _HERE)
    matrix = Rotation.from_quat(rows[:, 3:]).as_matrix()
    height = rows[:, 2] - np.median(rows[finite, 2])
    up = matrix[:, 2, :]
    typical = np.median(up[finite], axis=0)
    typical /= max(float(np.linalg.norm(typical)), 1e-9)
    tilt = np.arccos(np.clip(up @ typical, -1.0, 1.0))
    flat = (np.abs(height) < _LIFTED) & (tilt < _TILTED)
    if flat[finite].mean() < 0.5:
        raise PushwiseError(
            f"{origin}: the object does not slide on a table: in frame {poses.parent!r} its height "
            f"varies by {np.ptp(height[finite]):.3f} m and its tilt by "
            f"{np.degrees(tilt[finite].max()):.0f} degrees; choose a frame whose z axis is up."
        )
    axis = 0 if abs(typical[0]) < _UPRIGHT else 1
    theta = np.arctan2(matrix[:, 1, axis], matrix[:, 0, axis])
    values = np.column_stack([rows[:, :2], theta])
    values[~finite] = np.nan
    return values, flat | ~finite


def sorted_poses(poses: Poses) -> Poses:
    """Return poses in order of time, each instant once, quaternions on one side of the sphere."""
    t, first = np.unique(poses.t, return_index=True)
    rows = poses.rows[first]
    good = np.isfinite(rows).all(axis=1)
    t, rows = t[good], rows[good]
    if len(t) == 0:
        raise PushwiseError(f"frame {poses.child!r} has no pose in numbers.")
    # q and -q are the same rotation; interpolation must not go through zero.
    flip = np.cumprod(np.where(np.sum(rows[1:, 3:] * rows[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
    rows[1:, 3:] *= flip[:, None]
    return Poses(poses.parent, poses.child, t, rows)


def _compose(outer: Array, inner: Array) -> Array:
    """Return poses (k, 7) in a frame that is itself posed: first inner, then outer.

    A rotation that is not known stays so.
    """
    turn = Rotation.from_quat(outer[:, 3:])
    place = outer[:, :3] + turn.apply(inner[:, :3])
    known = np.isfinite(inner[:, 3:]).all(axis=1, keepdims=True)
    turned = (turn * Rotation.from_quat(np.where(known, inner[:, 3:], _HERE[3:]))).as_quat()
    return np.column_stack([place, np.where(known, turned, np.nan)])


def _inverse(rows: Array) -> Array:
    """Return the poses (k, 7) of the parent in the child."""
    turn = Rotation.from_quat(rows[:, 3:]).inv()
    return np.column_stack([-turn.apply(rows[:, :3]), turn.as_quat()])
