"""From one instant to the next: predict mid-step, solve the contact, move the object.

The pose of the grid frame is ``(x, y, theta)``, the twist ``(vx, vy, omega)`` that of the grid
origin at that pose. A step from t to t + dt

1. predicts the middle of the step with the arriving twist (second order in the motion),
2. carries the twist there: the velocity of the centre of mass and omega stay, which keeps the
   centripetal force and conserves linear and angular momentum exactly,
3. solves for the twist with friction and finger (`step`, `contact`, `wedge`), the gap closed at
   the *end* of the step, so that contact errors never add up,
4. moves the object, looks again where the finger is, and asks for a shorter step if the contact
   found at mid-step does not hold at the end.
"""

import numpy as np

from pushwise.compilation import compiled_inline, compiled_part
from pushwise.geometry.compiled import (
    feature_normal,
    nearest_feature,
    rotate,
    unplace,
    unrotate,
)
from pushwise.physics.kernels.contact import (
    IMPOSSIBLE,
    SEPARATE,
    Contact,
    Touch,
    single_contact,
    slip_sign,
)
from pushwise.physics.kernels.load import Body
from pushwise.physics.kernels.state import Drive, State, mid_finger, mid_pose, moved, pose_of
from pushwise.physics.kernels.step import Board, StepProblem, free_twist
from pushwise.physics.kernels.wedge import wedge
from pushwise.typing import Array

GAP_TOLERANCE = 1e-5  # m; a step that would misplace the object by more is divided
ELSEWHERE = 1e-7  # m; how far a finger may come into a part that it does not touch,
GRAZING = 1e-3  # and how fast, as a share of its speed
FAILS = 0
NEARLY = 1
HOLDS = 2


@compiled_inline
def step_problem(
    body: Body,
    s: State,
    drive: Drive,
    board: Board,
    dt: float,
    span: float,
    c: Array,
    rx: Array,
    ry: Array,
) -> StepProblem:
    """Set up ``E`` at mid-step; fills rx, ry (Q,) with the turned and stretched friction points."""
    mid = mid_pose(s, dt)
    # r' with z x r' = B (z x r): one matrix, B's adjugate times the rotation, for all points.
    xx = board.yy * mid.cos - board.xy * mid.sin
    xy = board.yy * mid.sin + board.xy * mid.cos
    yx = board.xx * mid.sin - board.xy * mid.cos
    yy = board.xx * mid.cos + board.xy * mid.sin
    for q in range(rx.size):
        rx[q] = xx * body.bx[q] - xy * body.by[q]
        ry[q] = yx * body.bx[q] + yy * body.by[q]
    mx, my = rotate(mid, body.cx, body.cy)
    arriving_x, arriving_y = rotate(pose_of(s), body.cx, body.cy)
    px, py = rotate(mid, drive.cell_x, drive.cell_y)
    ux = s.vx - s.w * (arriving_y - my)
    uy = s.vy + s.w * (arriving_x - mx)
    return StepProblem(
        m=body.m,
        sx=body.m * mx,
        sy=body.m * my,
        J=body.J,
        ux=ux,
        uy=uy,
        uw=s.w,
        guess_x=ux + dt * (s.trend.ax + dt * s.trend.jx),
        guess_y=uy + dt * (s.trend.ay + dt * s.trend.jy),
        guess_w=s.w + dt * (s.trend.aw + dt * s.trend.jw),
        ix=dt * drive.force_x,
        iy=dt * drive.force_y,
        iw=dt * (px * drive.force_y - py * drive.force_x),
        dt=dt,
        span=span,
        rx=rx,
        ry=ry,
        c=c,
        reach=body.reach,
        board=board,
    )


@compiled_part
def contact_at(body: Body, s: State, drive: Drive, dt: float, feature: int) -> Contact:
    """Return the contact of an outline feature at mid-step, ``b`` closing its gap at the end."""
    mid = mid_pose(s, dt)
    yx, yy = mid_finger(s, drive, dt)
    qx, qy = unrotate(mid, yx, yy)
    d, nbx, nby, curvature = feature_normal(feature, qx, qy, body.ox, body.oy)
    nx, ny = rotate(mid, nbx, nby)
    ux = (drive.bx - drive.ax) / dt
    uy = (drive.by - drive.ay) / dt
    half_x = 0.5 * (ux + s.vx - s.w * yy)
    half_y = 0.5 * (uy + s.vy + s.w * yx)
    return Contact(
        nx=nx,
        ny=ny,
        px=yx - drive.radius * nx,
        py=yy - drive.radius * ny,
        b=(d - drive.radius) / dt + nx * half_x + ny * half_y,
        ut=-ny * ux + nx * uy,
        curvature=curvature,
        feature=feature,
    )


@compiled_part
def gap_after(body: Body, s: State, drive: Drive) -> tuple[int, float]:
    """Return the outline feature nearest to the finger at the end of a step, and the gap."""
    qx, qy = unplace(pose_of(s), drive.bx, drive.by)
    feature, d = nearest_feature(qx, qy, body.ox, body.oy)
    return feature, d - drive.radius


