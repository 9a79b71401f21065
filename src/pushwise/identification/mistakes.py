"""Recognise mistakes in logs and name their likely cause, instead of fitting them.

The data are judged without a model of the object (`contact_evidence`, `force_evidence`), over all
records together: single bad pushes are left out elsewhere (`record_quality`). Only where many
contradict what a finger can do is each usual mistake undone, to see whether that helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pushwise.identification.contact_evidence import PushedOutline, Seen, pushed_outline, seen_of
from pushwise.identification.force_evidence import force_mistake
from pushwise.identification.frame_search import (
    in_another_frame,
    of_another_point,
    search_frame,
)
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["CHECK", "find_mistake", "finger_inside"]

CHECK = "check the finger's radius, the frame of the poses and whether the grid is of this object"
"""What to try where the finger is inside the object."""
BAD_SHARE = 0.25  # of the pushes: as many as this are no accident if a usual mistake explains them
FRAME_SHARE = 0.4  # of the pushes: likewise, if another frame explains them
HOPELESS_SHARE = 0.5  # of the pushes must be far off if nothing explains them
WRONG_AFTER = 0.1  # of the pushes may be bad for another reason
FRAME_PUSHES = 3  # bad ones: a frame has three numbers, which explain one or two by themselves
GROSS = 0.02  # m; unless these are far off
CLEAR = 2.5e-3  # m; mean violation of a log that is explained
INSIDE = 0.008  # m; no calibration is off by so much more than a finger's radius
TINY = 1e-6  # m; radius of a finger that is not known
NEARLY = 1.5  # two frames are not equally good if one leaves so much larger gaps
AS_GOOD = 1e-3  # m; two explanations whose mean violations differ by less are equally good


@dataclass(frozen=True)
class _Cause:
    """A usual mistake, and how it is undone."""

    looks: str  # what the data look like
    right: str  # what would be right
    undo: Callable[[Seen], Seen]


def find_mistake(grid: CellGrid, records: Sequence[PushRecord], finger: Finger) -> str:
    """Return a sentence that names the likely mistake in some data; empty if there is none.

    Args:
        grid: The object's cells.
        records: The pushes.
        finger: The finger.

    """
    body = pushed_outline(grid, finger)
    log = seen_of(records, body)
    if not log:
        return ""
    judged = _Judged(log, body)
    certain = len(judged.bad) > 1 or judged.gross > 0
    if certain and judged.share() >= BAD_SHARE and (why := _explained(log, body, judged)):
        return why
    if why := _too_deep(log, body):
        return why
    return force_mistake(grid, [one for i, one in enumerate(log) if i not in judged.bad], body)


def finger_inside(grid: CellGrid, records: Sequence[PushRecord]) -> str:
    """Return a sentence about a finger whose centre is inside the object, whatever its radius."""
    body = pushed_outline(grid, Finger(TINY))
    return _too_deep(seen_of(records, body), body)


def _too_deep(log: Sequence[Seen], body: PushedOutline) -> str:
    """Return a sentence about pushes whose finger is usually inside the object; empty if not."""
    depths = [one.usual_depth(body) for one in log]
    if not depths or np.median(depths) <= INSIDE:
        return ""
    worst = int(np.argmax(depths))
    many = "" if len(log) == 1 else ", and that of most pushes is inside"
    return (
        f"in {log[worst].name} the centre of the finger is {1e3 * depths[worst]:.0f} mm inside the "
        f"object{many}; {CHECK}."
    )


class _Judged:
    """How well a log agrees with what a finger can do."""

    def __init__(self, log: Sequence[Seen], body: PushedOutline) -> None:
        self.violations = [one.violation(body) for one in log]
        size = [max(violation) for violation in self.violations]
        pairs = zip(log, size, strict=True)
        self.bad = [i for i, (one, off) in enumerate(pairs) if off > one.tolerance]
        self.worst = int(np.argmax(size))
        self.mean = float(np.mean(np.maximum(size, 0.0)))
        self.moving = sum(bool(one.strides(body)) for one in log)
        self.gross = sum(off > GROSS for off in size)

    def share(self) -> float:
        """Return the share of the pushes that are bad."""
        return len(self.bad) / len(self.violations)


def _explained(log: list[Seen], body: PushedOutline, judged: _Judged) -> str:
    """Return a sentence about a log that contradicts itself; empty if that may be an accident."""
    fits = [(c, _Judged([c.undo(one) for one in log], body)) for c in CAUSES]
    # Whatever the cause is, an object that hardly moves when it is undone was not pushed.
    good = [
        (c, after)
        for c, after in fits
        if after.share() <= WRONG_AFTER and after.mean < CLEAR and 2 * after.moving > judged.moving
    ]
    enough = len(judged.bad) >= FRAME_PUSHES or judged.gross >= FRAME_PUSHES - 1
    if not good and enough and judged.share() >= FRAME_SHARE:
        good = _frames(log, body)
    seen = _seen_in(log, judged)
    if good:
        best = min(after.mean for _, after in good)
        causes = [c for c, after in good if after.mean < best + AS_GOOD]
        looks = ", or ".join(c.looks for c in causes)
        helps = "undoing either" if len(causes) > 1 else "undoing this"
        right = "; ".join(c.right for c in causes)
        return f"{looks}: {seen}, and {helps} makes them plausible; {right}."
    if judged.gross < max(FRAME_PUSHES, HOPELESS_SHARE * len(log)):
        return ""
    return (
        f"{seen}; no usual mistake (theta negated or in degrees, x and y swapped, finger and "
        "object exchanged or in different frames) explains all of them: is this the log of "
        "another object, is the finger's radius right, or did the object start in motion?"
    )


def _frames(log: list[Seen], body: PushedOutline) -> list[tuple[_Cause, _Judged]]:
    """Return the changes of frame that explain a log."""
    found = []
    for change, cause in ((in_another_frame, _finger_frame), (of_another_point, _object_frame)):
        for off, frame in search_frame(log, body, change):
            after = _Judged([change(one, frame) for one in log], body)
            if after.share() <= WRONG_AFTER and after.mean < CLEAR:
                found.append((off, cause(frame), after))
                break
    best = min((off for off, *_ in found), default=0.0)
    return [(cause, after) for off, cause, after in found if off < NEARLY * best]


def _seen_in(log: list[Seen], judged: _Judged) -> str:
    """Return what is wrong with the pushes of a log, and with the worst of them."""
    inside, away, surplus = judged.violations[judged.worst]
    if inside >= max(away, surplus):
        worst = f"the finger is {1e3 * inside:.0f} mm inside the object"
    elif not np.isfinite(away):
        worst = "the object moves after the finger was raised"
    elif away >= surplus:
        worst = f"the object moves while the finger is {1e3 * away:.0f} mm away from it"
    else:
        worst = f"the object moves {1e3 * surplus:.0f} mm farther than the finger can push it"
    name = log[judged.worst].name
    many = f"{len(judged.bad)} of {len(log)} pushes are impossible"
    return f"{many} (in {name} {worst})" if len(log) > 1 else f"in {name} {worst}"


def _swapped(seen: Seen, *, pose: bool, finger: bool) -> Seen:
    """Return a record with x and y of the poses, of the finger or of both swapped."""
    return replace(
        seen,
        pose=seen.pose[:, [1, 0, 2]] if pose else seen.pose,
        finger=seen.finger[:, ::-1] if finger else seen.finger,
    )


def _exchanged(seen: Seen) -> Seen:
    """Return a record with the positions of object and finger exchanged."""
    pose = np.column_stack([seen.finger, seen.pose[:, 2]])
    return replace(seen, pose=pose, finger=seen.pose[:, :2])


def _from_degrees(seen: Seen) -> Seen:
    """Return a record with angles in degrees turned into radians."""
    record = seen.record
    theta = np.radians(np.interp(seen.t, record.t, record.pose[:, 2]))
    return replace(seen, pose=np.column_stack([seen.pose[:, :2], theta]))


def _mirrored(seen: Seen) -> Seen:
    """Return a record as seen in a mirror."""
    return replace(seen, pose=seen.pose * (1.0, -1.0, -1.0), finger=seen.finger * (1.0, -1.0))


def _finger_frame(frame: Array) -> _Cause:
    """Return the mistake of giving the finger in another frame than the object."""
    x, y, angle = frame
    return _Cause(
        "finger and object look as if they were in different frames (finger_x, finger_y turned by "
        f"{_degrees(angle)} degrees about the origin and then moved by {_mm(x, y)} mm would fit)",
        "both must be given in the same frame of the table",
        lambda seen: in_another_frame(seen, frame),
    )


def _object_frame(frame: Array) -> _Cause:
    """Return the mistake of giving the pose of another frame of the object than the grid's."""
    x, y, angle = frame
    return _Cause(
        "x, y, theta look like the pose of another frame of the object than the grid's (a grid at "
        f"{_mm(x, y)} mm in it, turned by {_degrees(angle)} degrees, would fit)",
        "x, y, theta must be the pose of the frame in which the grid's outline is given",
        lambda seen: of_another_point(seen, frame),
    )


