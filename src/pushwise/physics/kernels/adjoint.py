"""Analytic gradients of a whole rollout: its steps retraced from the last to the first.

`adjoint_step` carries derivatives back over one step; here they are added up and carried on to
masses and frictions of the cells, through the moments of mass and the load on the table.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.adjoint_contact import ForceBar
from pushwise.physics.kernels.adjoint_step import StateBar, step_adjoint
from pushwise.physics.kernels.load import Body, Ground, WeightBar, load_adjoint
from pushwise.physics.kernels.retrace import retrace, state_at
from pushwise.physics.kernels.rollout import Work, changes_support, new_work, rest_load
from pushwise.physics.kernels.track import Track
from pushwise.typing import Array, Flags


class RolloutBar(NamedTuple):
    """Derivatives of a loss in what a rollout depends on."""

    mass: Array  # (n,)
    friction: Array  # (n,)
    pose: Array  # (3,) at the start
    twist: Array  # (3,) at the start
    finger: Array  # (T + 1, 2) finger centre at each instant
    disc: Array  # (2,) radius and friction of the finger
    force: Array  # (2,) on a cell


class AdjointWork(NamedTuple):
    """What the steps of an adjoint fill again and again."""

    forward: Work
    N: Array  # normal loads of the steps after, while they are the same [N], shape (Q,)
    supported: Flags  # which points were on the table then
    load_bar: Array  # derivatives in the tilted and in the resting friction loads, (Q,)
    c_bar: Array


def new_adjoint_work(body: Body) -> AdjointWork:
    """Return work space for the adjoint of a rollout."""
    Q = body.bx.size
    return AdjointWork(
        forward=new_work(body),
        N=np.empty(Q),
        supported=np.empty(Q, np.bool_),
        load_bar=np.zeros(Q),
        c_bar=np.zeros(Q),
    )


@compiled_part
def _loads_to_cells(
    body: Body, ground: Ground, work: AdjointWork, mass_bar: Array, friction_bar: Array
) -> WeightBar:
    """Carry work.c_bar (Q,) on to mass and friction of the cells, and clear it."""
    c_bar = work.c_bar
    weight = load_adjoint(
        body, ground, work.supported, work.forward.pressing, work.N, c_bar, friction_bar
    )
    each = c_bar.size // mass_bar.size
    for q in range(c_bar.size):
        if ground.own:
            mass_bar[q // each] += c_bar[q] * GRAVITY / each
        c_bar[q] = 0.0
    return weight


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
    work: AdjointWork,
    into: RolloutBar,
) -> bool:
    """Carry derivatives in the poses (T + 1, 3) and impulses (T, 2) back over a rollout.

    cells: cell centres in the grid frame [m], shape (n, 2); into: zeros, filled in. False where the
    load has no derivative, because too few points press.
    """
    n = cells.shape[0]
    now = work.forward
    m_bar = cx_bar = cy_bar = J_bar = 0.0
    ok = True

    before_x = before_y = 0.0  # derivative in the force of step k through the load of step k + 1

    T = track.mode.shape[0]
    bar = StateBar(x=pose_bar[T, 0], y=pose_bar[T, 1], th=pose_bar[T, 2], vx=0.0, vy=0.0, w=0.0)
    for k in range(T - 1, -1, -1):
        h = track.t[k + 1] - track.t[k]
        if changes_support(body, ground, state_at(body, track, k), h, now) or k == T - 1:
            if k < T - 1:
                weight = _loads_to_cells(body, ground, work, into.mass, into.friction)
                ok = ok and weight.ok
                m_bar += weight.m
                cx_bar += weight.cx
                cy_bar += weight.cy
            rest_load(body, ground, now)
            for q in range(work.N.size):
                work.N[q] = now.N[q]
                work.supported[q] = now.supported[q]
        step = retrace(body, ground, action, track, k, now)
        f_bar = ForceBar(
            x=impulse_bar[k, 0] + before_x / track.span[k],
            y=impulse_bar[k, 1] + before_y / track.span[k],
        )
        d = step_adjoint(body, action, step, bar, f_bar, now, work.load_bar, work.c_bar)
        m_bar += d.m
        cx_bar += d.cx
        cy_bar += d.cy
        J_bar += d.J
        into.disc[0] += d.radius
        into.disc[1] += d.mu
        into.finger[k, 0] += d.ax
        into.finger[k, 1] += d.ay
        into.finger[k + 1, 0] += d.bx
        into.finger[k + 1, 1] += d.by
        if track.t[k] < action.duration:
            into.force[0] += d.fx
            into.force[1] += d.fy
        before_x = d.before.x
        before_y = d.before.y
        bar = StateBar(
            x=d.state.x + pose_bar[k, 0],
            y=d.state.y + pose_bar[k, 1],
            th=d.state.th + pose_bar[k, 2],
            vx=d.state.vx,
            vy=d.state.vy,
            w=d.state.w,
        )
    if T > 0:
        weight = _loads_to_cells(body, ground, work, into.mass, into.friction)
        ok = ok and weight.ok
        m_bar += weight.m
        cx_bar += weight.cx
        cy_bar += weight.cy

    # Moments of mass: m = sum m_i, m c = sum m_i b_i, J = sum m_i (|b_i|^2 + w^2 / 6).
    for i in range(n):
        x = cells[i, 0]
        y = cells[i, 1]
        into.mass[i] += (
            m_bar
            + (cx_bar * (x - body.cx) + cy_bar * (y - body.cy)) / body.m
            + J_bar * (x * x + y * y + cell_size * cell_size / 6.0)
        )
    into.pose[0] = bar.x
    into.pose[1] = bar.y
    into.pose[2] = bar.th
    into.twist[0] = bar.vx
    into.twist[1] = bar.vy
    into.twist[2] = bar.w
    return ok
