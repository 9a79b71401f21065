"""Analytic gradients of a whole rollout: its steps retraced from the last to the first.

`adjoint_step` carries derivatives back over one step; here they are added up and carried on to
masses and frictions of the cells, through the moments of mass and the load on the table.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.adjoint_step import step_adjoint
from pushwise.physics.kernels.load import spread_adjoint
from pushwise.physics.kernels.rollout import Action, Track, drive_between, state_at
from pushwise.physics.kernels.step import balance
from pushwise.physics.kernels.substep import Body, State, step_problem
from pushwise.physics.kernels.support import Ground, find_load, find_support
from pushwise.physics.kernels.tilt import tilt_adjoint, tilt_before
from pushwise.typing import Array, Flags


class RolloutBar(NamedTuple):
    """Derivatives of a loss in what a rollout depends on."""

    ok: bool  # False where the load has no derivative: too few points press
    mass: Array  # (n,)
    friction: Array  # (n,)
    pose: Array  # (3,) at the start
    twist: Array  # (3,) at the start
    finger: Array  # (T + 1, 2) finger centre at each instant
    radius: float
    finger_friction: float
    force: Array  # (2,) on a cell


@compiled
def _load_adjoint(
    body: Body,
    ground: Ground,
    supported: Flags,
    N: Array,
    c_bar: Array,
    mass_bar: Array,
    friction_bar: Array,
) -> tuple[bool, float, float, float]:
    """Carry c_bar (Q,) on to mass and friction of the cells and clear it.

    Returns also the derivatives in total mass and centre of mass.
    """
    each = c_bar.size // mass_bar.size
    whole = ground.even
    for q in range(c_bar.size):
        friction_bar[q // each] += c_bar[q] * N[q]
        c_bar[q] *= ground.mu[q]
        whole = whole and supported[q]
    ok = True
    s0 = s1 = s2 = 0.0
    if not whole:
        ok, s0, s1, s2 = spread_adjoint(body.bx, body.by, N, c_bar)
    for q in range(c_bar.size):
        if ground.even:
            mass_bar[q // each] += c_bar[q] * GRAVITY / each
        c_bar[q] = 0.0
    weight = GRAVITY * body.m
    return ok, GRAVITY * (s0 + s1 * body.cx + s2 * body.cy), weight * s1, weight * s2


@compiled
def roll_adjoint(
    body: Body,
    ground: Ground,
    action: Action,
    track: Track,
    pose_bar: Array,
    impulse_bar: Array,
    cells: Array,
    cell_size: float,
) -> RolloutBar:
    """Carry derivatives in the poses (T + 1, 3) and impulses (T, 2) back over a rollout.

    cells: cell centres in the grid frame [m], shape (n, 2).
    """
    n = cells.shape[0]
    mass_bar = np.zeros(n)
    friction_bar = np.zeros(n)
    finger_bar = np.zeros(track.finger.shape)
    force_bar = np.zeros(2)
    m_bar = cx_bar = cy_bar = J_bar = 0.0
    radius_bar = mu_bar = 0.0
    ok = True

    Q = body.bx.size
    rx = np.empty(Q)
    ry = np.empty(Q)
    N = np.empty(Q)
    c = np.empty(Q)
    c_bar = np.zeros(Q)
    tilts = action.height > 0.0
    load = np.empty(Q) if tilts else c
    load_bar = np.zeros(Q) if tilts else c_bar
    push_x = push_y = 0.0  # derivative in the impulse of step k through the load of step k + 1
    supported = np.ones(Q, np.bool_)
    fresh = False

    T = track.mode.shape[0]
    bar = State(pose_bar[T, 0], pose_bar[T, 1], pose_bar[T, 2], 0.0, 0.0, 0.0, 0, -1, -1)
    for k in range(T - 1, -1, -1):
        h = track.t[k + 1] - track.t[k]
        s = state_at(track, k)
        before = supported.copy() if ground.tx.size > 0 else supported
        changed = ground.tx.size > 0 and find_support(
            body,
            ground,
            s.x + 0.5 * h * s.vx,
            s.y + 0.5 * h * s.vy,
            s.th + 0.5 * h * s.w,
            supported,
        )
        if changed or not fresh:
            if fresh:
                good, a0, a1, a2 = _load_adjoint(
                    body, ground, before, N, c_bar, mass_bar, friction_bar
                )
                ok = ok and good
                m_bar += a0
                cx_bar += a1
                cy_bar += a2
            find_load(body, ground, supported, N)
            for q in range(Q):
                c[q] = ground.mu[q] * N[q]
            fresh = True
        drive = drive_between(action, track.t[k], track.t[k + 1])
        mid_th = s.th + 0.5 * h * s.w
        if tilts:
            tilt = tilt_before(body, c, action.height, track.t, track.impulse, k, mid_th, load)
        p = step_problem(body, s, drive, ground.board, h, load, rx, ry)
        d = step_adjoint(
            body,
            s,
            p,
            balance(p, track.mid[k, 0], track.mid[k, 1], track.mid[k, 2]),
            drive,
            track.mode[k, 0],
            track.mode[k, 1],
            track.mode[k, 2],
            (track.mid[k, 0], track.mid[k, 1], track.mid[k, 2]),
            (track.impulse[k, 0], track.impulse[k, 1]),
            bar,
            (impulse_bar[k, 0] + push_x, impulse_bar[k, 1] + push_y),
            load_bar,
        )
        m_bar += d.m
        cx_bar += d.cx
        cy_bar += d.cy
        J_bar += d.J
        radius_bar += d.radius
        mu_bar += d.mu
        finger_bar[k, 0] += d.ax
        finger_bar[k, 1] += d.ay
        finger_bar[k + 1, 0] += d.bx
        finger_bar[k + 1, 1] += d.by
        if track.t[k] < action.duration:
            force_bar[0] += d.fx
            force_bar[1] += d.fy
        turn = 0.0  # derivative in the angle at mid-step through the load
        if tilts:
            e = tilt_adjoint(
                body.bx, body.by, c, tilt, body.m, action.height, mid_th, load_bar, c_bar
            )
            load_bar[:] = 0.0
            m_bar += e.m
            turn = e.th
            if k > 0:
                push_x = e.fx / (track.t[k] - track.t[k - 1])
                push_y = e.fy / (track.t[k] - track.t[k - 1])
        bar = State(
            d.x + pose_bar[k, 0],
            d.y + pose_bar[k, 1],
            d.th + pose_bar[k, 2] + turn,
            d.vx,
            d.vy,
            d.w + 0.5 * h * turn,
            0,
            -1,
            -1,
        )
    if fresh:
        good, a0, a1, a2 = _load_adjoint(body, ground, supported, N, c_bar, mass_bar, friction_bar)
        ok = ok and good
        m_bar += a0
        cx_bar += a1
        cy_bar += a2

    # Moments of mass: m = sum m_i, m c = sum m_i b_i, J = sum m_i (|b_i|^2 + w^2 / 6).
    for i in range(n):
        x = cells[i, 0]
        y = cells[i, 1]
        mass_bar[i] += (
            m_bar
            + (cx_bar * (x - body.cx) + cy_bar * (y - body.cy)) / body.m
            + J_bar * (x * x + y * y + cell_size * cell_size / 6.0)
        )
    pose0 = np.array([bar.x, bar.y, bar.th])
    twist0 = np.array([bar.vx, bar.vy, bar.w])
    return RolloutBar(
        ok,
        mass_bar,
        friction_bar,
        pose0,
        twist0,
        finger_bar,
        radius_bar,
        mu_bar,
        force_bar,
    )
