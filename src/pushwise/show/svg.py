"""`Drawing`: a picture seen from above, as SVG inside a page.

Lengths go in as metres and come out as millimetres, y up. Shapes carry the names of CSS classes
and no colours, but for cells coloured by a map, so that one page can be light or dark; lines keep
their width however small the picture is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np
from numpy.typing import ArrayLike

from pushwise.typing import Array

__all__ = ["Drawing", "colours", "ellipse", "gradient"]


_ELLIPSE = 2.4477  # standard deviations to the border of 95 % in the plane
_MARGIN = 0.05  # of the larger side, around everything
_LETTER = 0.036  # of the width: the height of the scale bar's label
_SMALL_LETTER = 0.075  # the same in a picture that is shown small
_HEAD = 0.35  # half the width of an arrow's head over its length


class Drawing:
    """Shapes in the order they are drawn, and the box around them."""

    def __init__(self, frame: ArrayLike | None = None) -> None:
        """Begin with nothing.

        frame: points [m], shape (k, 2), whose box is shown; by default all that is drawn.
        """
        self._parts: list[str] = []
        self._low = np.full(2, np.inf)
        self._high = np.full(2, -np.inf)
        self._fixed = False
        if frame is not None:
            self._flipped(np.asarray(frame, float))
            self._fixed = True

    def polygon(self, points: ArrayLike, kind: str) -> None:
        """Draw a closed polygon [m], shape (k, 2)."""
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
        """Mark a point (2,) [m] with a cross whose arms are that long [m]."""
        at = np.asarray(centre, float)
        for along in (np.array([arm, 0.0]), np.array([0.0, arm])):
            self.line([at - along, at + along], kind)

    def dots(self, points: ArrayLike, kind: str) -> None:
        """Draw points [m], shape (k, 2), as dots as wide as a line."""
        at = self._flipped(np.asarray(points, float))
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in at)
        self._parts.append(f'<path class="{kind}" d="{path}"/>')

    def arrow(self, start: ArrayLike, end: ArrayLike, kind: str, head: float = 0.012) -> None:
        """Draw an arrow between points (2,) [m]; head: its length [m]."""
        a, b = np.asarray(start, float), np.asarray(end, float)
        length = float(np.hypot(*(b - a)))
        if length == 0.0:
            return
        along = (b - a) / length * min(head, length)
        across = _HEAD * np.array([-along[1], along[0]])
        self.line([a, b - 0.5 * along], kind)
        self.polygon([b, b - along + across, b - along - across], f"{kind} head")

    def squares(self, corners: Array, fills: Iterable[str]) -> None:
        """Draw quadrilaterals [m], shape (n, 4, 2), each with its colour."""
        for four, fill in zip(corners, fills, strict=True):
            self._parts.append(
                f'<polygon class="cell" fill="{fill}" points="{self._points(four)}"/>'
            )

    def svg(self, label: str, *, small: bool = False) -> str:
        """Return the picture as an element, with a scale bar of a round length.

        label: what it shows, for those who cannot see it. small: it will be shown small.
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
        """Return a scale bar below the picture, its label `letter` high [mm]."""
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
        """Return points as millimetres with y down, and make room for them unless that is fixed."""
        at: Array = 1e3 * points.reshape(-1, 2) * np.array([1.0, -1.0])
        if not self._fixed:
            self._low = np.minimum(self._low, at.min(axis=0))
            self._high = np.maximum(self._high, at.max(axis=0))
        return at

    def _points(self, points: ArrayLike) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self._flipped(np.asarray(points, float)))


def ellipse(centre: Array, covariance: Array) -> Array:
    """Return the border [m], shape (64, 2), that holds 95 % of a Gaussian of the plane."""
    values, axes = np.linalg.eigh(covariance)
    angle = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    ring: Array = centre + (_ELLIPSE * axes @ (np.sqrt(values)[:, None] * circle)).T
    return ring


def colours(values: Array, scheme: str) -> list[str]:
    """Return a colour for each of some values (n,), zero or more, from zero to the largest."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    top = float(values.max())
    share = values / top if top > 0.0 else np.zeros_like(values)
    return [to_hex(colour) for colour in colormaps[scheme](share)]


def gradient(scheme: str) -> str:
    """Return a colour map from left to right, as CSS."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    stops = [to_hex(colour) for colour in colormaps[scheme](np.linspace(0.0, 1.0, 9))]
    return f"linear-gradient(to right, {', '.join(stops)})"
