"""The part of `pushwise bench` that compares Push-T with gym-pusht, which has a Python of its own.

Both get the same kinds of actions: random ones, and ones that go for the T all the time. The two
take turns, and the best rate of each counts.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.experiments.measurement import Measurement
from pushwise.extras import require
from pushwise.typing import Array

if TYPE_CHECKING:
    from pushwise.envs import PushTVectorEnv

__all__ = ["compare_with_gym_pusht"]

_SIZE = 64  # environments
_STEPS = 100
_ROUNDS = 5
_SPREAD = 40.0  # px around the T, of actions that go for it
_GYM_PUSHT = """
import json, time, warnings
warnings.simplefilter("ignore")
import gymnasium, gym_pusht
import numpy as np
env = gymnasium.make("gym_pusht/PushT-v0", disable_env_checker=True)
rates = []
for pushing in (False, True):
    rng = np.random.default_rng(0)
    observation, _ = env.reset(seed=0)
    begin, count = time.perf_counter(), 600
    for _ in range(count):
        action = rng.uniform(0.0, 512.0, 2)
        if pushing:
            action = np.clip(observation[2:4] + rng.normal(scale=SPREAD, size=2), 0.0, 512.0)
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()
    rates.append(count / (time.perf_counter() - begin))
print(json.dumps(rates))
"""


def compare_with_gym_pusht(python: Path) -> list[Measurement]:
    """Return how many steps per second 64 environments make, over gym-pusht's on one core.

    Args:
        python: the interpreter of a virtual environment with gym-pusht 0.1.8 and pymunk below 7.

    """
    require("gymnasium", extra="gym", purpose="the comparison with gym-pusht")
    from pushwise.envs import PushTVectorEnv

    envs = PushTVectorEnv(_SIZE)
    ours, theirs = np.zeros((2, _ROUNDS, 2))
    _rates(envs)  # compiles
    for k in range(_ROUNDS):
        ours[k], theirs[k] = _rates(envs), _gym_pusht(python)
    envs.close()
    mine, other = ours.max(axis=0), theirs.max(axis=0)
    rates = zip(mine, other, strict=True)
    details = [f"{a:.0f} steps per second against {b:.0f}" for a, b in rates]
    return [
        Measurement.at_least(
            f"Push-T, {_SIZE} environments: steps over gym-pusht's, random actions",
            float(mine[0] / other[0]),
            40,
            f"{details[0]} on one core; all cores",
        ),
        Measurement(
            f"Push-T, {_SIZE} environments: steps over gym-pusht's, always pushing",
            float(mine[1] / other[1]),
            f"{details[1]} on one core; all cores",
        ),
    ]


def _rates(envs: PushTVectorEnv) -> Array:
    """Return our steps per second with random actions and with pushing ones, shape (2,)."""
    found = []
    for pushing in (False, True):
        rng = np.random.default_rng(0)
        observation, _ = envs.reset(seed=0)
        begin = perf_counter()
        for _ in range(_STEPS):
            actions = rng.uniform(0.0, 512.0, (_SIZE, 2))
            if pushing:
                around = rng.normal(scale=_SPREAD, size=(_SIZE, 2))
                actions = np.clip(observation[:, 2:4] + around, 0.0, 512.0)
            observation, *_ = envs.step(actions)
        found.append(_STEPS * _SIZE / (perf_counter() - begin))
    return np.array(found)


def _gym_pusht(python: Path) -> Array:
    """Return the same two rates of gym-pusht, shape (2,)."""
    code = _GYM_PUSHT.replace("SPREAD", str(_SPREAD))
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=300)
    except OSError as error:
        raise PushwiseError(f"{python} must be a Python that can be run; {error}.") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise PushwiseError(f"{python} must have gym-pusht 0.1.8 and pymunk below 7; {last}.")
    return np.array(json.loads(done.stdout.splitlines()[-1]))
