"""What moves the object: a finger along its path, or a force on a point of the object."""

from typing import NamedTuple

from pushwise.compilation import compiled_inline, compiled_part
from pushwise.geometry.compiled import feature_normal, nearest_feature, place, rotate, se2, unplace
from pushwise.physics.kernels.contact import JAMMED, Touch
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.state import Drive, State, pose_of
from pushwise.physics.kernels.substep import GAP_TOLERANCE
from pushwise.typing import Array

DEEPEST = 0.75  # of the finger's radius; a finger that starts further inside is a mistake


class Action(NamedTuple):
    """A finger's path through knots, or (no knots) a force on a point of the object."""

    t: Array  # times of the knots [s], shape (K,)
    x: Array  # finger centre at the knots [m], shape (K,)
    y: Array
    radius: float
    mu: float
    height: float  # of the finger's contact above the table [m]
    cell_x: float
    cell_y: float
    force_x: float
    force_y: float
    duration: float  # end of the motion, or of the force [s]
    lifted: float  # when the finger is raised [s]; infinite if never


@compiled_part
def finger_action(
    t: Array, x: Array, y: Array, radius: float, mu: float, height: float, lifted: float
) -> Action:
    """Return a finger's path as an action."""
    return Action(
        t=t,
        x=x,
        y=y,
        radius=radius,
        mu=mu,
        height=height,
        cell_x=0.0,
        cell_y=0.0,
        force_x=0.0,
        force_y=0.0,
        duration=t[t.size - 1],
        lifted=lifted,
    )


class Place(NamedTuple):
    """A time on a path: a share of the way from a knot to the next one."""

    knot: int
    share: float


@compiled_part
def place_of(action: Action, t: float) -> Place:
    """Return where a time is on the path; the finger rests before the first and after the last."""
    low = 0
    high = action.t.size - 1
    if t <= action.t[0]:
        return Place(knot=low, share=0.0)
    if t >= action.t[high]:
        return Place(knot=high - 1, share=1.0)
    while high - low > 1:
        middle = (low + high) // 2
        if action.t[middle] < t:
            low = middle
        else:
            high = middle
    return Place(knot=low, share=(t - action.t[low]) / (action.t[high] - action.t[low]))


@compiled_part
def finger_at(action: Action, t: float) -> tuple[float, float]:
    """Return the finger's centre at a time."""
    if action.t.size == 0:
        return 0.0, 0.0
    at = place_of(action, t)
    i = at.knot
    return (
        action.x[i] + at.share * (action.x[i + 1] - action.x[i]),
        action.y[i] + at.share * (action.y[i + 1] - action.y[i]),
    )


@compiled_inline
def drive_between(action: Action, t0: float, t1: float) -> Drive:
    """Return what moves the object from t0 to t1."""
    ax, ay = finger_at(action, t0)
    bx, by = finger_at(action, t1)
    on = 1.0 if t0 < action.duration else 0.0
    return Drive(
        finger=action.t.size > 0 and t0 < action.lifted,
        ax=ax,
        ay=ay,
        bx=bx,
        by=by,
        radius=action.radius,
        mu=action.mu,
        cell_x=action.cell_x,
        cell_y=action.cell_y,
        force_x=on * action.force_x,
        force_y=on * action.force_y,
    )


@compiled_part
def touched_point(body: Body, s: State, drive: Drive) -> tuple[float, float]:
    """Return the point of the outline nearest to the finger, or the point a force acts on."""
    at = pose_of(s)
    px = drive.cell_x
    py = drive.cell_y
    if drive.finger:
        qx, qy = unplace(at, drive.bx, drive.by)
        feature, _ = nearest_feature(qx, qy, body.ox, body.oy)
        d, nx, ny, _ = feature_normal(feature, qx, qy, body.ox, body.oy)
        px = qx - d * nx
        py = qy - d * ny
    return place(at, px, py)


@compiled_part
def moved_out(body: Body, s: State, drive: Drive) -> tuple[bool, State]:
    """Move an object straight out of a finger that starts a little inside it.

    False when the finger is too far inside. In a gap that is too narrow for the finger the object
    stays where it is.
    """
    seen = s
    for move in range(50):
        at = pose_of(s)
        qx, qy = unplace(at, drive.ax, drive.ay)
        feature, d = nearest_feature(qx, qy, body.ox, body.oy)
        gap = d - drive.radius
        if gap >= -GAP_TOLERANCE:
            return True, s
        if move == 0 and gap < -DEEPEST * drive.radius:
            return False, s
        _, bx, by, _ = feature_normal(feature, qx, qy, body.ox, body.oy)
        nx, ny = rotate(at, bx, by)
        s = State(
            x=s.x + gap * nx,
            y=s.y + gap * ny,
            th=s.th,
            vx=s.vx,
            vy=s.vy,
            w=s.w,
            mode=s.mode,
            first=s.first,
            second=s.second,
            fx=s.fx,
            fy=s.fy,
            lean_x=s.lean_x,
            lean_y=s.lean_y,
            trend=s.trend,
        )
    return True, seen


@compiled_part
def part_before_touch(body: Body, s: State, drive: Drive, dt: float) -> float:
    """Return the share of a step that passes before finger and object touch; -1 if they do now.

    An estimate: both go on as they move.
    """
    qx, qy = unplace(pose_of(s), drive.ax, drive.ay)
    _, first = nearest_feature(qx, qy, body.ox, body.oy)
    first -= drive.radius
    there = se2(s.x + dt * s.vx, s.y + dt * s.vy, s.th + dt * s.w)
    qx, qy = unplace(there, drive.bx, drive.by)
    _, last = nearest_feature(qx, qy, body.ox, body.oy)
    last -= drive.radius
    if first <= GAP_TOLERANCE:
        return -1.0
    return first / (first - last) if last < 0.0 else 1.0


@compiled_part
def jammed(drive: Drive, dt: float) -> Touch:
    """Return the step of an object that moves as one with the finger, without turning."""
    return Touch(
        mode=JAMMED,
        first=-1,
        second=-1,
        vx=(drive.bx - drive.ax) / dt,
        vy=(drive.by - drive.ay) / dt,
        w=0.0,
        fx=0.0,
        fy=0.0,
    )
