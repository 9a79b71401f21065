"""Descent by PyTorch's automatic differentiation through the full LCP, a baseline of the paper.

The loss is Eq. 1: from each observed state predict the next observed pose by one step of the LCP in
3n coordinates, under the measured force at the touched cell. Requires the extra ``torch``, records
with forces, and patience: a step of the LCP costs as much as thousands of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.extras import require
from pushwise.identification.methods.descent import DECAY, RATE
from pushwise.identification.methods.search import OutOfBudget, Search
from pushwise.identification.problem import Problem
from pushwise.physics.paper.lagged_step import cell_velocities, table_offsets
from pushwise.records.record import PushRecord
from pushwise.typing import Array

if TYPE_CHECKING:
    import torch

__all__ = ["search_by_autograd"]


STEPS = 8  # predicted steps per push: samples are thinned to this many


class _ObservedStep(NamedTuple):
    """One observed state, the force on it, and the pose observed next."""

    pose: Array  # (3,)
    velocities: Array  # (n, 3) of the cells
    wrenches: Array  # (n, 3) on the cells
    dt: float
    seen: Array  # (3,)


def search_by_autograd(search: Search) -> None:
    """Follow gradients that PyTorch computes, all pushes at once."""
    torch = require("torch", extra="torch", purpose="method 'autograd'")
    problem, bounds = search.problem, search.bounds
    steps = [step for i in problem.used for step in _steps(problem, problem.records[i])]
    if not steps:
        raise PushwiseError(
            "method autograd learns from single steps; give records of three samples or more."
        )
    n = problem.grid.n_cells
    x = bounds.middle
    rate = RATE
    while True:
        if search.spent + 2 > search.budget:
            raise OutOfBudget
        point = torch.tensor(x, requires_grad=True)
        mass = bounds.max_mass * point[:n]
        friction = bounds.max_friction * point[n:]
        search.task.counter.add()
        total = sum((_distance(problem, mass, friction, s) for s in steps), point.new_zeros(()))
        total.backward()
        assert point.grad is not None
        gradient = point.grad.numpy()
        size = np.abs(gradient).max()
        if size > 0.0:
            x = bounds.clip(x - rate * gradient / size)
        search.error(x)
        rate *= DECAY


def _distance(
    problem: Problem, mass: torch.Tensor, friction: torch.Tensor, s: _ObservedStep
) -> torch.Tensor:
    """Return the root mean square error [m] of the cells one step ahead."""
    import torch

    from pushwise.physics.paper.lcp_torch import lcp_twist

    twist = lcp_twist(problem.grid, mass, friction, s.pose, s.velocities, s.wrenches, s.dt)
    offset = torch.tensor(s.pose - s.seen) + s.dt * twist
    arm = torch.tensor(table_offsets(problem.grid.centres, s.pose))
    dx = offset[0] - offset[2] * arm[:, 1]
    dy = offset[1] + offset[2] * arm[:, 0]
    return torch.sqrt(torch.mean(dx**2 + dy**2) + 1e-12)


def _steps(problem: Problem, record: PushRecord) -> list[_ObservedStep]:
    """Thin a record to a few states, each with its arriving velocity and the force on it.

    No state is the first, whose velocity is not observed: a twist at the start makes no difference.
    """
    assert record.force is not None and record.finger is not None  # `Method.cannot_use` sees to it
    picked = np.unique(np.linspace(0, len(record.t) - 1, STEPS + 2).astype(int))
    grid = problem.grid
    found = []
    for a, b, c in zip(picked, picked[1:], picked[2:], strict=False):
        twist = (record.pose[b] - record.pose[a]) / (record.t[b] - record.t[a])
        offsets = table_offsets(grid.centres, record.pose[b])
        near = offsets + record.pose[b, :2] - record.finger[b]
        wrenches = np.zeros((grid.n_cells, 3))
        cell = int(np.argmin(np.hypot(near[:, 0], near[:, 1])))
        wrenches[cell, :2] = record.force[b + 1 : c + 1].mean(axis=0)
        found.append(
            _ObservedStep(
                record.pose[b],
                cell_velocities(offsets, twist),
                wrenches,
                float(record.t[c] - record.t[b]),
                record.pose[c],
            )
        )
    return found
