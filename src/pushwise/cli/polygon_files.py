"""Tables and obstacles given on the command line, as sizes or as JSON files of polygons."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from pushwise.documents import read_json
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import simple_polygon
from pushwise.physics.model import Table
from pushwise.typing import Array

__all__ = ["load_polygons", "table_of"]


def load_polygons(path: Path | str) -> list[Array]:
    """Read obstacles from a JSON file.

    Args:
        path: A file with a list of polygons, [[x, y], ...] each [m].

    Returns:
        The polygons, shape (k, 2) each [m].

    """
    listed = _list(path, "a list of polygons")
    return [simple_polygon(f"{path}: obstacles[{i}]", each) for i, each in enumerate(listed)]


def table_of(words: str) -> Table:
    """Return the table that an option describes.

    Args:
        words: Its size around the origin, as in "1.0x0.7" [m], or a JSON file with the corners of
            a polygon, [[x, y], ...] [m].

    """
    if size := re.fullmatch(r"([0-9.eE+-]+)[xX]([0-9.eE+-]+)", words):
        try:
            width, depth = map(float, size.groups())
        except ValueError:
            raise PushwiseError(f"table must be WIDTHxDEPTH in metres; got {words!r}.") from None
        if not (0.0 < width < math.inf and 0.0 < depth < math.inf):
            raise PushwiseError(f"table must be wider and deeper than zero; got {words!r}.")
        return Table.rectangle(width, depth)
    if not Path(words).exists() and not words.lower().endswith(".json"):
        raise PushwiseError(
            "table must be WIDTHxDEPTH in metres, such as 1.0x0.7, or a JSON file with the corners "
            f"of a polygon; got {words!r}."
        )
    return Table(simple_polygon(f"{words}: table", _list(words, "the corners of a polygon")))


def _list(path: Path | str, what: str) -> list[Any]:
    """Return the list that a JSON file holds."""
    listed = read_json(Path(path))
    if not isinstance(listed, list):
        raise PushwiseError(f"{path} must hold {what}; got {listed!r:.40}.")
    return listed
