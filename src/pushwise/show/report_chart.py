"""The chart of the report: how far the object was from its goal after each push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape

from pushwise.show.quantities import millimetres

__all__ = ["ChartPoint", "distance_chart"]

_WIDTH, _HEIGHT = 480.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 12.0, 16.0, 44.0
_MOST_LABELS = 12  # along the axis


@dataclass(frozen=True)
class ChartPoint:
    """A push of the chart."""

    name: str
    """What it is called in the report."""
    label: str
    """What it is called below the axis."""
    to_goal: bool
    """Whether it was made to reach the goal; otherwise to learn."""
    distance: float
    """Mean distance of the object's cells from the goal after it [m]."""


def distance_chart(points: Sequence[ChartPoint], tolerance: float) -> Markup:
    """Draw the distance from the goal after each push, on a logarithmic scale.

    Args:
        points: The pushes, in order.
        tolerance: Distance at which the goal counts as reached [m].

    """
    values = 1e3 * np.array([point.distance for point in points])
    limit = 1e3 * tolerance
    low = 10.0 ** np.floor(np.log10(max(min(values.min(), limit), 0.1)) - 1e-9)
    high = 10.0 ** np.ceil(np.log10(max(values.max(), limit)) + 1e-9)

    def y_of(value: float) -> float:
        share = np.log10(max(value, low) / low) / np.log10(high / low)
        return float(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM))

    step = (_WIDTH - _LEFT - _RIGHT) / len(points)
    x = _LEFT + step * (np.arange(len(points)) + 0.5)
    parts = [
        f'<rect class="reached" x="{_LEFT:g}" y="{y_of(limit):.1f}" '
        f'width="{_WIDTH - _LEFT - _RIGHT:g}" height="{_HEIGHT - _BOTTOM - y_of(limit):.1f}"/>',
    ]
    powers = range(round(np.log10(low)), round(np.log10(high)) + 1)
    for power in powers:
        y = y_of(10.0**power)
        unit = " mm" if power == powers[-1] else ""
        parts.append(f'<path class="gridline" d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}"/>')
        parts.append(
            f'<text class="tick" x="{_LEFT - 7:g}" y="{y + 4:.1f}" text-anchor="end">'
            f"{10.0**power:g}{unit}</text>"
        )
    parts.append(
        f'<text class="tick reached-text" x="{_LEFT + 6:g}" y="{_HEIGHT - _BOTTOM - 7:g}">'
        f"reached: within {limit:g} mm</text>"
    )
    each = max(1, -(-len(points) // _MOST_LABELS))
    for i, point in enumerate(points):
        if i % each == 0 or i == len(points) - 1 > i - i % each + 0.6 * each:
            parts.append(
                f'<text class="tick" x="{x[i]:.1f}" y="{_HEIGHT - _BOTTOM + 17:g}" '
                f'text-anchor="middle">{escape(point.label)}</text>'
            )
    learned = sum(not point.to_goal for point in points)
    for first, last, said in ((0, learned, "to learn"), (learned, len(points), "to the goal")):
        if last > first:
            middle = 0.5 * (x[first] + x[last - 1])
            parts.append(
                f'<text class="tick strong" x="{middle:.1f}" y="{_HEIGHT - 8:g}" '
                f'text-anchor="middle">{said}</text>'
            )
    if 0 < learned < len(points):
        at = _LEFT + step * learned
        parts.append(f'<path class="divider" d="M{at:.1f} {_TOP:g}V{_HEIGHT - 4:g}"/>')
    heights = [y_of(value) for value in values]
    way = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, heights, strict=True))
    parts.append(f'<polyline class="distance" points="{way}"/>')
    for i, point in enumerate(points):
        kind = "point" if point.to_goal else "point learning"
        said = f"{point.name}: {millimetres(point.distance)} from the goal"
        parts.append(
            f'<circle class="{kind}" data-push="{i}" cx="{x[i]:.1f}" cy="{heights[i]:.1f}" r="5">'
            f"<title>{escape(said)}</title></circle>"
        )
    label = (
        f"Distance from the goal after each of {len(points)} pushes, on a logarithmic scale; after "
        f"the last one it is {millimetres(points[-1].distance)}."
    )
    return Markup(
        f'<svg role="img" aria-label="{escape(label)}" class="chart" id="distance-chart" '
        f'viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">{"".join(parts)}</svg>'
    )
