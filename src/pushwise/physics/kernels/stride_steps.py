"""Pushes in strides, whose direction turns with the object.

A stride is a control step of `control_step`. After each of them the direction, which is fixed in
the frame of the object, is turned as the object has turned.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part, next_turn
from pushwise.geometry.compiled import se2, unplace
from pushwise.physics.kernels.contact import SEPARATE, WEDGE_STICK
from pushwise.physics.kernels.control_step import (
    FINGER,
    JAMS,
    STATUS,
    ControlSteps,
    ControlWork,
    advance_state,
)
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE
from pushwise.physics.kernels.track import Track
from pushwise.typing import Array, Integers


class Strides(NamedTuple):
    """What the fingers of B states do, and when their pushes end."""

    along: Array  # directions as the object sees them, shape (B, 2)
    most: Integers  # number of strides, shape (B,)
    length: float  # of a stride [m]
    lost: int  # strides without contact after which a push is over
    slide: float  # m along the outline after which it is over
    turn: float  # rad that the object turns


class StrideOutcomes(NamedTuple):
    """What happens, filled in."""

    poses: Array  # of the object after each stride (B, T, 3), first where it starts
    fingers: Array  # places of the finger (B, T, 2)
    counts: Integers  # how many of them are valid, shape (B,)


@compiled_part
def _push(
    body: Body,
    ground: Ground,
    steps: ControlSteps,
    strides: Strides,
    rows: Array,
    i: int,
    work: ControlWork,
    track: Track,
    found: StrideOutcomes,
) -> None:
    """Push state i of rows (B, 23) until its push is over."""
    began = rows[i, 2]
    at = se2(rows[i, 0], rows[i, 1], began)
    start_x, start_y = unplace(at, rows[i, FINGER], rows[i, FINGER + 1])
    lost = 0
    valid = 0
    for k in range(strides.most[i] + 1):
        if k > 0:
            cos = np.cos(rows[i, 2])
            sin = np.sin(rows[i, 2])
            ux = strides.along[i, 0]
            uy = strides.along[i, 1]
            steps.finger[i, 0] = rows[i, FINGER] + strides.length * (cos * ux - sin * uy)
            steps.finger[i, 1] = rows[i, FINGER + 1] + strides.length * (sin * ux + cos * uy)
            advance_state(body, ground, steps, rows, i, work, track)
            lost = lost + 1 if rows[i, 6] == SEPARATE else 0
            at = se2(rows[i, 0], rows[i, 1], rows[i, 2])
            x, y = unplace(at, rows[i, FINGER], rows[i, FINGER + 1])
            # Where a finger is jammed or wedged, what follows is hard to predict.
            if (
                rows[i, STATUS] != DONE
                or rows[i, JAMS] > 0.0
                or rows[i, 6] >= WEDGE_STICK
                or lost >= strides.lost
                or np.hypot(x - start_x, y - start_y) >= strides.slide
                or abs(rows[i, 2] - began) >= strides.turn
            ):
                break
        for j in range(3):
            found.poses[i, k, j] = rows[i, j]
        for j in range(2):
            found.fingers[i, k, j] = rows[i, FINGER + j]
        valid = k + 1
    found.counts[i] = valid
    for k in range(valid, found.poses.shape[1]):  # after its end, a push stays where it ended
        for j in range(3):
            found.poses[i, k, j] = found.poses[i, valid - 1, j]
        for j in range(2):
            found.fingers[i, k, j] = found.fingers[i, valid - 1, j]


@compiled
def push_by_strides(
    body: Body,
    ground: Ground,
    steps: ControlSteps,
    strides: Strides,
    rows: Array,
    turn: Integers,
    work: ControlWork,
    track: Track,
    found: StrideOutcomes,
) -> None:
    """Push the states in rows (B, 23), whose fingers are where they start.

    Several threads may do so at once, each with work space of its own: they take turns. turn: the
    next state that has no thread yet, shape (1,), at first zero.
    """
    i = next_turn(turn)
    while i < rows.shape[0]:
        _push(body, ground, steps, strides, rows, i, work, track, found)
        i = next_turn(turn)
