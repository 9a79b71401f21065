"""The viewer's what-if mode: drag the object over the edge to see whether it falls, or push it."""

from __future__ import annotations

import threading
import time

import numpy as np
import viser

from pushwise.errors import SimulationError
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.physics.simulate import simulate
from pushwise.planning.support_polygon import overhangs
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_replay import FRAME, assign
from pushwise.show.viewer_scene import ViewerScene, pose_of, wxyz
from pushwise.typing import Array

__all__ = ["WhatIf", "push_at"]


_CLEAR = 0.003  # m between finger and outline at the start of a push
_SPEED = 0.1  # m/s
_TRAVEL = 0.1  # m


class WhatIf:
    """The controls of the what-if mode, and the object's pose in it."""

    def __init__(self, server: viser.ViserServer, scene: ViewerScene, viewed: Viewed) -> None:
        """Add the drag handle and the readouts."""
        self._scene, self._viewed = scene, viewed
        self._one_push = threading.Lock()
        size = 0.6 * float(np.ptp(viewed.model.grid.outline, axis=0).max())
        self.handle = server.scene.add_transform_controls(
            "/drag",
            scale=size,
            active_axes=(True, True, False),
            depth_test=False,
            visible=False,
        )
        self.folder = server.gui.add_folder("What if")
        with self.folder:
            server.gui.add_markdown(
                "Drag the object by its arrows, square or ring. Click on it to push it there."
            )
            self.margin = server.gui.add_text("Margin", "", disabled=True)
            self.fall = server.gui.add_text("Fall risk", "", disabled=True)
            self.over = server.gui.add_text("Overhang", "", disabled=True)
            self.said = server.gui.add_markdown("")
            self.button = server.gui.add_button("Reset", icon=viser.Icon.ARROW_BACK_UP)
        self.handle.on_update(lambda _: self._dragged())
        self.button.on_click(lambda _: self.start(self._viewed.pose))
        scene.cells.on_click(self._clicked)

    def start(self, pose: Array) -> None:
        """Place the object and its handle at a pose (3,)."""
        self.handle.position = (float(pose[0]), float(pose[1]), self._scene.top)
        self.handle.wxyz = wxyz(float(pose[2]))
        self.said.content = ""
        self._scene.show_ghost(None)
        self._scene.show_finger(None)
        self.show(pose)

    def show(self, pose: Array) -> None:
        """Show the object at a pose (3,), and whether it rests there."""
        self._scene.place(pose)
        table, grid = self._viewed.table.polygon, self._viewed.model.grid
        parts = overhangs(grid.outline, table, pose)
        rests = self._viewed.balance.at(pose)
        on_it = len(rests.polygon) > 2
        assign(self.margin, f"{1e3 * rests.margin:.0f} mm" if on_it else "not on the table")
        fall = f"{100.0 * rests.fall_probability:.1f} %"
        assign(self.fall, "unknown" if self._viewed.assumed else fall)
        assign(self.over, f"{1e3 * max((part.depth for part in parts), default=0.0):.0f} mm")

    def _dragged(self) -> None:
        """Follow the handle."""
        self.said.content = ""
        self.show(pose_of(self.handle))

    def _clicked(self, event: viser.SceneNodePointerEvent[viser.BatchedMeshHandle]) -> None:
        """Push the object where it was clicked; clicks during a push are ignored."""
        if not self.handle.visible or not self._one_push.acquire(blocking=False):
            return
        try:
            origin, along = np.array(event.ray_origin), np.array(event.ray_direction)
            # Where the line of sight meets the horizontal plane at half the object's height.
            down = max(-float(along[2]), 1e-3)
            self.push((origin + along * (origin[2] - 0.5 * self._scene.top) / down)[:2])
        finally:
            self._one_push.release()

    def push(self, point: Array) -> None:
        """Push the object at the point of its outline that is nearest to a point (2,) [m]."""
        pose = pose_of(self.handle)
        finger, table = self._viewed.finger, self._viewed.table
        try:
            push = push_at(self._viewed, pose, point)
            path = simulate(self._viewed.model, push, pose, finger=finger, table=table)
        except SimulationError:
            self.said.content = "The finger does not fit there; click somewhere else."
            return
        self.handle.visible = False
        for t in np.arange(0.0, path.t[-1], FRAME):
            self._scene.place(path.pose_at(t))
            self._scene.show_finger(push.at(t))
            time.sleep(FRAME)
        end = path.pose[-1]
        self.start(end)
        self.handle.visible = True
        moved = 1e3 * float(np.hypot(*(end - pose)[:2]))
        turned = np.degrees(end[2] - pose[2])
        self.said.content = (
            "The object **tips over the edge**."
            if path.tipped
            else f"A push of {1e3 * _TRAVEL:.0f} mm moves it by {moved:.0f} mm and rotates it by "
            f"{turned:.0f}°."
        )


def push_at(viewed: Viewed, pose: Array, point: Array) -> Push:
    """Return a push normal to the outline at its point nearest to a point (2,) [m].

    Args:
        viewed: The object.
        pose: Its pose [m, m, rad], shape (3,).
        point: A point on the table [m], shape (2,).

    """
    outline = placed(viewed.model.grid.outline, pose)
    edge = np.roll(outline, -1, axis=0) - outline
    share = np.clip(np.sum((point - outline) * edge, axis=1) / np.sum(edge**2, axis=1), 0.0, 1.0)
    nearest = outline + share[:, None] * edge
    at = int(np.argmin(np.hypot(*(point - nearest).T)))
    outward = np.array([edge[at, 1], -edge[at, 0]]) / np.hypot(*edge[at])
    start = nearest[at] + (viewed.finger.radius + _CLEAR) * outward
    return Push.line(start, -_SPEED * outward, (_TRAVEL + _CLEAR) / _SPEED)
