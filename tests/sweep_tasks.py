"""Tasks for the tests of sweeps, and a sweep as a process of its own that can be killed."""

import os
import sys
import time
from pathlib import Path

import numpy as np

from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import sweep

SETTINGS: list[Row] = [{"object": name, "seed": i} for name in "abc" for i in range(10)]


def number(setting: Row) -> dict[str, float]:
    """Return a number of many digits that depends on the setting alone."""
    rng = np.random.default_rng([ord(str(setting["object"])), int(setting["seed"] or 0)])
    square = rng.standard_normal((300, 300))
    return {"value": float((square @ square).sum())}


def steady(setting: Row) -> list[Row]:
    """Return two rows."""
    return [{"step": i, "value": number(setting)["value"] / 3**i, "seconds": 0.1} for i in range(2)]


def slow(setting: Row) -> list[Row]:
    """Take a tenth of a second."""
    time.sleep(0.1)
    return steady(setting)


def failing(setting: Row) -> list[Row]:
    """Fail for one setting."""
    if setting == {"object": "b", "seed": 3}:
        raise RuntimeError("the object is gone")
    return steady(setting)


def failing_once(mark: Path, setting: Row) -> list[Row]:
    """Fail at the first try, which a file remembers."""
    if setting == {"object": "b", "seed": 3} and not mark.exists():
        mark.touch()
        raise RuntimeError("not yet")
    return steady(setting)


def dying_once(mark: Path, setting: Row) -> list[Row]:
    """Kill the worker at the first try."""
    if setting == {"object": "b", "seed": 3} and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), 9)
    return steady(setting)


def dying(setting: Row) -> list[Row]:
    """Kill the worker again and again."""
    if setting == {"object": "b", "seed": 3}:
        os.kill(os.getpid(), 9)
    return steady(setting)


if __name__ == "__main__":
    sweep(slow, SETTINGS, Path(sys.argv[1]), jobs=2)
