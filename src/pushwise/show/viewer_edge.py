"""The viewer's edge mode: drag the object over the table's edge until it tips."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np
import viser

from pushwise.planning.overhang import overhangs
from pushwise.show.quantities import probability
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_object import CENTRE
from pushwise.show.viewer_panel import (
    Standing,
    assign,
    badge,
    note,
    on_plane,
    readings,
    standing,
)
from pushwise.show.viewer_replay import FRAME
from pushwise.show.viewer_scene import ViewerScene
from pushwise.show.viewer_tipping import fall
from pushwise.typing import Array

__all__ = ["EdgeMode"]

_BEYOND = 0.3  # m; how far from the table the object can be dragged


@dataclass(frozen=True)
class _Grip:
    """What was grabbed: the object's pose then, and the point on it."""

    pose: Array
    point: Array
    height: float


class EdgeMode:
    """The controls of the edge mode, and where the object is in it."""

    def __init__(self, server: viser.ViserServer, scene: ViewerScene, viewed: Viewed) -> None:
        """Add the controls."""
        self._scene, self._viewed = scene, viewed
        self._grip: _Grip | None = None
        self._turn = 0  # counts falls and their ends: the thread of an earlier one ends
        self._resting = viewed.pose
        self.standing = Standing.RESTS
        """Whether the object stays on the table where it is."""
        self.fallen = False
        """Whether it has tipped over the edge."""
        low, high = viewed.table.polygon.min(axis=0), viewed.table.polygon.max(axis=0)
        self._bounds = low - _BEYOND, high + _BEYOND
        self.folder = server.gui.add_folder("Over the edge")
        with self.folder:
            self.badge = server.gui.add_html("")
            self.readings = server.gui.add_html("")
            self.angle = server.gui.add_slider(
                "Turn [°]", min=-180, max=180, step=1, initial_value=0, hint="Rotate the object."
            )
            self.button = server.gui.add_button("Put it back", icon=viser.Icon.ARROW_BACK_UP)
        self.angle.on_update(self._turned)
        self.button.on_click(lambda _: self._put_back())

    def enter(self, pose: Array) -> None:
        """Begin with the object at a pose (3,)."""
        self.folder.visible = True
        self._scene.object.cells.on_drag("left")(self._dragged)
        self.put(pose if self._viewed.balance.at(pose).margin >= 0.0 else self._viewed.pose)

    def leave(self) -> None:
        """End the mode."""
        self.folder.visible = False
        self._scene.object.cells.remove_drag_callback(self._dragged)
        self._turn += 1
        self._scene.show_support(None)
        self._scene.object.colour_centre(CENTRE)

    @property
    def pose(self) -> Array:
        """Where the object is, or where it rested before it fell [m, m, rad], shape (3,)."""
        return self._resting

    @property
    def held(self) -> bool:
        """Whether the object is being dragged."""
        return self._grip is not None

    def put(self, pose: Array) -> None:
        """Put the object at a pose (3,); it falls if it does not rest there."""
        with self._scene.changing:
            self._put(pose)

    def _put(self, pose: Array) -> None:
        viewed = self._viewed
        pose = np.append(np.clip(pose[:2], *self._bounds), pose[2])
        rests = viewed.balance.at(pose)
        parts = overhangs(viewed.model.grid.outline, viewed.table.polygon, pose)
        overhang = max((part.depth for part in parts), default=0.0)
        self.standing = standing(viewed, rests, overhang)
        falls = self.standing is Standing.FALLS
        supported = len(rests.polygon) > 2
        risk = probability(rests.fall_probability)
        self.badge.content = badge(self.standing.text, self.standing.colour)
        self.readings.content = readings(
            {
                "Fall risk": "unknown: nothing was learned" if viewed.belief.assumed else risk,
                "Margin": f"{1e3 * rests.margin:.0f} mm" if supported else "not on the table",
                "Overhang": f"{1e3 * overhang:.0f} mm",
            }
        ) + note(
            "It tipped over the edge. Drag it back, or press the button."
            if falls
            else "Drag the object. It rests while its centre of mass is inside the coloured "
            "support; the ellipse holds it with a probability of 95 %."
        )
        if falls:
            if not self.fallen:
                self.fallen = True
                self._tip(pose, rests.polygon)
            return
        self.fallen = False
        self._resting = pose
        if self.angle.value != _degrees(pose):
            assign(self.angle, _degrees(pose))
        self._turn += 1
        self._scene.object.place(pose)
        self._scene.show_support(rests.polygon, self.standing.colour)
        self._scene.object.colour_centre(self.standing.colour)

    def _put_back(self) -> None:
        """Put the object back to where it began."""
        self._grip = None
        self.put(self._viewed.pose)

    async def _turned(self, event: viser.GuiEvent[viser.GuiSliderHandle[int]]) -> None:
        """Rotate the object about its centre of mass; ignore what `put` itself assigned."""
        if event.client is None or self.angle.value == _degrees(self._resting):
            return
        theta = np.radians(self.angle.value)
        x, y, before = self._resting.tolist()
        arm = self._viewed.model.centre_of_mass
        cos, sin = np.cos(theta) - np.cos(before), np.sin(theta) - np.sin(before)
        self.put(
            np.array([x - cos * arm[0] + sin * arm[1], y - sin * arm[0] - cos * arm[1], theta])
        )

    async def _dragged(self, event: viser.SceneNodeDragEvent[viser.BatchedMeshHandle]) -> None:
        """Follow the pointer; asynchronous, so that events come in their order."""
        if event.phase == "start":
            height = event.start_position[2]
            self._grip = _Grip(self._resting, np.array(event.start_position[:2]), height)
        if self._grip is None:
            return
        at = on_plane(event.client.camera, event.end_position, self._grip.height)
        if at is not None:
            moved = self._grip.pose[:2] + at - self._grip.point
            self.put(np.append(moved, self._grip.pose[2]))
        if event.phase == "end":
            self._grip = None

    def _tip(self, pose: Array, polygon: Array) -> None:
        """Let the object fall from a pose (3,), until it is out of sight or put back."""
        self._turn += 1
        self._scene.show_support(polygon, Standing.FALLS.colour)
        self._scene.object.colour_centre(Standing.FALLS.colour)
        film = fall(self._viewed.model, pose, polygon, frame=FRAME)
        turn = self._turn

        def run() -> None:
            for position, wxyz in zip(film.position, film.wxyz, strict=True):
                with self._scene.changing:
                    if self._turn != turn:
                        return
                    self._scene.object.place_freely(tuple(position.tolist()), tuple(wxyz.tolist()))
                time.sleep(FRAME)

        threading.Thread(target=run, daemon=True).start()


def _degrees(pose: Array) -> int:
    """Return by how much an object at a pose (3,) is turned, as the slider has it: -180 to 180."""
    turned = float(np.degrees(pose[2]))
    return round((turned + 180.0) % 360.0 - 180.0)
