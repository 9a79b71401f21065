"""`SlideEnv`, the environment `pushwise/Slide-v1`: any object, any goal, and the table's edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from pushwise import objects
from pushwise.checks import finite_array
from pushwise.envs.picture import BLOCK, GOAL, TABLE, Area, TopView, picture
from pushwise.envs.stepped import NO_EPISODE, Stepped
from pushwise.errors import PushwiseError
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.model_files import load_belief
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.motion_state import MotionState
from pushwise.physics.push import Finger
from pushwise.physics.simulator import Simulator
from pushwise.typing import Array

__all__ = ["SlideEnv", "SlideState"]

_SPEED = 0.25  # m/s of the finger along each axis, at most
_TIME = 0.1  # s of a step
_CLOSE = 0.01  # m; mean distance of the cells from where they are at the goal
_INSIDE = 0.02  # m from the edge to the centre of mass, at a goal that is drawn
_CLEAR = 0.01  # m from the finger to the object, at the start
_FAR = 0.1  # m around the table, where the finger may be
_REACH = 1.0  # m from there to the origin of an object's grid, at most
_TRIES = 10_000
_PICTURE = 680  # px, the longer side
_OPTIONS = ("pose", "goal_pose", "model", "finger")


@dataclass(frozen=True, eq=False)
class SlideState:
    """All that decides how an environment continues, except its random numbers: a value."""

    motion: MotionState
    """Object, contact and finger."""
    goal: Array
    """Where the object should go [m, m, rad], shape (3,)."""


class SlideEnv(gymnasium.Env[Any, Any]):
    """Slide an object over a table to a goal, which may be half over the edge, without dropping it.

    All in metres. An action is the finger's velocity for a tenth of a second, as a share of 0.25
    m/s along each axis; an observation is (finger x, y; object x, y, cos, sin; goal x, y, cos,
    sin). The reward is by how much the mean distance of the cells from their goals decreased [m],
    and 1 for arriving (10 mm), or -1 if the object tips over the edge; either ends the episode.

    `reset(options=...)` takes, for one episode: `pose` and `goal_pose` (x, y, angle), `model` (an
    `ObjectModel` or a file of `pushwise identify`) and `finger` (a `pushwise.Finger`).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        model: ObjectModel | str | Path = "hammer",
        *,
        table: Table | None = None,
        finger: Finger | None = None,
        goal: tuple[float, float, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Make an environment.

        Args:
            model: the object, the name of one in `pushwise.objects`, or a file.
            table: its edge; by default 1.0 m x 0.7 m.
            finger: the one that pushes.
            goal: where the object should go [m, m, rad]; by default a new place in each episode.
            render_mode: None or "rgb_array".

        """
        if render_mode not in (None, "rgb_array"):
            raise PushwiseError(f"render_mode must be None or 'rgb_array'; got {render_mode!r}.")
        self.render_mode = render_mode
        self._table = table or Table()
        self._fixed_goal = goal
        self._usual = self._simulator(_model_of(model), finger or Finger())
        self._low = self._table.polygon.min(axis=0) - _FAR
        self._high = self._table.polygon.max(axis=0) + _FAR
        ends = [
            np.concatenate([at, at + sign * _REACH, [sign, sign], at + sign * _REACH, [sign, sign]])
            for at, sign in ((self._low, -1.0), (self._high, 1.0))
        ]
        self.observation_space = spaces.Box(ends[0], ends[1], dtype=np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self._now = self._usual
        self._state = self._usual.start()
        self._goal = np.zeros(3)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Start an episode; options as in the description of the class."""
        super().reset(seed=seed)
        asked: Mapping[str, Any] = options or {}
        unknown = sorted(set(asked) - set(_OPTIONS))
        if unknown:
            raise PushwiseError(f"options must be among {', '.join(_OPTIONS)}; got {unknown[0]!r}.")
        self._now = self._usual
        if "model" in asked or "finger" in asked:
            model = _model_of(asked.get("model", self._usual.model))
            self._now = self._simulator(model, asked.get("finger", self._usual.finger))
        drawn, goal = self._draw(whole=True), self._draw(whole=False)
        start = finite_array("pose", asked.get("pose", drawn), (3,))
        target = asked.get("goal_pose", goal if self._fixed_goal is None else self._fixed_goal)
        self._goal = np.array(finite_array("goal_pose", target, (3,)))
        self._state = self._now.step(self._now.start(start), self._free_place(start), _TIME)
        self._begun = True
        return self._observation(), self._info()

    def step(self, action: Any) -> Stepped:
        """Move the finger for a tenth of a second."""
        if not self._begun:
            raise PushwiseError(NO_EPISODE)
        share = np.clip(finite_array("action", action, (2,)), -1.0, 1.0)
        to = np.clip(self._state.finger + _SPEED * _TIME * share, self._low, self._high)
        before = self._distance()
        self._state = self._now.step(self._state, to, _TIME)
        info = self._info()
        reward = before - info["distance"] + info["is_success"] - info["has_fallen"]
        over = info["is_success"] or info["has_fallen"]
        return Stepped(self._observation(), float(reward), over, False, info)

    def render(self) -> Any:
        """Return a picture, shape (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        sides = self._high - self._low
        width, height = (round(float(side)) for side in _PICTURE * sides / sides.max())
        outline = self._now.model.grid.outline
        areas = [
            Area(self._table.polygon, TABLE),
            Area(placed(outline, self._goal), GOAL),
            Area(placed(outline, self._state.pose), BLOCK),
        ]
        finger = self._state.finger
        look = TopView(areas, finger, self._now.finger.radius, self._low, self._high, upwards=True)
        return picture(look, (width, height))

    def get_state(self) -> SlideState:
        """Return the state, from which `set_state` continues to the last bit, even in contact."""
        return SlideState(self._state, self._goal.copy())

    def set_state(self, state: SlideState) -> Array:
        """Continue from a state of this environment, or of one with the same object; observe it."""
        self._state, self._goal = state.motion, state.goal.copy()
        self._begun = True
        return self._observation()

    def _simulator(self, model: ObjectModel, finger: Finger) -> Simulator:
        """Return what moves an object on this table."""
        return Simulator(model, finger=finger, table=self._table, physics=Physics(dt=0.01))

    def _draw(self, *, whole: bool) -> Array:
        """Return a random pose on the table: with the whole outline on it, or only stable there."""
        edge, model = self._table.polygon, self._now.model
        for _ in range(_TRIES):
            x, y = self.np_random.uniform(edge.min(axis=0), edge.max(axis=0))
            pose = np.array([x, y, self.np_random.uniform(-np.pi, np.pi)])
            if whole:
                if contains(edge, placed(model.grid.outline, pose)).all():
                    return pose
                continue
            centre = placed(model.centre_of_mass[None], pose)[0]
            if outline_distance(edge, centre) >= -_INSIDE:
                continue
            if not self._now.step(self._now.start(pose), dt=_TIME).tipped:
                return pose
        raise PushwiseError("the object must fit on the table; no place for it was found.")

    def _free_place(self, pose: Array) -> Array:
        """Return a random place on the table for the finger, clear of the object (2,)."""
        edge = self._table.polygon
        outline = placed(self._now.model.grid.outline, pose)
        for _ in range(_TRIES):
            at = self.np_random.uniform(edge.min(axis=0), edge.max(axis=0))
            clear = outline_distance(outline, at) > self._now.finger.radius + _CLEAR
            if clear and contains(edge, at[None])[0]:
                return np.asarray(at)
        raise PushwiseError("the finger must fit on the table next to the object; found no place.")

    def _distance(self) -> float:
        """Return the mean distance of the cells from their goals [m]."""
        return mean_cell_error(self._now.model.grid, self._state.pose, self._goal)

    def _observation(self) -> Array:
        """Return finger, object and goal, shape (10,)."""
        parts = [self._state.finger]
        for pose in (self._state.pose, self._goal):
            parts += [pose[:2], np.array([np.cos(pose[2]), np.sin(pose[2])])]
        return np.concatenate(parts)

    def _info(self) -> dict[str, Any]:
        """Return where things are, and whether the episode is over."""
        distance, fallen = self._distance(), bool(self._state.tipped)
        return {
            "pose": self._state.pose.copy(),
            "goal_pose": self._goal.copy(),
            "distance": distance,
            "is_success": distance < _CLOSE and not fallen,
            "has_fallen": fallen,
        }


def _model_of(model: ObjectModel | str | Path) -> ObjectModel:
    """Return a model: as it is, of the library, or of a file."""
    if isinstance(model, ObjectModel):
        return model
    if model in objects.all_names:
        return objects.load(str(model)).model
    return load_belief(Path(model)).model
