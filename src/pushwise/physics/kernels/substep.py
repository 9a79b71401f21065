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

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.kernels.contact import (
    IMPOSSIBLE,
    SEPARATE,
    WEDGE_STICK,
    Contact,
    Touch,
    feature_normal,
    nearest_feature,
    single_contact,
)
from pushwise.physics.kernels.step import Board, StepProblem, free_twist
from pushwise.physics.kernels.wedge import wedge
from pushwise.physics.paper.hinge_qp import FAILED
from pushwise.physics.paper.lagged_step import friction_directions, lagged_twist
from pushwise.typing import Array

GAP_TOLERANCE = 1e-5  # m; a step that would misplace the object by more is divided


class Body(NamedTuple):
    """What the compiled code knows of an object (SI units, grid frame)."""

    m: float  # total mass
    cx: float  # centre of mass
    cy: float
    J: float  # second moment of mass about the grid origin
    bx: Array  # friction points, shape (Q,)
    by: Array
    ox: Array  # outline, counter-clockwise, shape (k,)
    oy: Array
    reach: float  # largest distance of outline and friction points from the grid origin


class State(NamedTuple):
    """Pose, twist and how the finger touched last."""

    x: float
    y: float
    th: float
    vx: float
    vy: float
    w: float
    mode: int
    first: int  # outline features touched, -1 for none
    second: int


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


@compiled
def step_problem(
    body: Body, s: State, drive: Drive, board: Board, dt: float, c: Array, rx: Array, ry: Array
) -> StepProblem:
    """Set up ``E`` at mid-step; fills rx, ry (Q,) with the turned friction points."""
    mid = s.th + 0.5 * dt * s.w
    cos = np.cos(mid)
    sin = np.sin(mid)
    for q in range(rx.size):
        rx[q] = cos * body.bx[q] - sin * body.by[q]
        ry[q] = sin * body.bx[q] + cos * body.by[q]
    if not board.even:
        for q in range(rx.size):
            x = board.yy * rx[q] - board.xy * ry[q]
            ry[q] = board.xx * ry[q] - board.xy * rx[q]
            rx[q] = x
    mx = cos * body.cx - sin * body.cy
    my = sin * body.cx + cos * body.cy
    cos0 = np.cos(s.th)
    sin0 = np.sin(s.th)
    dx = cos0 * body.cx - sin0 * body.cy - mx
    dy = sin0 * body.cx + cos0 * body.cy - my
    px = cos * drive.cell_x - sin * drive.cell_y
    py = sin * drive.cell_x + cos * drive.cell_y
    return StepProblem(
        body.m,
        body.m * mx,
        body.m * my,
        body.J,
        s.vx - s.w * dy,
        s.vy + s.w * dx,
        s.w,
        dt * drive.force_x,
        dt * drive.force_y,
        dt * (px * drive.force_y - py * drive.force_x),
        dt,
        rx,
        ry,
        c,
        body.reach,
        board,
    )


@compiled
def contact_at(body: Body, s: State, drive: Drive, dt: float, feature: int) -> Contact:
    """Return the contact of an outline feature at mid-step, ``b`` closing its gap at the end."""
    mid = s.th + 0.5 * dt * s.w
    cos = np.cos(mid)
    sin = np.sin(mid)
    # Finger centre from the grid origin, in table axes and in the grid frame.
    yx = 0.5 * (drive.ax + drive.bx) - s.x - 0.5 * dt * s.vx
    yy = 0.5 * (drive.ay + drive.by) - s.y - 0.5 * dt * s.vy
    d, nbx, nby, curvature = feature_normal(
        feature, cos * yx + sin * yy, -sin * yx + cos * yy, body.ox, body.oy
    )
    nx = cos * nbx - sin * nby
    ny = sin * nbx + cos * nby
    ux = (drive.bx - drive.ax) / dt
    uy = (drive.by - drive.ay) / dt
    half_x = 0.5 * (ux + s.vx - s.w * yy)
    half_y = 0.5 * (uy + s.vy + s.w * yx)
    return Contact(
        nx,
        ny,
        yx - drive.radius * nx,
        yy - drive.radius * ny,
        (d - drive.radius) / dt + nx * half_x + ny * half_y,
        -ny * ux + nx * uy,
        curvature,
    )


@compiled
def moved(body: Body, s: State, p: StepProblem, touch: Touch, first: int, second: int) -> State:
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
    th = s.th + dt * w
    cos = np.cos(th)
    sin = np.sin(th)
    dx = p.sx / p.m - cos * body.cx + sin * body.cy
    dy = p.sy / p.m - sin * body.cx - cos * body.cy
    return State(
        s.x + dt * vx,
        s.y + dt * vy,
        th,
        touch.vx - touch.w * dy,
        touch.vy + touch.w * dx,
        touch.w,
        touch.mode,
        first,
        second,
    )


@compiled
def gap_after(body: Body, s: State, drive: Drive) -> tuple[int, float]:
    """Return the outline feature nearest to the finger at the end of a step, and the gap."""
    cos = np.cos(s.th)
    sin = np.sin(s.th)
    yx = drive.bx - s.x
    yy = drive.by - s.y
    feature, d = nearest_feature(cos * yx + sin * yy, -sin * yx + cos * yy, body.ox, body.oy)
    return feature, d - drive.radius


