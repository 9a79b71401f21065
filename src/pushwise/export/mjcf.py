"""A model as MJCF, MuJoCo's format."""

from __future__ import annotations

from pushwise.export.solid import Element, Solid, boxes, child, document, numbers
from pushwise.physics.model import ObjectModel

__all__ = ["mjcf"]


def mjcf(model: ObjectModel, *, lumped: bool = False, name: str = "object") -> str:
    """Return MJCF of a free body: its frame is the grid's, z up from the table it stands on.

    Each cell is a box with its own mass and friction. lumped: one mass, centre, inertia and
    coefficient of friction for the whole body instead, and as few boxes as its shape allows.

    The object's friction holds whatever it lies on: MuJoCo would else take the larger of the two
    coefficients, and 1 is its default.
    """
    solid = Solid.of(model)
    root = Element("mujoco", model=name)
    child(root, "compiler", angle="radian")
    body = child(child(root, "worldbody"), "body", name=name)
    child(body, "freejoint")
    if lumped:
        inertia = solid.inertia
        child(
            body,
            "inertial",
            pos=numbers(solid.centre),
            mass=numbers([solid.mass]),
            fullinertia=numbers([*inertia.diagonal(), inertia[0, 1], inertia[0, 2], inertia[1, 2]]),
        )
        for i, box in enumerate(boxes(model)):
            half = 0.5 * box.height
            _geom(
                body,
                f"box{i}",
                (0.5 * box.width, 0.5 * box.depth, half),
                (box.x, box.y, half),
                0.0,
                solid.friction,
            )
    else:
        side = 0.5 * model.grid.cell_size
        for i, (x, y) in enumerate(model.grid.centres.tolist()):
            half = 0.5 * float(model.grid.heights[i])
            _geom(
                body,
                f"cell{i}",
                (side, side, half),
                (x, y, half),
                float(model.mass[i]),
                float(model.friction[i]),
            )
    return document(root, f"{name}: made by Pushwise; kg, m, rad.")


def _geom(
    body: Element,
    name: str,
    half_sides: tuple[float, float, float],
    middle: tuple[float, float, float],
    mass: float,
    friction: float,
) -> None:
    """Add a box that rubs without resisting to spin or to roll."""
    child(
        body,
        "geom",
        name=name,
        type="box",
        size=numbers(half_sides),
        pos=numbers(middle),
        mass=numbers([mass]),
        condim="3",
        friction=numbers([friction, 0.0, 0.0]),
        priority="1",
    )
