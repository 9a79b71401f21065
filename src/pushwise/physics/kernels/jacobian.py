"""Derivatives of every pose of a rollout, for least squares.

Where `adjoint` carries one loss back over all steps, this carries all parameters forward: each
step's derivatives (from the same `step_adjoint`, once for each number of the state) are chained
into ``d pose / d z`` at every instant. Planar motion sees the masses only through four moments,
so z is short:

    z = (c_1 ... c_n, m, cx, cy, J, finger friction, finger radius, x, y, theta)

with c_i = mu_i m_i g [N] the friction load of cell i, m, (cx, cy), J total mass, centre of mass and
second moment about the grid origin (grid frame), and (x, y, theta) the pose at the start. The
object must be fully supported, each cell by its own weight.
"""

from typing import NamedTuple

import numpy as np

from pushwise.compilation import compiled
from pushwise.physics.kernels.adjoint_step import step_adjoint
from pushwise.physics.kernels.contact import SEPARATE
from pushwise.physics.kernels.rollout import Action, Track, drive_between, state_at
from pushwise.physics.kernels.step import balance
from pushwise.physics.kernels.substep import Body, State, step_problem
from pushwise.physics.kernels.support import Ground
from pushwise.physics.kernels.tilt import tilt_adjoint, tilt_before
from pushwise.typing import Array

MOMENTS = 4  # m, cx, cy, J follow the n loads in z
EXTRA = MOMENTS + 2 + 3  # numbers of z that are not loads


class Jacobian(NamedTuple):
    """Derivatives in z, shape (n + EXTRA,), of what a rollout gives."""

    pose: Array  # (T + 1, 3, n + EXTRA)
    impulse: Array  # (T, 2, n + EXTRA); (0, 2, n + EXTRA) when not asked for


@compiled
def roll_jacobian(
    body: Body, ground: Ground, action: Action, track: Track, n: int, with_impulse: bool
) -> Jacobian:
    """Differentiate all poses of a track, and its impulses if asked for."""
    Q = body.bx.size
    each = Q // n
    P = n + EXTRA
    T = track.mode.shape[0]
    rx = np.empty(Q)
    ry = np.empty(Q)
    c = ground.mu * ground.base
    c_bar = np.zeros(Q)
    poses = np.zeros((T + 1, 3, P))
    impulses = np.zeros((T if with_impulse else 0, 2, P))
    state = np.zeros((6, P))
    for i in range(3):
        state[i, n + MOMENTS + 2 + i] = 1.0
        poses[0, i, n + MOMENTS + 2 + i] = 1.0
    tilts = action.height > 0.0  # then the load of a step depends on the impulse before it
    load = np.empty(Q) if tilts else c
    load_bar = np.zeros(Q) if tilts else c_bar
    force = np.zeros((2, P))  # of the step before
    outputs = 8 if with_impulse or tilts else 6
    new = np.empty((8, P))
    for k in range(T):
        still = (
            track.mode[k, 0] == SEPARATE
            and np.abs(track.twist[k]).max() == 0.0
            and np.abs(track.mid[k]).max() == 0.0
        )
        if not still:
            h = track.t[k + 1] - track.t[k]
            s = state_at(track, k)
            drive = drive_between(action, track.t[k], track.t[k + 1])
            mid_th = s.th + 0.5 * h * s.w
            if tilts:
                tilt = tilt_before(body, c, action.height, track.t, track.impulse, k, mid_th, load)
            p = step_problem(body, s, drive, ground.board, h, load, rx, ry)
            at_solution = balance(p, track.mid[k, 0], track.mid[k, 1], track.mid[k, 2])
            for row in range(outputs):
                one = np.zeros(8)
                one[row] = 1.0
                d = step_adjoint(
                    body,
                    s,
                    p,
                    at_solution,
                    drive,
                    track.mode[k, 0],
                    track.mode[k, 1],
                    track.mode[k, 2],
                    (track.mid[k, 0], track.mid[k, 1], track.mid[k, 2]),
                    (track.impulse[k, 0], track.impulse[k, 1]),
                    State(one[0], one[1], one[2], one[3], one[4], one[5], 0, -1, -1),
                    (one[6], one[7]),
                    load_bar,
                )
                by_th = d.th
                by_w = d.w
                if tilts:
                    e = tilt_adjoint(
                        body.bx, body.by, c, tilt, body.m, action.height, mid_th, load_bar, c_bar
                    )
                    load_bar[:] = 0.0
                    by_th += e.th
                    by_w += 0.5 * h * e.th
                for j in range(P):
                    new[row, j] = (
                        d.x * state[0, j]
                        + d.y * state[1, j]
                        + by_th * state[2, j]
                        + d.vx * state[3, j]
                        + d.vy * state[4, j]
                        + by_w * state[5, j]
                    )
                if tilts:
                    for j in range(P):
                        new[row, j] += e.fx * force[0, j] + e.fy * force[1, j]
                    new[row, n] += e.m
                for q in range(Q):
                    new[row, q // each] += c_bar[q] / each
                    c_bar[q] = 0.0
                new[row, n] += d.m
                new[row, n + 1] += d.cx
                new[row, n + 2] += d.cy
                new[row, n + 3] += d.J
                new[row, n + 4] += d.mu
                new[row, n + 5] += d.radius
            state[:] = new[:6]
            if with_impulse:
                impulses[k] = new[6:]
            if tilts:
                force[:] = new[6:] / h
        elif tilts:
            force[:] = 0.0
        poses[k + 1] = state[:3]
    return Jacobian(poses, impulses)
