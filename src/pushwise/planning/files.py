"""Tables and obstacles from the command line: JSON files of polygons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import PushwiseError
from pushwise.physics.model import Table
from pushwise.shape.polygon import simple_polygon

__all__ = ["load_polygons", "table_of"]


def load_polygons(path: Path | str) -> list[NDArray[np.float64]]:
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
