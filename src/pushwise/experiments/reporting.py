"""Building blocks of the experiments' reports: Markdown tables and error curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pushwise.experiments.rows import Row, numbers
from pushwise.typing import Array, Integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BANDS",
    "PAPER_COLUMNS",
    "label_errors",
    "markdown",
    "mean_text",
    "plot_runs",
    "with_spread",
]

BANDS = "line: median; band: middle half of the runs"
"""What `plot_runs` draws, for legends."""

PAPER_COLUMNS = ("what", "paper", "here", "conditions")
"""Heading of the tables that compare with the paper."""


def markdown(names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; floats have one decimal, and NaN is "-"."""

    def text(value: object) -> str:
        if isinstance(value, float):
            return f"{value:.1f}" if np.isfinite(value) else "-"
        return str(value)

    rows = ["| " + " | ".join(map(text, line)) + " |" for line in (names, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(names), *rows[1:]])


def with_spread(rows: Iterable[Row], name: str) -> str:
    """Return mean and standard deviation of a column as text; "-" if it is empty."""
    values = numbers(rows, name)
    if len(values) < 2:  # one value does not show how much others would differ
        return f"{values[0]:.1f}" if len(values) else "-"
    return f"{values.mean():.1f} ± {values.std():.1f}"


def mean_text(rows: Iterable[Row], name: str) -> str:
    """Return the mean of a column as text; nothing if it is empty."""
    values = numbers(rows, name)
    return f"{values.mean():.1f}" if len(values) else ""


def plot_runs(
    axes: Axes,
    at: Sequence[int] | Integers,
    errors: Sequence[Array],
    style: str,
    *,
    shade: float,
    **line: Any,
) -> None:
    """Draw the median error of many runs as a curve, and the middle half of them as a band.

    Args:
        axes: Where to draw.
        at: Places on the horizontal axis, (k,).
        errors: The errors of all runs at each place [mm], k arrays.
        style: Marker and line style of the curve, as in `Axes.plot`.
        shade: Opacity of the band.
        **line: Further options of the curve; its ``color`` is also that of the band.

    """
    low, median, high = np.array([np.percentile(e, [25, 50, 75]) for e in errors]).T
    axes.plot(at, median, style, **line)
    axes.fill_between(at, low, high, color=line["color"], alpha=shade, linewidth=0)


def label_errors(axes: Axes, horizontal: str) -> None:
    """Label axes that show errors of predicted cells on a logarithmic scale."""
    axes.set_yscale("log")
    axes.set_xlabel(horizontal)
    axes.set_ylabel("error of predicted cells [mm]")
    axes.grid(True)
