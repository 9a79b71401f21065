"""`Track`: every step of a rollout, with what the adjoint needs to retrace it."""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled_part
from pushwise.physics.kernels.state import State
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
    span: Array  # (T,) length of the time step that it is, or is a part of [s]


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
        span=np.empty(steps),
    )


def first_steps(track: Track, steps: int) -> Track:
    """Return the first steps of a track."""
    instants = steps + 1
    return Track(
        t=track.t[:instants],
        pose=track.pose[:instants],
        twist=track.twist[:instants],
        finger=track.finger[:instants],
        mid=track.mid[:steps],
        impulse=track.impulse[:steps],
        contact=track.contact[:steps],
        mode=track.mode[:steps],
        span=track.span[:steps],
    )


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
