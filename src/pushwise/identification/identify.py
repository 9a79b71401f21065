"""`identify`: from pushes to a model and its uncertainty.

Also what is known at a model that a method was stopped at, and the mean of several identifications.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pushwise.checks import instance_of
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.identification.calibration import NUISANCES
from pushwise.identification.free_slide import free_slide
from pushwise.identification.methods.registry import METHODS, Method, method_named
from pushwise.identification.methods.task import (
    SearchOptions,
    SimulationCounter,
    Task,
    fit_error,
)
from pushwise.identification.mistakes import CHECK, find_mistake
from pushwise.identification.noise import StatedNoise, stated_noise
from pushwise.identification.objective import Refined, linearize_with_best_drift
from pushwise.identification.posterior import Posterior
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.identification.record_quality import check_moved, flaw_of
from pushwise.identification.result import Identification, Step
from pushwise.identification.setup_doubts import doubt_setup
from pushwise.physics.model import ObjectModel, Physics, grid_of
from pushwise.physics.push import Finger
from pushwise.progress import OnProgress, Progress
from pushwise.records.log import PushLog
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import Scan
from pushwise.threads import one_thread

__all__ = ["average", "identify", "stopped_at"]

SPOTS = 3.0  # spread of the load of an object that rests on spots, by which cells differ 20-fold


@one_thread()
def identify(
    grid: CellGrid | ObjectModel | Scan,
    records: Sequence[PushRecord],
    *,
    method: str = "refine",
    finger: Finger | None = None,
    prior: Prior | None = None,
    physics: Physics = Physics(),
    search: SearchOptions = SearchOptions(),
    progress: OnProgress | None = None,
) -> Identification:
    """Estimate the mass and friction of each cell from pushes.

    Pushes that cannot be used, or contradict the others, are left out, and the summary says so.
    Where most of them cannot have happened as recorded, an error names the likely mistake: angles
    in degrees, x and y swapped, another frame, forces of the wrong sign or unit; see `mistakes`.
    Where the finger is some millimetres inside the object, or off it, while it pushes, the errors
    of the set-up are estimated, too, unless the prior states how large they may be. Long pushes are
    learned from in pieces (see `windows`), and with them the default method also tries a load that
    rests on spots, unless the prior states another spread, and keeps what is more probable.

    Args:
        grid: The object's cells; a scan or a model has them.
        records: The pushes.
        method: "refine" (linear least squares, then Gauss-Newton on simulated pushes), "convex"
            (the linear least squares alone), "feet" (mean of all triples of feet that explain the
            pushes), "descent" (Algorithm 1 of the paper), or one of the paper's baselines; see
            `methods.registry`, which says what each method can use.
        finger: The finger, with the friction it is believed to have; by default with the radius
            that a `PushLog` states.
        prior: What is believed of the object and the set-up before the pushes.
        physics: How pushes are simulated. Cells carry their own weight, so `load` must be "own" and
            `friction` "coulomb". Without a `dt`, steps are longer than those of `simulate`.
        search: Budget, seed and the like of methods that search.
        progress: Called with each model on the way: stage "identify", `done` the number of
            simulations of all pushes, `result` the best `ObjectModel` so far; at the end with the
            model found.

    """
    grid = grid_of(grid)
    chosen = method_named(method)
    prior = instance_of("prior", prior or Prior(), Prior)
    instance_of("finger", finger or Finger(), Finger)
    instance_of("physics", physics, Physics)
    instance_of("search", search, SearchOptions)
    if prior.centre is not None and not chosen.takes_centre:
        able = " and ".join(one.name for one in METHODS.values() if one.takes_centre)
        raise PushwiseError(f"method {method} cannot take a stated centre of mass; {able} can.")
    if physics.load != "own" or physics.friction != "coulomb":
        raise PushwiseError(
            "identification takes physics with load 'own' and friction 'coulomb'; got load "
            f"{physics.load!r} and friction {physics.friction!r}."
        )
    if finger is None and isinstance(records, PushLog) and records.finger_radius is not None:
        finger = Finger(records.finger_radius)
    known = finger is not None
    finger = finger or Finger()
    records = _checked(records)
    if chosen.calibrates:
        finger, prior = doubt_setup(grid, records, finger, prior, radius_known=known)
    problem = Problem(grid, records, finger, prior, physics, finds_height=chosen.finds_height)
    problem = _usable(problem, chosen)
    counter = SimulationCounter()
    total = round(search.budget) if chosen.needs_budget else None
    history = _History(counter, total, progress)
    rng = np.random.default_rng(search.seed)
    task = Task(problem, stated_noise(records), search, rng, counter, history.improved)
    refined = chosen.run(task)
    stated = prior.load_spread is not None or prior.mass_spread != Prior().mass_spread
    if problem.has_windows and chosen.fits_forces and not stated:
        # Long pushes can show whether the object rests on spots, a rim or feet.
        spots = replace(problem, prior=replace(prior, load_spread=SPOTS))
        other = chosen.run(replace(task, problem=spots))
        if _more_probable(task, (spots, other), (problem, refined)):
            problem, refined = spots, other
    if task.out_of_time:
        warnings.warn(
            f"identification ended at its time limit of {search.time_limit:g} s, with the best "
            "model so far; a longer limit may give a better one.",
            PushwiseWarning,
            stacklevel=3,  # what calls identify, beyond its decorator
        )
    found = problem.model(refined.u)
    history.end(found, fit_error(problem, refined.u))  # not counted: the search is over
    return _identification(problem, refined, found, tuple(history.steps), method)


def _more_probable(
    task: Task, one: tuple[Problem, Refined], other: tuple[Problem, Refined]
) -> bool:
    """Return whether the first result explains the pushes better, without those that either left.

    Results that explain different pushes cannot be compared.
    """
    left = one[1].left_out | other[1].left_out
    ours, theirs = (
        found.evidence
        if found.left_out == left
        else linearize_with_best_drift(problem.without(left), found.u, task.noise).evidence
        for problem, found in (one, other)
    )
    return ours > theirs


def _checked(records: Sequence[PushRecord]) -> list[PushRecord]:
    """Return records as a list; refuse anything else."""
    if isinstance(records, PushRecord):
        raise PushwiseError("records must be a list of PushRecords; put a single one in brackets.")
    found = list(records)
    for i, record in enumerate(found):
        if not isinstance(record, PushRecord):
            raise PushwiseError(
                f"records must be PushRecords; records[{i}] is a {type(record).__name__}."
            )
    return found


@one_thread()
def stopped_at(
    model: ObjectModel,
    records: Sequence[PushRecord],
    *,
    finger: Finger,
    prior: Prior,
    method: str,
) -> Identification:
    """Return what is known at a model where a method was stopped; arguments as for `identify`."""
    problem = Problem(model.grid, list(records), finger, prior, finds_height=False)
    problem = _usable(problem, method_named(method))
    u = problem.unknowns_of(model)
    refined = linearize_with_best_drift(problem, u, stated_noise(problem.records))
    posterior = Posterior(problem.without(refined.left_out), refined)
    ended = Step(0, 0.0, fit_error(problem, u))
    return Identification(model, finger, posterior, (ended,), f"{method}, stopped")


@one_thread()
def average(found: Sequence[Identification]) -> Identification:
    """Return the mean of identifications of one object from the same pushes.

    Few pushes may not show which of several hypotheses is right. Friction is linear in the load, so
    the mean load predicts the mean friction for any motion, and where two hypotheses err in
    different ways their mean errs less than either. Averaged are the loads, each as shares of its
    total, the logs of the finger's friction and height, and the errors of the set-up. The
    uncertainty follows from the prior of the first one.
    """
    problem = found[0].posterior.problem
    loads = [one.model.mass * one.model.friction for one in found]
    share = np.mean([load / load.sum() for load in loads], axis=0)
    total = found[0].model.total_mass
    u = problem.unknowns_of(ObjectModel(problem.grid, total * share, problem.prior.friction))
    ends = [one.posterior.refined.u for one in found]
    for one in (problem.order.finger, problem.order.height):
        u[one] = np.mean([end[one] for end in ends])
    if problem.calibrates:
        u[-NUISANCES:] = np.mean([end[-NUISANCES:] for end in ends], axis=0)
    simulations = sum(one.simulations for one in found)
    sigma = found[0].posterior.refined.errors.sigma
    refined = linearize_with_best_drift(problem, u, StatedNoise(sigma, None))
    step = Step(simulations, sum(one.seconds for one in found), fit_error(problem, u))
    names = " and ".join(one.method for one in found)
    return _identification(problem, refined, problem.model(u), (step,), names)


def _usable(problem: Problem, method: Method) -> Problem:
    """Return the problem without the records that cannot be used, and warn of each of these.

    One bad push costs the others nothing; only where none is left is that an error. Of records in
    which the object slides on alone, only that is kept.
    """
    check_moved(problem.grid, problem.records)
    problem.grid.refuse_one_cell_wide()
    if mistake := find_mistake(problem.grid, problem.records, problem.finger):
        raise PushwiseError(mistake)
    radius = problem.finger.radius
    records = [free_slide(problem.grid, one, radius) or one for one in problem.records]
    problem = replace(problem, records=records)
    flaws = problem.found_flaws(np.zeros(problem.unknowns), np.zeros(3))
    simulated = 0 not in flaws
    for i, record in enumerate(records):
        if why := method.cannot_use(record, record.called(i)):
            flaws.setdefault(i, why)
    if len(flaws) == len(records):
        first = flaws[0]
        broken = flaw_of(problem.grid, records[0], problem.finger, records[0].called(0))
        if not simulated and not broken:  # it cannot be simulated from where it starts
            first = f"{first.rstrip('.')}; {CHECK}."
        many = len(records) > 1
        raise PushwiseError(f"no push can be used; the first: {first}" if many else first)
    check_moved(problem.grid, [r for i, r in enumerate(records) if i not in flaws])
    for why in flaws.values():
        warnings.warn(f"left out: {why}", PushwiseWarning, stacklevel=4)
    return replace(problem, flaws=flaws)


class _History:
    """The history of a method, reported as it grows."""

    def __init__(
        self, counter: SimulationCounter, total: int | None, progress: OnProgress | None
    ) -> None:
        self.steps: list[Step] = []
        self._counter = counter
        self._total = total
        self._progress = progress
        self._best: tuple[float, ObjectModel] | None = None

    def improved(self, model: ObjectModel, error: float) -> None:
        """Note a model on the way and its error [m]; report the best one so far."""
        if self._best is None or error < self._best[0]:
            self._best = error, model
        self._note(error, self._best[1])

    def end(self, model: ObjectModel, error: float) -> None:
        """Note and report the model found and its error [m]."""
        self._note(error, model)

    def _note(self, error: float, model: ObjectModel) -> None:
        done = round(self._counter.count)
        self.steps.append(Step(done, self._counter.seconds, error))
        if self._progress is not None:
            text = f"error {1e3 * error:.1f} mm"
            self._progress(Progress("identify", text, done, self._total, model))


def _identification(
    problem: Problem,
    refined: Refined,
    model: ObjectModel,
    history: tuple[Step, ...],
    method: str,
) -> Identification:
    """Return what is known where a method ended; pushes that it left out stay left out."""
    if refined.left_out != problem.left_out:
        problem = problem.without(refined.left_out)
    posterior = Posterior(problem, refined)
    return Identification(model, problem.finger_at(refined.u), posterior, history, method)
