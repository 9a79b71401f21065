"""Columns of result rows as numbers, and Markdown tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pushwise.experiments.rows import Row, Value

__all__ = ["markdown", "mean", "numbers", "where", "with_spread"]


def where(rows: Iterable[Row], **wanted: Value) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def numbers(rows: Iterable[Row], name: str) -> NDArray[np.float64]:
    """Return the numbers of a column that are there, shape (k,)."""
    return np.array([value for row in rows if isinstance(value := row[name], int | float)], float)


def mean(rows: Iterable[Row], name: str) -> float:
    """Return the mean of a column; NaN when it is empty."""
    values = numbers(rows, name)
    return float(values.mean()) if len(values) else float("nan")


def with_spread(rows: Iterable[Row], name: str) -> str:
    """Return mean and standard deviation of a column as text; "-" when it is empty."""
    values = numbers(rows, name)
    return f"{values.mean():.1f} ± {values.std():.1f}" if len(values) else "-"


def markdown(names: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; floats with one digit, and "-" where there is no number."""

    def text(value: object) -> str:
        if isinstance(value, float):
            return f"{value:.1f}" if np.isfinite(value) else "-"
        return str(value)

    rows = ["| " + " | ".join(map(text, line)) + " |" for line in (names, *lines)]
    return "\n".join([rows[0], "|" + "---|" * len(names), *rows[1:]])
