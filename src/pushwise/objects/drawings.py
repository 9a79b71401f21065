"""Our own drawings of the paper's nine objects, in millimetres.

The parts of a drawing share edges: where two parts touch, both list the same corners, so that
these edges cancel and the rest is the outline. Corners are counter-clockwise. Masses and frictions
are those of everyday objects.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DRAWINGS", "DrawnPart", "ObjectDrawing"]

Corners = list[tuple[float, float]]


class DrawnPart(NamedTuple):
    """A part of uniform mass and friction."""

    name: str
    polygons: list[Corners]
    """Corners [mm]."""
    height: float
    """[m]"""
    mass: float
    """[kg]"""
    friction: float
    """Coefficient of friction on a table."""


class ObjectDrawing(NamedTuple):
    """An object made of parts."""

    cell_size: float
    """A suitable side of a cell [m]."""
    parts: list[DrawnPart]


def _mirrored(corners: Corners) -> Corners:
    """Return the mirror image in the x axis, counter-clockwise again."""
    return [(x, -y) for x, y in reversed(corners)]


# fmt: off
_BOX_RIGHT: Corners = [
    (0, -59), (161, -59), (161, -60.5), (170, -60.5), (170, 60.5), (161, 60.5), (161, 59), (0, 59),
]
_BOX_LEFT: Corners = [
    (0, 59), (-161, 59), (-161, 60.5), (-170, 60.5), (-170, -60.5), (-161, -60.5), (-161, -59),
    (0, -59),
]
_BOX = ObjectDrawing(0.0240, [
    DrawnPart("left half", [_BOX_LEFT], 0.047, 0.42, 0.32),
    DrawnPart("right half", [_BOX_RIGHT], 0.047, 0.14, 0.32),
])

_HAMMER_HEAD: Corners = [
    (3, -61.5), (29, -61.5), (32, -59), (32, -49), (28, -42), (27, -32), (31, -20), (48, -16),
    (48, 16), (40, 17), (33, 22), (31, 30), (34, 38), (43, 45), (54, 49), (64, 50), (65, 53),
    (61, 58), (55, 61.5), (44, 61), (32, 57), (20, 48), (11, 35), (5, 18), (1, 0), (0, -14),
    (3, -24), (5, -36), (4, -44), (0, -50), (0, -59),
]
_HAMMER_HANDLE: Corners = [
    (48, -16), (70, -14.5), (120, -13), (180, -13), (240, -14.5), (280, -17), (310, -19.5),
    (344, -19.5), (348, -17), (350, -12), (350, 12), (348, 17), (344, 19.5), (310, 19.5),
    (280, 17), (240, 14.5), (180, 13), (120, 13), (70, 14.5), (48, 16),
]
_HAMMER = ObjectDrawing(0.0120, [
    DrawnPart("head", [_HAMMER_HEAD], 0.028, 0.45, 0.29),
    DrawnPart("handle", [_HAMMER_HANDLE], 0.022, 0.16, 0.31),
])

_BOOK_LEFT: Corners = [
    (0, 122), (-12, 126), (-35, 128), (-80, 127), (-130, 124), (-165, 121), (-165, 123),
    (-173, 123), (-173, -119), (-165, -119), (-165, -117), (-130, -121), (-80, -125),
    (-35, -126), (-12, -126), (0, -124),
]
_BOOK_RIGHT: Corners = [
    (0, -124), (12, -128), (50, -127), (100, -126), (172, -126), (173, 120), (172, 126),
    (100, 126), (50, 126), (12, 125), (0, 122),
]
_BOOK = ObjectDrawing(0.0495, [
    DrawnPart("left half", [_BOOK_LEFT], 0.030, 0.14, 0.30),
    DrawnPart("right half", [_BOOK_RIGHT], 0.052, 1.30, 0.30),
])

_CLAMP_ARM: Corners = [
    (-101, 1.5), (-92, 1.5), (-89, 4), (-80, 8), (-66, 12), (-50, 15), (-36, 16), (-25, 14),
    (-18, 11), (-10, 16), (0, 18), (10, 16), (18, 11), (30, 16), (50, 27), (75, 43), (97, 56),
    (101, 61), (101, 65), (97, 69.5), (89, 68), (70, 60), (45, 50), (28, 45), (10, 42), (-4, 42),
    (-20, 45), (-34, 45), (-48, 41), (-64, 33), (-82, 23), (-95, 15), (-101, 11),
]
_CLAMP_PIVOT: Corners = [
    (-18, -11), (-10, -16), (0, -18), (10, -16), (18, -11), (22, 0), (18, 11), (10, 16), (0, 18),
    (-10, 16), (-18, 11), (-20, 0),
]
_CLAMP = ObjectDrawing(0.0104, [
    DrawnPart("arms", [_CLAMP_ARM, _mirrored(_CLAMP_ARM)], 0.026, 0.11, 0.31),
    DrawnPart("pivot", [_CLAMP_PIVOT], 0.034, 0.12, 0.30),
])

_CRIMP_JAWS: Corners = [
    (-20, -10.5), (-20, -2), (-16, 0), (-20, 2), (-20, 10.5), (-28, 13.5), (-36, 16), (-44, 17),
    (-52, 16), (-60, 14), (-72, 11), (-84, 8), (-95, 5.5), (-100, 4), (-100, -4), (-95, -5.5),
    (-84, -8), (-72, -11), (-60, -14), (-52, -16), (-44, -17), (-36, -16), (-28, -13.5),
]
_CRIMP_HANDLE: Corners = [
    (-20, 2), (-8, 3.5), (8, 7.5), (25, 11), (45, 13), (65, 12.5), (82, 10), (94, 8),
    (99, 9.5), (101, 13.5), (100, 18), (94, 21), (82, 24), (65, 26), (48, 26.5), (30, 25),
    (12, 21.5), (-5, 16), (-20, 10.5),
]
_CRIMP = ObjectDrawing(0.0073, [
    DrawnPart("jaws", [_CRIMP_JAWS], 0.012, 0.19, 0.25),
    DrawnPart("handles", [_CRIMP_HANDLE, _mirrored(_CRIMP_HANDLE)], 0.011, 0.12, 0.26),
])

_WRENCH_OPEN_END: Corners = [
    (-95, -9), (-95, 9), (-101, 14), (-108, 18), (-116, 20.5), (-124, 21), (-131, 18.5),
    (-136, 14), (-134, 10.5), (-122, 10), (-116, 7), (-114, 1), (-116, -5), (-121, -9),
    (-135, -11.5), (-139, -13), (-136, -16.5), (-130, -20), (-122, -21), (-114, -20.5),
    (-107, -17.5), (-101, -13),
]
_WRENCH_SHAFT: Corners = [
    (-95, -9), (-84, -7.5), (-60, -7.5), (70, -7.5), (100, -7.5), (110, -9), (110, 9),
    (100, 7.5), (70, 7.5), (-60, 7.5), (-84, 7.5), (-95, 9),
]
_WRENCH_RING_END: Corners = [
    (110, -9), (113, -12), (118, -15), (124, -16), (130, -15), (135, -12), (139, -7), (140.5, 0),
    (139, 7), (135, 12), (130, 15), (124, 16), (118, 15), (113, 12), (110, 9),
]
_WRENCH = ObjectDrawing(0.0075, [
    DrawnPart("open end", [_WRENCH_OPEN_END], 0.010, 0.13, 0.20),
    DrawnPart("shaft", [_WRENCH_SHAFT], 0.007, 0.11, 0.20),
    DrawnPart("ring end", [_WRENCH_RING_END], 0.012, 0.10, 0.20),
])

_SNACK_LEFT: Corners = [
    (-10, 92), (-40, 97), (-75, 99), (-104, 98), (-113, 100.5), (-112, 60), (-114, 20),
    (-112, -30), (-114, -70), (-112, -100), (-104, -98), (-75, -100.5), (-40, -99), (-10, -95),
]
_SNACK_RIGHT: Corners = [
    (-10, -95), (20, -90), (50, -82), (78, -73), (98, -67), (109, -72), (114, -66), (111, -35),
    (109, 0), (111, 35), (114, 62), (108, 68), (97, 65), (78, 73), (50, 82), (20, 88), (-10, 92),
]
_SNACK = ObjectDrawing(0.0250, [
    DrawnPart("flat part", [_SNACK_LEFT], 0.022, 0.06, 0.30),
    DrawnPart("full part", [_SNACK_RIGHT], 0.060, 0.34, 0.30),
])

_SPRAY_HEAD: Corners = [
    (12, 55), (-4, 50), (-18, 41), (-34, 31), (-50, 24), (-60, 21), (-60, 24), (-80, 24),
    (-80, 20), (-85, 22), (-87, 34), (-88, 49), (-100, 50), (-114, 47), (-126, 39), (-134, 25),
    (-138, 6), (-139, -18), (-139, -44), (-121, -45), (-119, -30), (-118, -12), (-115, -8),
    (-112, -22), (-104, -35), (-92, -44), (-86, -45), (-84, -40), (-94, -30), (-99, -18),
    (-99, -8), (-85, -10), (-80, -14), (-80, -18), (-60, -18), (-60, -15), (-50, -18), (-34, -25),
    (-18, -37), (-4, -48), (12, -55),
]
_SPRAY_BODY: Corners = [
    (12, -55), (28, -58), (50, -58.5), (110, -58.5), (124, -57), (133, -52), (138, -42),
    (140, -20), (140, 20), (138, 42), (133, 52), (124, 57), (110, 58.5), (50, 58.5), (28, 58),
    (12, 55),
]
_SPRAY_GUN = ObjectDrawing(0.0147, [
    DrawnPart("trigger and neck", [_SPRAY_HEAD], 0.045, 0.08, 0.33),
    DrawnPart("bottle", [_SPRAY_BODY], 0.070, 0.72, 0.34),
])

_TOOTHPASTE_FRONT: Corners = [
    (0, 21.5), (-40, 20), (-75, 18), (-82, 16), (-86, 12), (-86, 9.5), (-103, 8.5), (-106, 7),
    (-106, -7), (-103, -8.5), (-86, -9.5), (-86, -12), (-82, -16), (-75, -18), (-40, -20),
    (0, -21.5),
]
_TOOTHPASTE_REAR: Corners = [
    (0, -21.5), (50, -22.5), (97, -23.5), (98, -24.5), (107, -24.5), (107, 24.5), (98, 24.5),
    (97, 23.5), (50, 22.5), (0, 21.5),
]
_TOOTHPASTE = ObjectDrawing(0.0110, [
    DrawnPart("front half", [_TOOTHPASTE_FRONT], 0.030, 0.05, 0.30),
    DrawnPart("rear half", [_TOOTHPASTE_REAR], 0.020, 0.11, 0.30),
])
# fmt: on

DRAWINGS: dict[str, ObjectDrawing] = {
    "box": _BOX,
    "hammer": _HAMMER,
    "book": _BOOK,
    "clamp": _CLAMP,
    "crimp": _CRIMP,
    "wrench": _WRENCH,
    "snack": _SNACK,
    "spray-gun": _SPRAY_GUN,
    "toothpaste": _TOOTHPASTE,
}
"""The drawings by the names of the objects."""
