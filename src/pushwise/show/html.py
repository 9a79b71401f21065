"""The pieces of the report: HTML elements, and `SvgDrawing` for pictures seen from above.

A page is one file that needs nothing else. Drawings take lengths in metres, y up, and write
millimetres. Shapes carry the names of CSS classes and no colours, except for cells coloured by a
map, so that one page can be light or dark; lines keep their width however small a picture is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from pushwise.show.quantities import gradient
from pushwise.typing import Array

__all__ = ["SvgDrawing", "facts", "figure", "page", "paragraph", "ramp", "section"]

_MARGIN = 0.05  # of the longer side, around everything
_LETTER = 0.036  # of the width: the height of the scale bar's label
_SMALL_LETTER = 0.075  # the same in a picture that is shown small
_HEAD = 0.35  # half the width of an arrow's head over its length


def page(title: str, body: str) -> str:
    """Return a whole HTML document around its body."""
    style = files("pushwise.show").joinpath("report.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def section(title: str, *parts: str) -> str:
    """Return a section under a heading; parts: HTML."""
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text: str) -> str:
    """Return a paragraph of plain text."""
    return f"<p>{escape(text)}</p>"


def figure(picture: str, caption: str, *, title: str = "", below: str = "") -> str:
    """Return a picture with a caption of plain text; below: HTML between the two."""
    head = f"<h3>{escape(title)}</h3>" if title else ""
    return f"<figure>{head}{picture}{below}<figcaption>{escape(caption)}</figcaption></figure>"


def facts(values: Mapping[str, str]) -> str:
    """Return a list of numbers and their names."""
    each = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in values.items()
    )
    return f'<dl class="facts">{each}</dl>'


def ramp(scheme: str, top: str) -> str:
    """Return the colour scale of a map, from zero to a number with its unit."""
    shown = f'<i style="background: {gradient(scheme)}"></i>'
    return f'<div class="ramp"><span>0</span>{shown}<span>{escape(top)}</span></div>'


class SvgDrawing:
    """A picture seen from above: shapes in the order in which they are drawn."""

    def __init__(self, frame: ArrayLike | None = None) -> None:
        """Start an empty drawing.

        Args:
            frame: Points [m], shape (k, 2), whose bounding box is shown; by default everything
                that is drawn.

        """
        self._parts: list[str] = []
        self._low = np.full(2, np.inf)
        self._high = np.full(2, -np.inf)
        self._fixed = False
        if frame is not None:
            self._flipped(np.asarray(frame, float))
            self._fixed = True

    def polygon(self, points: ArrayLike, kind: str) -> None:
        """Draw a closed polygon [m], shape (k, 2); kind: its CSS classes."""
        self._parts.append(f'<polygon class="{kind}" points="{self._points(points)}"/>')

    def line(self, points: ArrayLike, kind: str) -> None:
        """Draw a line through points [m], shape (k, 2)."""
        self._parts.append(f'<polyline class="{kind}" points="{self._points(points)}"/>')

    def disc(self, centre: ArrayLike, radius: float, kind: str) -> None:
        """Draw a disc of a radius [m] around a point (2,) [m]."""
        at = np.asarray(centre, float)
        self._flipped(at + radius * np.array([[-1.0, -1.0], [1.0, 1.0]]))
        x, y = 1e3 * at
        self._parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{-y:.1f}" r="{1e3 * radius:.1f}"/>'
        )

    def cross(self, centre: ArrayLike, arm: float, kind: str) -> None:
        """Mark a point (2,) [m] with a cross; arm: the length of its arms [m]."""
        at = np.asarray(centre, float)
        for along in (np.array([arm, 0.0]), np.array([0.0, arm])):
            self.line([at - along, at + along], kind)

    def dots(self, points: ArrayLike, kind: str) -> None:
        """Draw points [m], shape (k, 2), as dots of a line's width."""
        at = self._flipped(np.asarray(points, float))
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at)
        self._parts.append(f'<path class="{kind}" d="{path}"/>')

    def arrow(self, points: ArrayLike, kind: str, head: float = 0.012) -> None:
        """Draw a line through points [m], shape (k, 2), with a head of a length [m] at its end."""
        places = np.asarray(points, float)
        tip = places[-1]
        away = tip - places
        far = np.flatnonzero(np.hypot(*away.T) >= head)
        # The head points where the last stretch of its own length leads, whatever bends it has.
        back = away[far[-1]] if len(far) else away[0]
        length = float(np.hypot(*back))
        if length == 0.0:
            return
        along = back / length * min(head, length)
        across = _HEAD * np.array([-along[1], along[0]])
        before = places[: far[-1] + 1] if len(far) else places[:1]
        self.line([*before, tip - 0.5 * along], kind)
        self.polygon([tip, tip - along + across, tip - along - across], f"{kind} head")

    def squares(self, corners: Array, fills: Iterable[str]) -> None:
        """Draw quadrilaterals [m], shape (n, 4, 2), each in its own colour."""
        for four, fill in zip(corners, fills, strict=True):
            self._parts.append(
                f'<polygon class="cell" fill="{fill}" points="{self._points(four)}"/>'
            )

    def svg(self, label: str, *, small: bool = False) -> str:
        """Return the picture as an SVG element, with a scale bar of a round length.

        Args:
            label: What it shows, for screen readers.
            small: Whether it will be shown small.

        """
        low, high = self._low.copy(), self._high.copy()
        margin = _MARGIN * float((high - low).max())
        low, high = low - margin, high + margin
        letter = (_SMALL_LETTER if small else _LETTER) * float((high - low)[0])
        scale = self._bar(low, high, letter)
        high[1] += 2.6 * letter
        width, height = high - low
        box = f"{low[0]:.1f} {low[1]:.1f} {width:.1f} {height:.1f}"
        return (
            f'<svg role="img" aria-label="{escape(label)}" viewBox="{box}" '
            f'style="aspect-ratio:{width:.1f}/{height:.1f}">{"".join(self._parts)}{scale}</svg>'
        )

    def _bar(self, low: Array, high: Array, letter: float) -> str:
        """Return a scale bar below the picture; letter: height of its label [mm]."""
        width = float((high - low)[0])
        power = 10.0 ** np.floor(np.log10(0.3 * width))
        length = power * max(step for step in (1, 2, 5) if step * power <= 0.3 * width)
        x, y = low[0] + letter, high[1] + 1.4 * letter
        said = f"{length:g} mm" if length < 1000 else f"{length / 1000:g} m"
        return (
            f'<path class="bar" d="M{x:.1f} {y:.1f}h{length:.1f}"/>'
            f'<text class="scale" x="{x + length + 0.6 * letter:.1f}" y="{y + 0.35 * letter:.1f}" '
            f'font-size="{letter:.1f}">{said}</text>'
        )

    def _flipped(self, points: Array) -> Array:
        """Return points in millimetres with y down, and extend the box unless it is fixed."""
        at: Array = 1e3 * points.reshape(-1, 2) * np.array([1.0, -1.0])
        if not self._fixed:
            self._low = np.minimum(self._low, at.min(axis=0))
            self._high = np.maximum(self._high, at.max(axis=0))
        return at

    def _points(self, points: ArrayLike) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self._flipped(np.asarray(points, float)))
