"""Pictures of the environments, drawn with Pillow: no screen and no pygame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from pushwise.typing import Array

__all__ = ["AGENT", "BLOCK", "EDGE", "GOAL", "TABLE", "Area", "TopView", "picture"]

_FINER = 2  # times the size, for smooth edges
TABLE, EDGE = (255, 255, 255), (211, 211, 211)
GOAL, BLOCK, AGENT = (144, 238, 144), (119, 136, 153), (65, 105, 225)  # gym-pusht's colours


class Area(NamedTuple):
    """A polygon of one colour."""

    corners: Array  # shape (k, 2)
    colour: tuple[int, int, int]


class TopView(NamedTuple):
    """What there is to see, in the coordinates of the environment."""

    areas: list[Area]  # later ones are in front
    agent: Array  # shape (2,)
    radius: float
    low: Array  # corner of the picture, shape (2,)
    high: Array
    upwards: bool  # whether y is up


def picture(look: TopView, size: tuple[int, int]) -> Any:
    """Return a picture of size (width, height), as an array of bytes (height, width, 3)."""
    width, height = size
    image = Image.new("RGB", (_FINER * width, _FINER * height), EDGE)
    draw = ImageDraw.Draw(image)
    scale = _FINER * np.array([width, height]) / (look.high - look.low)

    def seen(points: Array) -> list[tuple[float, float]]:
        return [(float(x), float(y)) for x, y in (points - look.low) * scale]

    for area in look.areas:
        draw.polygon(seen(area.corners), fill=area.colour)
    ends = np.stack([look.agent - look.radius, look.agent + look.radius])
    draw.ellipse([*seen(ends)], fill=AGENT)
    if look.upwards:
        image = image.transpose(Image.Transpose.FLIP_TOP_BOTTOM)
    return np.asarray(image.resize(size, Image.Resampling.BOX))
