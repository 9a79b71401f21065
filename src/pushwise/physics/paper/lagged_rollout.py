"""A whole push with the paper's friction, against the motion at the start of each step.

The loop of `kernels.rollout` with the step of `lagged_step`. The paper's action is a force on a
cell, so there is no finger and no contact.
"""

import numpy as np

from pushwise.compilation import compiled, compiled_allocating
from pushwise.physics.kernels.action import Action
from pushwise.physics.kernels.contact import SEPARATE, Touch
from pushwise.physics.kernels.load import Body, Ground, find_support
from pushwise.physics.kernels.rollout import (
    DONE,
    FULL,
    NO_SOLUTION,
    TIPPED,
    Clock,
    Work,
    changes_support,
    next_goal,
    rest_load,
    set_up,
    starting,
    write_step,
)
from pushwise.physics.kernels.state import moved
from pushwise.physics.kernels.step import StepProblem
from pushwise.physics.kernels.track import Track, write_instant
from pushwise.physics.paper.hinge_qp import FAILED
from pushwise.physics.paper.lagged_step import friction_directions, lagged_twist
from pushwise.typing import Array

__all__ = ["roll_lagged"]


@compiled_allocating
def _lagged_twist(p: StepProblem) -> tuple[bool, float, float, float]:
    """Return the twist at the end of a step with friction against the arriving motion."""
    A = np.array([[p.m, 0.0, -p.sy], [0.0, p.m, p.sx], [-p.sy, p.sx, p.J]])
    u = np.array([p.ux, p.uy, p.uw])
    momentum = A @ u + np.array([p.ix, p.iy, p.iw])
    free = np.linalg.solve(A, momentum)
    offsets = np.column_stack((p.rx, p.ry))
    arriving = np.column_stack((u[0] - u[2] * p.ry, u[1] + u[2] * p.rx))
    without = np.column_stack((free[0] - free[2] * p.ry, free[1] + free[2] * p.rx))
    directions = friction_directions(arriving, without)
    v, _, status = lagged_twist(offsets, directions, p.c * p.dt, A, momentum)
    return status != FAILED, v[0], v[1], v[2]


@compiled
def roll_lagged(
    body: Body,
    ground: Ground,
    action: Action,
    pose: Array,
    twist: Array,
    clock: Clock,
    work: Work,
    track: Track,
) -> tuple[int, int]:
    """Simulate a force on a cell from a pose and a twist, (3,) each, as `roll` does."""
    s = starting(pose, twist)
    room = track.mode.shape[0]
    find_support(body, ground, s.x, s.y, s.th, work.supported)
    ending = DONE if rest_load(body, ground, work) else TIPPED
    now = 0.0
    steps = int(np.int64(0))  # a literal would compile what it is passed to once more
    write_instant(track, steps, now, s, 0.0, 0.0)
    end = next_goal(body, clock, now, steps + 1, s)
    while ending == DONE and end > now:
        if changes_support(body, ground, s, end - now, work) and not rest_load(body, ground, work):
            ending = TIPPED
            break
        setup = set_up(body, ground, action, s, now, end, end - now, work)
        holds, vx, vy, w = _lagged_twist(setup.problem)
        if not holds:
            ending = NO_SOLUTION
            break
        if steps == room:
            ending = FULL
            break
        touch = Touch(mode=SEPARATE, first=-1, second=-1, vx=vx, vy=vy, w=w, fx=0.0, fy=0.0)
        s = moved(body, s, setup.problem, touch)
        now = end
        write_step(track, steps, body, s, setup.drive, touch)
        track.span[steps] = setup.problem.dt
        steps += 1
        write_instant(track, steps, now, s, 0.0, 0.0)
        end = next_goal(body, clock, now, steps + 1, s)
    return ending, steps