def _degrees(angle: float) -> int:
    """Return an angle [rad] in whole degrees between -180 and 180."""
    return round(float(np.degrees((angle + np.pi) % (2.0 * np.pi) - np.pi)))


def _mm(x: float, y: float) -> str:
    """Return a position [m] in millimetres."""
    return f"({round(1e3 * x)}, {round(1e3 * y)})"


_AXES = "x and y of object and finger must be those of one right-handed frame of the table"
_ANGLE = "theta must be in radians and grow from the x axis towards the y axis"
CAUSES = (
    _Cause(
        "theta looks negated", _ANGLE, lambda seen: replace(seen, pose=seen.pose * (1.0, 1.0, -1.0))
    ),
    _Cause("theta looks like degrees", _ANGLE, _from_degrees),
    _Cause(
        "x and y of the object look swapped", _AXES, lambda s: _swapped(s, pose=True, finger=False)
    ),
    _Cause(
        "finger_x and finger_y look swapped", _AXES, lambda s: _swapped(s, pose=False, finger=True)
    ),
    _Cause(
        "x and y of object and finger look swapped, while theta is not mirrored",
        _AXES,
        lambda seen: _swapped(seen, pose=True, finger=True),
    ),
    _Cause(
        "object and finger look exchanged",
        "x and y must be those of the object, finger_x and finger_y those of the finger's centre",
        _exchanged,
    ),
    _Cause(
        "the log looks like a mirror image of the object, as in an image whose y axis points down",
        _AXES,
        _mirrored,
    ),
)
