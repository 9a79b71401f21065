"""`ViewerScene`: everything around the object: table, ghost, finger, planned path, and labels."""

from __future__ import annotations

import threading
from enum import StrEnum

import numpy as np
import viser

from pushwise.geometry.polygon import placed
from pushwise.show.viewer_data import Viewed
from pushwise.show.viewer_meshes import Viewpoint, fan, loop, prism, wxyz
from pushwise.show.viewer_object import OVER, Colour, ViewerObject
from pushwise.typing import Array

__all__ = ["LookAt", "ViewerScene"]

_TABLE: Colour = (226, 214, 194)
_OBSTACLE: Colour = (120, 125, 135)
_PREDICTED: Colour = (240, 130, 40)
_PLANNED: Colour = (194, 87, 12)
_FINGER: Colour = (23, 128, 92)
_THICK = 0.03  # m; the table's top
_OBSTACLE_HEIGHT = 0.04  # m
_FINGER_HEIGHT = 0.08  # m
_PIN = 0.05  # m


class LookAt(StrEnum):
    """Where the camera may look."""

    ALL = "All"
    CLOSE = "Close up"
    ABOVE = "From above"


class ViewerScene:
    """Everything in the scene, and where it is now."""

    def __init__(self, server: viser.ViserServer, viewed: Viewed) -> None:
        """Add everything to the scene."""
        self._viewed, self._server = viewed, server
        self.changing = threading.RLock()
        """Held while what is shown changes.

        Callbacks come in several threads. What two of them change at once would differ in the end
        between here and the browser, where the last message counts.
        """
        self._scene = server.scene
        self._scene.set_up_direction("+z")
        self._labels: list[viser.SceneNodeHandle] = []
        self._add_solid("/table", viewed.table.polygon, -_THICK, 0.0, _TABLE)
        for i, polygon in enumerate(viewed.obstacles):
            self._add_solid(f"/obstacle/{i}", polygon, 0.0, _OBSTACLE_HEIGHT, _OBSTACLE)
        self.object = ViewerObject(server, viewed.model.grid)
        self.ghost = self._add_ghost()
        self.finger = self._scene.add_cylinder(
            "/finger",
            radius=viewed.finger.radius,
            height=_FINGER_HEIGHT,
            color=_FINGER,
            visible=False,
        )
        self.add_label("/finger/label", "finger", (0.0, 0.0, 0.5 * _FINGER_HEIGHT))
        self.path = self._add_path()
        corner = np.zeros((3, 2))
        vertices, faces = fan(corner, 0.0)
        self._support = self._scene.add_mesh_simple(
            "/support/area", vertices, faces, opacity=0.2, side="double", cast_shadow=False
        )
        self._support_edge = self._scene.add_line_segments(
            "/support/edge", loop(corner, 0.0), _PLANNED, thickness=4.0, thickness_units="screen"
        )
        self.show_support(None)
        self._light()
        self.object.place(viewed.pose)
        server.on_client_connect(lambda client: self.look(client))
        # Until a client reports the size of its window.
        camera = Viewpoint.showing(self._all(), above=False, aspect=1.2)
        first = server.initial_camera
        first.fov, first.look_at, first.position = camera.fov, camera.look_at, camera.position

    def look(self, client: viser.ClientHandle, how: LookAt = LookAt.ALL) -> None:
        """Let a client look at where things happen, or at the object and around it."""
        shown = self._around() if how is LookAt.CLOSE else self._all()
        camera = Viewpoint.showing(shown, above=how is LookAt.ABOVE, aspect=client.camera.aspect)
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.fov = camera.fov
            client.camera.position = camera.position
            client.camera.look_at = camera.look_at

    def add_label(self, name: str, text: str, place: tuple[float, float, float]) -> None:
        """Add a label at a place [m] of the scene, or of the node that it is a child of."""
        label = self._scene.add_label(
            name, text, position=place, anchor="bottom-center", font_screen_scale=0.85
        )
        self._labels.append(label)

    def add_pin(self, name: str, text: str) -> viser.FrameHandle:
        """Add a label on a pin, which hides nothing of what it stands on; return its foot."""
        foot = self._scene.add_frame(name, show_axes=False)
        self._scene.add_line_segments(
            f"{name}/pin",
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, _PIN]]]),
            (60, 60, 60),
            thickness=1.5,
            thickness_units="screen",
        )
        self._scene.add_label(
            f"{name}/label",
            text,
            position=(0.0, 0.0, _PIN),
            anchor="bottom-left",
            font_screen_scale=0.85,
        )
        self._labels.append(foot)
        return foot

    def show_labels(self, visible: bool) -> None:
        """Show or hide all labels."""
        for label in self._labels:
            label.visible = visible

    def show_ghost(self, pose: Array | None) -> None:
        """Show the predicted object at a pose (3,), or hide it."""
        self.ghost.visible = pose is not None
        if pose is not None:
            _put(self.ghost, pose)

    def show_finger(self, centre: Array | None) -> None:
        """Show the finger at a point (2,), or hide it."""
        self.finger.visible = centre is not None
        if centre is not None:
            x, y = centre.tolist()
            self.finger.position = (x, y, 0.5 * _FINGER_HEIGHT + 0.002)

    def show_support(self, polygon: Array | None, colour: Colour = _PLANNED) -> None:
        """Show the support polygon (h, 2) [m] above the object, where it can be seen, or hide it.

        The table carries what lies above it; the centre of mass must be within it.
        """
        visible = polygon is not None and len(polygon) > 2
        self._support.visible = self._support_edge.visible = visible
        if polygon is None or not visible:
            return
        vertices, faces = fan(polygon, self.object.top + OVER)
        self._support.vertices = vertices.astype(np.float32)
        self._support.faces = faces.astype(np.uint32)
        self._support.color = colour
        self._support_edge.points = loop(polygon, self.object.top + OVER).astype(np.float32)
        self._support_edge.colors = np.array(colour, dtype=np.uint8)

    def _add_solid(
        self, name: str, polygon: Array, low: float, high: float, colour: Colour
    ) -> None:
        vertices, faces = prism(polygon, low, high)
        self._scene.add_mesh_simple(
            name, vertices, faces, color=colour, flat_shading=True, cast_shadow=False
        )

    def _add_ghost(self) -> viser.MeshHandle:
        vertices, faces = prism(self._viewed.model.grid.outline, 0.0, 0.6 * self.object.top)
        ghost = self._scene.add_mesh_simple(
            "/ghost",
            vertices,
            faces,
            color=_PREDICTED,
            opacity=0.45,
            side="double",
            cast_shadow=False,
            visible=False,
        )
        x, y = self._far_end().tolist()
        self.add_label("/ghost/label", "predicted", (x, y, 0.6 * self.object.top))
        return ghost

    def _add_path(self) -> viser.FrameHandle:
        """Draw the planned path and the poses along it."""
        path = self._scene.add_frame("/path", show_axes=False)
        poses = self._viewed.waypoints
        if poses is None:
            return path
        if len(poses) > 1:
            points = np.column_stack([poses[:, :2], np.full(len(poses), OVER)])
            self._line("/path/line", np.stack([points[:-1], points[1:]], axis=1), 2.0)
        outline = self._viewed.model.grid.outline
        for i, pose in enumerate(poses):
            frame = self._scene.add_frame(f"/path/{i}", show_axes=False)
            _put(frame, pose)
            last = i == len(poses) - 1
            self._line(f"/path/{i}/outline", loop(outline, OVER), 3.0 if last else 1.0)
        x, y = placed(self._far_end()[None], poses[-1])[0].tolist()
        self.add_label("/path/label", "goal", (x, y, OVER))
        return path

    def _far_end(self) -> Array:
        """Return the point (2,) of the outline for labels: far from the centre of mass."""
        outline, centre = self._viewed.model.grid.outline, self._viewed.model.centre_of_mass
        far: Array = outline[np.argmax(np.hypot(*(outline - centre).T))]
        return far

    def _line(self, name: str, points: Array, thickness: float) -> None:
        """Draw line segments (k, 2, 3) [m] of the planned path; thickness in pixels."""
        self._scene.add_line_segments(
            name, points, _PLANNED, thickness=thickness, thickness_units="screen"
        )

    def _light(self) -> None:
        """Light the scene so that colours can be read: Viser's own lights wash them out."""
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(enabled=False)
        self._scene.add_light_ambient("/light/sky", intensity=2.2)
        self._scene.add_light_directional(
            "/light/sun", intensity=1.6, cast_shadow=True, position=(0.6, -0.8, 1.6)
        )

    def _around(self) -> Array:
        """Return the corners (4, 2) of a square around the object, where it is now."""
        reach = 1.1 * float(np.hypot(*self._viewed.model.grid.outline.T).max())
        square = np.array([[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]])
        around: Array = self.object.frame.position[:2] + square
        return around

    def _all(self) -> Array:
        """Return the points (k, 2) to look at: where things happen, or the whole table."""
        viewed = self._viewed
        poses = [record.pose[i] for record in viewed.records for i in (0, -1)]
        if viewed.waypoints is not None:
            poses += list(viewed.waypoints)
        if not poses:
            return viewed.table.polygon
        return np.vstack([placed(viewed.model.grid.outline, pose) for pose in poses])


def _put(node: viser.SceneNodeHandle, pose: Array) -> None:
    """Move a node of the scene to a pose (3,)."""
    x, y, theta = pose.tolist()
    node.position = (x, y, 0.0)
    node.wxyz = wxyz(theta)
