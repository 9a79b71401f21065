"""`SvgDrawing`: pictures of the report, seen from above.

Drawings take lengths in metres, y up, and write millimetres. Shapes carry the names of CSS classes
and no colours, except for cells coloured by a map, so that one page can be light or dark; lines
keep their width however small a picture is shown. The outline of an object is defined once for a
page, in `outline_definitions`, and used wherever the object is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike

from pushwise.geometry.polygon import placed
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["CellColours", "SvgDrawing", "outline_definitions", "transform"]

_MARGIN = 0.05  # of the longer side, around everything
_LETTER = 0.026  # of the width: the height of the scale bar's label
_SMALL_LETTER = 0.06  # the same in a picture that is shown small
_WIDEST = 1.2  # times its height: a picture that is less wide is shown with space on both sides
_HEAD = 0.35  # half the width of an arrow's head over its length


@dataclass(frozen=True, eq=False)
class CellColours:
    """How the cells of a grid are coloured, and what they say when pointed at."""

    fills: Sequence[str]
    """Their colours, as CSS writes them."""
    values: Array | None = None
    """The numbers behind the colours, shape (n,)."""
    unit: str = ""
    """The unit of these numbers."""


def transform(pose: ArrayLike) -> str:
    """Return the SVG transform of a pose (x, y, theta) [m, m, rad], shape (3,)."""
    x, y, theta = np.asarray(pose, float)
    return (
        f"translate({_plain(1e3 * x)} {_plain(-1e3 * y)}) rotate({_plain(-np.degrees(theta), 2)})"
    )


def outline_definitions(grid: CellGrid, name: str) -> Markup:
    """Return the outline of a grid as a shape to be used, and to clip by, under a name."""
    points = " ".join(f"{_plain(1e3 * x)},{_plain(-1e3 * y)}" for x, y in grid.outline)
    return Markup(
        f'<polygon id="{escape(name)}" vector-effect="non-scaling-stroke" points="{points}"/>'
        f'<clipPath id="{escape(name)}-clip"><use href="#{escape(name)}"/></clipPath>'
    )


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

    @property
    def size(self) -> float:
        """The longer side of what is shown so far [m]."""
        return 1e-3 * float((self._high - self._low).max())

    def polygon(self, points: ArrayLike, kind: str) -> None:
        """Draw a closed polygon [m], shape (k, 2); kind: its CSS classes."""
        self._parts.append(f'<polygon class="{kind}" points="{self._points(points)}"/>')

    def outline(self, grid: CellGrid, pose: ArrayLike, kind: str, name: str = "outline") -> None:
        """Draw the outline of a grid at a pose (3,); name: as in `outline_definitions`."""
        self._flipped(placed(grid.outline, np.asarray(pose, float)))
        self._parts.append(f'<use class="{kind}" href="#{name}" transform="{transform(pose)}"/>')

    def line(self, points: ArrayLike, kind: str) -> None:
        """Draw a line through points [m], shape (k, 2)."""
        self._parts.append(f'<polyline class="{kind}" points="{self._points(points)}"/>')

    def disc(self, centre: ArrayLike, radius: float, kind: str) -> None:
        """Draw a disc of a radius [m] around a point (2,) [m]."""
        at = np.asarray(centre, float)
        self._flipped(at + radius * np.array([[-1.0, -1.0], [1.0, 1.0]]))
        x, y = 1e3 * at
        self._parts.append(
            f'<circle class="{kind}" cx="{_plain(x)}" cy="{_plain(-y)}" '
            f'r="{_plain(1e3 * radius)}"/>'
        )

    def badge(self, centre: ArrayLike, radius: float, text: str) -> None:
        """Draw a number in a disc of a radius [m] around a point (2,) [m]."""
        self.disc(centre, radius, "badge")
        x, y = 1e3 * np.asarray(centre, float)
        letter = 1e3 * radius * (1.3 if len(text) == 1 else 1.0)
        self._parts.append(
            f'<text class="badge-text" x="{_plain(x)}" y="{_plain(-y + 0.36 * letter)}" '
            f'font-size="{_plain(letter)}">{escape(text)}</text>'
        )

    def cross(self, centre: ArrayLike, arm: float, kind: str, *, diagonal: bool = False) -> None:
        """Mark a point (2,) [m] with a cross; arm: the length of its arms [m]."""
        at = np.asarray(centre, float)
        arms = arm * np.eye(2)
        if diagonal:
            arms = arm * np.sqrt(0.5) * np.array([[1.0, 1.0], [1.0, -1.0]])
        for along in arms:
            self.line([at - along, at + along], kind)

    def dots(self, points: ArrayLike, kind: str) -> None:
        """Draw points [m], shape (k, 2), as dots of a line's width."""
        at = self._flipped(np.asarray(points, float))
        path = "".join(f"M{x:.0f} {y:.0f}h0" for x, y in at)
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

    def cells(
        self,
        grid: CellGrid,
        colours: CellColours,
        *,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        name: str = "outline",
    ) -> None:
        """Draw the cells of a grid at a pose (3,), clipped to its outline.

        Args:
            grid: The cells.
            colours: Their colours.
            pose: Where they are [m, m, rad], shape (3,).
            name: The name of the outline in `outline_definitions`.

        """
        self._flipped(placed(grid.outline, np.asarray(pose, float)))
        side = _plain(1e3 * grid.cell_size)
        corners = 1e3 * (grid.centres * [1.0, -1.0] - 0.5 * grid.cell_size)
        said = [""] * len(corners)
        if colours.values is not None:
            said = [f' data-value="{value:.3g}"' for value in colours.values]
        rects = "".join(
            f'<rect x="{_plain(x)}" y="{_plain(y)}" width="{side}" height="{side}" '
            f'fill="{fill}"{value}/>'
            for (x, y), fill, value in zip(corners, colours.fills, said, strict=True)
        )
        self._parts.append(
            f'<g class="cells" data-grid="{name}" data-unit="{escape(colours.unit)}" '
            f'clip-path="url(#{name}-clip)" transform="{transform(pose)}">{rects}</g>'
        )

    def raw(self, part: str) -> None:
        """Add SVG as it is, in millimetres with y down; it does not extend the picture."""
        self._parts.append(part)

    def svg(
        self, label: str, *, small: bool = False, bar: bool = True, attributes: str = ""
    ) -> Markup:
        """Return the picture as an SVG element.

        Args:
            label: What it shows, for screen readers.
            small: Whether it will be shown small.
            bar: Whether to draw a scale bar, of a round length.
            attributes: Further attributes of the element, such as an id.

        """
        low, high = self._low.copy(), self._high.copy()
        margin = _MARGIN * float((high - low).max())
        low, high = low - margin, high + margin
        width, height = high - low
        letter = (_SMALL_LETTER if small else _LETTER) * max(float(width), _WIDEST * float(height))
        scale = self._bar(low, high, letter) if bar else ""
        high[1] += 2.6 * letter if bar else 0.0
        width, height = high - low
        box = f"{low[0]:.1f} {low[1]:.1f} {width:.1f} {height:.1f}"
        return Markup(
            f'<svg role="img" aria-label="{escape(label)}" viewBox="{box}" {attributes}'
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
        at = self._flipped(np.asarray(points, float))
        return " ".join(f"{_plain(x)},{_plain(y)}" for x, y in at)


def _plain(value: float, digits: int = 1) -> str:
    """Return a number with at most so many digits after the point, and no minus before a zero."""
    return f"{round(value, digits) + 0.0:g}"
