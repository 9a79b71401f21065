"""Friction loads from observed motion alone, by linear least squares: no start, no step size.

While the finger pushes slowly, friction balances its force, which passes through the contact.
Therefore the moment of friction about the contact vanishes,

    sum_i c_i (r_i - rho) x v_i / |v_i| = 0

with c_i the load, r_i the position and v_i the velocity of cell i, rho the contact. This is linear
in c, with one equation per pair of samples (after Yoshikawa and Kurisu 1991 and Lynch 1993). It is
solved for loads c_i >= 0 of mean one, regularised towards a uniform and smooth load. An object that
starts in motion, that slides on when the finger stops, or whose finger is raised, obeys no such
equation, and is passed over. The finger's height, which shifts the load by a force that is not
known here, and an anisotropic table are ignored: the result serves as a start for `refine`.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls

from pushwise.geometry.compiled import feature_normal, nearest_feature
from pushwise.identification.methods.task import Task
from pushwise.identification.objective import Refined, linearize_with_best_drift
from pushwise.identification.problem import Problem
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Push
from pushwise.records.record import PushRecord
from pushwise.typing import Array

__all__ = ["convex", "convex_model"]


TRAVEL = 5e-3  # m of motion between the samples compared: more than noise, less than a turn
FOLLOWS = 0.2  # of this motion: where the finger moves less, the object slides on by itself
TOUCHING = 4e-3  # m: a finger nearer than this, noise included, touches
MOMENT_NOISE = 0.1  # of the object's size: how precise an equation is
LEAST = 0.02  # of the mean load: every cell carries something


def convex(task: Task) -> Refined:
    """Take the loads of `convex_model` as the result; counts as one simulation."""
    task.counter.add()
    u = task.problem.unknowns_of(convex_model(task.problem))
    # Not counted: examining the result is not searching.
    return linearize_with_best_drift(task.problem, u, task.noise)


def convex_model(problem: Problem) -> ObjectModel:
    """Return the model with the loads found and the prior's friction everywhere."""
    grid = problem.grid
    n = grid.n_cells
    rows = [row for i in problem.used for row in _moments(problem, problem.records[i])]
    size = 0.5 * np.sqrt(grid.area)
    equations = np.array(rows).reshape(-1, n) / (MOMENT_NOISE * size * n)
    # Deviations from a uniform load, in the pattern of the prior, and the total: one linear system.
    pattern = problem.mass_factor @ problem.mass_factor.T - problem.prior.mass_doubt**2
    root = np.linalg.cholesky(np.linalg.inv(pattern + 1e-9 * np.eye(n))).T
    A = np.concatenate([equations, root, np.full((1, n), 10.0)])
    b = np.concatenate([np.zeros(len(equations)), root @ np.ones(n), [10.0 * n]])
    load, _ = nnls(A, b)
    load = np.maximum(load, LEAST)
    mass = problem.prior.mass * load / load.sum()
    return ObjectModel(grid, mass, problem.prior.friction)


def _moments(problem: Problem, record: PushRecord) -> list[Array]:
    """Return the moments of unit loads at the cells about the contact, (n,) per pair of samples."""
    if not isinstance(record.push, Push) or record.finger is None or record.twist.any():
        return []
    outline = problem.grid.outline
    ox, oy = np.ascontiguousarray(outline[:, 0]), np.ascontiguousarray(outline[:, 1])
    reach = 0.5 * np.sqrt(problem.grid.area)
    found = []
    a = 0
    for b in range(1, len(record.t)):
        step = record.pose[b] - record.pose[a]
        if np.hypot(step[0], step[1]) + reach * abs(step[2]) < TRAVEL:
            continue
        x, y, theta = record.pose[a] + 0.5 * step
        cos, sin = np.cos(theta), np.sin(theta)
        turn = np.array([[cos, -sin], [sin, cos]])
        q = turn.T @ (0.5 * (record.finger[a] + record.finger[b]) - (x, y))
        feature, distance = nearest_feature(q[0], q[1], ox, oy)
        way = float(np.hypot(*(record.finger[b] - record.finger[a])))
        lifted = record.push.raised and record.t[b] > record.push.duration + 1e-9
        pushed = way > FOLLOWS * TRAVEL and not lifted
        if pushed and distance - problem.finger.radius < TOUCHING and distance > 0.0:
            _, nx, ny, _ = feature_normal(feature, q[0], q[1], ox, oy)
            contact = q - distance * np.array([nx, ny])
            # Velocities in the grid frame; their magnitude does not matter.
            vx, vy = turn.T @ step[:2]
            r = problem.grid.centres
            v = np.column_stack([vx - step[2] * r[:, 1], vy + step[2] * r[:, 0]])
            v /= np.maximum(np.hypot(v[:, 0], v[:, 1]), 1e-6)[:, None]
            arm = r - contact
            found.append(arm[:, 0] * v[:, 1] - arm[:, 1] * v[:, 0])
        a = b
    return found
