"""`ViewerObject`: the object in the viewer's scene, with its centre of mass and its outline."""

from __future__ import annotations

import numpy as np
import viser

from pushwise.identification.belief import Belief
from pushwise.shape.grid import CellGrid
from pushwise.show.quantities import Quantity, ellipse
from pushwise.show.viewer_meshes import CUBE, CUBE_FACES, loop, wxyz
from pushwise.typing import Array

__all__ = ["CENTRE", "OVER", "Colour", "ViewerObject", "pose_of"]

Colour = tuple[int, int, int]

CENTRE: Colour = (200, 20, 70)
"""Colour of the centre of mass, where it has no other meaning."""
OVER = 0.0015
"""Height of marks above the surface they lie on [m]."""

_OUTLINE: Colour = (35, 45, 56)


class ViewerObject:
    """The cells, what is believed about them, and where they are now."""

    def __init__(self, server: viser.ViserServer, grid: CellGrid) -> None:
        """Add the object to the scene."""
        self._scene, self._grid = server.scene, grid
        self.top = float(grid.heights.max())
        """Its height [m]."""
        self.frame = self._scene.add_frame("/object", show_axes=False)
        n = grid.n_cells
        # A gap shows where one cell ends and the next begins.
        sides = np.column_stack([np.full((n, 2), 0.92 * grid.cell_size), grid.heights])
        self.cells = self._scene.add_batched_meshes_simple(
            "/object/cells",
            CUBE,
            CUBE_FACES,
            batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            batched_positions=np.column_stack([grid.centres, 0.5 * grid.heights]),
            batched_scales=sides,
            flat_shading=True,
            lod="off",
        )
        self._lines("/object/outline", loop(grid.outline, 0.5 * OVER), _OUTLINE, 3.0)
        flat = np.zeros((1, 2, 3))
        self.centre = self._lines("/object/centre", flat, CENTRE, 4.5)
        self.ellipse = self._lines("/object/ellipse", flat, CENTRE, 4.5)
        self._outlines = 0
        self.revealed: viser.LineSegmentsHandle | None = None
        """The outline, coloured by what a push there would reveal; None where it is not shown."""

    def show_belief(self, belief: Belief, shown: Quantity) -> None:
        """Show what is believed: a quantity per cell, the centre of mass and its 95 % ellipse."""
        from matplotlib import colormaps

        top = float(shown.values.max())
        share = shown.values / top if top > 0.0 else np.zeros_like(shown.values)
        # Viser takes the colours of instances as linear light, not as sRGB.
        light = _linear(colormaps[shown.scheme](share)[:, :3])
        self.cells.batched_colors = np.rint(255.0 * light).astype(np.uint8)
        x, y = belief.centre_of_mass.tolist()
        over = self.top + 2.0 * OVER
        arm = 0.03 * float(np.ptp(self._grid.outline, axis=0).max())
        self.centre.points = np.array(
            [[[x - arm, y, over], [x + arm, y, over]], [[x, y - arm, over], [x, y + arm, over]]],
            dtype=np.float32,
        )
        self.ellipse.visible = belief.centre_covariance is not None
        if belief.centre_covariance is not None:
            ring = ellipse(belief.centre_of_mass, belief.centre_covariance)
            self.ellipse.points = loop(ring, over).astype(np.float32)

    def colour_centre(self, colour: Colour) -> None:
        """Colour the centre of mass and its ellipse."""
        for mark in (self.centre, self.ellipse):
            mark.colors = np.array(colour, dtype=np.uint8)

    def show_revealed(self, ends: Array, colours: Array) -> None:
        """Colour the outline: stretches (k, 2, 2) [m] of it, each in a colour (k, 3), 0 to 1."""
        self.hide_revealed()
        # As high as the cell next to it.
        apart = np.hypot(*(ends[:, :, None] - self._grid.centres).transpose(3, 0, 1, 2))
        high = self._grid.heights[np.argmin(apart, axis=2)][:, :, None] + OVER
        light = np.repeat(_linear(colours)[:, None], 2, axis=1)
        # Under a new name each time: browsers keep the material of lines that are replaced.
        self._outlines += 1
        self.revealed = self._lines(
            f"/object/revealed{self._outlines}",
            np.concatenate([ends, high], axis=2),
            light,
            9.0,
        )

    def hide_revealed(self) -> None:
        """Show the outline without colours again."""
        if self.revealed is not None:
            self.revealed.remove()
        self.revealed = None

    def place(self, pose: Array, height: float = 0.0) -> None:
        """Place it at a pose (3,), raised by a height [m]."""
        x, y, theta = pose.tolist()
        self.place_freely((x, y, height), wxyz(theta))

    def place_freely(
        self,
        position: tuple[float, float, float],
        turned: tuple[float, float, float, float],
    ) -> None:
        """Place it anywhere: position [m], and rotation as a quaternion."""
        self.frame.position = position
        self.frame.wxyz = turned

    def _lines(
        self, name: str, points: Array, colours: Array | Colour, thickness: float
    ) -> viser.LineSegmentsHandle:
        """Draw line segments (k, 2, 3) [m], in one colour or one per end, 0 to 1; width [px]."""
        return self._scene.add_line_segments(
            name, points, colours, thickness=thickness, thickness_units="screen"
        )


def pose_of(node: viser.SceneNodeHandle) -> Array:
    """Return the pose (3,) of a node on the table."""
    w, _, _, z = node.wxyz
    return np.array([node.position[0], node.position[1], 2.0 * np.arctan2(z, w)])


def _linear(colours: Array) -> Array:
    """Return sRGB colours, 0 to 1, as linear light."""
    light: Array = np.where(colours < 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return light
