"""Which file holds which format."""

from __future__ import annotations

from pathlib import Path

from pushwise.errors import PushwiseError
from pushwise.export.mjcf import mjcf
from pushwise.export.sdf import sdf
from pushwise.export.urdf import urdf
from pushwise.physics.model import ObjectModel

__all__ = ["FORMATS", "format_of", "write"]

FORMATS = {".xml": "MJCF", ".urdf": "URDF", ".sdf": "SDF"}
"""The format of a file by its suffix."""


def format_of(path: Path | str) -> str:
    """Return the format that a file's name asks for."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(f"{end} ({name})" for end, name in FORMATS.items())
        raise PushwiseError(f"{path} must end in {known}.")
    return FORMATS[suffix]


def write(model: ObjectModel, path: Path | str, *, lumped: bool = False) -> None:
    """Write a model to a file in the format of its suffix, named as the file is.

    lumped: of MJCF, one mass and friction for the whole body; the others know no other masses.
    """
    name = Path(path).stem
    kind = format_of(path)
    if kind == "MJCF":
        text = mjcf(model, lumped=lumped, name=name)
    elif lumped:
        raise PushwiseError(f"only MJCF has cells to lump; {path} is {kind}.")
    else:
        text = urdf(model, name=name) if kind == "URDF" else sdf(model, name=name)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise PushwiseError(f"cannot write {path} ({error.strerror}).") from None
