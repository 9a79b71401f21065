"""Grids, models and scans as small JSON files that a person can read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pushwise.checks import finite_array, non_negative_integer, non_negative_number
from pushwise.errors import PushwiseError
from pushwise.identification.belief import Belief
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.shape.plane import Plane
from pushwise.shape.scan import Dropped, Scan
from pushwise.typing import Array

__all__ = ["load", "load_belief", "load_grid", "save", "to_json"]

_FORMAT = "pushwise"
_VERSION = 1
_UNITS = "m, kg"
_COLUMNS = {
    "grid": ["x", "y", "height"],
    "scan": ["x", "y", "height"],
    "model": ["x", "y", "height", "mass", "friction"],
}
_SCAN_FIELDS = ["frame", "holes", "table", "noise", "points", "dropped"]
_KNOWN_FIELDS = ["centre_of_mass_covariance", "total_mass_std", "finger", "drift"]
_FINGER_FIELDS = {"radius", "friction", "height"}


def save(value: CellGrid | ObjectModel | Belief | Scan, path: Path | str) -> None:
    """Write a grid, a model, a belief or a scan to a JSON file, bit for bit.

    `load` reads the grid, model or scan; `load_belief` reads the belief. A certain belief is
    written as its model alone, without its finger; no posterior is written.
    """
    try:
        Path(path).write_text(to_json(value) + "\n", encoding="utf-8")
    except OSError as error:
        raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None


def load(path: Path | str) -> CellGrid | ObjectModel | Scan:
    """Read what `save` wrote; whatever is wrong with the file is named."""
    try:
        return _parsed(_document(Path(path)))
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def load_grid(path: Path | str) -> CellGrid:
    """Read the grid of a saved grid, model or scan."""
    value = load(path)
    return value if isinstance(value, CellGrid) else value.grid


def load_belief(path: Path | str) -> Belief:
    """Read a model and how well it is known; it is certain where the file does not say."""
    try:
        document = _document(Path(path))
        model = _parsed(document)
        if isinstance(model, ObjectModel):
            return _belief(model, document)
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None
    raise PushwiseError(f"{path} holds no model; make one with pushwise identify.")


def to_json(value: CellGrid | ObjectModel | Belief | Scan) -> str:
    """Return a grid, a model, a belief or a scan as JSON, one line per cell."""
    belief = value if isinstance(value, Belief) else None
    value = value.model if isinstance(value, Belief) else value
    if isinstance(value, CellGrid):
        kind, grid = "grid", value
    elif isinstance(value, Scan):
        kind, grid = "scan", value.grid
    elif isinstance(value, ObjectModel):
        kind, grid = "model", value.grid
    else:
        raise PushwiseError(
            "only a CellGrid, an ObjectModel, a Belief or a Scan can be saved; "
            f"got {type(value).__name__}."
        )
    columns = [*grid.centres.T, grid.heights]
    if isinstance(value, ObjectModel):
        columns += [value.mass, value.friction]
    fields: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": kind,
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
            "dropped": [gone._asdict() for gone in value.dropped],
        }
    if belief is not None and (belief.learned or belief.assumed):
        covariance = belief.centre_covariance
        fields["known"] = {
            "centre_of_mass_covariance": None if covariance is None else covariance.tolist(),
            "total_mass_std": belief.total_mass_std,
            "finger": asdict(belief.finger),
            "drift": belief.drift.tolist(),
        }
    lines = [f"  {json.dumps(name)}: {_pretty(field)}" for name, field in fields.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def _pretty(field: object) -> str:
    """Return a field as JSON; of a list of rows, a row a line."""
    if isinstance(field, list) and field and isinstance(field[0], list | dict):
        rows = ",\n".join(f"    {json.dumps(row)}" for row in field)
        return f"[\n{rows}\n  ]"
    return json.dumps(field)


def _document(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PushwiseError("there is no such file.") from None
    except OSError as error:
        raise PushwiseError(f"cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise PushwiseError(f"not a JSON file ({reason}).") from None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise PushwiseError(f'format must be "{_FORMAT}": this is not one of our files.')
    if document.get("version") != _VERSION:
        raise PushwiseError(
            f"version must be {_VERSION}, the one this release reads; "
            f"it is {document.get('version')!r}."
        )
    return document


def _parsed(document: dict[str, Any]) -> CellGrid | ObjectModel | Scan:
    """Return what a document describes, after checking all of it."""
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in _COLUMNS:
        raise PushwiseError(f"kind must be one of {', '.join(_COLUMNS)}; it is {kind!r}.")
    wanted = ["format", "version", "kind", "units", "cell_size", "columns", "cells", "outline"]
    wanted += _SCAN_FIELDS if kind == "scan" else []
    for name in wanted:
        if name not in document:
            raise PushwiseError(f"{name} is missing.")
    allowed = [*wanted, "known"] if kind == "model" else wanted
    if unknown := [name for name in document if name not in allowed]:
        raise PushwiseError(f"{unknown[0]!r} is no field of a {kind}.")
    if document["units"] != _UNITS:
        raise PushwiseError(f'units must be "{_UNITS}"; it is {document["units"]!r}.')
    columns = _COLUMNS[kind]
    if document["columns"] != columns:
        raise PushwiseError(f"columns of a {kind} must be {', '.join(columns)}.")
    cells = finite_array("cells", document["cells"], ("n", len(columns)))
    size = _number("cell_size", document["cell_size"])
    grid = CellGrid(cells[:, :2], size, cells[:, 2], document["outline"])
    if kind == "model":
        model = ObjectModel(grid, cells[:, 3], cells[:, 4])
        _belief(model, document)
        return model
    return _scan(grid, document) if kind == "scan" else grid


def _belief(model: ObjectModel, document: dict[str, Any]) -> Belief:
    """Return the belief in a model that a document describes."""
    if "known" not in document:
        return Belief.certain(model)
    value = document["known"]
    if not isinstance(value, dict) or set(value) != set(_KNOWN_FIELDS):
        raise PushwiseError(f"known must have the fields {', '.join(_KNOWN_FIELDS)}.")
    finger, std = value["finger"], value["total_mass_std"]
    if not isinstance(finger, dict) or not {"radius", "friction"} <= set(finger) <= _FINGER_FIELDS:
        raise PushwiseError(
            "known.finger must have the fields radius and friction, and may have height."
        )
    covariance = value["centre_of_mass_covariance"]
    if covariance is not None:
        covariance = finite_array("centre_of_mass_covariance", covariance, (2, 2))
    return Belief(
        model,
        Finger(**{name: _number(f"finger {name}", number) for name, number in finger.items()}),
        covariance,
        None if std is None else _number("total_mass_std", std),
        value["drift"],
        assumed=covariance is None,
    )


def _scan(grid: CellGrid, document: dict[str, Any]) -> Scan:
    """Return the scan a document describes."""
    frame = finite_array("frame", document["frame"], (4, 4))
    turn = frame[:3, :3]
    rigid = np.allclose(turn @ turn.T, np.eye(3), atol=1e-6) and np.linalg.det(turn) > 0.0
    if not rigid or frame[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise PushwiseError("frame must be a rotation and a translation, last row 0, 0, 0, 1.")
    return Scan(
        grid=grid,
        frame=frame,
        holes=tuple(
            finite_array(f"holes[{at}]", hole, ("k", 2))
            for at, hole in enumerate(_list("holes", document["holes"]))
        ),
        table=Plane(document["table"]),
        noise=non_negative_number("noise", _number("noise", document["noise"])),
        points=non_negative_integer("points", document["points"]),
        dropped=tuple(
            _dropped(f"dropped[{at}]", gone)
            for at, gone in enumerate(_list("dropped", document["dropped"]))
        ),
    )


def _dropped(name: str, value: object) -> Dropped:
    """Return an entry of what a scan dropped."""
    if not isinstance(value, dict) or set(value) != set(Dropped._fields):
        raise PushwiseError(f"{name} must have the fields {', '.join(Dropped._fields)}.")
    if not isinstance(value["what"], str):
        raise PushwiseError(f"{name}.what must be text; it is {value['what']!r}.")
    return Dropped(
        value["what"],
        non_negative_integer(f"{name}.points", value["points"]),
        non_negative_number(f"{name}.share", _number(f"{name}.share", value["share"])),
    )


def _number(name: str, value: object) -> float:
    """Return a number that a float can hold; JSON has whole numbers of any length."""
    number: Array = finite_array(name, value, ())  # type: ignore[arg-type]
    return float(number)


def _list(name: str, value: object) -> list[Any]:
    """Return a list."""
    if not isinstance(value, list):
        raise PushwiseError(f"{name} must be a list; it is {value!r:.40}.")
    return value
