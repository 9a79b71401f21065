"""The figures that are saved while a block runs, by the names of their files."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from PIL import Image


@contextmanager
def drawn() -> Iterator[dict[str, Figure]]:
    """Collect every figure that is saved, after it was."""
    figures: dict[str, Figure] = {}
    save = Figure.savefig

    def noted(self: Figure, path: Any, **more: Any) -> None:
        save(self, path, **more)
        # A picture is written to a temporary file, which then replaces the one that is named.
        figures[re.sub(r"^\.(.*)\.\d+\.half$", r"\1", Path(path).name)] = self

    with patch.object(Figure, "savefig", noted):
        yield figures


def points_of(line: Line2D) -> NDArray[np.float64]:
    """Return the points of a line, shape (n, 2)."""
    return np.asarray(line.get_xydata(), dtype=np.float64)


def texts(legend_of: Axes | Figure) -> list[str]:
    """Return the labels of the legend of axes, or of the only one of a figure."""
    legend = legend_of.legends[0] if isinstance(legend_of, Figure) else legend_of.get_legend()
    assert legend is not None
    return [text.get_text() for text in legend.get_texts()]


def pixels_of(path: Path, colour: tuple[int, int, int]) -> NDArray[np.float64]:
    """Return where a picture has nearly a colour: x from the left and y from the top, as shares.

    Returns:
        The pixels, shape (n, 2), each share between 0 and 1.

    """
    with Image.open(path) as image:
        found = np.asarray(image.convert("RGB"), dtype=np.int64)
    rows, columns = np.nonzero(np.abs(found - colour).max(axis=2) < 8)
    height, width, _ = found.shape
    return np.column_stack([columns / width, rows / height])
