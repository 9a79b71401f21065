"""What commands share: options, how they check what they write, and how they stop.

Tables and obstacles from the command line: JSON files of polygons.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.physics.model import Table
from pushwise.typing import Array

__all__ = ["INTERRUPTED", "Force", "Json", "Stopped", "check_outputs", "load_polygons", "table_of"]

INTERRUPTED = 130
"""The exit code of a command stopped by Ctrl-C, as shells have it: 128 and the signal's number."""

Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class Stopped(Exception):
    """Ctrl-C was pressed; the message says what is left of the work."""


def check_outputs(output: Path | None, plot: Path | None = None, *, force: bool) -> None:
    """Refuse files that cannot be written, or exist, before any work is done.

    plot: a picture, whose ending says in which format.
    """
    for path in (output, plot):
        if path is None:
            continue
        if path.is_dir():
            raise PushwiseError(f"{path} cannot be written: it is a folder; give a file's name.")
        if path.exists() and not force:
            raise PushwiseError(f"{path} exists; add --force to overwrite it.")
        if not path.parent.is_dir():
            raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")
        if not os.access(path.parent, os.W_OK):
            raise PushwiseError(f"{path} cannot be written: the folder {path.parent} is read-only.")
    if plot is not None:
        from matplotlib.backend_bases import FigureCanvasBase

        endings = FigureCanvasBase.get_supported_filetypes()
        if plot.suffix[1:].lower() not in endings:
            raise PushwiseError(
                f"{plot} cannot be written: a picture's name must end in .{', .'.join(endings)}."
            )


def load_polygons(path: Path | str) -> list[Array]:
    """Read obstacles, polygons (k, 2) each [m], from a JSON file that lists them."""
    listed = _list(path, "a list of polygons")
    return [simple_polygon(f"{path}: obstacles[{i}]", each) for i, each in enumerate(listed)]


def table_of(words: str) -> Table:
    """Return a table from its size around the origin, as in "1.0x0.7" [m], or from a JSON file.

    The file holds the corners of a polygon, [[x, y], ...] in metres.
    """
    if size := re.fullmatch(r"([0-9.eE+-]+)x([0-9.eE+-]+)", words):
        try:
            width, depth = map(float, size.groups())
        except ValueError:
            raise PushwiseError(f"table must be WIDTHxDEPTH in metres; got {words!r}.") from None
        return Table.rectangle(width, depth)
    return Table(simple_polygon(f"{words}: table", _list(words, "the corners of a polygon")))


def _list(path: Path | str, what: str) -> list[Any]:
    """Return the list that a JSON file holds."""
    try:
        listed = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PushwiseError(f"cannot read {path} ({error.strerror}).") from None
    except ValueError as error:
        raise PushwiseError(f"{path} is not a JSON file ({error}).") from None
    if not isinstance(listed, list):
        raise PushwiseError(f"{path} must hold {what}; it is {listed!r:.40}.")
    return listed
