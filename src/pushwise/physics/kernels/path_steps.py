"""Many states advanced by several control steps each, between walls: for environments.

A control step is that of `control_step`. Two things are added. An object at rest that the finger
stays well away from is not simulated. And walls are stops: after each control step an object that
reaches into one is moved straight back and stands still; a finger that would squeeze an object
against a wall stays where it was before that step, until the end of its path.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part, next_turn
from pushwise.geometry.compiled import nearest_feature, place, se2, unplace
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.control_step import (
    COLUMNS,
    DOWN,
    FINGER,
    LOWERED,
    PLACED,
    STATUS,
    TIME,
    ControlSteps,
    ControlWork,
    advance_state,
    new_control_work,
)
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import DONE
from pushwise.physics.kernels.track import Track, new_track
from pushwise.typing import Array, Flags, Integers

_TOUCHES = 1e-12  # m; an object that reaches into a wall by less only touches it


class FingerPaths(NamedTuple):
    """Where the fingers of B states go, and between which walls."""

    fingers: Array  # at the end of each control step [m], shape (S, B, 2)
    moving: Flags  # which of them move at all, shape (B,)
    counts: Integers  # number of time steps in a control step, shape (B,)
    down: bool  # True: there is a finger
    dt: float  # of a control step [s]
    radius: float
    mu: float
    height: float
    low: float  # faces of the walls [m], the same along x and y
    high: float
    squeezed: float  # how far a finger may be inside an object that a wall stops [m]
    circle_x: float  # a circle around the object, in the grid frame [m]
    circle_y: float
    circle_radius: float


class PathWork(NamedTuple):
    """What control steps fill again and again."""

    control: ControlWork
    track: Track
    row: Array  # a state as it was before a control step, shape (1, 23)


def new_path_work(body: Body) -> PathWork:
    """Return work space for the paths of an object."""
    return PathWork(new_control_work(body), new_track(0), np.zeros((1, len(COLUMNS))))


@compiled_part
def _is_left_alone(paths: FingerPaths, rows: Array, i: int, s: int) -> bool:
    """Return whether object i rests and its finger stays outside its circle in control step s."""
    if rows[i, 6] != SEPARATE or rows[i, DOWN] != LOWERED or rows[i, STATUS] != DONE:
        return False
    for k in range(3):
        if rows[i, 3 + k] != 0.0:
            return False
    for k in range(11, 17):
        if rows[i, k] != 0.0:
            return False
    at = se2(rows[i, 0], rows[i, 1], rows[i, 2])
    x, y = place(at, paths.circle_x, paths.circle_y)
    ax = rows[i, FINGER]
    ay = rows[i, FINGER + 1]
    bx = paths.fingers[s, i, 0]
    by = paths.fingers[s, i, 1]
    # Not hypot, which takes longer than all of the rest.
    travel = np.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    near = paths.circle_radius + paths.radius + 0.5 * travel + 1e-6
    dx = 0.5 * (ax + bx) - x
    dy = 0.5 * (ay + by) - y
    return bool(dx * dx + dy * dy > near * near)


@compiled_part
def _stand_still(rows: Array, i: int) -> None:
    """Stop object i, untouched; the finger is lowered next to it again, where it is."""
    for k in range(3, 17):
        rows[i, k] = 0.0
    rows[i, 6] = SEPARATE
    rows[i, 7] = -1.0
    rows[i, 8] = -1.0
    rows[i, DOWN] = PLACED
    rows[i, STATUS] = DONE


@compiled_part
def _out_of_walls(body: Body, paths: FingerPaths, rows: Array, i: int) -> tuple[float, float]:
    """Return how far object i must move to be between the walls [m]."""
    at = se2(rows[i, 0], rows[i, 1], rows[i, 2])
    left = right = rows[i, 0]
    bottom = top = rows[i, 1]
    for k in range(body.ox.size):
        x, y = place(at, body.ox[k], body.oy[k])
        left = x if k == 0 else min(left, x)
        right = x if k == 0 else max(right, x)
        bottom = y if k == 0 else min(bottom, y)
        top = y if k == 0 else max(top, y)
    dx = max(paths.low - left, 0.0) - max(right - paths.high, 0.0)
    dy = max(paths.low - bottom, 0.0) - max(top - paths.high, 0.0)
    return (dx if abs(dx) > _TOUCHES else 0.0, dy if abs(dy) > _TOUCHES else 0.0)


@compiled_part
def _is_free(body: Body, paths: FingerPaths, rows: Array, i: int, work: PathWork) -> bool:
    """Stop object i at the walls; False, and all as before, if the finger squeezes it there."""
    dx, dy = _out_of_walls(body, paths, rows, i)
    if dx == 0.0 and dy == 0.0 and rows[i, STATUS] == DONE:
        return True
    at = se2(rows[i, 0] + dx, rows[i, 1] + dy, rows[i, 2])
    qx, qy = unplace(at, rows[i, FINGER], rows[i, FINGER + 1])
    _, distance = nearest_feature(qx, qy, body.ox, body.oy)
    free = rows[i, STATUS] == DONE and distance - paths.radius >= -paths.squeezed
    if free:
        rows[i, 0] = at.x
        rows[i, 1] = at.y
    else:
        for k in range(rows.shape[1]):
            rows[i, k] = work.row[0, k]
    _stand_still(rows, i)
    return bool(free)


@compiled_part
def _advance_path(
    body: Body, ground: Ground, paths: FingerPaths, rows: Array, i: int, work: PathWork
) -> int:
    """Advance state i of rows (B, 23); return how many control steps its finger makes."""
    steps = paths.fingers.shape[0]
    for s in range(steps):
        if _is_left_alone(paths, rows, i, s):
            rows[i, FINGER] = paths.fingers[s, i, 0]
            rows[i, FINGER + 1] = paths.fingers[s, i, 1]
            rows[i, TIME] += paths.dt
            continue
        for k in range(rows.shape[1]):
            work.row[0, k] = rows[i, k]
        control = ControlSteps(
            finger=paths.fingers[s],
            counts=paths.counts,
            down=paths.down,
            dt=paths.dt,
            radius=paths.radius,
            mu=paths.mu,
            height=paths.height,
        )
        advance_state(body, ground, control, rows, i, work.control, work.track)
        if not _is_free(body, paths, rows, i, work):
            return int(s)
    return int(steps)


@compiled
def advance_paths(
    body: Body,
    ground: Ground,
    paths: FingerPaths,
    of: Integers,
    rows: Array,
    made: Integers,
    turn: Integers,
    work: PathWork,
) -> None:
    """Advance some states in rows (B, 23) along their paths, in place.

    Several threads may do so at once, each with work space of its own: they take turns.

    of: which states, shape (n,); made: filled in, how many control steps each finger makes before
    it stays where it is, shape (B,); turn: the next entry of `of` that has no thread yet, shape
    (1,), at first zero.
    """
    k = next_turn(turn)
    while k < of.size:
        i = of[k]
        if paths.moving[i]:
            made[i] = _advance_path(body, ground, paths, rows, i, work)
        k = next_turn(turn)