@compiled
def _free(body: Body, s: State, p: StepProblem) -> tuple[bool, State, Touch]:
    ok, vx, vy, w = free_twist(p, p.ux, p.uy, p.uw)
    touch = Touch(SEPARATE, vx, vy, w, 0.0, 0.0)
    # The mean twist is wrong in a step in which friction brings the object to rest.
    arriving = np.hypot(p.ux, p.uy) + abs(p.uw) * body.reach
    leaving = np.hypot(vx, vy) + abs(w) * body.reach
    resolved = leaving >= 0.5 * arriving or 0.5 * p.dt * arriving <= GAP_TOLERANCE
    return ok and resolved, moved(body, s, p, touch, -1, -1), touch


@compiled
def advance_lagged(
    body: Body, s: State, drive: Drive, board: Board, dt: float, c: Array, rx: Array, ry: Array
) -> tuple[bool, State, Touch]:
    """Take one step under a force with friction against the arriving motion, as in the paper."""
    p = step_problem(body, s, drive, board, dt, c, rx, ry)
    A = np.array([[p.m, 0.0, -p.sy], [0.0, p.m, p.sx], [-p.sy, p.sx, p.J]])
    u = np.array([p.ux, p.uy, p.uw])
    momentum = A @ u + np.array([p.ix, p.iy, p.iw])
    free = np.linalg.solve(A, momentum)
    offsets = np.column_stack((rx, ry))
    arriving = np.column_stack((u[0] - u[2] * ry, u[1] + u[2] * rx))
    without = np.column_stack((free[0] - free[2] * ry, free[1] + free[2] * rx))
    v, _, status = lagged_twist(
        offsets, friction_directions(arriving, without), c * dt, A, momentum
    )
    touch = Touch(SEPARATE, v[0], v[1], v[2], 0.0, 0.0)
    return status != FAILED, moved(body, s, p, touch, -1, -1), touch


@compiled
def _holds(body: Body, after: State, drive: Drive, touch: Touch) -> bool:
    """Tell whether a solved step leaves the finger where its mode says: touching, or clear."""
    if touch.mode == IMPOSSIBLE:
        return False
    _, gap = gap_after(body, after, drive)
    return gap >= -GAP_TOLERANCE and (touch.mode == SEPARATE or gap <= GAP_TOLERANCE)


@compiled
def advance(
    body: Body, s: State, drive: Drive, board: Board, dt: float, c: Array, rx: Array, ry: Array
) -> tuple[bool, State, Touch]:
    """Try one step of length dt: ``(holds, state after, twist and impulse)``.

    c (Q,) are the friction loads [N]; rx, ry (Q,) are work space. When the step does not hold,
    a shorter one may.
    """
    p = step_problem(body, s, drive, board, dt, c, rx, ry)
    if not drive.finger:
        return _free(body, s, p)

    ux = drive.bx - drive.ax
    uy = drive.by - drive.ay
    travel = np.hypot(ux, uy) + dt * (np.hypot(s.vx, s.vy) + abs(s.w) * body.reach)
    centre = np.hypot(drive.ax - s.x, drive.ay - s.y)
    if centre - body.reach - drive.radius > 2.0 * travel:
        return _free(body, s, p)

    mid = s.th + 0.5 * dt * s.w
    cos = np.cos(mid)
    sin = np.sin(mid)
    yx = 0.5 * (drive.ax + drive.bx) - s.x - 0.5 * dt * s.vx
    yy = 0.5 * (drive.ay + drive.by) - s.y - 0.5 * dt * s.vy
    first, d = nearest_feature(cos * yx + sin * yy, -sin * yx + cos * yy, body.ox, body.oy)
    if d - drive.radius > 2.0 * travel:
        return _free(body, s, p)

    if s.mode >= WEDGE_STICK:
        a = contact_at(body, s, drive, dt, s.first)
        b = contact_at(body, s, drive, dt, s.second)
        touch = wedge(p, a, b, yx, yy, drive.radius, drive.mu)
        after = moved(body, s, p, touch, s.first, s.second)
        if _holds(body, after, drive, touch):
            return True, after, touch
    if s.mode == SEPARATE:
        ok, after, touch = _free(body, s, p)
        # No slack here: a first touch must not depend on a tolerance, or results would jump.
        if ok and gap_after(body, after, drive)[1] >= 0.0:
            return True, after, touch

    a = contact_at(body, s, drive, dt, first)
    touch = single_contact(p, a, drive.mu, s.mode)
    after = moved(body, s, p, touch, first, -1)
    if _holds(body, after, drive, touch):
        return True, after, touch

    if touch.mode != IMPOSSIBLE:
        # Another part of the outline is in the way: the finger went on to it, or is wedged.
        second, gap = gap_after(body, after, drive)
        if gap < -GAP_TOLERANCE and second != first:
            b = contact_at(body, s, drive, dt, second)
            touch = single_contact(p, b, drive.mu, SEPARATE)
            after = moved(body, s, p, touch, second, -1)
            if _holds(body, after, drive, touch):
                return True, after, touch
            touch = wedge(p, a, b, yx, yy, drive.radius, drive.mu)
            after = moved(body, s, p, touch, first, second)
            if _holds(body, after, drive, touch):
                return True, after, touch
    ok, after, touch = _free(body, s, p)
    return ok and _holds(body, after, drive, touch), after, touch
