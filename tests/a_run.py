"""A run of `slide` that several tests look at, made once for all processes of a session."""

import atexit
import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np

import pushwise as pw
from pushwise.records.record import Noise
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.run_folder import RunFolder

SHARED = "PUSHWISE_TESTS_SHARE"
"""Variable with the folder of what the processes of a session share."""
PATIENCE = 1200.0  # s that a process waits for another to make it


def share_folder() -> None:
    """Make the folder that processes started from now on share; the first one removes it."""
    if SHARED not in os.environ:
        os.environ[SHARED] = tempfile.mkdtemp(prefix="pushwise-tests-")
        atexit.register(shutil.rmtree, os.environ[SHARED])


@cache
def a_run() -> Path:
    """Return the folder of a finished run: crimping pliers in the ideal world."""
    share_folder()
    home = Path(os.environ[SHARED])
    folder, made, claim = home / "run", home / "made", home / "claimed"
    deadline = time.monotonic() + PATIENCE
    while not made.exists():
        assert time.monotonic() < deadline, f"another process does not make {folder}"
        try:
            claim.mkdir()
        except FileExistsError:
            time.sleep(0.1)
            continue
        try:
            if not made.exists():
                _slide(folder)
                made.touch()
        finally:
            claim.rmdir()
    return folder


def _slide(folder: Path) -> None:
    table = pw.Table()
    thing = pw.objects.load("crimp").sample(np.random.default_rng(0))
    camera = pw.worlds.Sensing(Noise(2e-4, 1e-3), rate=20.0)
    world = pw.worlds.Ideal(thing, table, pose=(0.1, 0.1, 0.7), sensing=camera)
    journal = RunFolder(folder, {"object": "crimp", "world": "ideal"})
    pw.slide(world, table, options=SlideOptions(explore=3), journal=journal)
