"""Saving and loading grids, scans and models, and how well a model is known."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pushwise.atomic_write import write_text
from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.identification.belief import Belief
from pushwise.object_files import (
    document_text,
    json_number,
    object_document,
    parse_object,
    read_object_document,
)
from pushwise.physics.model import ObjectModel, grid_of
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan
from pushwise.shape.scene import Scene

__all__ = ["load", "load_belief", "load_grid", "save", "to_json"]

_KNOWN_FIELDS = ["centre_of_mass_covariance", "total_mass_std", "finger", "drift"]
_FINGER_FIELDS = {"radius", "friction", "height"}


def save(value: CellGrid | ObjectModel | Belief | Scan | Scene, path: Path | str) -> None:
    """Write a grid, a model, a belief, a scan or a scene to a JSON file, bit for bit.

    `load` reads the grid, model, scan or scene; `load_belief` reads the belief. A certain belief is
    written as its model alone, without its finger; no posterior is written.
    """
    write_text(Path(path), to_json(value) + "\n")


def load(path: Path | str) -> CellGrid | ObjectModel | Scan | Scene:
    """Read what `save` wrote; whatever is wrong with the file is named."""
    document = read_object_document(Path(path))
    try:
        value = parse_object(document)
        if isinstance(value, ObjectModel):
            _belief(value, document)
        return value
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def load_grid(path: Path | str) -> CellGrid:
    """Read the grid of a saved grid, model or scan."""
    value = load(path)
    try:
        return grid_of(value)
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def load_belief(path: Path | str) -> Belief:
    """Read a model and how well it is known; it is certain where the file does not say."""
    document = read_object_document(Path(path))
    try:
        model = parse_object(document)
        if isinstance(model, ObjectModel):
            return _belief(model, document)
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None
    raise PushwiseError(f"{path} holds no model; make one with pushwise identify.")


def to_json(value: CellGrid | ObjectModel | Belief | Scan | Scene) -> str:
    """Return a grid, a model, a belief, a scan or a scene as JSON, one line per cell or object."""
    belief = value if isinstance(value, Belief) else None
    value = value.model if isinstance(value, Belief) else value
    fields = object_document(value)
    if belief is not None and (belief.learned or belief.assumed):
        covariance = belief.centre_covariance
        fields["known"] = {
            "centre_of_mass_covariance": None if covariance is None else covariance.tolist(),
            "total_mass_std": belief.total_mass_std,
            "finger": asdict(belief.finger),
            "drift": belief.drift.tolist(),
        }
    return document_text(fields)


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
        Finger(**{name: json_number(f"finger {name}", number) for name, number in finger.items()}),
        covariance,
        None if std is None else json_number("total_mass_std", std),
        value["drift"],
        assumed=covariance is None,
    )
