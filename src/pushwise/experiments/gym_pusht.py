"""`GymPushT`: gym-pusht 0.1.8 as a child process with a Python of its own, spoken to in JSON lines.

It needs an old pymunk, which is why it is no dependency.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.typing import Array

__all__ = ["GymPushT", "PushTStep"]

_CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
lines, sys.stdout = sys.stdout, sys.stderr  # pygame greets on stdout
import gymnasium, gym_pusht
import numpy as np
env = gymnasium.make("gym_pusht/PushT-v0", disable_env_checker=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "seed" in asked:
        state, info = env.reset(seed=asked["seed"])
        done = False
    else:
        state, _, done, _, info = env.step(np.array(asked["action"]))
    coverage = env.unwrapped._get_coverage()
    lines.write(json.dumps([state.tolist(), coverage, bool(done)]) + "\\n")
    lines.flush()
"""


class PushTStep(NamedTuple):
    """What Push-T shows after a reset or a step."""

    state: Array
    """Agent x, y, T x, y, angle [px, px, px, px, rad], shape (5,)."""
    coverage: float
    """Share of the goal that is covered."""
    solved: bool
    """Whether that is enough, which ends the episode."""


class GymPushT:
    """gym-pusht in a process of its own."""

    def __init__(self, python: Path) -> None:
        """Start it; python: an interpreter with gym-pusht 0.1.8 and pymunk below 7."""
        self._python = python
        try:
            self._process = subprocess.Popen(
                [python, "-c", _CHILD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except OSError as error:
            raise PushwiseError(f"{python} must be a Python that can be run; {error}.") from None

    def reset(self, seed: int) -> PushTStep:
        """Start an episode."""
        return self._ask({"seed": seed})

    def step(self, action: Array) -> PushTStep:
        """Move the agent towards a place [px], shape (2,), for a tenth of a second."""
        return self._ask({"action": action.tolist()})

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _ask(self, question: dict[str, Any]) -> PushTStep:
        """Send a question to the child and return its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        line = ""
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            pass  # it has ended; why, it says on stderr
        if not line:
            _, said = self._process.communicate()
            last = (said.strip().splitlines() or ["it said nothing"])[-1]
            raise PushwiseError(
                f"{self._python} must have gym-pusht 0.1.8 and pymunk below 7; {last}."
            )
        state, coverage, solved = json.loads(line)
        return PushTStep(np.array(state), coverage, solved)
