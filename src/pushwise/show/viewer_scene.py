"""The viewer's 3D scene: table, object, ghost, finger and the planned path, and their meshes."""

from __future__ import annotations

import numpy as np
import viser

from pushwise.geometry.polygon import contains, placed
from pushwise.show.quantities import ellipse
from pushwise.show.viewer_data import Viewed
from pushwise.typing import Array, Integers

__all__ = ["ViewerScene", "pose_of", "prism", "triangles", "wxyz"]


_TABLE = (226, 214, 194)
_OUTLINE = (35, 45, 56)
_PREDICTED = (240, 130, 40)
_PLANNED = (194, 87, 12)
_FINGER = (23, 128, 92)
_CENTRE = (200, 20, 70)
_THICK = 0.03  # m; the table's top
_OVER = 0.0015  # m; height of marks above the surface they lie on
_FINGER_HEIGHT = 0.08  # m
_CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


class ViewerScene:
    """Everything in the scene, and where it is now."""

    def __init__(self, server: viser.ViserServer, viewed: Viewed) -> None:
        """Add everything to the scene."""
        self._viewed = viewed
        self._scene = server.scene
        self._scene.set_up_direction("+z")
        self.top = float(viewed.model.grid.heights.max())
        """Height of the object [m]."""
        self._add_table()
        self.object = self._scene.add_frame("/object", show_axes=False)
        self.cells = self._add_cells()
        self._add_marks()
        self.ghost = self._add_ghost()
        radius = viewed.finger.radius
        self.finger = self._scene.add_cylinder(
            "/finger", radius=radius, height=_FINGER_HEIGHT, color=_FINGER, visible=False
        )
        self.path = self._add_path()
        self._light()
        self._look(server)
        self.place(viewed.pose)

    def colour_by(self, name: str) -> None:
        """Colour the cells by one of the known quantities."""
        from matplotlib import colormaps

        shown = self._viewed.shown[name]
        top = float(shown.values.max())
        share = shown.values / top if top > 0.0 else np.zeros_like(shown.values)
        colours = colormaps[shown.scheme](share)[:, :3]
        # Viser takes the colours of instances as linear light, not as sRGB.
        light = np.where(colours < 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
        self.cells.batched_colors = np.rint(255.0 * light).astype(np.uint8)

    def place(self, pose: Array) -> None:
        """Place the object at a pose (3,)."""
        _put(self.object, pose)

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

    def _add_table(self) -> None:
        vertices, faces = prism(self._viewed.table.polygon, -_THICK, 0.0)
        self._scene.add_mesh_simple(
            "/table", vertices, faces, color=_TABLE, flat_shading=True, cast_shadow=False
        )

    def _add_cells(self) -> viser.BatchedMeshHandle:
        grid = self._viewed.model.grid
        n = grid.n_cells
        # A gap shows where one cell ends and the next begins.
        sides = np.column_stack([np.full((n, 2), 0.92 * grid.cell_size), grid.heights])
        return self._scene.add_batched_meshes_simple(
            "/object/cells",
            _CUBE,
            _FACES,
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            batched_positions=np.column_stack([grid.centres, 0.5 * grid.heights]),
            batched_scales=sides,
            flat_shading=True,
            lod="off",
        )

    def _add_marks(self) -> None:
        """Draw the outline, the centre of mass and its ellipse on the object."""
        model, over = self._viewed.model, self.top + _OVER
        self._loop("/object/outline", model.grid.outline, 0.5 * _OVER, _OUTLINE, 3.0)
        x, y = model.centre_of_mass.tolist()
        arm = 0.03 * float(np.ptp(model.grid.outline, axis=0).max())
        cross = np.array(
            [[[x - arm, y, over], [x + arm, y, over]], [[x, y - arm, over], [x, y + arm, over]]]
        )
        self._scene.add_line_segments(
            "/object/centre", cross, _CENTRE, thickness=2.5, thickness_units="screen"
        )
        if self._viewed.covariance is not None:
            ring = ellipse(model.centre_of_mass, self._viewed.covariance)
            self._loop("/object/ellipse", ring, over, _CENTRE, 2.5)

    def _add_ghost(self) -> viser.MeshHandle:
        vertices, faces = prism(self._viewed.model.grid.outline, 0.0, 0.6 * self.top)
        return self._scene.add_mesh_simple(
            "/ghost",
            vertices,
            faces,
            color=_PREDICTED,
            opacity=0.45,
            side="double",
            cast_shadow=False,
            visible=False,
        )

    def _add_path(self) -> viser.FrameHandle:
        """Draw the planned path and the poses along it."""
        path = self._scene.add_frame("/path", show_axes=False)
        poses = self._viewed.waypoints
        if poses is None:
            return path
        points = np.column_stack([poses[:, :2], np.full(len(poses), _OVER)])
        if len(poses) > 1:
            self._scene.add_line_segments(
                "/path/line",
                np.stack([points[:-1], points[1:]], axis=1),
                _PLANNED,
                thickness=2.0,
                thickness_units="screen",
            )
        outline = self._viewed.model.grid.outline
        for i, pose in enumerate(poses):
            frame = self._scene.add_frame(f"/path/{i}", show_axes=False)
            _put(frame, pose)
            last = i == len(poses) - 1
            self._loop(f"/path/{i}/outline", outline, _OVER, _PLANNED, 3.0 if last else 1.0)
        return path

    def _loop(
        self,
        name: str,
        polygon: Array,
        height: float,
        colour: tuple[int, int, int],
        thickness: float,
    ) -> None:
        """Draw a closed line at a height [m]; thickness in pixels."""
        points = np.column_stack([polygon, np.full(len(polygon), height)])
        self._scene.add_line_segments(
            name,
            np.stack([points, np.roll(points, -1, axis=0)], axis=1),
            colour,
            thickness=thickness,
            thickness_units="screen",
        )

    def _light(self) -> None:
        """Light the scene so that colours can be read: Viser's own lights wash them out."""
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(enabled=False)
        self._scene.add_light_ambient("/light/sky", intensity=2.2)
        self._scene.add_light_directional(
            "/light/sun", intensity=1.6, cast_shadow=True, position=(0.6, -0.8, 1.6)
        )

    def _look(self, server: viser.ViserServer) -> None:
        """Look along +y at the part of the table where things happen, or at all of it."""
        viewed = self._viewed
        poses = [record.pose[0] for record in viewed.records]
        if viewed.waypoints is not None:
            poses += list(viewed.waypoints)
        shown = viewed.table.polygon
        if poses:
            shown = np.vstack([placed(viewed.model.grid.outline, pose) for pose in poses])
        x, y = (0.5 * (shown.min(axis=0) + shown.max(axis=0))).tolist()
        far = float(np.ptp(shown, axis=0).max())
        server.initial_camera.fov = np.radians(40.0)
        server.initial_camera.look_at = (x, y, 0.0)
        server.initial_camera.position = (x, y - 0.95 * far, 1.15 * far)


def _put(node: viser.SceneNodeHandle, pose: Array) -> None:
    """Move a node of the scene to a pose (3,)."""
    x, y, theta = pose.tolist()
    node.position = (x, y, 0.0)
    node.wxyz = wxyz(theta)


def wxyz(theta: float) -> tuple[float, float, float, float]:
    """Return a rotation about z [rad] as a quaternion."""
    return (float(np.cos(0.5 * theta)), 0.0, 0.0, float(np.sin(0.5 * theta)))


def pose_of(node: viser.SceneNodeHandle) -> Array:
    """Return the pose (3,) of a node on the table."""
    w, _, _, z = node.wxyz
    return np.array([node.position[0], node.position[1], 2.0 * np.arctan2(z, w)])


def prism(polygon: Array, low: float, high: float) -> tuple[Array, Integers]:
    """Return the mesh of a solid with a polygon as its base.

    Args:
        polygon: Its base [m], simple and counter-clockwise, shape (k, 2).
        low: Height of its bottom [m].
        high: Height of its top [m].

    Returns:
        Vertices [m], shape (2 k, 3), and faces, shape (f, 3).

    """
    k = len(polygon)
    vertices = np.vstack([np.column_stack([polygon, np.full(k, height)]) for height in (low, high)])
    cap = triangles(polygon)
    i = np.arange(k)
    j = np.roll(i, -1)
    sides = np.vstack([np.column_stack([i, j, j + k]), np.column_stack([i, j + k, i + k])])
    return vertices, np.vstack([cap[:, ::-1], cap + k, sides])


def triangles(polygon: Array) -> Integers:
    """Divide a simple, counter-clockwise polygon (k, 2) into triangles (k - 2, 3) of its corners.

    Ears are cut off: corners whose triangle with both neighbours contains no other corner.
    """
    left = list(range(len(polygon)))
    found = []
    while len(left) > 3:
        at = _ear(polygon, left)
        found.append([left[at - 1], left[at], left[(at + 1) % len(left)]])
        del left[at]
    return np.array([*found, left], dtype=np.int64)


def _ear(polygon: Array, left: list[int]) -> int:
    """Return the index of the largest ear in the list of remaining corners."""
    corners = polygon[left]
    before, after = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
    (ux, uy), (vx, vy) = (corners - before).T, (after - before).T
    area = ux * vy - uy * vx
    reflex = area <= 0.0
    for at in np.argsort(-area).tolist():
        around = np.array([before[at], corners[at], after[at]])
        others = reflex.copy()
        others[[at - 1, at, (at + 1) % len(left)]] = False
        if not contains(around, corners[others]).any():
            return int(at)
    # Every simple polygon has an ear (Meisters 1975); rounding may hide it.
    return int(np.argmax(area))
