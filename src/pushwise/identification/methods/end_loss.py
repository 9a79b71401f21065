"""The loss of the paper's experiments: how far predicted ends of pushes are from the observed ones.

The mean over pushes of the root mean square distance of the cells at the end. Each call counts as
the simulation of all pushes that it is, or as the share of one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.compilation import interrupts_held
from pushwise.geometry.metric import cell_distance
from pushwise.identification.problem import Problem
from pushwise.physics.gradients import loss, loss_and_gradient
from pushwise.physics.model import ObjectModel, Physics
from pushwise.typing import Array

__all__ = ["end_error", "end_gradient", "fit_error"]


def end_error(problem: Problem, model: ObjectModel) -> float:
    """Return the loss of a model [m]."""
    problem.simulations += 1
    with interrupts_held():
        errors = [
            loss(
                model,
                [record],
                finger=problem.finger,
                physics=Physics(dt=dt, anisotropy=problem.anisotropy),
            )
            for record, dt in zip(problem.ends, problem.steps, strict=True)
        ]
    return float(np.mean(errors))


def fit_error(problem: Problem, u: Array) -> float:
    """Return the loss at u [m], seen with the calibration there."""
    model, calibration = problem.model(u), problem.calibration_at(u)
    if calibration is None:
        return end_error(problem, model)
    problem.simulations += 1
    finger = problem.finger_at(u)
    errors = []
    for i, record in enumerate(problem.records):
        seen = record.pose[-1]
        off = problem.residual(i, model, finger, np.zeros(3), calibration)[-1]
        errors.append(float(cell_distance(problem.grid, seen + off, seen)))
    return float(np.mean(errors))


def end_gradient(
    problem: Problem, model: ObjectModel, pushes: Sequence[int]
) -> tuple[float, Array, Array]:
    """Return the loss over some pushes [m] and its gradients in mass and friction, (n,) each."""
    problem.simulations += len(pushes) / len(problem.records)
    with interrupts_held():
        parts = [
            loss_and_gradient(
                model,
                [problem.ends[i]],
                finger=problem.finger,
                physics=Physics(dt=problem.steps[i], anisotropy=problem.anisotropy),
            )
            for i in pushes
        ]
    return (
        float(np.mean([value for value, _ in parts])),
        np.mean([gradient.mass for _, gradient in parts], axis=0),
        np.mean([gradient.friction for _, gradient in parts], axis=0),
    )
