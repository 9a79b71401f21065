"""What to try after a run of `slide` that failed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.checks import counted
from pushwise.geometry.metric import mean_cell_error
from pushwise.show.quantities import millimetres
from pushwise.sliding.moved import End
from pushwise.sliding.outcome import Outcome

__all__ = ["Advice", "advice"]

_MORE_PUSHES = (
    "learn from more pushes, so that the model predicts better: --explore {more} makes {more} "
    "random ones"
)
_ANOTHER_START = (
    "start somewhere else: --seed {seed} draws another pose, and another mass and friction"
)
_LARGER_TABLE = "give it more room: --table {table}"
_LESS_OVERHANG = "let less of it overhang: --overhang {less:.3g}"
_TRIES: dict[End, tuple[str, ...]] = {
    End.FELL: (
        "allow less risk: --max-fall-probability {risk:.2g}",
        _MORE_PUSHES,
        _LESS_OVERHANG,
    ),
    End.BLOCKED: (
        "look for what holds the object: something on the table that is not among --obstacles",
        "check that the finger is where the robot says it is",
    ),
    End.LOST: (
        "check the poses of the object: the last one contradicts the others",
        "check that nothing but the finger moved it",
    ),
    End.REFUSED: ("give it more room: an arm may not reach every side of the object",),
    End.NO_PROGRESS: (_MORE_PUSHES, _LARGER_TABLE, _ANOTHER_START),
    End.OUT_OF_REACH: (_LARGER_TABLE, _LESS_OVERHANG, _ANOTHER_START),
    End.OUT_OF_PUSHES: (_MORE_PUSHES, _LESS_OVERHANG, _ANOTHER_START),
    End.OUT_OF_TIME: (_MORE_PUSHES, _LARGER_TABLE, _ANOTHER_START),
}
_EXPLORING = (_LARGER_TABLE, _LESS_OVERHANG, _ANOTHER_START)
_WITHOUT_GOAL = (
    _LESS_OVERHANG,
    "accept a higher fall risk: --max-fall-probability {more_risk:.2g}",
    _MORE_PUSHES,
    "let a wider part overhang: --grasp-width {wider:.2g}",
)
_TABLE_FACTOR = 1.4


@dataclass(frozen=True)
class Advice:
    """What a failed run came to, and what to try next."""

    nearest: str
    """How near it came, as a sentence."""
    tries: tuple[str, ...]
    """What to try, each a clause without a full stop."""
    detail: str = ""
    """What the planner or the world said when it ended, as a sentence; may be empty."""


def advice(outcome: Outcome) -> Advice | None:
    """Return what to try after a run; None if it succeeded or has not ended."""
    if outcome.success or not outcome.seconds:
        return None
    if outcome.grasp is not None:
        return Advice(
            "The object reached the edge and was gripped, but not held.",
            (
                "let more of it overhang, so that the gripper holds more: --prefer overhang",
                "state the part to be grasped: --grasp-at X Y",
            ),
        )
    words = _words(outcome)
    if outcome.followed is not None:
        tries = _TRIES.get(outcome.followed.end, (_ANOTHER_START,))
        detail = outcome.followed.detail
        return Advice(_nearest(outcome), tuple(each.format(**words) for each in tries), detail)
    tries = _EXPLORING if outcome.belief is None else _WITHOUT_GOAL
    return Advice(_before_moving(outcome), tuple(each.format(**words) for each in tries))


def _words(outcome: Outcome) -> dict[str, object]:
    """Return what the clauses of advice are filled in with."""
    width, depth = _TABLE_FACTOR * np.ptp(outcome.table.polygon, axis=0)
    return {
        "more": max(5, 2 * len(outcome.records)),
        "table": f"{width:.1f}x{depth:.1f}",
        "less": min(0.8 * outcome.options.overhang, _longest(outcome)),
        "risk": 0.1 * outcome.options.plan.max_fall_probability,
        "more_risk": min(5.0 * outcome.options.plan.max_fall_probability, 0.5),
        "wider": 1.5 * outcome.options.grasp_width,
        "seed": outcome.options.plan.seed + 1,
    }


def _longest(outcome: Outcome) -> float:
    """Return the most overhang that is worth trying [m]: two fifths of the object's length."""
    grid = outcome.grid
    return np.inf if grid is None else 0.4 * float(np.ptp(grid.outline, axis=0).max())


def _nearest(outcome: Outcome) -> str:
    """Say how near to its goal the object came, and after which push."""
    followed, grid = outcome.followed, outcome.grid
    assert followed is not None and grid is not None
    tolerance = millimetres(outcome.options.plan.tolerance)
    if not followed.records:
        return (
            f"No push was made; the object is {millimetres(followed.error)} from its goal "
            f"(tolerance {tolerance})."
        )
    away = [mean_cell_error(grid, record.pose[-1], followed.goal) for record in followed.records]
    if followed.end is not End.FELL:
        away[-1] = followed.error  # of the last look at the object, after it came to rest
    best = int(np.argmin(away))
    after = f"push {best + 1} of {len(away)}"
    ended = f", and ended {millimetres(followed.error)} away"
    return (
        f"The object came within {millimetres(away[best])} of its goal after {after}"
        f" (tolerance {tolerance}){ended if best + 1 < len(away) else ''}."
    )


def _before_moving(outcome: Outcome) -> str:
    """Say how far a run came that ended before the first push to a goal."""
    made = counted(len(outcome.records), "push", "pushes")
    if outcome.belief is None:
        return f"It ended while the object was being explored, after {made}."
    return f"The object was explored with {made}, but no goal was chosen, so it stayed there."
