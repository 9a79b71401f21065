"""Analytic gradients of a whole rollout: its steps retraced from the last to the first.

`adjoint_step` carries derivatives back over one step; here they are added up and carried on to
masses and frictions of the cells, through the moments of mass and the load on the table.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled, compiled_part
from pushwise.physics.constants import GRAVITY
from pushwise.physics.kernels.adjoint_contact import ForceBar
from pushwise.physics.kernels.adjoint_step import StateBar, retrace, state_at, step_adjoint
from pushwise.physics.kernels.load import Body, Ground, WeightBar, load_adjoint
from pushwise.physics.kernels.rollout import Action, Work, changes_support, new_work, rest_load
from pushwise.physics.kernels.track import Track
from pushwise.typing import Array


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


@compiled_part
def _loads_to_cells(
    body: Body, ground: Ground, work: Work, c_bar: Array, mass_bar: Array, friction_bar: Array
) -> WeightBar:
    """Carry c_bar (Q,) on to mass and friction of the cells, and clear it."""
    weight = load_adjoint(body, ground, work.supported, work.N, c_bar, friction_bar)
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

    work = new_work(body)
    old = new_work(body)  # supports and loads of the steps after, while they are the same
    c_bar = np.zeros(work.c.size)
    load_bar = np.zeros(work.c.size)
    before_x = before_y = 0.0  # derivative in the force of step k through the load of step k + 1

    T = track.mode.shape[0]
    bar = StateBar(x=pose_bar[T, 0], y=pose_bar[T, 1], th=pose_bar[T, 2], vx=0.0, vy=0.0, w=0.0)
    for k in range(T - 1, -1, -1):
        h = track.t[k + 1] - track.t[k]
        if changes_support(body, ground, state_at(track, k), h, work) or k == T - 1:
            if k < T - 1:
                weight = _loads_to_cells(body, ground, old, c_bar, mass_bar, friction_bar)
                ok = ok and weight.ok
                m_bar += weight.m
                cx_bar += weight.cx
                cy_bar += weight.cy
            rest_load(body, ground, work)
            for q in range(work.N.size):
                old.N[q] = work.N[q]
                old.supported[q] = work.supported[q]
        step = retrace(body, ground, action, track, k, work)
        f_bar = ForceBar(
            x=impulse_bar[k, 0] + before_x / h,
            y=impulse_bar[k, 1] + before_y / h,
        )
        d = step_adjoint(body, action, step, bar, f_bar, work, load_bar, c_bar)
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
        weight = _loads_to_cells(body, ground, old, c_bar, mass_bar, friction_bar)
        ok = ok and weight.ok
        m_bar += weight.m
        cx_bar += weight.cx
        cy_bar += weight.cy

    # Moments of mass: m = sum m_i, m c = sum m_i b_i, J = sum m_i (|b_i|^2 + w^2 / 6).
    for i in range(n):
        x = cells[i, 0]
        y = cells[i, 1]
        mass_bar[i] += (
            m_bar
            + (cx_bar * (x - body.cx) + cy_bar * (y - body.cy)) / body.m
            + J_bar * (x * x + y * y + cell_size * cell_size / 6.0)
        )
    pose = np.empty(3)
    pose[0] = bar.x
    pose[1] = bar.y
    pose[2] = bar.th
    twist = np.empty(3)
    twist[0] = bar.vx
    twist[1] = bar.vy
    twist[2] = bar.w
    return RolloutBar(
        ok=ok,
        mass=mass_bar,
        friction=friction_bar,
        pose=pose,
        twist=twist,
        finger=finger_bar,
        radius=radius_bar,
        finger_friction=mu_bar,
        force=force_bar,
    )
