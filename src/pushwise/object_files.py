"""Grids, scans, scenes and models as JSON documents that a person can read.

`model_files` adds what is believed about a model. Worlds, which must not know anything about
identification, read their objects from here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pushwise.checks import finite_array, non_negative_integer, non_negative_number
from pushwise.documents import header, read_document
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.physics.model import ObjectModel
from pushwise.shape.grid import CellGrid
from pushwise.shape.plane import Plane
from pushwise.shape.scan import Dropped, Scan
from pushwise.shape.scene import Scene, SceneObject
from pushwise.typing import Array

__all__ = [
    "document_text",
    "json_number",
    "object_document",
    "parse_object",
    "read_object",
    "read_object_document",
]

_UNITS = "m, kg"
_COLUMNS = {
    "grid": ["x", "y", "height"],
    "scan": ["x", "y", "height"],
    "model": ["x", "y", "height", "mass", "friction"],
}
_FIELDS = ["format", "version", "kind", "units", "cell_size", "columns", "cells", "outline"]
_SCENE_FIELDS = [
    *("format", "version", "kind", "units", "frame", "table", "region", "noise", "least_height"),
    *("columns", "objects"),
]
_OBJECT_FIELDS = [
    *("pose", "points", "may_touch", "levels", "cell_size", "cells", "outline", "holes"),
]
_SCAN_FIELDS = ["frame", "holes", "table", "noise", "points", "dropped"]
# What else may stand in the file of a model; `model_files` reads it.
_MODEL_EXTRAS = ["known"]


def read_object(path: Path | str) -> CellGrid | ObjectModel | Scan | Scene:
    """Read a grid, a model, a scan or a scene; an error names the file and the faulty field."""
    document = read_object_document(Path(path))
    try:
        return parse_object(document)
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def object_document(value: CellGrid | ObjectModel | Scan | Scene) -> dict[str, Any]:
    """Return the fields of the JSON document that describes a grid, a model, a scan or a scene."""
    if isinstance(value, Scene):
        return _scene_document(value)
    if isinstance(value, CellGrid):
        kind, grid = "grid", value
    elif isinstance(value, Scan):
        kind, grid = "scan", value.grid
    elif isinstance(value, ObjectModel):
        kind, grid = "model", value.grid
    else:
        raise PushwiseError(
            "only a CellGrid, an ObjectModel, a Belief, a Scan or a Scene can be saved; "
            f"got {type(value).__name__}."
        )
    columns = [*grid.centres.T, grid.heights]
    if isinstance(value, ObjectModel):
        columns += [value.mass, value.friction]
    fields: dict[str, Any] = {
        **header(kind),
        "units": _UNITS,
        "cell_size": grid.cell_size,
        "columns": _COLUMNS[kind],
        "cells": np.stack(columns, axis=1).tolist(),
        "outline": grid.outline.tolist(),
    }
    if isinstance(value, Scan):
        fields |= {
            "frame": value.frame.tolist(),
            "holes": [hole.tolist() for hole in value.holes],
            "table": list(value.table.coefficients),
            "noise": value.noise,
            "points": value.points,
            "dropped": [group._asdict() for group in value.dropped],
        }
    return fields


def _scene_document(scene: Scene) -> dict[str, Any]:
    """Return the fields of the JSON document that describes a scene."""
    return {
        **header("scene"),
        "units": _UNITS,
        "frame": scene.frame.tolist(),
        "table": list(scene.table.coefficients),
        "region": scene.region.tolist(),
        "noise": scene.noise,
        "least_height": scene.least_height,
        "columns": _COLUMNS["grid"],
        "objects": [
            {
                "pose": list(each.pose),
                "points": each.points,
                "may_touch": list(each.may_touch),
                "levels": list(each.levels),
                "cell_size": each.grid.cell_size,
                "cells": np.column_stack([each.grid.centres, each.grid.heights]).tolist(),
                "outline": each.grid.outline.tolist(),
                "holes": [hole.tolist() for hole in each.holes],
            }
            for each in scene.objects
        ],
    }


def document_text(fields: dict[str, Any]) -> str:
    """Return a document as JSON text with one field per line, and one row per line in lists."""
    lines = [f"  {json.dumps(name)}: {_field_text(field)}" for name, field in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _field_text(field: object) -> str:
    """Return a field as JSON; each row of a list of rows has its own line."""
    if isinstance(field, list) and field and isinstance(field[0], list | dict):
        rows = ",\n".join(f"    {json.dumps(row)}" for row in field)
        return f"[\n{rows}\n  ]"
    return json.dumps(field)


def read_object_document(path: Path) -> dict[str, Any]:
    """Read the document of a grid, a model, a scan or a scene, and check its header."""
    return read_document(path, *_COLUMNS, "scene")


def parse_object(document: dict[str, Any]) -> CellGrid | ObjectModel | Scan | Scene:
    """Return the grid, model, scan or scene that a document with a valid header describes."""
    kind = document["kind"]
    if kind == "scene":
        _check_fields(document, _SCENE_FIELDS, "a scene")
        return _scene(document)
    required = _FIELDS + (_SCAN_FIELDS if kind == "scan" else [])
    _check_fields(document, required, f"a {kind}", _MODEL_EXTRAS if kind == "model" else [])
    columns = _COLUMNS[kind]
    if document["columns"] != columns:
        raise PushwiseError(f"columns of a {kind} must be {', '.join(columns)}.")
    cells = finite_array("cells", document["cells"], ("n", len(columns)))
    size = json_number("cell_size", document["cell_size"])
    grid = CellGrid(cells[:, :2], size, cells[:, 2], document["outline"])
    if kind == "model":
        return ObjectModel(grid, cells[:, 3], cells[:, 4])
    return _scan(grid, document) if kind == "scan" else grid


def _check_fields(
    document: dict[str, Any], required: list[str], what: str, extras: list[str] | None = None
) -> None:
    """Refuse a document that lacks a field, has one too many or is in other units."""
    for name in required:
        if name not in document:
            raise PushwiseError(f"{name} is missing.")
    if unknown := [name for name in document if name not in [*required, *(extras or [])]]:
        raise PushwiseError(f"{unknown[0]!r:.40} is not a field of {what}.")
    if document.get("units", _UNITS) != _UNITS:
        raise PushwiseError(f'units must be "{_UNITS}"; it is {document["units"]!r:.40}.')


def json_number(name: str, value: object) -> float:
    """Return a number as a float; the integers of JSON may be too long for one."""
    number: Array = finite_array(name, value, ())  # type: ignore[arg-type]
    return float(number)


def _frame(value: object) -> Array:
    """Return a frame (4, 4) after checking that it is rigid."""
    frame: Array = finite_array("frame", value, (4, 4))  # type: ignore[arg-type]
    turn = frame[:3, :3]
    rigid = np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) and np.linalg.det(turn) > 0.0
    if not rigid or frame[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise PushwiseError("frame must be a rotation and a translation, last row 0, 0, 0, 1.")
    return frame


def _holes(value: object) -> tuple[Array, ...]:
    """Return the outlines of holes [m], shape (k, 2) each."""
    listed = enumerate(_list("holes", value))
    return tuple(finite_array(f"holes[{at}]", hole, ("k", 2)) for at, hole in listed)


def _scene(document: dict[str, Any]) -> Scene:
    """Return the scene a document describes."""
    if document["columns"] != _COLUMNS["grid"]:
        raise PushwiseError(f"columns of a scene must be {', '.join(_COLUMNS['grid'])}.")
    listed = _list("objects", document["objects"])
    objects = []
    for at, each in enumerate(listed):
        try:
            objects.append(_scene_object(each, len(listed)))
        except PushwiseError as error:
            raise PushwiseError(f"objects[{at}]: {error}") from None
    return Scene(
        objects=tuple(objects),
        table=Plane(document["table"]),
        frame=_frame(document["frame"]),
        region=simple_polygon("region", document["region"]),
        noise=non_negative_number("noise", json_number("noise", document["noise"])),
        least_height=non_negative_number(
            "least_height", json_number("least_height", document["least_height"])
        ),
    )


def _scene_object(value: object, count: int) -> SceneObject:
    """Return one of the `count` objects of a scene."""
    if not isinstance(value, dict):
        raise PushwiseError(f"must have the fields {', '.join(_OBJECT_FIELDS)}.")
    _check_fields(value, _OBJECT_FIELDS, "an object of a scene")
    cells = finite_array("cells", value["cells"], ("n", 3))
    size = json_number("cell_size", value["cell_size"])
    x, y, theta = finite_array("pose", value["pose"], (3,)).tolist()
    others = [non_negative_integer("may_touch", n) for n in _list("may_touch", value["may_touch"])]
    if others and max(others) >= count:
        raise PushwiseError(f"may_touch must be numbers below {count}; got {max(others)}.")
    return SceneObject(
        grid=CellGrid(cells[:, :2], size, cells[:, 2], value["outline"]),
        pose=(x, y, theta),
        holes=_holes(value["holes"]),
        points=non_negative_integer("points", value["points"]),
        may_touch=tuple(others),
        levels=tuple(finite_array("levels", value["levels"], ("k",)).tolist()),
    )


def _scan(grid: CellGrid, document: dict[str, Any]) -> Scan:
    """Return the scan a document describes."""
    return Scan(
        grid=grid,
        frame=_frame(document["frame"]),
        holes=_holes(document["holes"]),
        table=Plane(document["table"]),
        noise=non_negative_number("noise", json_number("noise", document["noise"])),
        points=non_negative_integer("points", document["points"]),
        dropped=tuple(
            _dropped(f"dropped[{at}]", group)
            for at, group in enumerate(_list("dropped", document["dropped"]))
        ),
    )


def _dropped(name: str, value: object) -> Dropped:
    """Return one entry of the points that a scan dropped."""
    if not isinstance(value, dict) or set(value) != set(Dropped._fields):
        raise PushwiseError(f"{name} must have the fields {', '.join(Dropped._fields)}.")
    if not isinstance(value["what"], str):
        raise PushwiseError(f"{name}.what must be text; it is {value['what']!r:.40}.")
    share = json_number(f"{name}.share", value["share"])
    return Dropped(
        value["what"],
        non_negative_integer(f"{name}.points", value["points"]),
        non_negative_number(f"{name}.share", share),
    )


def _list(name: str, value: object) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise PushwiseError(f"{name} must be a list; it is {value!r:.40}.")
    return value
