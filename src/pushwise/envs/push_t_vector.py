"""`PushTVectorEnv`: many Push-T environments that step together, on all cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from pushwise.checks import non_negative_integer
from pushwise.envs.arena import ArenaState
from pushwise.envs.episode import Vary, pushed_object
from pushwise.envs.picture import picture
from pushwise.envs.push_t import PushTEnv, PushTGame, action_space, observation_space
from pushwise.envs.push_t_task import SUCCESS, TIME_LIMIT
from pushwise.envs.stepped import NO_EPISODE, Stepped
from pushwise.errors import PushwiseError
from pushwise.physics.model import ObjectModel

__all__ = ["PushTVectorEnv"]

_PICTURE = 680  # px


class PushTVectorEnv(VectorEnv[Any, Any, Any]):
    """Many environments `pushwise/PushT-v1`; see `PushTEnv`.

    Environment i with seed s is a `PushTEnv` with seed s + i. An environment whose episode is over
    starts a new one in the next step, whatever its action (`AutoresetMode.NEXT_STEP`).
    `reset(options=...)` takes the options of `PushTEnv` for all, or one mapping for each under the
    key "each". Environments with the same object are the quickest.
    """

    metadata = {**PushTEnv.metadata, "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        obs_type: str = "state",
        render_mode: str | None = None,
        *,
        model: ObjectModel | str | Path | None = None,
        vary: Vary | None = None,
        normalised: bool = False,
        max_episode_steps: int = TIME_LIMIT,
    ) -> None:
        """Make environments.

        Args:
            num_envs: how many.
            obs_type: as in `PushTEnv`, as are `render_mode`, `model` and `vary`.
            render_mode: see `PushTEnv`.
            model: see `PushTEnv`.
            vary: see `PushTEnv`.
            normalised: see `PushTEnv`.
            max_episode_steps: after how many steps an episode is truncated.

        """
        if non_negative_integer("num_envs", num_envs) == 0:
            raise PushwiseError("num_envs must be one or more; got 0.")
        if render_mode not in (None, "rgb_array"):
            raise PushwiseError(f"render_mode must be None or 'rgb_array'; got {render_mode!r}.")
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = observation_space(obs_type)
        self.single_action_space = action_space(normalised)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._game = PushTGame(pushed_object(model), num_envs, obs_type, normalised=normalised)
        self._vary, self._limit = vary, max_episode_steps
        self._rngs: list[np.random.Generator] = []
        self._steps = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every environment."""
        seeds = [seed] * self.num_envs if seed is None else seed
        if isinstance(seeds, int):
            seeds = [seeds + i for i in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise PushwiseError(f"seed must be one, or {self.num_envs} of them; got {len(seeds)}.")
        for i, one in enumerate(seeds):
            if not self._rngs or len(self._rngs) <= i:
                self._rngs.append(seeding.np_random(one)[0])
            elif one is not None:
                self._rngs[i] = seeding.np_random(one)[0]
        each = self._options(options)
        for i in range(self.num_envs):
            self._game.start(i, self._rngs[i], each[i], self._vary)
        self._steps[:] = 0
        self._over[:] = False
        info = self._game.info(self._game.coverage())
        info["is_success"] = np.zeros(self.num_envs, np.bool_)
        return self._game.observation(), self._marked(info)

    def step(self, actions: Any) -> Stepped:
        """Move all agents towards actions, shape (B, 2), for a tenth of a second."""
        if not self._rngs:
            raise PushwiseError(NO_EPISODE)
        moving = ~self._over
        for i in np.flatnonzero(self._over).tolist():
            self._game.start(i, self._rngs[i], None, self._vary)
            self._steps[i] = 0
        self._game.step(np.asarray(actions, float).reshape(self.num_envs, 2), moving)
        self._steps += moving
        coverage = self._game.coverage()
        info = self._game.info(coverage)
        info["is_success"] &= moving
        reward = np.where(moving, np.minimum(coverage / SUCCESS, 1.0), 0.0)
        terminated = info["is_success"].copy()
        truncated = moving & (self._steps >= self._limit)
        self._over = terminated | truncated
        return Stepped(self._game.observation(), reward, terminated, truncated, self._marked(info))

    def render(self) -> Any:
        """Return a picture of each environment, or None without a render mode."""
        if self.render_mode is None:
            return None
        size = _PICTURE, _PICTURE
        return tuple(picture(self._game.look(i), size) for i in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self._game.arena.close()

    def get_state(self) -> ArenaState:
        """Return the state of all environments; see `PushTEnv.get_state`."""
        return self._game.state()

    def set_state(self, state: ArenaState) -> Any:
        """Begin an episode in a state of as many environments, and observe it."""
        self._game.restore(state)
        self._steps[:] = 0
        self._over[:] = False
        return self._game.observation()

    def _options(self, options: dict[str, Any] | None) -> Sequence[Mapping[str, Any] | None]:
        """Return the options of each environment."""
        if not options or "each" not in options:
            return [options] * self.num_envs
        each: Sequence[Mapping[str, Any]] = options["each"]
        if len(each) != self.num_envs:
            raise PushwiseError(
                f'options["each"] must have one mapping per environment, {self.num_envs}; got '
                f"{len(each)}."
            )
        return each

    def _marked(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return information with gymnasium's marks: it is from all environments."""
        marks = np.ones((len(info), self.num_envs), np.bool_)
        return info | {f"_{key}": mark for key, mark in zip(info, marks, strict=True)}
