"""A run of `slide` in a few numbers: the same words in the terminal and in the report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pushwise.checks import counted
from pushwise.identification.belief import centre_error
from pushwise.physics.model import ObjectModel
from pushwise.show.quantities import duration, millimetres, point, probability
from pushwise.sliding.outcome import Outcome, Phase
from pushwise.typing import Array

__all__ = ["NOT_COUNTED", "CentreTruth", "centre_truth", "phase_results", "total_time"]

NOT_COUNTED = "without compiling and writing the report"
"""What the total time leaves out: neither depends on the run."""

_CONTAINS_95 = 5.9915  # of the chi-square distribution with two degrees of freedom


@dataclass(frozen=True, eq=False)
class CentreTruth:
    """The true centre of mass, where a world knows it, next to the estimated one."""

    centre: Array
    """The true centre of mass [m] in the grid frame, shape (2,)."""
    off: float
    """Distance of the estimated one [m]."""
    within: bool | None
    """Whether it is within the 95 % ellipse of the estimate; None where there is no ellipse."""

    @property
    def where(self) -> str:
        """Where it is, seen from the ellipse of the estimate; empty without one."""
        if self.within is None:
            return ""
        return f"{'within' if self.within else 'outside'} the 95 % ellipse"

    def __str__(self) -> str:
        """Return how far off the estimate is."""
        where = f", {self.where}" if self.where else ""
        return f"{millimetres(self.off)} from the true one{where}"


def centre_truth(outcome: Outcome, truth: ObjectModel | None) -> CentreTruth | None:
    """Compare the believed centre of mass with the true one; None where either is missing."""
    belief = outcome.belief
    if belief is None or truth is None:
        return None
    off = belief.centre_of_mass - truth.centre_of_mass
    within = None
    if belief.centre_covariance is not None:
        within = bool(off @ np.linalg.solve(belief.centre_covariance, off) <= _CONTAINS_95)
    return CentreTruth(truth.centre_of_mass, float(np.hypot(*off)), within)


def total_time(outcome: Outcome) -> str:
    """Return how long all phases took together."""
    return duration(sum(outcome.seconds.values()))


def phase_results(
    outcome: Outcome, truth: ObjectModel | None = None
) -> dict[Phase, tuple[str, ...]]:
    """Return what each phase found, one fact each, of the phases that found something."""
    grid, found, goal, plan = outcome.grid, outcome.found, outcome.goal, outcome.plan
    followed, grasp = outcome.followed, outcome.grasp
    said: dict[Phase, tuple[str, ...]] = {}
    if grid is not None:
        length, width = 1e3 * np.ptp(grid.outline, axis=0)
        said[Phase.LOOK] = (f"{length:.0f} x {width:.0f} mm, {grid.n_cells} cells",)
    if Phase.EXPLORE in outcome.seconds:
        said[Phase.EXPLORE] = (counted(len(outcome.records), "push", "pushes"),)
    if found is not None:
        error = centre_error(found.posterior.centre_of_mass_covariance)
        centre = f"centre of mass at {point(found.model.centre_of_mass)}"
        said[Phase.IDENTIFY] = (centre, f"standard error {error}")
    elif outcome.belief is not None:
        said[Phase.IDENTIFY] = ("nothing learned: mass and friction assumed to be uniform",)
    if (true := centre_truth(outcome, truth)) is not None:
        said[Phase.IDENTIFY] += (f"{true}",)
    if goal is not None:
        fall = outcome.fall_probability
        risk = "unknown" if fall is None else probability(fall)
        planned = "no plan found, steered on the way"
        if plan is not None:
            planned = f"{counted(len(plan.pushes), 'push', 'pushes')} planned"
        over = f"{1e3 * goal.overhang:.0f} mm over the edge, fall risk {risk}"
        said[Phase.PLAN] = (f"{over}; {planned}",)
    if followed is not None:
        pushes = counted(len(followed.records), "push", "pushes")
        where = "another goal, chosen on the way" if outcome.other_goal else "the goal"
        said[Phase.FOLLOW] = (f"{pushes}, {millimetres(followed.error)} from {where}",)
    if grasp is not None:
        lifted = f"lifted by {1e3 * grasp.raised:.0f} mm"
        said[Phase.GRASP] = (lifted if grasp.held else f"slipped out, {lifted}",)
    return said
