"""Where an object is and how it moves, and what moves it, from one step to the next."""

from typing import NamedTuple

from pushwise.compilation import compiled_inline, compiled_part
from pushwise.geometry.compiled import SE2, se2
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.contact import SEPARATE, Touch
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.step import StepProblem


class Trend(NamedTuple):
    """How the twist was changing, zero after a change of mode: a guess for the next step."""

    ax: float  # acceleration in the last step
    ay: float
    aw: float
    jx: float  # and how fast that was changing
    jy: float
    jw: float


STEADY = Trend(ax=0.0, ay=0.0, aw=0.0, jx=0.0, jy=0.0, jw=0.0)


class State(NamedTuple):
    """Pose, twist, how the finger touched last and with which mean force [N].

    The mean is over a whole time step: over a part of one that is an impact it would be too large.
    So is the acceleration by which inertia shifts the load [m], table axes, except in free motion.
    """

    x: float
    y: float
    th: float
    vx: float
    vy: float
    w: float
    mode: int
    first: int  # outline features touched, -1 for none
    second: int
    fx: float
    fy: float
    lean_x: float
    lean_y: float
    trend: Trend


class Drive(NamedTuple):
    """What moves the object during a step: a finger's travel, or a force on a cell."""

    finger: bool
    ax: float  # finger centre at the start and the end of the step
    ay: float
    bx: float
    by: float
    radius: float
    mu: float
    cell_x: float  # point of the object the force acts on (grid frame)
    cell_y: float
    force_x: float
    force_y: float


@compiled_part
def untouched(x: float, y: float, th: float, vx: float, vy: float, w: float) -> State:
    """Return the state of an object that no finger has touched yet."""
    return State(
        x=x,
        y=y,
        th=th,
        vx=vx,
        vy=vy,
        w=w,
        mode=SEPARATE,
        first=-1,
        second=-1,
        fx=0.0,
        fy=0.0,
        lean_x=0.0,
        lean_y=0.0,
        trend=STEADY,
    )


@compiled_part
def pose_of(s: State) -> SE2:
    """Return the pose of a state."""
    return se2(s.x, s.y, s.th)


@compiled_part
def mid_pose(s: State, dt: float) -> SE2:
    """Return the pose predicted for the middle of a step."""
    return se2(s.x + 0.5 * dt * s.vx, s.y + 0.5 * dt * s.vy, s.th + 0.5 * dt * s.w)


@compiled_part
def mid_finger(s: State, drive: Drive, dt: float) -> tuple[float, float]:
    """Return the finger's centre from the grid origin in the middle of a step, table axes."""
    return (
        0.5 * (drive.ax + drive.bx) - s.x - 0.5 * dt * s.vx,
        0.5 * (drive.ay + drive.by) - s.y - 0.5 * dt * s.vy,
    )


@compiled_part
def _trend_after(s: State, p: StepProblem, touch: Touch) -> Trend:
    """Return how the twist changed in a step, compared with the step before."""
    if touch.mode != s.mode:
        return STEADY
    was = s.trend
    ax = (touch.vx - p.ux) / p.dt
    ay = (touch.vy - p.uy) / p.dt
    aw = (touch.w - p.uw) / p.dt
    if was.ax == 0.0 and was.ay == 0.0 and was.aw == 0.0:  # the mode has just changed
        return Trend(ax=ax, ay=ay, aw=aw, jx=0.0, jy=0.0, jw=0.0)
    return Trend(
        ax=ax,
        ay=ay,
        aw=aw,
        jx=(ax - was.ax) / p.dt,
        jy=(ay - was.ay) / p.dt,
        jw=(aw - was.aw) / p.dt,
    )


@compiled_inline
def moved(body: Body, s: State, p: StepProblem, touch: Touch) -> State:
    """Return the state at the end of a step.

    A touched object moves with the twist found, which is what closes the gap. A free one moves
    with the mean of the arriving and the leaving twist: exact under constant friction.
    """
    dt = p.dt
    vx = touch.vx
    vy = touch.vy
    w = touch.w
    if touch.mode == SEPARATE:
        vx = 0.5 * (vx + p.ux)
        vy = 0.5 * (vy + p.uy)
        w = 0.5 * (w + p.uw)
    after = se2(s.x + dt * vx, s.y + dt * vy, s.th + dt * w)
    dx = p.sx / p.m - after.cos * body.cx + after.sin * body.cy
    dy = p.sy / p.m - after.sin * body.cx - after.cos * body.cy
    lean = body.z / (GRAVITY * (dt if touch.mode == SEPARATE else p.span))
    turned = touch.w - p.uw
    return State(
        x=after.x,
        y=after.y,
        th=s.th + dt * w,
        vx=touch.vx - touch.w * dy,
        vy=touch.vy + touch.w * dx,
        w=touch.w,
        mode=touch.mode,
        first=touch.first,
        second=touch.second,
        fx=touch.fx / p.span,
        fy=touch.fy / p.span,
        # Against the acceleration of the centre of mass.
        lean_x=-lean * (touch.vx - p.ux - turned * p.sy / p.m),
        lean_y=-lean * (touch.vy - p.uy + turned * p.sx / p.m),
        trend=_trend_after(s, p, touch),
    )
