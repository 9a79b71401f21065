"""`pushwise experiment pusht`: `PushController` plays Push-T, here and in gym-pusht itself.

- PushT-v1: the model of the T is that of the environment.
- gym-pusht: its T slides by another law than Coulomb's, and without friction on the agent. The
  controller plays with a uniform T as its model, and with one identified there from ten pushes,
  which are those that the uniform one makes in episodes of their own.

All play the same episodes. One that is not solved within 300 steps counts as 300.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from pushwise.atomic_write import make_folder, write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.gym_pusht import GymPushT, PushTStep
from pushwise.experiments.pusht_film import write_film
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, mean, numbers, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.extras import require
from pushwise.identification.belief import Belief
from pushwise.identification.identify import identify
from pushwise.model_files import load_belief, save
from pushwise.records.record import PushRecord
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.envs import PushTPolicy

__all__ = ["Played", "identified", "play", "report", "rows_of", "run", "settings_of"]

_OURS, _THEIRS = "PushT-v1", "gym-pusht"
_CASES = ((_OURS, "true"), (_THEIRS, "uniform"), (_THEIRS, "identified"))
_LIMIT = 300  # steps
_PUSHES = 10  # to identify the T from
_LEARNING_SEED = 100_000  # of the first episode with such pushes
_MODEL = "model.json"
_FILMED = 3  # episodes


class PushT(Protocol):
    """An environment with the task."""

    def reset(self, seed: int) -> PushTStep:
        """Start an episode."""

    def step(self, action: Array) -> PushTStep:
        """Move the agent towards a place [px], shape (2,)."""


class OurPushT:
    """`pushwise/PushT-v1`."""

    def __init__(self) -> None:
        """Make the environment."""
        from pushwise.envs import PushTEnv

        self._env = PushTEnv()

    def reset(self, seed: int) -> PushTStep:
        """Start an episode."""
        state, info = self._env.reset(seed=seed)
        return PushTStep(state, info["coverage"], False)

    def step(self, action: Array) -> PushTStep:
        """Move the agent towards a place [px], shape (2,)."""
        state, _, solved, _, info = self._env.step(action)
        return PushTStep(state, info["coverage"], solved)


class Played(NamedTuple):
    """An episode."""

    states: Array
    """Agent and T at the start and after each step [px, px, px, px, rad], shape (steps + 1, 5)."""
    solved: bool
    coverage: float
    """At the end."""
    contacts: int
    said: str
    """The error message of a policy that gave up; otherwise empty."""


def play(world: PushT, policy: PushTPolicy, seed: int, limit: int = _LIMIT) -> Played:
    """Play one episode."""
    now = world.reset(seed)
    policy.reset()
    states, said = [now.state], ""
    while not now.solved and len(states) <= limit:
        try:
            action = policy(now.state)
        except PushwiseError as error:
            said = str(error)
            break
        now = world.step(action)
        states.append(now.state)
    return Played(np.array(states), now.solved, now.coverage, policy.contacts, said)


def identified(world: PushT) -> Belief:
    """Return what ten pushes with a uniform T as the model show about the T of a world."""
    from pushwise.envs.push_t_policy import PushTPolicy
    from pushwise.envs.push_t_task import AGENT, t_model

    policy = PushTPolicy(Belief.assuming(t_model(), AGENT))
    records: list[PushRecord] = []
    seed = _LEARNING_SEED
    while len(records) < _PUSHES:
        play(world, policy, seed)
        records += policy.records
        seed += 1
    return identify(t_model().grid, records[:_PUSHES], finger=AGENT).belief


def run(options: SweepOptions, *, episodes: int = 200, gym_pusht: Path | None = None) -> str:
    """Play this many episodes per case; return the table, as `conduct` does.

    Args:
        options: Where results go.
        episodes: Number of episodes.
        gym_pusht: An interpreter with gym-pusht 0.1.8 and pymunk below 7; without it only our own
            environment is played.

    """
    require("gymnasium", extra="gym", purpose="Push-T")
    check_counts(episodes=episodes)
    make_folder(options.output)
    model = options.output / _MODEL
    if gym_pusht is not None and not model.exists():
        theirs = GymPushT(gym_pusht)
        save(identified(theirs), model)
        theirs.close()
    settings = settings_of(episodes, gym_pusht is not None)
    said = conduct(partial(rows_of, python=gym_pusht, model=model), settings, report, options)
    if options.check is None:
        _film(settings[: len(settings) // episodes], gym_pusht, model)
    return said


def _film(cases: list[Row], python: Path | None, model: Path) -> None:
    """Write a film of the first episodes of all cases."""
    worlds = [_world(str(case["world"]), python) for case in cases]
    policies = [_policy(str(case["model"]), model) for case in cases]
    pairs = list(zip(worlds, policies, strict=True))
    shown = [[play(*pair, seed).states for pair in pairs] for seed in range(_FILMED)]
    captions = [f"{case['world']}, {case['model']} model" for case in cases]
    write_film(model.with_name("film.gif"), captions, shown)


def settings_of(episodes: int, theirs: bool) -> list[Row]:
    """Return all settings, ordered by episode; theirs: whether there is gym-pusht."""
    cases = _CASES if theirs else _CASES[:1]
    return [
        {"world": world, "model": model, "seed": seed}
        for seed in range(episodes)
        for world, model in cases
    ]


def rows_of(setting: Row, *, python: Path | None, model: Path) -> list[Row]:
    """Play an episode."""
    played = play(
        _world(str(setting["world"]), python),
        _policy(str(setting["model"]), model),
        int(str(setting["seed"])),
    )
    return [
        {
            "solved": played.solved,
            "steps": len(played.states) - 1 if played.solved else _LIMIT,
            "coverage": played.coverage,
            "contacts": played.contacts,
            "said": played.said or None,
        }
    ]


@cache
def _world(name: str, python: Path | None) -> PushT:
    """Return an environment, one per process."""
    if name == _OURS:
        return OurPushT()
    assert python is not None
    return GymPushT(python)


@cache
def _policy(name: str, model: Path) -> PushTPolicy:
    """Return the policy of a model, one per process."""
    from pushwise.envs.push_t_policy import PushTPolicy
    from pushwise.envs.push_t_task import AGENT, t_model

    beliefs = {
        "true": lambda: Belief.certain(t_model(), AGENT),
        "uniform": lambda: Belief.assuming(t_model(), AGENT),
        "identified": lambda: load_belief(model),
    }
    return PushTPolicy(beliefs[name]())


def report(rows: list[Row], folder: Path) -> str:
    """Write and return the table."""
    lines = []
    for world, model in _CASES:
        some = where(rows, world=world, model=model)
        if not some:
            continue
        steps = numbers(some, "steps")
        lines.append(
            (
                world,
                model,
                f"{int(numbers(some, 'solved').sum())} of {len(some)}",
                float(steps.mean()),
                f"{np.median(steps):.0f}",
                f"{np.percentile(steps, 90):.0f}",
                mean(some, "contacts"),
            )
        )
    columns = (
        *("environment", "model of the T", "episodes solved", "steps, mean"),
        *("median", "90 %", "contacts, mean"),
    )
    title = (
        "Push-T with `PushController`, without training: episodes in which 95 % of the goal are "
        f"covered within {_LIMIT} steps of 0.1 s, and how many steps that takes (those not solved "
        f"count as {_LIMIT}). Environments are of seeds 0, 1, 2, ...; gym-pusht is version 0.1.8, "
        f"whose physics differ from ours; the identified model is from {_PUSHES} pushes there."
    )
    table = f"{title}\n\n{markdown(columns, lines)}"
    uniform, known = (where(rows, world=_THEIRS, model=model) for _, model in _CASES[1:])
    if uniform and known:
        ratio = mean(known, "steps") / mean(uniform, "steps")
        table += (
            f"\n\nIn gym-pusht the identified model takes {ratio:.2f} times the steps of the "
            "uniform one. LeRobot's published diffusion policy, which sees pixels and learned from "
            "206 human demonstrations, solves 63.8 % of 500 episodes there."
        )
    write_text(folder / "table.md", table + "\n")
    return table