@compiled_part
def _free(body: Body, s: State, p: StepProblem) -> tuple[bool, State, Touch]:
    vx = vy = w = 0.0
    ok = p.ux == 0.0 and p.uy == 0.0 and p.uw == 0.0 and p.ix == 0.0 and p.iy == 0.0
    if not ok:  # what rests and is not pushed stays where it is
        ok, vx, vy, w = free_twist(p)
    touch = Touch(mode=SEPARATE, first=-1, second=-1, vx=vx, vy=vy, w=w, fx=0.0, fy=0.0)
    # The mean twist is wrong in a step in which friction brings the object to rest.
    arriving = np.hypot(p.ux, p.uy) + abs(p.uw) * body.reach
    leaving = np.hypot(vx, vy) + abs(w) * body.reach
    resolved = leaving >= 0.5 * arriving or 0.5 * p.dt * arriving <= GAP_TOLERANCE
    return ok and resolved, moved(body, s, p, touch), touch


@compiled_part
def _holds(body: Body, s: State, after: State, drive: Drive, dt: float, touch: Touch) -> int:
    """Return how well a solved step leaves the finger where its mode says, touching or clear.

    FAILS, or HOLDS, or NEARLY: it then comes into a part that it does not touch.
    """
    if touch.mode == IMPOSSIBLE:
        return FAILS
    feature, gap = gap_after(body, after, drive)
    if gap < -GAP_TOLERANCE or (touch.mode != SEPARATE and gap > GAP_TOLERANCE):
        return FAILS
    touched = feature in (touch.first, touch.second)
    if touch.mode == SEPARATE or touched or gap >= 0.0:
        return HOLDS
    # It is about to come into a part that it does not touch. Were that allowed for as long as it is
    # not far, short steps would alternate between the sides of a corner and never find it wedged.
    c = contact_at(body, s, drive, dt, feature)
    x = (drive.bx - drive.ax) / dt - touch.vx + touch.w * c.py
    y = (drive.by - drive.ay) / dt - touch.vy - touch.w * c.px
    approach = -(c.nx * x + c.ny * y)
    speed = np.hypot(drive.bx - drive.ax, drive.by - drive.ay) / dt
    return HOLDS if gap >= -ELSEWHERE and approach <= GRAZING * speed else NEARLY


@compiled_part
def _in_reach(body: Body, s: State, drive: Drive, dt: float) -> int:
    """Return the outline feature nearest to the finger at mid-step; -1 if it is out of reach."""
    ux = drive.bx - drive.ax
    uy = drive.by - drive.ay
    travel = np.hypot(ux, uy) + dt * (np.hypot(s.vx, s.vy) + abs(s.w) * body.reach)
    centre = np.hypot(drive.ax - s.x, drive.ay - s.y)
    if centre - body.reach - drive.radius > 2.0 * travel:
        return -1
    yx, yy = mid_finger(s, drive, dt)
    qx, qy = unrotate(mid_pose(s, dt), yx, yy)
    feature, d = nearest_feature(qx, qy, body.ox, body.oy)
    return -1 if d - drive.radius > 2.0 * travel else feature


@compiled_inline
def advance(body: Body, s: State, drive: Drive, p: StepProblem) -> tuple[bool, State, Touch]:
    """Try one step: ``(holds, state after, twist and impulse)``; if not, a shorter one may hold."""
    dt = p.dt
    first = _in_reach(body, s, drive, dt) if drive.finger else -1
    if s.mode == SEPARATE or first < 0:
        ok, after, touch = _free(body, s, p)
        # No slack here: a first touch must not depend on a tolerance, or results would jump.
        if first < 0 or (ok and gap_after(body, after, drive)[1] >= 0.0):
            return ok, after, touch

    yx, yy = mid_finger(s, drive, dt)
    if s.second >= 0:
        a = contact_at(body, s, drive, dt, s.first)
        b = contact_at(body, s, drive, dt, s.second)
        touch = wedge(p, a, b, yx, yy, drive.radius, drive.mu)
        after = moved(body, s, p, touch)
        if _holds(body, s, after, drive, dt, touch) == HOLDS:
            return True, after, touch

    a = contact_at(body, s, drive, dt, first)
    touch = single_contact(p, a, drive.mu, slip_sign(s.mode))
    after = moved(body, s, p, touch)
    how = _holds(body, s, after, drive, dt, touch)
    if how == HOLDS:
        return True, after, touch

    nearly = how == NEARLY
    spare = after
    spare_touch = touch
    if touch.mode != IMPOSSIBLE:
        # Another part of the outline is in the way: the finger moved on to it, or is wedged.
        second, gap = gap_after(body, after, drive)
        if gap < 0.0 and second != first:
            b = contact_at(body, s, drive, dt, second)
            touch = single_contact(p, b, drive.mu, 0.0)
            after = moved(body, s, p, touch)
            how = _holds(body, s, after, drive, dt, touch)
            if how == HOLDS:
                return True, after, touch
            if how == NEARLY and not nearly:
                nearly = True
                spare = after
                spare_touch = touch
            touch = wedge(p, a, b, yx, yy, drive.radius, drive.mu)
            after = moved(body, s, p, touch)
            if _holds(body, s, after, drive, dt, touch) == HOLDS:
                return True, after, touch
    if nearly:
        return True, spare, spare_touch
    ok, after, touch = _free(body, s, p)
    return ok and _holds(body, s, after, drive, dt, touch) == HOLDS, after, touch
