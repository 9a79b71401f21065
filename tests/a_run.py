"""A run of `slide` that several tests look at, made once."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import pushwise as pw
from pushwise.records.record import Noise
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.run_folder import RunFolder


@cache
def a_run() -> Path:
    """Return the folder of a finished run: crimping pliers in the ideal world."""
    home = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, home)
    folder = Path(home) / "run"
    table = pw.Table()
    thing = pw.objects.load("crimp").sample(np.random.default_rng(0))
    camera = pw.worlds.Sensing(Noise(2e-4, 1e-3), rate=20.0)
    world = pw.worlds.Ideal(thing, table, pose=(0.1, 0.1, 0.7), sensing=camera)
    journal = RunFolder(folder, {"object": "crimp", "world": "ideal"})
    pw.slide(world, table, options=SlideOptions(explore=3), journal=journal)
    return folder
