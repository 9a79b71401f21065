"""`PushTEnv`, the environment `pushwise/PushT-v1`, and what it shares with the vector of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
from gymnasium import spaces

from pushwise.envs.arena import Arena, ArenaState
from pushwise.envs.episode import Episode, PushedObject, Vary, episode_of, pushed_object
from pushwise.envs.picture import BLOCK, GOAL, TABLE, Area, TopView, picture
from pushwise.envs.push_t_task import PIXEL, SIZE, SUCCESS, WALLS
from pushwise.envs.stepped import NO_EPISODE, Stepped
from pushwise.errors import PushwiseError
from pushwise.geometry.overlap import new_covered, update_covered
from pushwise.geometry.polygon import placed
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.typing import Array, Flags, Integers

__all__ = [
    "ObsType",
    "PushTEnv",
    "PushTGame",
    "action_space",
    "observation_space",
    "top_view",
]

ObsType = Literal["state", "environment_state_agent_pos"]
_FLOOR = np.column_stack([np.take(WALLS, [0, 1, 1, 0]), np.take(WALLS, [0, 0, 1, 1])])
_METRES = np.array([PIXEL, PIXEL, 1.0])  # of a pose in pixels
_TRIES = 100  # starts that are drawn until there is room for the object


def observation_space(obs_type: str) -> spaces.Space[Any]:
    """Return the space of observations, that of gym-pusht."""
    if obs_type not in get_args(ObsType):
        known = " or ".join(repr(name) for name in get_args(ObsType))
        raise PushwiseError(f"obs_type must be {known}; got {obs_type!r}.")
    if obs_type == "state":
        high = np.array([SIZE, SIZE, SIZE, SIZE, 2.0 * np.pi])
        return spaces.Box(np.zeros(5), high, dtype=np.float64)
    return spaces.Dict(
        {
            "environment_state": spaces.Box(0.0, SIZE, (16,), np.float64),
            "agent_pos": spaces.Box(0.0, SIZE, (2,), np.float64),
        }
    )


def action_space(normalised: bool) -> spaces.Box:
    """Return the space of actions: where the agent should go [px], or from -1 to 1."""
    return spaces.Box(-1.0 if normalised else 0.0, 1.0 if normalised else SIZE, (2,), np.float32)


class PushTGame:
    """Push-T for B environments at once, without what gymnasium asks for."""

    def __init__(
        self, usual: PushedObject, size: int, obs_type: str, *, normalised: bool = False
    ) -> None:
        """Make B environments with the same usual object; normalised: see `PushTEnv`."""
        self.usual = usual
        self.pushed = [usual] * size
        self.goal = np.zeros((size, 3))
        self.arena = Arena(usual.simulator, size)
        self._obs_type, self._normalised = obs_type, normalised
        self._covered = new_covered(size)
        self._alike: list[Integers] = []  # until an object changes; see `_groups`

    def start(
        self, i: int, rng: np.random.Generator, options: Mapping[str, Any] | None, vary: Vary | None
    ) -> None:
        """Start an episode in environment i."""
        for _ in range(_TRIES):
            asked = {**(vary(rng) if vary is not None else {}), **(options or {})}
            episode = episode_of(self.usual, rng, asked)
            try:
                self._begin(i, episode)
            except PushwiseError:
                if episode.given:
                    raise
                continue
            return
        raise PushwiseError(f"no start had room for the object; {_TRIES} were drawn.")

    def _begin(self, i: int, episode: Episode) -> None:
        """Place object and agent of an episode."""
        self.arena.place(i, episode.pushed.simulator, episode.agent, episode.pose)
        self.goal[i] = episode.goal
        if episode.pushed is not self.pushed[i]:
            self.pushed[i] = episode.pushed
            self._covered.places[i] = np.nan
            self._alike = []

    def step(self, action: Array, moving: Flags) -> None:
        """Move agents towards actions (B, 2) [px], or normalised."""
        target = np.asarray(action, float)
        if self._normalised:
            target = 0.5 * SIZE * (target + 1.0)
        target = np.minimum(np.maximum(target, 0.0), SIZE)
        if not np.isfinite(target).all():
            raise PushwiseError(f"action must be finite; got {np.asarray(action).tolist()}.")
        self.arena.step(target, moving)

    def coverage(self) -> Array:
        """Return how much of each goal is covered, shape (B,)."""
        places = np.empty((len(self.goal), 6))
        places[:, :3] = self.arena.motion.pose
        np.multiply(self.goal, _METRES, out=places[:, 3:])
        for mine in self._groups():
            update_covered(self.pushed[mine[0]].parts, mine, places, self._covered)
        return self._covered.shares.copy()

    def observation(self) -> Any:
        """Return the observations, with B as their first axis."""
        agent, pose = self.arena.agent, self.arena.pose
        if self._obs_type == "state":
            state = np.empty((len(pose), 5))
            state[:, :2] = agent
            state[:, 2:4] = pose[:, :2]
            np.remainder(pose[:, 2], 2.0 * np.pi, out=state[:, 4])
            return state
        points = np.empty((len(pose), 8, 2))
        for mine in self._groups():
            points[mine] = placed(self.pushed[mine[0]].keypoints, self.arena.motion.pose[mine])
        return {"environment_state": points.reshape(-1, 16) / PIXEL, "agent_pos": agent.copy()}

    def info(self, coverage: Array) -> dict[str, Any]:
        """Return gym-pusht's information, with B as the first axis of each entry."""
        return {
            "pos_agent": self.arena.agent.copy(),
            "vel_agent": self.arena.velocity.copy(),
            "block_pose": self.arena.pose,
            "goal_pose": self.goal.copy(),
            "n_contacts": (self.arena.motion.mode != 0).astype(np.int64),
            "is_success": coverage > SUCCESS,
            "coverage": coverage,
        }

    def _groups(self) -> list[Integers]:
        """Return the indices of environments with the same outline, group by group."""
        if not self._alike:
            groups: dict[int, list[int]] = {}
            for i, one in enumerate(self.pushed):
                groups.setdefault(id(one.keypoints), []).append(i)
            self._alike = [np.array(group, np.int64) for group in groups.values()]
        return self._alike

    def state(self) -> ArenaState:
        """Return all that decides how the environments continue, except their random numbers."""
        arena = self.arena
        return ArenaState(arena.motion, arena.agent.copy(), arena.velocity.copy(), self.goal.copy())

    def restore(self, state: ArenaState) -> None:
        """Continue from a state, with the objects that there are."""
        if len(state.motion) != len(self.goal):
            raise PushwiseError(
                f"the state must be of {len(self.goal)} environments; got {len(state.motion)}."
            )
        self.arena.motion = state.motion
        self.arena.agent, self.arena.velocity = state.agent.copy(), state.velocity.copy()
        self.goal = state.goal.copy()

    def look(self, i: int) -> TopView:
        """Return what there is to see in environment i."""
        simulator = self.pushed[i].simulator
        outline = simulator.model.grid.outline / PIXEL
        state = np.concatenate([self.arena.agent[i], self.arena.pose[i]])
        return top_view(state, self.goal[i], outline, simulator.finger.radius / PIXEL)


