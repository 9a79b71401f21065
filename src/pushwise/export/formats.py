"""The formats a model can be exported to: MJCF, URDF and SDF, which are XML, and USD."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.export.solid import Solid, boxes
from pushwise.export.usd_stage import usd
from pushwise.physics.model import ObjectModel

__all__ = ["FORMATS", "format_of", "mjcf", "sdf", "urdf", "write"]

FORMATS = {".xml": "MJCF", ".urdf": "URDF", ".sdf": "SDF", ".usda": "USD"}
"""The format of a file by its suffix."""

Element = ElementTree.Element


def format_of(path: Path | str) -> str:
    """Return the format of a file by its name: MJCF, URDF, SDF or USD."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(f"{end} ({name})" for end, name in FORMATS.items())
        raise PushwiseError(f"{path} must end in {known}.")
    return FORMATS[suffix]


def write(model: ObjectModel, path: Path | str, *, lumped: bool = False) -> None:
    """Write a model to a file in the format of its suffix; the model is named after the file.

    Args:
        model: What to write.
        path: A name that ends in .xml (MJCF), .urdf, .sdf or .usda.
        lumped: One mass and friction for the whole body instead of one per cell; MJCF and USD only,
            since URDF always has a single friction and SDF is for one per cell.

    """
    name = Path(path).stem
    kind = format_of(path)
    if kind == "MJCF":
        text = mjcf(model, lumped=lumped, name=name)
    elif kind == "USD":
        text = usd(model, lumped=lumped, name=name)
    elif lumped:
        raise PushwiseError(f"only MJCF and USD can be lumped; {path} is {kind}.")
    else:
        text = urdf(model, name=name) if kind == "URDF" else sdf(model, name=name)
    write_text(Path(path), text)


def mjcf(model: ObjectModel, *, lumped: bool = False, name: str = "object") -> str:
    """Return a model as MJCF, MuJoCo's format: a free body in the grid frame, z up from the table.

    The object's friction applies on any surface: the geoms have priority 1. Otherwise MuJoCo would
    take the larger coefficient of the two surfaces, and its default is 1.

    Args:
        model: What to export.
        lumped: One mass, centre, inertia and coefficient of friction for the whole body, and as
            few boxes as its shape allows. By default each cell is a box with its own mass and
            friction.
        name: Name of the model and its body.

    """
    solid = Solid.of(model)
    root = Element("mujoco", model=name)
    _child(root, "compiler", angle="radian")
    body = _child(_child(root, "worldbody"), "body", name=name)
    _child(body, "freejoint")
    if lumped:
        inertia = solid.inertia
        mixed = inertia[0, 1], inertia[0, 2], inertia[1, 2]
        _child(
            body,
            "inertial",
            pos=_numbers(solid.centre),
            mass=_numbers([solid.mass]),
            fullinertia=_numbers([*inertia.diagonal(), *mixed]),
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
    return _document(root, f"{name}: made by Pushwise; kg, m, rad.")


def _geom(
    body: Element,
    name: str,
    half_sides: tuple[float, float, float],
    middle: tuple[float, float, float],
    mass: float,
    friction: float,
) -> None:
    """Add a box with sliding friction, but no torsional or rolling friction."""
    _child(
        body,
        "geom",
        name=name,
        type="box",
        size=_numbers(half_sides),
        pos=_numbers(middle),
        mass=_numbers([mass]),
        condim="3",
        friction=_numbers([friction, 0.0, 0.0]),
        priority="1",
    )


def urdf(model: ObjectModel, *, name: str = "object") -> str:
    """Return a model as URDF: one link in the grid frame, z up from the table.

    The link has the mass, centre and inertia of all cells, and as few boxes as its shape allows.
    URDF has no friction; the mean of the cells' coefficients is written where PyBullet reads it
    (`contact/lateral_friction`) and where Gazebo does (`gazebo/mu1` and `mu2`). MuJoCo fixes the
    first link of a URDF to the world; `fusestatic` makes it keep the link's mass nevertheless.
    """
    solid = Solid.of(model)
    robot = Element("robot", name=name)
    link = _child(robot, "link", name=name)
    inertial = _child(link, "inertial")
    _child(inertial, "origin", xyz=_numbers(solid.centre), rpy="0 0 0")
    _child(inertial, "mass", value=_numbers([solid.mass]))
    _child(inertial, "inertia", **_inertia(solid))
    for box in boxes(model):
        for use in ("visual", "collision"):
            part = _child(link, use)
            _child(part, "origin", xyz=_numbers([box.x, box.y, 0.5 * box.height]), rpy="0 0 0")
            shape = _child(part, "geometry")
            _child(shape, "box", size=_numbers([box.width, box.depth, box.height]))
    friction = _numbers([solid.friction])
    _child(_child(link, "contact"), "lateral_friction", value=friction)
    gazebo = _child(robot, "gazebo", reference=name)
    _child(gazebo, "mu1", friction)
    _child(gazebo, "mu2", friction)
    _child(_child(robot, "mujoco"), "compiler", fusestatic="false")
    return _document(robot, f"{name}: made by Pushwise; kg, m, rad.")


def sdf(model: ObjectModel, *, name: str = "object") -> str:
    """Return a model as SDF, Gazebo's format: one link in the grid frame, z up from the table.

    The link has the mass, centre and inertia of all cells; each cell is a box with its own
    friction.
    """
    solid = Solid.of(model)
    root = Element("sdf", version="1.9")
    link = _child(_child(root, "model", name=name), "link", name="link")
    inertial = _child(link, "inertial")
    _child(inertial, "pose", _numbers([*solid.centre, 0.0, 0.0, 0.0]))
    _child(inertial, "mass", _numbers([solid.mass]))
    inertia = _child(inertial, "inertia")
    for entry, value in _inertia(solid).items():
        _child(inertia, entry, value)
    grid = model.grid
    for i, (x, y) in enumerate(grid.centres.tolist()):
        height = float(grid.heights[i])
        for use in ("visual", "collision"):
            part = _child(link, use, name=f"cell{i}_{use}")
            _child(part, "pose", _numbers([x, y, 0.5 * height, 0.0, 0.0, 0.0]))
            box = _child(_child(part, "geometry"), "box")
            _child(box, "size", _numbers([grid.cell_size, grid.cell_size, height]))
            if use == "collision":
                ode = _child(_child(_child(part, "surface"), "friction"), "ode")
                _child(ode, "mu", _numbers([model.friction[i]]))
                _child(ode, "mu2", _numbers([model.friction[i]]))
    return _document(root, f"{name}: made by Pushwise; kg, m, rad.")


def _inertia(solid: Solid) -> dict[str, str]:
    """Return the six entries of an inertia tensor, from ixx to izz."""
    names = ((i, j, f"i{'xyz'[i]}{'xyz'[j]}") for i in range(3) for j in range(i, 3))
    return {name: _numbers([solid.inertia[i, j]]) for i, j, name in names}


def _child(parent: Element, tag: str, text: str | None = None, /, **attributes: str) -> Element:
    """Add an element to another and return it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def _numbers(values: Iterable[float]) -> str:
    """Return numbers as text that reads back to the same floats, bit for bit."""
    return " ".join(repr(float(value)) for value in values)


def _document(root: Element, comment: str) -> str:
    """Return an XML document with a comment at its top."""
    ElementTree.indent(root)
    # XML forbids two hyphens in a row inside a comment.
    safe = re.sub("-(?=-)", "- ", comment)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {safe} -->\n{body}\n'
