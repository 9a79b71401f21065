"""What `identify` hands to a method: the problem, the options, and a counter of simulations.

Also the loss by which methods are compared, as in the paper's experiments: how far the predicted
ends of pushes are from the observed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pushwise.checks import non_negative_integer, positive_number
from pushwise.compilation import working_clock
from pushwise.errors import SimulationError
from pushwise.geometry.metric import cell_distance
from pushwise.identification.noise import StatedNoise
from pushwise.identification.problem import Problem
from pushwise.identification.push_fit import predicted_end
from pushwise.identification.push_start import Believed
from pushwise.physics.gradients import loss_and_gradient
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = [
    "SearchOptions",
    "SimulationCounter",
    "Task",
    "end_error",
    "end_gradient",
    "end_miss",
    "fit_error",
]


@dataclass(frozen=True)
class SearchOptions:
    """How long and how a method searches; each method uses what applies to it."""

    budget: float = 50.0
    """Number of simulations of all pushes that a method may use if it does not end by itself."""
    batch: bool = True
    """Whether "descent" follows all pushes at once instead of one by one."""
    seed: int = 0
    """Random seed."""
    time_limit: float = 120.0
    """Time after which a search ends with the best model so far, and a warning [s]. The default
    method ends by itself in a fraction of that; "feet" may need more."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        positive_number("budget", self.budget)
        positive_number("time_limit", self.time_limit)
        non_negative_integer("seed", self.seed)


class SimulationCounter:
    """Counts how often the set of pushes has been simulated, and the time since the start."""

    def __init__(self) -> None:
        """Start at zero, now."""
        self.count = 0.0
        """Simulations so far; one of a few pushes counts as their share of all pushes."""
        self._began = working_clock()

    def add(self, simulations: float = 1.0) -> None:
        """Count simulations; call this before they are run, so that failed ones count, too."""
        self.count += simulations

    @property
    def seconds(self) -> float:
        """Time since the start [s], without that of compiling."""
        return working_clock() - self._began


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given."""

    problem: Problem
    """The pushes, the cells and the prior."""
    noise: StatedNoise
    """Sensor noise as the records state it."""
    options: SearchOptions
    """Budget and the like."""
    rng: np.random.Generator
    """The only source of randomness."""
    counter: SimulationCounter
    """Where the method counts its simulations."""
    improved: Callable[[ObjectModel, float], None]
    """To be called with each model on the way and its error [m]."""

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.counter.seconds > self.options.time_limit

    def error(self, u: Array) -> float:
        """Return the loss at u [m]; counts as one simulation."""
        self.counter.add()
        return fit_error(self.problem, u)


def end_error(problem: Problem, model: ObjectModel) -> float:
    """Return the loss of the paper's experiments for a model and the finger as given [m].

    This is the mean over pushes of the root mean square distance between predicted and observed
    cells at the end of a push.
    """
    return _mean_distance(problem, Believed(model, problem.finger, None))


def fit_error(problem: Problem, u: Array) -> float:
    """Return the same loss at u [m], with the finger and the set-up there, too."""
    return _mean_distance(problem, problem.believed(u))


def _mean_distance(problem: Problem, believed: Believed) -> float:
    """Return the mean distance between predicted and observed ends of the pushes in use [m]."""
    errors = [end_miss(problem, i, believed) for i in problem.used]
    return float(np.mean(errors))


def end_miss(problem: Problem, i: int, believed: Believed) -> float:
    """Return the distance between the predicted and the observed end of a push [m]."""
    end = predicted_end(problem, i, believed)[0]
    return float(cell_distance(problem.grid, end, problem.records[i].pose[-1]))


def end_gradient(
    problem: Problem, model: ObjectModel, pushes: Sequence[int]
) -> tuple[float, Array, Array]:
    """Return the loss over some pushes [m] and its gradients in mass and friction, (n,) each."""
    values, n = [], problem.grid.n_cells
    mass, friction = np.zeros(n), np.zeros(n)
    for i in pushes:
        try:
            value, gradient = loss_and_gradient(
                model,
                [problem.ends[i]],
                finger=problem.finger,
                physics=replace(problem.physics, dt=problem.step_of(problem.records[i])),
            )
        except SimulationError:  # no model moves an object that a push cannot be simulated with
            values.append(end_miss(problem, i, Believed(model, problem.finger, None)))
            continue
        values.append(value)
        mass += gradient.mass
        friction += gradient.friction
    return float(np.mean(values)), mass / len(pushes), friction / len(pushes)
