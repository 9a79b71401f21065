"""Poses at the table's edges in which a part of an object overhangs: candidates for goals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains, placed
from pushwise.planning.overhang import Overhang, overhangs
from pushwise.typing import Array

__all__ = ["EdgePose", "OverhangRequest", "candidates"]

_TURNS = 72  # orientations of the object tried at an edge
_PLACES = 5  # places tried along an edge
_DEEPER = (0.0, 0.01, 0.02, 0.04)  # m of additional overhang that are tried
_STEP = 0.005  # m between overhangs that are tried where as much as possible is asked for
_FAR = 1e3  # m
_CLEAR = 0.005  # m by which a part that is to be grasped must be beyond the edge


class EdgePose(NamedTuple):
    """A pose (3,) in which a part overhangs."""

    pose: Array
    part: Overhang


@dataclass(frozen=True)
class OverhangRequest:
    """What must be beyond the edge."""

    overhang: float
    """How far, at least [m]."""
    at: tuple[float, float] | None
    """A point of the object [m] in the grid frame that must be, too; or None."""
    deep: bool
    """Whether poses with as much overhang as possible are asked for, too."""

    def depths(self, outline: Array, theta: float) -> list[float]:
        """Return overhangs to try in an orientation [m]."""
        up = np.array([np.sin(theta), np.cos(theta)])
        heights = outline @ up
        least = self.overhang
        if self.at is not None:
            least = max(least, float(heights.max() - np.array(self.at) @ up) + _CLEAR)
        if self.deep:
            return np.arange(least, float(np.ptp(heights)), _STEP).tolist()
        return [least + deeper for deeper in _DEEPER]

    def holds(self, pose: Array, part: Overhang, table: Array) -> bool:
        """Return whether a part at a pose (3,) beyond an edge of a table (c, 2) is as required."""
        if part.depth < self.overhang - 1e-9:
            return False
        if self.at is None:
            return True
        a, b = table[part.edge], table[(part.edge + 1) % len(table)]
        t = (b - a) / np.hypot(*(b - a))
        x, y = placed(np.array([self.at]), pose)[0] - a
        along = float(t @ (x, y))
        beyond = float(t[1] * x - t[0] * y)
        return beyond > 0.5 * _CLEAR and part.begin <= along <= part.begin + part.width


def candidates(
    outline: Array, table: Array, request: OverhangRequest, region: int | ArrayLike | None
) -> list[EdgePose]:
    """Return poses of a region with the required part beyond an edge.

    Args:
        outline: Outline of the object in the grid frame [m], shape (k, 2).
        table: Polygon of the table [m], shape (c, 2).
        request: What must be beyond the edge.
        region: See `GoalSpace`.

    """
    if region is None:
        return _at_edges(outline, table, range(len(table)), request)
    if isinstance(region, int | np.integer):
        edge = non_negative_integer("region", region)
        if edge >= len(table):
            raise PushwiseError(
                f"region must be below the number of the table's edges, {len(table)}; got {edge}."
            )
        return _at_edges(outline, table, [edge], request)
    if np.shape(region)[-1:] == (3,):
        poses = finite_array("region", region, ("p", 3))
        return [
            EdgePose(pose, part)
            for pose in poses
            for part in overhangs(outline, table, pose)
            if request.holds(pose, part, table)
        ]
    polygon = finite_array("region", region, ("k", 2))
    every = _at_edges(outline, table, range(len(table)), request, finer=4)
    inside = contains(polygon, np.array([one.pose[:2] for one in every]).reshape(-1, 2))
    return [one for one, kept in zip(every, inside, strict=True) if kept]


def _at_edges(
    outline: Array, table: Array, edges: Sequence[int], request: OverhangRequest, finer: int = 1
) -> list[EdgePose]:
    """Return poses at edges of the table, in all orientations, with the required part beyond them.

    finer: factor by which to increase the number of places along an edge.
    """
    return list(_kept_at_edges(_key(outline), _key(table), tuple(edges), request, finer))


def _key(polygon: Array) -> tuple[tuple[float, float], ...]:
    """Return a polygon (k, 2) as what a cache can look up."""
    return tuple((x, y) for x, y in polygon.tolist())


# Exploration asks after every push for poses of the same object at the same table.
@lru_cache(maxsize=8)
def _kept_at_edges(
    corners: tuple[tuple[float, float], ...],
    table_corners: tuple[tuple[float, float], ...],
    edges: tuple[int, ...],
    request: OverhangRequest,
    finer: int,
) -> tuple[EdgePose, ...]:
    """Return the poses of `_at_edges`."""
    outline, table = np.array(corners), np.array(table_corners)
    shapes = _beyond_an_edge(outline, request)
    shares = np.linspace(0.1, 0.9, _PLACES * finer)
    found = []
    for edge in edges:
        a, b = table[edge], table[(edge + 1) % len(table)]
        length = float(np.hypot(*(b - a)))
        t = (b - a) / length
        turn = np.arctan2(-t[1], -t[0])
        for pose, part in shapes:
            room = length - part.width
            if room < 0.0:
                continue
            begins = shares * room
            # The half plane's edge begins at x = far, and its x runs against t.
            along = begins - part.begin + _FAR
            poses = np.empty((len(shares), 3))
            poses[:, :2] = a + along[:, None] * t + pose[1] * np.array([t[1], -t[0]])
            poses[:, 2] = pose[2] + turn
            poses.flags.writeable = False
            found += [
                EdgePose(there, Overhang(edge, part.depth, part.width, begin))
                for there, begin in zip(poses, begins.tolist(), strict=True)
            ]
    return tuple(found)


def _beyond_an_edge(outline: Array, request: OverhangRequest) -> list[EdgePose]:
    """Return poses at the edge of a half plane, in all orientations.

    Every edge of a table is the half plane y < 0, whose edge runs towards -x, moved and turned.
    """
    half_plane = np.array([[_FAR, 0.0], [-_FAR, 0.0], [-_FAR, -_FAR], [_FAR, -_FAR]])
    shapes: list[EdgePose] = []
    for theta in np.arange(_TURNS) * 2.0 * np.pi / _TURNS:
        top = float((outline @ np.array([np.sin(theta), np.cos(theta)])).max())
        for depth in request.depths(outline, float(theta)):
            pose = np.array([0.0, depth - top, theta])
            parts = overhangs(outline, half_plane, pose, edges=[0])
            shapes += [
                EdgePose(pose, part) for part in parts if request.holds(pose, part, half_plane)
            ]
    return shapes
