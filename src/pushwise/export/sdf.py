"""A model as SDF, Gazebo's format."""

from __future__ import annotations

from pushwise.export.solid import Element, Solid, child, document, numbers
from pushwise.physics.model import ObjectModel

__all__ = ["sdf"]


def sdf(model: ObjectModel, *, name: str = "object") -> str:
    """Return SDF of one link: its frame is the grid's, z up from the table it stands on.

    The link has the mass, centre and inertia of all cells; each cell is a box with its own
    friction.
    """
    solid = Solid.of(model)
    root = Element("sdf", version="1.9")
    link = child(child(root, "model", name=name), "link", name="link")
    inertial = child(link, "inertial")
    child(inertial, "pose", numbers([*solid.centre, 0.0, 0.0, 0.0]))
    child(inertial, "mass", numbers([solid.mass]))
    inertia = child(inertial, "inertia")
    axes = "xyz"
    for i in range(3):
        for j in range(i, 3):
            child(inertia, f"i{axes[i]}{axes[j]}", numbers([solid.inertia[i, j]]))
    grid = model.grid
    for i, (x, y) in enumerate(grid.centres.tolist()):
        height = float(grid.heights[i])
        for use in ("visual", "collision"):
            part = child(link, use, name=f"cell{i}_{use}")
            child(part, "pose", numbers([x, y, 0.5 * height, 0.0, 0.0, 0.0]))
            box = child(child(part, "geometry"), "box")
            child(box, "size", numbers([grid.cell_size, grid.cell_size, height]))
            if use == "collision":
                ode = child(child(child(part, "surface"), "friction"), "ode")
                child(ode, "mu", numbers([model.friction[i]]))
                child(ode, "mu2", numbers([model.friction[i]]))
    return document(root, f"{name}: made by Pushwise; kg, m, rad.")
