"""A model as URDF."""

from __future__ import annotations

from pushwise.export.solid import Element, Solid, boxes, child, document, numbers
from pushwise.physics.model import ObjectModel

__all__ = ["urdf"]


def urdf(model: ObjectModel, *, name: str = "object") -> str:
    """Return URDF of one link: its frame is the grid's, z up from the table it stands on.

    The link has the mass, centre and inertia of all cells, and as few boxes as its shape allows.
    URDF knows no friction; the mean of the cells' is written where PyBullet reads it
    (`contact/lateral_friction`) and where Gazebo does (`gazebo/mu1` and `mu2`). MuJoCo, which
    fixes the first link of a URDF to the world, is told to keep its mass all the same.
    """
    solid = Solid.of(model)
    robot = Element("robot", name=name)
    link = child(robot, "link", name=name)
    inertial = child(link, "inertial")
    child(inertial, "origin", xyz=numbers(solid.centre), rpy="0 0 0")
    child(inertial, "mass", value=numbers([solid.mass]))
    axes = "xyz"
    child(
        inertial,
        "inertia",
        **{
            f"i{axes[i]}{axes[j]}": numbers([solid.inertia[i, j]])
            for i in range(3)
            for j in range(i, 3)
        },
    )
    for box in boxes(model):
        for use in ("visual", "collision"):
            part = child(link, use)
            child(part, "origin", xyz=numbers([box.x, box.y, 0.5 * box.height]), rpy="0 0 0")
            shape = child(part, "geometry")
            child(shape, "box", size=numbers([box.width, box.depth, box.height]))
    friction = numbers([solid.friction])
    child(child(link, "contact"), "lateral_friction", value=friction)
    gazebo = child(robot, "gazebo", reference=name)
    child(gazebo, "mu1", friction)
    child(gazebo, "mu2", friction)
    child(child(robot, "mujoco"), "compiler", fusestatic="false")
    return document(robot, f"{name}: made by Pushwise; kg, m, rad.")
