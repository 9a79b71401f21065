"""Make the pictures of the pages in docs/: a hammer slid to the edge in MuJoCo.

Run: python tests/screenshots.py docs
"""

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import pushwise as pw
from browser import browser, free_port
from pushwise.records.record import Noise
from pushwise.show.viewer import View
from pushwise.show.viewer_data import Viewed
from pushwise.sliding.run_folder import RunFolder
from view_screenshots import states
from viewing import open_page

VIEWER = {
    "replay": "view-replay",
    "edge-may-fall": "view-edge",
    "push": "view-push",
    "learn-2": "view-learn",
}
"""Which states of the viewer are shown in the docs, and under which names."""


def hammer(folder: Path) -> None:
    """Slide it."""
    table = pw.Table()
    thing = pw.objects.load("hammer").sample(np.random.default_rng(2))
    noise = Noise(position=5e-4, angle=3e-3)
    world = pw.worlds.MuJoCo(thing, table, pose=(0.1, 0.05, 0.4), sensing=pw.worlds.Sensing(noise))
    pw.slide(world, table, journal=RunFolder(folder, {"object": "hammer", "world": "mujoco"}))


def main(docs: Path) -> None:
    """Make a run and its page, and take the pictures."""
    with tempfile.TemporaryDirectory() as home, browser() as tab:
        folder = Path(home) / "hammer"
        hammer(folder)
        view = View(Viewed.load(folder), port=free_port())
        open_page(view, tab, 1200, 760)
        states(view, tab, Path(home), 1200)
        for state, name in VIEWER.items():
            path = docs / "pictures" / f"{name}.png"
            shutil.copy(Path(home) / f"{state}-1200.png", path)
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
        view.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
