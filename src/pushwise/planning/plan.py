"""`plan`: the pushes that take an object from one pose to another (Algorithm 2).

Line 1, the path of waypoints, is in `path`; the search for a push towards a waypoint is in
`contact_search`; the loop over the waypoints is here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pushwise.atomic_write import write_text
from pushwise.checks import finite_array, finite_number, non_negative_integer
from pushwise.documents import header, read_document
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import cell_distance, mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.planning.contact_search import SEARCHES, Search
from pushwise.planning.deadline import Deadline, OutOfTimeError
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.options import PlanOptions
from pushwise.planning.path import find_path
from pushwise.planning.pose_uncertainty import PoseUncertainty
from pushwise.planning.push_evaluation import Pusher
from pushwise.planning.stability import Balance
from pushwise.typing import Array

__all__ = ["Plan", "plan"]


_PATH_SHARE = 0.3  # of the time limit may be spent on the path
_PASSED = 1.5  # times the tolerance: distance at which an intermediate waypoint is reached
_DETOUR = np.array([0.08, 0.08, 0.6])  # m, m, rad; distance of a detour from the target


@dataclass(frozen=True, eq=False)
class Plan:
    """A sequence of pushes, and the poses they should lead to."""

    pushes: tuple[Push, ...]
    """The pushes in order; empty when the goal is already reached."""
    approaches: tuple[Array, ...]
    """Path of the finger [m] to the start of each push, touching nothing, shape (w, 2) each; only
    the start where the finger is lowered from above: at first, or when it was enclosed."""
    poses: Array
    """Pose before the first push and after each [m, m, rad], shape (pushes + 1, 3)."""
    pose_std: Array
    """Standard deviation of the pose after each push [m, m, rad], given the planned pose before it,
    shape (pushes, 3); zero for a certain model."""
    waypoints: Array
    """The path, including start and goal, shape (w, 3)."""
    error: float
    """Mean distance of the cells from the goal at the end [m]."""
    simulations: int
    """Number of pushes simulated to find the plan."""
    seconds: float
    """Time spent, without compilation."""

    def to_json(self) -> str:
        """Return the plan as JSON in SI units, one line per push."""
        lines = [
            json.dumps(
                {
                    "approach": approach.tolist(),
                    "times": push.times.tolist(),
                    "positions": push.positions.tolist(),
                    "raised": push.raised,
                    "expected_pose": pose.tolist(),
                    "pose_std": std.tolist(),
                }
            )
            for approach, push, pose, std in zip(
                self.approaches, self.pushes, self.poses[1:], self.pose_std, strict=True
            )
        ]
        head = {
            **header("plan"),
            "units": "m, s, rad",
            "start": self.poses[0].tolist(),
            "waypoints": self.waypoints.tolist(),
            "error": self.error,
            "simulations": self.simulations,
            "seconds": self.seconds,
        }
        fields = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
        pushes = "".join(f"\n    {line}," for line in lines).rstrip(",")
        fields.append(f'  "pushes": [{pushes}{chr(10) + "  " if lines else ""}]')
        return "{\n" + ",\n".join(fields) + "\n}"

    def table(self, *, assumed: bool = False) -> str:
        """Return the pushes as a table to print.

        Args:
            assumed: Whether nothing was learned of the object, so that no one knows how far the
                ends of pushes may be off.

        """
        lines = [
            "  start x, y [m]     end x, y [m]    path [m]  takes [s]  "
            "then at x, y [m], theta [rad]  +/- of this push [mm, rad]"
        ]
        for push, pose, std in zip(self.pushes, self.poses[1:], self.pose_std, strict=True):
            start, end = push.start, push.end
            off = f"{1e3 * np.hypot(std[0], std[1]):7.1f} {std[2]:7.3f}"
            lines.append(
                f"  {start[0]:7.3f} {start[1]:7.3f}  {end[0]:7.3f} {end[1]:7.3f}   "
                f"{push.length:7.3f}  {push.duration:9.2f}  "
                f"{pose[0]:7.3f} {pose[1]:7.3f} {pose[2]:7.3f}"
                f"        {'unknown' if assumed else off}"
            )
        return "\n".join(lines)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a plan that `save` wrote."""
        document = read_document(Path(path), "plan")
        try:
            return cls._from(document)
        except PushwiseError as error:
            raise PushwiseError(f"{path}: {error}") from None
        except KeyError as error:
            raise PushwiseError(f"{path}: {error.args[0]} is missing.") from None
        except TypeError:
            raise PushwiseError(f"{path}: pushes must be a list of JSON objects.") from None

    @classmethod
    def _from(cls, document: Mapping[str, Any]) -> Self:
        """Return the plan of a JSON document."""
        pushes = document["pushes"]
        poses = [finite_array("expected_pose", push["expected_pose"], (3,)) for push in pushes]
        std = [finite_array("pose_std", push["pose_std"], (3,)) for push in pushes]
        return cls(
            tuple(
                Push(push["times"], push["positions"], raised=bool(push["raised"]))
                for push in pushes
            ),
            tuple(finite_array("approach", push["approach"], ("w", 2)) for push in pushes),
            np.array([finite_array("start", document["start"], (3,)), *poses]),
            np.array(std).reshape(-1, 3),
            finite_array("waypoints", document["waypoints"], ("w", 3)),
            finite_number("error", document["error"]),
            non_negative_integer("simulations", document["simulations"]),
            finite_number("seconds", document["seconds"]),
        )

    def save(self, path: Path | str) -> None:
        """Write the plan to a JSON file that `load` reads."""
        write_text(Path(path), self.to_json() + "\n")


