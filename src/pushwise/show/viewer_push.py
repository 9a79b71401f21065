"""The viewer's push mode: set a push with an arrow, see its prediction, and make it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import viser

from pushwise.errors import SimulationError
from pushwise.geometry.polygon import placed
from pushwise.physics.push import Push
from pushwise.physics.simulate import Trajectory, simulate
from pushwise.planning.pose_uncertainty import PoseUncertainty
from pushwise.show.viewer_arrow import Arrow
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_panel import Standing, badge, note, on_plane, readings
from pushwise.show.viewer_replay import FRAME
from pushwise.show.viewer_scene import ViewerScene
from pushwise.show.viewer_tipping import fall
from pushwise.typing import Array

__all__ = ["PushMode"]

_ARROW = (20, 90, 160)


class PushMode:
    """The arrow, what it is predicted to do, and where the object is."""

    def __init__(self, server: viser.ViserServer, scene: ViewerScene, viewed: Viewed) -> None:
        """Add the arrow and the controls."""
        self._scene, self._viewed = scene, viewed
        self._outline = viewed.model.grid.outline
        self._uncertain = PoseUncertainty(viewed.belief, viewed.table, seed=viewed.options.seed)
        self._pushing = threading.Lock()
        self._entered = False
        self._held = np.zeros(2)  # from the point that was grabbed to the middle of what it is on
        self._pose = viewed.pose
        self._predicted: tuple[Push, Trajectory] | None = None
        # At first against the middle of the longest side.
        edge = np.hypot(*(np.roll(self._outline, -1, axis=0) - self._outline).T)
        longest = int(np.argmax(edge))
        self.arrow = Arrow(float(edge[:longest].sum() + 0.5 * edge[longest]))
        """The push, as it is set."""
        self._height = scene.object.top + 0.012
        tip = 1.2 * viewed.finger.radius
        self._shaft = server.scene.add_arrows(
            "/push/arrow",
            np.zeros((1, 2, 3)),
            _ARROW,
            shaft_radius=0.3 * tip,
            head_radius=tip,
            head_length=2.0 * tip,
            visible=False,
        )
        self.tip = server.scene.add_icosphere(
            "/push/tip", radius=1.3 * tip, color=_ARROW, opacity=0.5, visible=False
        )
        """What is dragged to set direction and length."""
        self.folder = server.gui.add_folder("Push it")
        with self.folder:
            self.said = server.gui.add_html("")
            self.button = server.gui.add_button("Push", icon=viser.Icon.HAND_FINGER)
            self.speed = server.gui.add_slider(
                "Speed [mm/s]", min=20, max=500, step=10, initial_value=100
            )
            self.back = server.gui.add_button("Put it back", icon=viser.Icon.ARROW_BACK_UP)
            server.gui.add_html(
                note(
                    "Drag the green finger around the object, or click on the object. Drag the "
                    "ball at the arrow's tip to set direction and length. Orange is where the "
                    "model predicts the object to stop, ± a standard deviation."
                )
            )
        self.speed.on_update(self._sped)
        self.button.on_click(lambda _: self.push())
        first = self.arrow
        # The speed stays as it was set: the slider shows it.
        self.back.on_click(
            lambda _: self.put(self._viewed.pose, replace(first, speed=1e-3 * self.speed.value))
        )

    def enter(self, pose: Array) -> None:
        """Begin with the object at a pose (3,)."""
        self.folder.visible = self._entered = True
        self._scene.object.cells.on_click(self._clicked)
        self._scene.finger.on_drag("left")(self._finger_dragged)
        self.tip.on_drag("left")(self._tip_dragged)
        self.put(pose)

    def leave(self) -> None:
        """End the mode."""
        self.folder.visible = self._entered = False
        self._scene.object.cells.remove_click_callback(self._clicked)
        self._scene.finger.remove_drag_callback(self._finger_dragged)
        self.tip.remove_drag_callback(self._tip_dragged)
        self._shaft.visible = self.tip.visible = False
        self._scene.show_ghost(None)
        self._scene.show_finger(None)

    @property
    def pose(self) -> Array:
        """Where the object is [m, m, rad], shape (3,)."""
        return self._pose

    def put(self, pose: Array, arrow: Arrow | None = None) -> None:
        """Put the object at a pose (3,), with another arrow or the same."""
        with self._scene.changing:
            if self._pushing.locked() or not self._entered:
                return
            self._pose = pose
            self._scene.object.place(pose)
            self._set(arrow or self.arrow)

    def set(self, arrow: Arrow, *, dragging: bool = False) -> None:
        """Set the push, and show what the model predicts; while dragging, without how surely."""
        with self._scene.changing:
            if not self._pushing.locked():
                self._set(arrow, dragging=dragging)

    def _set(self, arrow: Arrow, *, dragging: bool = False) -> None:
        self.arrow = arrow
        finger = self._viewed.finger
        push = arrow.push(self._outline, self._pose, finger.radius)
        start, end = push.positions[0], push.positions[-1]
        self._show_arrow(start, end)
        set_to = {
            "Length": f"{1e3 * arrow.length:.0f} mm",
            "Direction": f"{np.degrees(arrow.slant):.0f}° off the normal",
        }
        try:
            path = simulate(
                self._viewed.model, push, self._pose, finger=finger, table=self._viewed.table
            )
        except SimulationError:
            self._predicted = None
            self._scene.show_ghost(None)
            self.said.content = readings(set_to) + note("The finger does not fit there.")
            return
        self._predicted = push, path
        self._scene.show_ghost(path.pose[-1])
        self.said.content = self._prediction(push, path, dragging) + readings(set_to)

    def push(self) -> None:
        """Make the push: move the object as the model predicts; if it falls, put it back.

        Once the mode is left, the object is where it was left.
        """
        if self._predicted is None or not self._pushing.acquire(blocking=False):
            return
        try:
            push, path = self._predicted
            self._shaft.visible = self.tip.visible = False
            self._scene.show_ghost(None)
            for t in np.append(np.arange(0.0, path.t[-1], FRAME), path.t[-1]):
                with self._scene.changing:
                    if not self._entered:
                        return
                    self._scene.object.place(path.pose_at(t))
                    self._scene.show_finger(push.at(min(t, push.duration)))
                time.sleep(FRAME)
            if path.tipped:
                self._fall(path.pose[-1])
        finally:
            self._pushing.release()
        self.put(self._pose if path.tipped else path.pose[-1])

    def _fall(self, pose: Array) -> None:
        """Let the object fall over the edge from a pose (3,)."""
        support = self._viewed.balance.at(pose).polygon
        film = fall(self._viewed.model, pose, support, frame=FRAME)
        for position, wxyz in zip(film.position, film.wxyz, strict=True):
            with self._scene.changing:
                if not self._entered:
                    return
                self._scene.object.place_freely(tuple(position.tolist()), tuple(wxyz.tolist()))
            time.sleep(FRAME)

    def _show_arrow(self, start: Array, end: Array) -> None:
        """Draw the arrow from where the finger starts (2,) to where it stops (2,)."""
        x, y = end.tolist()
        ends = np.column_stack([np.stack([start, end]), np.full(2, self._height)])
        self._shaft.points = ends[None].astype(np.float32)
        self.tip.position = (x, y, self._height)
        self._shaft.visible = self.tip.visible = True
        self._scene.show_finger(start)

    def _prediction(self, push: Push, path: Trajectory, dragging: bool) -> str:
        """Say what the model predicts, and how surely."""
        if path.tipped:
            return badge("\u2717 Tips over the edge", Standing.FALLS.colour)
        moved = path.pose[-1] - self._pose
        values = [1e3 * moved[0], 1e3 * moved[1], np.degrees(moved[2])]
        doubts = ["", "", ""]
        if self._viewed.belief.learned and not dragging:
            std = self._uncertain.after(self._pose, push, path.pose[-1])
            doubts = [f" ± {1e3 * each:.0f}" for each in std[:2]] + [f" ± {np.degrees(std[2]):.0f}"]
        x, y, turn = (f"{value:.0f}{doubt}" for value, doubt in zip(values, doubts, strict=True))
        return readings({"Moves": f"x {x} mm, y {y} mm", "Turns": f"{turn}°"})

    async def _sped(self, _: viser.GuiEvent[viser.GuiSliderHandle[int]]) -> None:
        self.set(replace(self.arrow, speed=1e-3 * self.speed.value))

    async def _clicked(self, event: viser.SceneNodePointerEvent[viser.BatchedMeshHandle]) -> None:
        """Push where the object was clicked, along the normal."""
        eye = np.array(event.ray_origin)
        seen = tuple((eye + np.array(event.ray_direction)).tolist())
        at = on_plane(event.client.camera, seen, 0.5 * self._scene.object.top)
        if at is not None:
            here = placed(self._outline, self._pose)
            self.set(replace(self.arrow.moved_to(here, at), slant=0.0))

    async def _finger_dragged(self, event: viser.SceneNodeDragEvent[viser.CylinderHandle]) -> None:
        """Move the finger along the outline."""
        self._drag(event, lambda at: self.arrow.moved_to(placed(self._outline, self._pose), at))

    async def _tip_dragged(self, event: viser.SceneNodeDragEvent[viser.IcosphereHandle]) -> None:
        """Aim the arrow."""
        radius = self._viewed.finger.radius
        self._drag(
            event,
            lambda at: self.arrow.aimed_at(placed(self._outline, self._pose), radius, at),
        )

    def _drag(
        self,
        event: viser.SceneNodeDragEvent[viser.CylinderHandle]
        | viser.SceneNodeDragEvent[viser.IcosphereHandle],
        change: Callable[[Array], Arrow],
    ) -> None:
        """Change the arrow to follow the pointer; handlers are asynchronous to keep their order."""
        grabbed = np.array(event.start_position)
        if event.phase == "start":
            self._held = event.target.position[:2] - grabbed[:2]
        at = on_plane(event.client.camera, event.end_position, float(grabbed[2]))
        if at is not None:
            self.set(change(at + self._held), dragging=event.phase != "end")
