"""Make the pictures of the pages in docs/: a hammer slid to the edge in MuJoCo.

Run: python tests/screenshots.py docs
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pushwise as pw
from browser import Page, browser
from pushwise.records.record import Noise
from pushwise.show.viewer import View
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_panel import assign
from pushwise.sliding.run_folder import RunFolder


def hammer(folder: Path) -> None:
    """Slide it."""
    table = pw.Table()
    thing = pw.objects.load("hammer").sample(np.random.default_rng(2))
    noise = Noise(position=5e-4, angle=3e-3)
    world = pw.worlds.MuJoCo(thing, table, pose=(0.1, 0.05, 0.4), sensing=pw.worlds.Sensing(noise))
    pw.slide(world, table, journal=RunFolder(folder, {"object": "hammer", "world": "mujoco"}))


def shoot(tab: Page, path: Path) -> None:
    """Write what is to be seen."""
    tab.screenshot(path)
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def main(docs: Path) -> None:
    """Make a run and its page, and take the pictures."""
    with tempfile.TemporaryDirectory() as home, browser() as tab:
        folder = Path(home) / "hammer"
        hammer(folder)
        view = View(Viewed.load(folder), port=8123)
        tab.resize(1280, 760)
        tab.open(view.address)
        tab.wait_for("document.querySelector('.mantine-Slider-thumb') !== null")
        close = "document.querySelector('.mantine-Notification-closeButton')"
        tab.wait_for(f"{close} !== null")  # it says that there is no graphics card
        tab.evaluate(f"{close}.click()")
        starts = np.cumsum([len(film.observed) for film in view.replay.clips])
        assign(view.replay.slider, int(starts[1] - 20))
        time.sleep(2.0)  # pictures take a moment without a graphics card
        shoot(tab, docs / "view.png")
        view.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
