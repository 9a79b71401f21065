"""Plain shapes that are harder to push than most tools: hollow, slotted, thin and long.

Drawn as in `drawings`, in millimetres; each has two parts that differ in mass.
"""

from __future__ import annotations

import math

from pushwise.objects.drawings import Corners, DrawnPart, ObjectDrawing

__all__ = ["SHAPES"]

_HEIGHT = 0.02  # m
_FRICTION = 0.3
_SIDES = 12  # of half a ring


def _shape(
    cell_size: float, heavy: list[Corners], light: list[Corners], height: float = _HEIGHT
) -> ObjectDrawing:
    """Return a shape of two parts, the first of them heavier."""
    return ObjectDrawing(
        cell_size,
        [
            DrawnPart("heavy part", heavy, height, 0.3, _FRICTION),
            DrawnPart("light part", light, height, 0.12, _FRICTION),
        ],
    )


def _halves(width: float, depth: float) -> tuple[Corners, Corners]:
    """Return the two halves of a bar."""
    middle = 0.5 * width
    left: Corners = [(0, 0), (middle, 0), (middle, depth), (0, depth)]
    right: Corners = [(middle, 0), (width, 0), (width, depth), (middle, depth)]
    return left, right


def _cup(gap: float) -> tuple[Corners, Corners]:
    """Return the two halves of a U of 140 x 120 mm, whose arms are a gap apart."""
    low, high = 70 - 0.5 * gap, 70 + 0.5 * gap
    left: Corners = [(0, 0), (70, 0), (70, 40), (low, 40), (low, 120), (0, 120)]
    right: Corners = [(70, 0), (140, 0), (140, 120), (high, 120), (high, 40), (70, 40)]
    return left, right


def _half_ring(first: float) -> Corners:
    """Return half a ring of 140 mm outside and 80 mm inside, from an angle [rad] on."""
    turns = [first + math.pi * k / _SIDES for k in range(_SIDES + 1)]
    outside = [(round(70 * math.cos(a), 6), round(70 * math.sin(a), 6)) for a in turns]
    inside = [(round(40 * math.cos(a), 6), round(40 * math.sin(a), 6)) for a in reversed(turns)]
    return [*outside, *inside]


_BAR, _ROD, _U, _SLOT = _halves(300, 40), _halves(300, 10), _cup(60), _cup(6)

# fmt: off
SHAPES = {
    "L": _shape(0.02, [[(0, 0), (120, 0), (120, 40), (40, 40), (0, 40)]],
                [[(0, 40), (40, 40), (40, 160), (0, 160)]]),
    "T": _shape(0.02, [[(0, 80), (40, 80), (80, 80), (120, 80), (120, 120), (0, 120)]],
                [[(40, 0), (80, 0), (80, 80), (40, 80)]]),
    "U": _shape(0.02, [_U[0]], [_U[1]]),
    "slot": _shape(0.02, [_SLOT[0]], [_SLOT[1]]),
    "ring": _shape(0.015, [_half_ring(0.0)], [_half_ring(math.pi)]),
    "cross": _shape(
        0.01, [[(0, 50), (50, 50), (90, 50), (140, 50), (140, 90), (90, 90), (50, 90), (0, 90)]],
        [[(50, 0), (90, 0), (90, 50), (50, 50)], [(50, 90), (90, 90), (90, 140), (50, 140)]]),
    "rod": _shape(0.005, [_ROD[0]], [_ROD[1]], height=0.01),
    "bar": _shape(0.02, [_BAR[0]], [_BAR[1]]),
}
# fmt: on
"""The shapes by name."""
