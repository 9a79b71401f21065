"""`Frames`: the tree of frames that a bag's transforms describe.

Only the transforms between the two frames in question are used; faults elsewhere do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.records.recordings.poses import (
    Clocks,
    Poses,
    ahead,
    compose,
    here,
    interpolated,
    inverse,
    placed,
    sorted_poses,
    times,
    unit_rows,
)
from pushwise.typing import Array

__all__ = ["Frames"]


_STATIC = "tf_static"  # the end of the name of the topic of constant transforms


class Frames:
    """The tree of frames that transform messages describe."""

    def __init__(
        self,
        source: str,
        messages: Mapping[str, list[tuple[int, Any]]],
        taken_back: Mapping[str, float],
    ) -> None:
        """Sort transforms by frame.

        Args:
            source: Name of the bag, for error messages.
            messages: Arrival [ns] and TFMessage by topic.
            taken_back: How far to take back the stamps of some sources [s], by their names.

        """
        self._source = source
        self._taken_back = taken_back
        self._found: dict[str, list[tuple[str, int, Any]]] = {}
        self._parents: dict[str, list[str]] = {}
        for topic, arrived in messages.items():
            for arrival, message in arrived:
                for part in message.transforms:
                    child = part.child_frame_id.lstrip("/")
                    self._found.setdefault(child, []).append((topic, arrival, part))
                    parent = part.header.frame_id.lstrip("/")
                    parents = self._parents.setdefault(child, [])
                    if parent not in parents:
                        parents.append(parent)
        self._edges: dict[str, Poses] = {}
        self._fixed_ahead: dict[str, float] = {}

    def names(self) -> list[str]:
        """Return all frames, those without a parent first."""
        return [*self.roots(), *sorted(self._found)]

    def roots(self) -> list[str]:
        """Return the frames without a parent."""
        parents = {parent for parents in self._parents.values() for parent in parents}
        return sorted(parents - set(self._found))

    def notes(self) -> list[str]:
        """Return a sentence about fixed frames, of those used, that are stamped ahead of arrival.

        ROS 1 does that to all transforms that it repeats because they are fixed.
        """
        if not self._fixed_ahead:
            return []
        names, most = ", ".join(self._fixed_ahead), max(self._fixed_ahead.values())
        return [
            f"transforms that never change are stamped up to {most:.2f} s ahead of their arrival, "
            f"which does not matter: {names}"
        ]

    def poses(self, child: str, frame: str | None) -> Poses:
        """Return the poses of a frame of the tree in another, by default in its root."""
        above = self._above(child)
        frame = above[-1] if frame is None else frame
        way = self._way(child, frame)
        if way is None:
            raise PushwiseError(
                f"{self._source}: no transforms lead from frame {child!r}, below "
                f"{', '.join(above[1:])}, to {frame!r}."
            )
        own, other = way
        if not own and not other:
            raise PushwiseError(f"{self._source}: frame {child!r} does not move in itself.")
        moving = [edge for edge in own if not edge.fixed]
        # The frame with the most samples sets the times; the others are interpolated.
        t = max((edge.t for edge in moving or own + other), key=len)
        seen = self.carried(Poses(child, child, t, here(len(t))), frame)
        assert seen is not None
        return seen

    def carried(self, poses: Poses, frame: str) -> Poses | None:
        """Return poses in another frame, None if no transforms lead there.

        Poses at times when a transform is missing are dropped and counted.
        """
        outer = self.at(poses.parent, frame, poses.t)
        if outer is None:
            return None
        known = np.isfinite(outer.rows).all(axis=1)
        return Poses(
            frame,
            poses.child,
            poses.t[known],
            compose(outer.rows[known], poses.rows[known]),
            {**poses.clocks, **outer.clocks},
            not_placed=int((~known).sum()),
        )

    def at(self, child: str, frame: str, t: Array) -> Poses | None:
        """Return a frame's poses in another at times (k,), None if no transforms lead there.

        They are NaN where a transform on the way is missing: before its first message, after its
        last, or in a gap. If one is always missing, an error is raised.
        """
        way = self._way(child, frame)
        if way is None:
            return None
        own, other = way
        known = np.ones(len(t), bool)
        clocks: dict[str, float | None] = {}
        for edge in own + other:
            known &= placed(edge, t)
            clocks.update(edge.clocks)
        if not known.any():
            raise PushwiseError(
                f"{self._source}: the transforms from frame {child!r} to {frame!r} are missing at "
                "all times at which they are needed; check that all clocks are the same."
            )
        rows = np.full((len(t), 7), np.nan)
        rows[known] = compose(inverse(_up(other, t[known])), _up(own, t[known]))
        return Poses(frame, child, t, rows, clocks)

    def _way(self, child: str, frame: str) -> tuple[list[Poses], list[Poses]] | None:
        """Return the chains from two frames up to the first frame above both."""
        own, other = self._above(child), self._above(frame)
        shared = next((name for name in own if name in other), None)
        if shared is None:
            # Another parent might have led there.
            for name in own[:-1] + other[:-1]:
                self._parent(name)
            return None
        return (
            [self._edge(name) for name in own[: own.index(shared)]],
            [self._edge(name) for name in other[: other.index(shared)]],
        )

    def _above(self, child: str) -> list[str]:
        """Return a frame and those above it up to the root of its tree, by their first parents."""
        names = [child]
        while names[-1] in self._parents:
            parent = self._parents[names[-1]][0]
            if parent in names:
                raise PushwiseError(
                    f"{self._source}: the frames above {child!r} form a loop at {parent!r}."
                )
            names.append(parent)
        return names

    def _parent(self, child: str) -> str:
        """Return the only parent of a frame."""
        parents = self._parents[child]
        if len(parents) > 1:
            raise PushwiseError(
                f"{self._source}: frame {child!r} must be given in one frame; its transforms are "
                f"in {', '.join(sorted(parents))}."
            )
        return parents[0]

    def _edge(self, child: str) -> Poses:
        """Return a frame's sorted poses in its parent, without a clock if it is fixed."""
        if child not in self._edges:
            parent = self._parent(child)
            found = self._found[child]
            # The last static transform of a frame overrides all others.
            found = [one for one in found if one[0].endswith(_STATIC)][-1:] or found
            parts = [part for *_, part in found]
            t, clock = times([arrival for _, arrival, _ in found], [p.header for p in parts])
            moves = [(p.transform.translation, p.transform.rotation) for p in parts]
            rows = np.array([[p.x, p.y, p.z, q.x, q.y, q.z, q.w] for p, q in moves])
            edge = sorted_poses(Poses(parent, child, t, unit_rows(rows)))
            if len(edge.t) == 0:
                raise PushwiseError(f"{self._source}: frame {child!r} has no pose in numbers.")
            name = f"{found[0][0]}:{child}"
            clocks: Clocks = {} if edge.fixed else {name: clock}
            if edge.fixed and len(edge.t) > 1:
                self._fixed_ahead |= ahead({child: clock, "the recorder": 0.0})
            t = edge.t - self._taken_back.get(name, 0.0)
            self._edges[child] = Poses(parent, child, t, edge.rows, clocks)
        return self._edges[child]


def _up(chain: list[Poses], t: Array) -> Array:
    """Return the poses (k, 7) at times (k,) of a chain's first frame above its last."""
    rows = here(len(t))
    for edge in chain:
        rows = compose(interpolated(edge, t), rows)
    return rows