def top_view(state: Array, goal: Array, outline: Array, radius: float) -> TopView:
    """Return what there is to see of agent and object.

    Args:
        state: Agent x, y, object x, y, angle [px, px, px, px, rad], shape (5,).
        goal: Pose to cover [px, px, rad], shape (3,).
        outline: Of the object [px], grid frame, shape (k, 2).
        radius: Of the agent [px].

    """
    areas = [
        Area(_FLOOR, TABLE),
        Area(placed(outline, goal), GOAL),
        Area(placed(outline, state[2:]), BLOCK),
    ]
    return TopView(areas, state[:2], radius, np.zeros(2), np.full(2, SIZE), upwards=False)


class PushTEnv(gymnasium.Env[Any, Any]):
    """Push a T onto its goal: gym-pusht 0.1.8's task in its state modes, with exact friction.

    Observations, actions, control rate (10 Hz), reward, success, time limit and random starts by
    seed are those of gym-pusht, in pixels of one millimetre. The T slides with Coulomb friction on
    the table and against the agent, and `reset_to_state` puts it where it says. Poses are of the
    grid frame of the model, which for the usual T is gym-pusht's.

    `reset(options=...)` takes, for one episode: `reset_to_state` (agent x, y, T x, y, angle),
    `goal_pose` (x, y, angle), `model` (an `ObjectModel` such as `belief.model`, or a file of
    `pushwise identify`), `mass` [kg] and `friction` per cell or as one number, `outline` [m],
    shape (k, 2), and `finger` (a `pushwise.Finger`).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        obs_type: str = "state",
        render_mode: str | None = None,
        *,
        model: ObjectModel | str | Path | None = None,
        finger: Finger | None = None,
        vary: Vary | None = None,
        normalised: bool = False,
        visualization_width: int = 680,
        visualization_height: int = 680,
    ) -> None:
        """Make an environment.

        Args:
            obs_type: "state", or "environment_state_agent_pos": eight corners, and the agent.
            render_mode: None or "rgb_array".
            model: the object; by default a uniform T of 1 kg, friction 0.5.
            finger: the agent; by default of radius 15 mm, friction 0.3.
            vary: draws the options of each episode from a random number generator.
            normalised: whether actions are from -1 to 1, as learning libraries prefer, instead of
                gym-pusht's pixels.
            visualization_width: of the picture [px].
            visualization_height: of the picture [px].

        """
        self.observation_space = observation_space(obs_type)
        self.action_space = action_space(normalised)
        if render_mode not in (None, "rgb_array"):
            raise PushwiseError(f"render_mode must be None or 'rgb_array'; got {render_mode!r}.")
        self.render_mode = render_mode
        self._vary = vary
        self._size = visualization_width, visualization_height
        self._game = PushTGame(pushed_object(model, finger), 1, obs_type, normalised=normalised)
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode; options as in the description of the class."""
        super().reset(seed=seed)
        self._game.start(0, self.np_random, options, self._vary)
        self._begun = True
        return self._observation(), self._info() | {"is_success": False}

    def step(self, action: Any) -> Stepped:
        """Move the agent towards an action, shape (2,), for a tenth of a second."""
        if not self._begun:
            raise PushwiseError(NO_EPISODE)
        self._game.step(np.asarray(action, float)[None], np.ones(1, np.bool_))
        info = self._info()
        reward = min(info["coverage"] / SUCCESS, 1.0)
        return Stepped(self._observation(), reward, info["is_success"], False, info)

    def render(self) -> Any:
        """Return a picture, shape (height, width, 3), or None without a render mode."""
        return None if self.render_mode is None else picture(self._game.look(0), self._size)

    def close(self) -> None:
        """End the environment."""
        self._game.arena.close()

    def get_state(self) -> ArenaState:
        """Return the state, from which `set_state` continues to the last bit, even in contact."""
        return self._game.state()

    def set_state(self, state: ArenaState) -> Any:
        """Continue from a state of this environment, or of one with the same object; observe it."""
        self._game.restore(state)
        self._begun = True
        return self._observation()

    def _observation(self) -> Any:
        """Return the observation of the one environment."""
        found = self._game.observation()
        if isinstance(found, dict):
            return {key: value[0] for key, value in found.items()}
        return found[0]

    def _info(self) -> dict[str, Any]:
        """Return the information of the one environment, numbers as Python's own."""
        found = self._game.info(self._game.coverage())
        return {key: x[0].item() if x.ndim == 1 else x[0] for key, x in found.items()}
