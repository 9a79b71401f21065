"""A step of a track as it was taken, described again for its derivatives."""

from typing import NamedTuple

from pushwise.compilation import compiled_part
from pushwise.geometry.compiled import rotate, se2
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.contact import SEPARATE, Touch
from pushwise.physics.kernels.load import Body, Ground
from pushwise.physics.kernels.rollout import StepSetup, Work, set_up
from pushwise.physics.kernels.state import STEADY, State
from pushwise.physics.kernels.step import Energy, energy
from pushwise.physics.kernels.track import Track


class Retraced(NamedTuple):
    """A step of a track as it was taken."""

    begin: float  # [s]
    end: float
    state: State
    setup: StepSetup
    touch: Touch
    energy: Energy  # at the twist found


@compiled_part
def state_at(body: Body, track: Track, k: int) -> State:
    """Return pose, twist, last force and lean at instant k of a track, as a step starts there."""
    fx = fy = lean_x = lean_y = 0.0
    if k > 0:
        fx = track.impulse[k - 1, 0] / track.span[k - 1]
        fy = track.impulse[k - 1, 1] / track.span[k - 1]
        x0, y0 = centre_velocity(body, track, k - 1)
        x1, y1 = centre_velocity(body, track, k)
        lean = body.z / (GRAVITY * lean_time(track, k - 1))
        lean_x = -lean * (x1 - x0)
        lean_y = -lean * (y1 - y0)
    return State(
        x=track.pose[k, 0],
        y=track.pose[k, 1],
        th=track.pose[k, 2],
        vx=track.twist[k, 0],
        vy=track.twist[k, 1],
        w=track.twist[k, 2],
        mode=SEPARATE,
        first=-1,
        second=-1,
        fx=fx,
        fy=fy,
        lean_x=lean_x,
        lean_y=lean_y,
        trend=STEADY,
    )


@compiled_part
def centre_velocity(body: Body, track: Track, k: int) -> tuple[float, float]:
    """Return the velocity of the centre of mass at instant k of a track."""
    x, y = rotate(se2(0.0, 0.0, track.pose[k, 2]), body.cx, body.cy)
    w = track.twist[k, 2]
    return track.twist[k, 0] - w * y, track.twist[k, 1] + w * x


@compiled_part
def lean_time(track: Track, k: int) -> float:
    """Return the time over which the acceleration in step k counts [s]; see `State`."""
    if track.mode[k, 0] == SEPARATE:
        return float(track.t[k + 1] - track.t[k])
    return float(track.span[k])


@compiled_part
def retrace(
    body: Body, ground: Ground, action: Action, track: Track, k: int, work: Work
) -> Retraced:
    """Describe step k of a track again, with the loads at rest in `work`."""
    s = state_at(body, track, k)
    touch = Touch(
        mode=track.mode[k, 0],
        first=track.mode[k, 1],
        second=track.mode[k, 2],
        vx=track.mid[k, 0],
        vy=track.mid[k, 1],
        w=track.mid[k, 2],
        fx=track.impulse[k, 0],
        fy=track.impulse[k, 1],
    )
    begin = track.t[k]
    end = track.t[k + 1]
    setup = set_up(body, ground, action, s, begin, end, track.span[k], work)
    at = energy(setup.problem, touch.vx, touch.vy, touch.w)
    return Retraced(begin=begin, end=end, state=s, setup=setup, touch=touch, energy=at)