def plan(
    belief: Belief,
    start: ArrayLike,
    goal: ArrayLike,
    table: Table,
    *,
    obstacles: Sequence[ArrayLike] = (),
    finger_at: ArrayLike | None = None,
    options: PlanOptions = PlanOptions(),
) -> Plan:
    """Plan pushes that take an object from one pose to another (Algorithm 2).

    A path is found first (line 1), then pushes along it, waypoint by waypoint.

    Args:
        belief: What is believed about the object, and the finger that pushes it.
        start: Pose now (x, y, theta) [m, m, rad], shape (3,).
        goal: Pose to reach, shape (3,).
        table: The table; the object must not fall off it.
        obstacles: Polygons [m] in the table frame, shape (k, 2) each.
        finger_at: Where the finger is now [m], shape (2,); raised if not given.
        options: Method, tolerance and limits.

    Raises:
        PushwiseError: If there is no path, or no pushes were found.

    """
    first, last = finite_array("start", start, (3,)), finite_array("goal", goal, (3,))
    deadline = Deadline(options.time_limit)
    balance = Balance.planned(belief, table, options)
    free = FreeSpace(balance, obstacles, max_fall_probability=options.max_fall_probability)
    uncertainty = PoseUncertainty(belief, table, seed=options.seed)
    path_limit = _PATH_SHARE * options.time_limit
    waypoints = find_path(free, first, last, time_limit=path_limit, seed=options.seed)
    pusher = Pusher(free, belief.finger, last, deadline=deadline)
    if finger_at is not None:
        pusher.place = finite_array("finger_at", finger_at, (2,))
    sequence = _PushSequence(pusher, SEARCHES[options.method], options.tolerance, options.seed)
    try:
        sequence.extend(waypoints, options.max_pushes, deadline)
        pose_std = uncertainty.along(sequence.poses, sequence.pushes, deadline)
    except OutOfTimeError:
        why = f"in {options.time_limit:g} s, {len(sequence.pushes)} of the pushes found"
        raise PushwiseError(sequence.gave_up(last, why)) from None
    return Plan(
        tuple(sequence.pushes),
        tuple(sequence.approaches),
        np.array(sequence.poses),
        pose_std,
        waypoints,
        mean_cell_error(balance.model.grid, sequence.poses[-1], last),
        pusher.simulations,
        deadline.spent,
    )


class _PushSequence:
    """The pushes found so far that take an object along waypoints, in the model."""

    def __init__(self, pusher: Pusher, search: Search, tolerance: float, seed: int) -> None:
        self._pusher, self._search, self._tolerance = pusher, search, tolerance
        self._rng = np.random.default_rng(seed)
        self.poses: list[Array] = []
        self.pushes: list[Push] = []
        self.approaches: list[Array] = []

    def extend(self, waypoints: Array, max_pushes: int, deadline: Deadline) -> None:
        """Find pushes from the first waypoint to the last, at most `max_pushes`."""
        self.poses = [waypoints[0].copy()]
        left = list(waypoints[1:])
        target = left[0]
        while left:
            deadline.check()
            pose = self.poses[-1]
            if self._reached(pose, left[0], final=len(left) == 1):
                left.pop(0)
                target = left[0] if left else target
                continue
            if len(self.pushes) == max_pushes:
                raise PushwiseError(self.gave_up(waypoints[-1], f"within {max_pushes} pushes"))
            enclosed = self._pusher.enclosed
            found = self._search(self._pusher, pose, target)
            if found is None and self._pusher.enclosed > enclosed:
                self._pusher.place = None  # the finger is raised out of a hollow
                continue
            if found is None:
                # No push brings it closer: make a detour over a pose near the target.
                target = left[0] + _DETOUR * self._rng.uniform(-1.0, 1.0, 3)
                continue
            self.approaches.append(found.approach)
            self.pushes.append(found.push)
            self.poses.append(found.end)
            self._pusher.place = found.push.end
            target = left[0]

    def _reached(self, pose: Array, waypoint: Array, *, final: bool) -> bool:
        """Return whether a pose is close enough to a waypoint."""
        near = self._tolerance if final else _PASSED * self._tolerance
        grid = self._pusher.grid
        # The root mean square bounds the mean from above, and costs less.
        if cell_distance(grid, pose, waypoint) < near:
            return True
        return final and mean_cell_error(grid, pose, waypoint) < near

    def gave_up(self, goal: Array, why: str) -> str:
        """Return a sentence on how far the pushes lead."""
        error = mean_cell_error(self._pusher.grid, self.poses[-1], goal)
        return (
            f"the goal was not reached {why}: the object ends {error * 1e3:.0f} mm from it, the "
            f"tolerance is {self._tolerance * 1e3:.0f} mm; allow more, or another goal."
        )
