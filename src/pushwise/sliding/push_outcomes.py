"""`PushOutcomes`: where planned pushes lead, from the library or simulated at the table's edge.

The pushes of a library are those of an object that the table carries everywhere. What reaches over
the edge rests on what is left of its support: it turns more easily, about the edge, and glides on
for longer. There, a push is simulated from where the object is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pushwise.geometry.compiled import nearest_feature
from pushwise.geometry.metric import cell_distance
from pushwise.geometry.polygon import contains, placed
from pushwise.physics.model import Table
from pushwise.physics.simulator import Simulator
from pushwise.planning.push_library import (
    DIRECTIONS,
    LOCAL_DIRECTIONS,
    LocalPushes,
    PushLibrary,
    push_directions,
    strides_of,
)
from pushwise.planning.push_search import PlannedPush, PushChoice, PushSearch
from pushwise.planning.value import relative_pose
from pushwise.typing import Array

__all__ = ["PushOutcomes", "direction_of"]

_SIMULATED = 48  # choices whose costs are corrected at the edge
_RELEASE = 0.5  # s in which an object that is let go of comes to rest
_RESTING = 0.02  # m/s of the finger; what glides on after less is noise


Led = tuple[Array, Array]
"""Poses (k, 3) and places of the finger (k, 2) along pushes."""


@dataclass
class _Way:
    """A way to begin, as far as it is simulated."""

    poses: list[Array]
    fingers: list[Array]
    place: Array  # where the finger is (2,)
    goes_on: bool = True

    def led(self) -> Led:
        """Return poses and places of the finger."""
        return np.concatenate(self.poses), np.concatenate(self.fingers)


class PushOutcomes:
    """Predicts what pushes of one object do on one table."""

    def __init__(self, library: PushLibrary, simulator: Simulator, table: Table) -> None:
        """Prepare; simulator: the object on that table, with a `Physics.dt`."""
        self._library, self._simulator = library, simulator
        self._polygon = table.polygon
        self._edge = np.ascontiguousarray(table.polygon.T)
        self._outline = simulator.model.grid.outline

    def overhangs(self, pose: Array) -> bool:
        """Return whether an object at a pose (3,) reaches over the edge."""
        inland = -nearest_feature(pose[0], pose[1], *self._edge)[1]
        if inland > self._simulator.prepared.body.reach:
            return False
        return not contains(self._polygon, placed(self._outline, pose)).all()

    def of(self, pose: Array, pushes: Sequence[PlannedPush], local: LocalPushes | None) -> Led:
        """Return poses (k, 3) and places of the finger (k, 2) along pushes from a pose (3,).

        The table is taken to carry all of the object, but for pushes from where the finger is,
        `local`, which are simulated where they are.
        """
        poses, fingers = [pose[None]], []
        for push in pushes:
            moved, path = self._moved(push, local)
            fingers.append(placed(path, poses[-1][-1]))
            poses.append(_composed(poses[-1][-1], moved))
        return np.concatenate(poses), np.concatenate(fingers)

    def way(self, pose: Array, choice: PushChoice) -> Led | None:
        """Return where a choice leads from a pose (3,), as `of`; as `at_edge` if it overhangs."""
        if self.overhangs(pose):
            return self.at_edge(pose, [choice.at_first_contact])[0]
        return self.of(pose, choice.pushes, None)

    def at_edge(self, pose: Array, every: Sequence[Sequence[PlannedPush]]) -> list[Led | None]:
        """Simulate pushes of an object that overhangs, several ways to begin; each as `of`.

        All pushes of one way are at one contact of the library. None where a push ends before its
        time, because the object tips or the finger loses it.
        """
        ways = [_Way([pose[None]], [], self._start(pushes[0], pose)) for pushes in every]
        for k in range(max(len(pushes) for pushes in every)):
            of = [i for i, pushes in enumerate(every) if len(pushes) > k and ways[i].goes_on]
            if not of:
                break
            pushes = [every[i][k] for i in of]
            strides = np.array([int(np.ceil(push.travel)) for push in pushes])
            found = strides_of(
                self._simulator,
                np.array([ways[i].poses[-1][-1] for i in of]),
                np.array([ways[i].place for i in of]),
                np.array([direction_of(self._library, push, None) for push in pushes]),
                strides,
            )
            for n, (i, most) in enumerate(zip(of, strides.tolist(), strict=True)):
                ways[i].goes_on = bool(found.counts[n] > most)
                ways[i].poses.append(found.poses[n, : most + 1])
                ways[i].fingers.append(found.fingers[n, : most + 1])
                ways[i].place = ways[i].fingers[-1][-1]
        return [way.led() if way.goes_on else None for way in ways]

    def _start(self, push: PlannedPush, pose: Array) -> Array:
        """Return where the finger starts a push of an object at a pose (3,), shape (2,)."""
        start: Array = placed(self._library.contacts[push.contact][None], pose)[0]
        return start

    def corrected(
        self, choices: list[PushChoice], search: PushSearch, pose: Array, target: Array
    ) -> list[PushChoice]:
        """Return choices for an object at a pose (3,), cheapest first.

        Where it overhangs, these are the best ones by where they lead to there.
        """
        some = choices[:_SIMULATED]
        if not some or not self.overhangs(pose):
            return choices
        found = []
        every = self.at_edge(pose, [choice.at_first_contact for choice in some])
        for choice, led in zip(some, every, strict=True):
            if led is None:
                continue
            ends = led[0][-1], self.of(pose, choice.at_first_contact, None)[0][-1]
            here, there = (search.cost_here(relative_pose(end, target)) for end in ends)
            more = here - there
            found.append(replace(choice, cost=choice.cost + more, rest=choice.rest + more))
        return sorted(found, key=lambda choice: choice.cost)

    def braking(self, pose: Array, twist: Array, speed: float) -> float:
        """Return the deceleration [m/s^2] of an object that is let go of at a pose and twist (3,).

        Infinite where it hardly moves, or the table carries all of it. speed: of the finger [m/s],
        with which the object moves.
        """
        if speed < _RESTING or not self.overhangs(pose):
            return np.inf
        end = self._simulator.step(self._simulator.start(pose, twist), None, _RELEASE).pose
        glide = float(cell_distance(self._simulator.model.grid, pose, end))
        return np.inf if glide == 0.0 else 0.5 * speed**2 / glide

    def _moved(self, push: PlannedPush, local: LocalPushes | None) -> tuple[Array, Array]:
        """Return displacements (k, 3) and path of the finger (k, 2) of a push, start excluded."""
        if push.contact < len(self._library.contacts):
            moved, path = (
                array[push.contact] for array in (self._library.displacements, self._library.paths)
            )
        else:
            assert local is not None
            moved, path = local.displacements, local.paths
        i = int(push.direction)
        j, share = min(i + 1, len(moved) - 1), push.direction - i
        last = int(np.ceil(push.travel)) + 1
        blend = [
            (1.0 - share) * array[i, :last] + share * array[j, :last] for array in (moved, path)
        ]
        return blend[0], blend[1]


def direction_of(library: PushLibrary, push: PlannedPush, local: LocalPushes | None) -> Array:
    """Return the direction of a push (2,), grid frame."""
    if push.contact < len(library.contacts):
        normal, turns = library.normals[push.contact], np.array(DIRECTIONS)
    else:
        assert local is not None
        normal, turns = local.normal, np.array(LOCAL_DIRECTIONS)
    turn = np.interp(push.direction, np.arange(len(turns)), turns)
    along: Array = push_directions(normal[None], np.array([turn]))[0, 0]
    return along


def _composed(pose: Array, moved: Array) -> Array:
    """Return the poses (k, 3) of an object that moved (k, 3) from a pose (3,)."""
    return np.column_stack([placed(moved[:, :2], pose), pose[2] + moved[:, 2]])
