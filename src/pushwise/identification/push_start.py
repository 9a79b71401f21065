"""How a recorded push is simulated from its observed start, with whatever is believed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pushwise.geometry.se2 import se2
from pushwise.identification.calibration import Calibration
from pushwise.identification.free_slide import is_free
from pushwise.identification.windows import REACH
from pushwise.physics.clear_start import FingerGap
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.prepared import (
    Action,
    ClearStart,
    PreparedObject,
    action_from,
    step_of_travel,
    time_step,
)
from pushwise.physics.push import Finger, Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["DEEPEST", "STEP_TRAVEL", "Believed", "PushStart", "start_of", "step_of"]

DEEPEST = 5e-3  # m; how far inside the object a finger may start whose position is in doubt
STEP_TRAVEL = 1.5e-3  # m; three times the default step: its error is far below any pose noise


class Believed(NamedTuple):
    """What a push is simulated with."""

    model: ObjectModel
    finger: Finger
    calibration: Calibration | None
    """Errors of the set-up, if any."""
    gyration: float = 1.0
    """Radius of gyration, relative to that of the model."""
    lean: float = 0.0
    """Height of the centre of mass by which a free slide shifts the load [m]."""


class PushStart(NamedTuple):
    """A recorded push, ready to be simulated."""

    prepared: PreparedObject
    action: Action
    tracked: Array  # the starting pose that the camera would have seen, (3,)
    pose: Array  # the starting pose of the object, (3,)
    clear: ClearStart  # the same, moved clear of the finger
    twist: Array  # of the grid origin at the start, (3,)

    def finger_gap(self) -> FingerGap:
        """Return how finger and object meet before the object is moved clear."""
        action = self.action
        x, y = (float(np.interp(0.0, action.t, knots)) for knots in (action.x, action.y))
        return self.prepared.finger_gap(se2(*self.pose.tolist()), x, y, action.radius)


def start_of(
    record: PushRecord,
    name: str,
    believed: Believed,
    offset: Array,
    physics: Physics,
    *,
    later: bool = False,
) -> PushStart:
    """Return how a push begins; raise `SimulationError` where that is too far inside the object.

    Args:
        record: The push.
        name: What an error calls it.
        believed: Object, finger and set-up.
        offset: True minus observed starting pose [m, m, rad], shape (3,); of a free slide pose and
            twist, shape (6,).
        physics: How pushes are simulated.
        later: Whether it starts in the middle of a push, where the finger touches the object.

    """
    model, finger, calibration, gyration, lean = believed
    prepared = _prepared(model, physics, gyration)
    if is_free(record):
        prepared = prepared.leaning(lean)
    pose = tracked = record.pose[0] + offset[:3]
    push, twist, deepest, touching = record.push, record.twist, None, False
    if len(offset) > 3:
        twist = twist + offset[3:]
    if calibration is not None:
        push, pose = calibration.push(push), calibration.pose(tracked)
        twist = calibration.twist(tracked, twist)
        deepest, touching = DEEPEST, calibration.touching
    if later:
        deepest, touching = REACH, True
    action = action_from(model, push, finger, record.t[0])
    clear = prepared.clear_start(name, pose, action, deepest=deepest, touching=touching)
    return PushStart(prepared, action, tracked, pose, clear, twist)


@lru_cache(maxsize=4)
def _prepared(model: ObjectModel, physics: Physics, gyration: float) -> PreparedObject:
    """Return a model ready for the kernels, made once for all windows of all pushes.

    Models and physics are the same only if they are the same object: they never change.
    """
    return PreparedObject.of(model, None, physics).with_gyration(gyration)


def step_of(record: PushRecord, finger: Finger, physics: Physics, reach: float) -> float:
    """Return the time step for identification [s]; reach: of the object from its origin [m]."""
    push, dt = record.push, physics.dt
    if dt is None and isinstance(push, Push):
        dt = step_of_travel(push, min(STEP_TRAVEL, 0.5 * finger.radius))
        thrown = float(np.hypot(*record.twist[:2])) + reach * abs(float(record.twist[2]))
        if thrown > 0.0:
            dt = min(dt, STEP_TRAVEL / thrown)
    return time_step(push, finger, replace(physics, dt=dt))
