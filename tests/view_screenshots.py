"""Take a picture of every state of the viewer, on a phone and on a larger screen.

Run: python tests/view_screenshots.py FOLDER-OF-A-RUN FOLDER-FOR-PICTURES
"""

import sys
import time
from pathlib import Path

import numpy as np

from browser import Page, browser, free_port
from pushwise.show.viewer import EDGE, LEARN, PUSH, REPLAY, View
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_panel import Standing, assign
from pushwise.show.viewer_scene import LookAt
from pushwise.typing import Array
from viewing import open_page, until

SIZES = ((390, 844), (1200, 760))


def states(view: View, tab: Page, folder: Path, width: int) -> None:
    """Go through all states, and write a picture of each."""

    def shoot(name: str) -> None:
        time.sleep(2.0)  # pictures take a moment without a graphics card
        tab.screenshot(folder / f"{name}-{width}.png")

    clients = view.server.get_clients()
    client = clients[max(clients)]
    assign(view.mode, REPLAY)
    assign(view.replay.slider, int(view.replay.starts[1]) - 20)
    shoot("replay")
    view.scene.look(client, LookAt.ABOVE)
    shoot("above")
    view.scene.look(client)
    assign(view.replay.slider, int(view.replay.slider.max))
    shoot("lift")
    assign(view.mode, EDGE)
    pose, away = at_the_edge(view.viewed)
    view.edge.put(pose)
    view.scene.look(client, LookAt.CLOSE)
    shoot("edge-rests")
    while view.edge.standing is Standing.RESTS:
        pose = pose + 0.001 * away
        view.edge.put(pose)
    shoot("edge-may-fall")
    while not view.edge.fallen:
        pose = pose + 0.001 * away
        view.edge.put(pose)
    tab.screenshot(folder / f"edge-tips-{width}.png")
    shoot("edge-falls")
    view.edge.put(view.viewed.pose)
    assign(view.mode, PUSH)
    view.scene.look(client, LookAt.CLOSE)
    shoot("push")
    assign(view.mode, LEARN)
    for pushes in range(view.viewed.learned + 1):
        assign(view.learning.slider, pushes)
        until(lambda: "Identifying" not in view.learning.said.content)
        until(lambda: "Rating" not in view.learning.rated.content)
        view.scene.look(client, LookAt.CLOSE)
        shoot(f"learn-{pushes}")


def at_the_edge(viewed: Viewed) -> tuple[Array, Array]:
    """Return the goal, or the start, and the way (3,) from there to the nearest edge."""
    pose = viewed.pose if viewed.waypoints is None else viewed.waypoints[-1]
    low, high = viewed.table.polygon.min(axis=0), viewed.table.polygon.max(axis=0)
    room = np.concatenate([pose[:2] - low, high - pose[:2]])
    ways = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    return pose.copy(), ways[int(np.argmin(room))]


def main(run: Path, folder: Path) -> None:
    """Take the pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    view = View(Viewed.load(run), port=free_port())
    with browser() as tab:
        for width, height in SIZES:
            open_page(view, tab, width, height)
            states(view, tab, folder, width)
            print(f"{width} px: {tab.errors or 'no errors on the console'}")
    view.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
