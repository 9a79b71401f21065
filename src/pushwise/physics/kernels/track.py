"""`Track`: every step of a rollout, with what the adjoint needs to retrace it."""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_part
from pushwise.physics.kernels.substep import State
from pushwise.typing import Array, Integers


class Track(NamedTuple):
    """Every step taken. T steps have T + 1 instants."""

    t: Array  # (T + 1,)
    pose: Array  # (T + 1, 3)
    twist: Array  # (T + 1, 3)
    finger: Array  # (T + 1, 2)
    mid: Array  # (T, 3) twist found at mid-step
    impulse: Array  # (T, 2) of the finger on the object [N s]
    contact: Array  # (T, 2) touched, or nearest, point of the outline at the end of the step
    mode: Integers  # (T, 3): mode and touched outline features


@compiled_part
def new_track(steps: int) -> Track:
    """Return a track with room for some steps."""
    return Track(
        t=np.empty(steps + 1),
        pose=np.empty((steps + 1, 3)),
        twist=np.empty((steps + 1, 3)),
        finger=np.empty((steps + 1, 2)),
        mid=np.empty((steps, 3)),
        impulse=np.empty((steps, 2)),
        contact=np.empty((steps, 2)),
        mode=np.empty((steps, 3), np.int64),
    )


@compiled_part
def resized(track: Track, steps: int, room: int) -> Track:
    """Return the first steps of a track in one that has room for `room` of them."""
    new = new_track(room)
    for k in range(steps + 1):
        new.t[k] = track.t[k]
        for i in range(3):
            new.pose[k, i] = track.pose[k, i]
            new.twist[k, i] = track.twist[k, i]
        for i in range(2):
            new.finger[k, i] = track.finger[k, i]
    for k in range(steps):
        for i in range(3):
            new.mid[k, i] = track.mid[k, i]
            new.mode[k, i] = track.mode[k, i]
        for i in range(2):
            new.impulse[k, i] = track.impulse[k, i]
            new.contact[k, i] = track.contact[k, i]
    return new


@compiled_part
def write_instant(track: Track, k: int, t: float, s: State, x: float, y: float) -> None:
    """Write instant k: the time, the state and the finger's centre."""
    track.t[k] = t
    track.pose[k, 0] = s.x
    track.pose[k, 1] = s.y
    track.pose[k, 2] = s.th
    track.twist[k, 0] = s.vx
    track.twist[k, 1] = s.vy
    track.twist[k, 2] = s.w
    track.finger[k, 0] = x
    track.finger[k, 1] = y
