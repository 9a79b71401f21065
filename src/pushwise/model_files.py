"""Saving and loading grids, scans and models, and how well a model is known."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.identification.belief import Known
from pushwise.object_files import (
    document_text,
    json_number,
    object_document,
    parse_object,
    read_document,
)
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan

__all__ = ["load", "load_grid", "load_known", "load_model", "save", "to_json"]

_KNOWN_FIELDS = ["centre_of_mass_covariance", "total_mass_std", "finger", "drift"]
_FINGER_FIELDS = {"radius", "friction", "height"}


def save(
    value: CellGrid | ObjectModel | Scan, path: Path | str, *, known: Known | None = None
) -> None:
    """Write a grid, a model or a scan to a JSON file; `load` gives the same back, bit for bit.

    known: how well a model is known (`Identification.known`); `load_known` gives it back.
    """
    write_text(Path(path), to_json(value, known=known) + "\n")


def load(path: Path | str) -> CellGrid | ObjectModel | Scan:
    """Read what `save` wrote; whatever is wrong with the file is named."""
    try:
        document = read_document(Path(path))
        value = parse_object(document)
        if "known" in document:
            _known(document["known"])
        return value
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def load_grid(path: Path | str) -> CellGrid:
    """Read the grid of a saved grid, model or scan."""
    value = load(path)
    return value if isinstance(value, CellGrid) else value.grid


def load_model(path: Path | str) -> tuple[ObjectModel, Known | None]:
    """Read a model, and how well it is known, None where the file does not say."""
    model = load(path)
    if not isinstance(model, ObjectModel):
        raise PushwiseError(f"{path} holds no model; make one with pushwise identify.")
    return model, load_known(path)


def load_known(path: Path | str) -> Known | None:
    """Read how well a saved model is known; None where the file does not say."""
    try:
        document = read_document(Path(path))
        parse_object(document)
        return _known(document["known"]) if "known" in document else None
    except PushwiseError as error:
        raise PushwiseError(f"{path}: {error}") from None


def to_json(value: CellGrid | ObjectModel | Scan, *, known: Known | None = None) -> str:
    """Return a grid, a model (and how well it is known) or a scan as JSON, a cell a line."""
    fields = object_document(value)
    if known is not None:
        if not isinstance(value, ObjectModel):
            raise PushwiseError(f"known goes with an ObjectModel; got {type(value).__name__}.")
        covariance = known.centre_of_mass_covariance
        fields["known"] = {
            "centre_of_mass_covariance": None if covariance is None else covariance.tolist(),
            "total_mass_std": known.total_mass_std,
            "finger": asdict(known.finger),
            "drift": known.drift.tolist(),
        }
    return document_text(fields)


def _known(value: object) -> Known:
    """Return how well a model is known."""
    if not isinstance(value, dict) or set(value) != set(_KNOWN_FIELDS):
        raise PushwiseError(f"known must have the fields {', '.join(_KNOWN_FIELDS)}.")
    finger, std = value["finger"], value["total_mass_std"]
    if not isinstance(finger, dict) or not {"radius", "friction"} <= set(finger) <= _FINGER_FIELDS:
        raise PushwiseError(
            "known.finger must have the fields radius and friction, and may have height."
        )
    return Known(
        value["centre_of_mass_covariance"],
        None if std is None else json_number("total_mass_std", std),
        Finger(**{name: json_number(f"finger {name}", number) for name, number in finger.items()}),
        value["drift"],
    )
