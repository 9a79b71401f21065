"""`plan`: the pushes that take an object from one pose to another (Algorithm 2)."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.errors import PushwiseError
from pushwise.identification.known import Known
from pushwise.identification.result import Identification
from pushwise.physics.actions import Finger, Push
from pushwise.physics.model import ObjectModel, Table
from pushwise.planning.contact_search import SEARCHES, Search
from pushwise.planning.free import Free
from pushwise.planning.path import find_path
from pushwise.planning.pushing import Pusher
from pushwise.planning.stability import Balance
from pushwise.shape.metric import cell_distance, mean_cell_error
from pushwise.shape.polygon import simple_polygon

__all__ = ["Plan", "load_polygons", "plan"]

Array = NDArray[np.float64]

_PATH_SHARE = 0.3  # of the time may go into the path
_PASSED = 1.5  # times the tolerance: how near to a waypoint on the way is near enough
_DETOUR = np.array([0.08, 0.08, 0.6])  # m, m, rad; how far off the target a way round goes


@dataclass(frozen=True, eq=False)
class Plan:
    """Pushes, and where they should take the object."""

    pushes: tuple[Push, ...]
    """What to do, in order; nothing when the goal is already reached."""
    poses: Array
    """Pose before the first push and after each [m, m, rad], shape (pushes + 1, 3)."""
    waypoints: Array
    """The path that was followed, start and goal included, shape (w, 3)."""
    error: float
    """Mean distance of the cells from the goal at the end [m]."""
    simulations: int
    """Pushes simulated to find it."""
    seconds: float
    """Time spent."""

    def to_json(self) -> str:
        """Return the plan as JSON, a push a line; SI units."""
        lines = [
            json.dumps(
                {
                    "start": push.start.tolist(),
                    "velocity": push.velocity.tolist(),
                    "duration": push.duration,
                    "expected_pose": pose.tolist(),
                }
            )
            for push, pose in zip(self.pushes, self.poses[1:], strict=True)
        ]
        head = {
            "format": "pushwise",
            "version": 1,
            "kind": "plan",
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

    def table(self) -> str:
        """Return the pushes as a table for people."""
        lines = ["  start x, y [m]    velocity [m/s]     for [s]  then at x, y [m], theta [rad]"]
        for push, pose in zip(self.pushes, self.poses[1:], strict=True):
            start, velocity = push.start, push.velocity
            lines.append(
                f"  {start[0]:7.3f} {start[1]:7.3f}   {velocity[0]:7.3f} {velocity[1]:7.3f}    "
                f"{push.duration:7.2f}  {pose[0]:7.3f} {pose[1]:7.3f} {pose[2]:7.3f}"
            )
        return "\n".join(lines)

    def save(self, path: Path | str) -> None:
        """Write the plan to a JSON file."""
        try:
            Path(path).write_text(self.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None


def plan(
    found: Identification | ObjectModel,
    start: ArrayLike,
    goal: ArrayLike,
    table: Table,
    *,
    obstacles: Sequence[ArrayLike] = (),
    finger: Finger | None = None,
    method: str = "batch",
    tolerance: float = 0.02,
    max_pushes: int = 60,
    max_fall_probability: float = 0.01,
    time_limit: float = 10.0,
    known: Known | None = None,
    seed: int = 0,
) -> Plan:
    """Plan pushes of an object from a pose to another, (x, y, theta) each.

    found: what was identified, or a model, certain unless `known` says how well its centre of
    mass is known. obstacles: polygons (k, 2) [m]. finger: the one identified when not given.
    method: "batch" (fewest pushes), "gradient" (Algorithm 2, fewest simulations) or "exhaustive".
    tolerance: mean distance of the cells from the goal [m]. time_limit: [s], kept within a tenth.

    Raises PushwiseError when there is no way, or no pushes were found.
    """
    begin = time.perf_counter()
    if method not in SEARCHES:
        raise PushwiseError(f"method must be one of {', '.join(SEARCHES)}; got {method!r}.")
    tolerance = positive_number("tolerance", tolerance)
    limit = positive_number("time_limit", time_limit)
    most = non_negative_integer("max_pushes", max_pushes)
    first, last = finite_array("start", start, (3,)), finite_array("goal", goal, (3,))
    if finger is None:
        if isinstance(found, Identification):
            finger = found.finger
        else:
            finger = Finger() if known is None else known.finger
    balance = Balance(found, table, known=known, seed=seed)
    free = Free(balance, obstacles, max_fall_probability=max_fall_probability)
    waypoints = find_path(free, first, last, time_limit=_PATH_SHARE * limit, seed=seed)
    pusher = Pusher(free, finger, deadline=begin + limit)
    drive = _Drive(pusher, SEARCHES[method], tolerance, seed)
    poses, pushes = drive.along(waypoints, most, begin + limit)
    return Plan(
        tuple(pushes),
        np.array(poses),
        waypoints,
        mean_cell_error(balance.model.grid, poses[-1], last),
        pusher.simulations,
        time.perf_counter() - begin,
    )


def load_polygons(path: Path | str) -> list[Array]:
    """Read obstacles, polygons (k, 2) each [m], from a JSON file that lists them."""
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PushwiseError(f"cannot read {path} ({error.strerror}).") from None
    except ValueError as error:
        raise PushwiseError(f"{path} is not a JSON file ({error}).") from None
    if not isinstance(listed, list):
        raise PushwiseError(f"{path} must hold a list of polygons; it is {listed!r:.40}.")
    return [simple_polygon(f"{path}: obstacles[{i}]", each) for i, each in enumerate(listed)]


class _Drive:
    """Pushes an object along waypoints, in the model."""

    def __init__(self, pusher: Pusher, search: Search, tolerance: float, seed: int) -> None:
        self._pusher, self._search, self._tolerance = pusher, search, tolerance
        self._rng = np.random.default_rng(seed)

    def along(self, waypoints: Array, most: int, deadline: float) -> tuple[list[Array], list[Push]]:
        """Return poses and pushes from the first waypoint to the last."""
        poses, pushes = [waypoints[0].copy()], list[Push]()
        left = list(waypoints[1:])
        target = left[0]
        while left:
            if self._reached(poses[-1], left[0], final=len(left) == 1):
                left.pop(0)
                target = left[0] if left else target
                continue
            if len(pushes) == most or time.perf_counter() > deadline:
                raise PushwiseError(self._gave_up(poses[-1], waypoints[-1], len(pushes), most))
            found = self._search(self._pusher, poses[-1], target)
            if found:
                pushes.append(found[0].push)
                poses.append(found[0].end)
                target = left[0]
            else:
                # No push brings it nearer: go round by a pose beside the target.
                target = left[0] + _DETOUR * self._rng.uniform(-1.0, 1.0, 3)
        return poses, pushes

    def _reached(self, pose: Array, waypoint: Array, *, final: bool) -> bool:
        """Tell whether a pose is near enough to a waypoint."""
        near = self._tolerance if final else _PASSED * self._tolerance
        grid = self._pusher.grid
        # The root mean square bounds the mean from above, and costs less.
        if cell_distance(grid, pose, waypoint) < near:
            return True
        return final and mean_cell_error(grid, pose, waypoint) < near

    def _gave_up(self, pose: Array, goal: Array, pushes: int, most: int) -> str:
        """Say where it ended."""
        why = f"within {most} pushes" if pushes == most else f"in time, with {pushes} pushes"
        error = mean_cell_error(self._pusher.grid, pose, goal)
        return (
            f"the goal was not reached {why}: the object ends {error * 1e3:.0f} mm from it, the "
            f"tolerance is {self._tolerance * 1e3:.0f} mm; allow more, or another goal."
        )
