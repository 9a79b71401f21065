"""`identify`: from pushes to a model that knows how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import non_negative_integer, positive_number
from pushwise.errors import PushwiseError
from pushwise.identification.methods.convex import convex
from pushwise.identification.methods.end_loss import fit_error
from pushwise.identification.methods.feet import feet
from pushwise.identification.methods.refine import refine
from pushwise.identification.methods.search import OutOfBudget, Search
from pushwise.identification.methods.search_bounds import Box
from pushwise.identification.objective import best_picture
from pushwise.identification.posterior import Posterior
from pushwise.identification.prior import Prior
from pushwise.identification.problem import Problem
from pushwise.identification.result import Identification, Step
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.records.log import PushLog
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["METHODS", "UNLIMITED", "identify", "stopped_at"]


METHODS = (
    "refine",
    "convex",
    "feet",
    "descent",
    "random",
    "weighted",
    "finite-differences",
    "cma-es",
    "nelder-mead",
    "autograd",
)
UNLIMITED = ("refine", "convex", "feet")  # methods that end by themselves
BUDGET = 50.0  # simulations, for methods that would never end


def identify(
    grid: CellGrid,
    records: Sequence[PushRecord],
    *,
    method: str = "refine",
    finger: Finger | None = None,
    prior: Prior | None = None,
    anisotropy: ArrayLike | None = None,
    budget: float = BUDGET,
    batch: bool = True,
    seed: int = 0,
    callback: Callable[[Step, ObjectModel], None] | None = None,
) -> Identification:
    """Find masses and frictions of the cells from pushes.

    method: "refine" (linear least squares, then Gauss-Newton on simulated pushes), "convex" (the
    first half alone), "feet" (the mean of all triples of feet that explain the pushes), "descent"
    (the paper's Algorithm 1), or one of the methods the paper compares with, see `METHODS`.
    finger: with the friction it is believed to have, by default with the radius that a `PushLog`
    states; its height counts where pushes are simulated, not in "convex" and "autograd". prior:
    what is believed of the object; "refine" and "feet" alone take a stated centre of mass.
    anisotropy: of the board, if known, as in `simulate`; it counts where the height does. budget:
    how many simulations of all pushes the searching methods may use. batch: whether "descent"
    follows all pushes at once or one by one. seed: of all that is random. callback: called with
    each improvement and the model then.
    """
    if method not in METHODS:
        raise PushwiseError(f"method must be one of {', '.join(METHODS)}; got {method!r}.")
    if prior is not None and prior.centre is not None and method not in ("refine", "feet"):
        raise PushwiseError(
            f"method {method} cannot take a stated centre of mass; refine and feet can."
        )
    positive_number("budget", budget)
    rng = np.random.default_rng(non_negative_integer("seed", seed))
    if finger is None and isinstance(records, PushLog) and records.finger_radius is not None:
        finger = Finger(records.finger_radius)
    problem = Problem(
        grid, list(records), finger or Finger(), prior or Prior(), anisotropy=anisotropy
    )
    noise, force_noise = _stated(problem.records)
    history: list[Step] = []

    def tick(model: ObjectModel, error: float) -> None:
        history.append(Step(round(problem.simulations), problem.seconds, error))
        if callback is not None:
            callback(history[-1], model)

    if method == "refine":
        starts = [problem.unknowns_of(convex(problem)), np.zeros(problem.unknowns)]
        refined = refine(
            problem,
            sorted(starts, key=lambda u: fit_error(problem, u)),
            noise=noise,
            force_noise=force_noise,
            tick=lambda u, error: tick(problem.model(u), error),
        )
    elif method == "feet":
        u = feet(
            problem,
            rng,
            noise=noise,
            tick=lambda u: tick(problem.model(u), fit_error(problem, u)),
        )
        refined = best_picture(problem, u, noise=noise, force_noise=force_noise)
    else:
        if method == "convex":
            model = convex(problem)
        else:
            search = Search(
                Box.of(problem),
                budget,
                rng,
                lambda x, error: tick(search.box.model(x), error),
            )
            with suppress(OutOfBudget):
                _searcher(method, batch)(search)
            model = search.box.model(search.best)
        spent = problem.simulations
        refined = best_picture(
            problem, problem.unknowns_of(model), noise=noise, force_noise=force_noise
        )
        problem.simulations = spent  # looking back is not searching
    found = problem.model(refined.u)
    error = fit_error(problem, refined.u)
    problem.simulations -= 1
    tick(found, error)
    return Identification(
        found, problem.finger_at(refined.u), Posterior(problem, refined), tuple(history), method
    )


def stopped_at(
    model: ObjectModel,
    records: Sequence[PushRecord],
    *,
    finger: Finger,
    prior: Prior,
    method: str,
) -> Identification:
    """Return what is known at a model at which a method was stopped; arguments as of `identify`."""
    problem = Problem(model.grid, list(records), finger, prior)
    noise, force_noise = _stated(problem.records)
    u = problem.unknowns_of(model)
    refined = best_picture(problem, u, noise=noise, force_noise=force_noise)
    return Identification(model, finger, Posterior(problem, refined), (), f"{method}, stopped")


def _stated(records: Sequence[PushRecord]) -> tuple[Array | None, float | None]:
    """Return the noise the records state, poses (3,) and forces; None for what they do not."""
    stated = [record.noise for record in records]
    known = [noise for noise in stated if noise is not None]
    if len(known) < len(stated):
        return None, None
    position = max(noise.position for noise in known)
    angle = max(noise.angle for noise in known)
    return np.array([position, position, angle]), max(noise.force for noise in known)


def _searcher(method: str, batch: bool) -> Callable[[Search], None]:
    """Return the function of a searching method; loaded here, because some bring libraries."""
    if method == "descent":
        from pushwise.identification.methods.descent import descend

        return lambda search: descend(search, batch=batch)
    if method == "random":
        from pushwise.identification.methods.baselines import search_randomly

        return search_randomly
    if method == "weighted":
        from pushwise.identification.methods.baselines import search_near_the_best

        return search_near_the_best
    if method == "finite-differences":
        from pushwise.identification.methods.baselines import search_by_differences

        return search_by_differences
    if method == "cma-es":
        from pushwise.identification.methods.baselines import search_by_evolution

        return search_by_evolution
    if method == "nelder-mead":
        from pushwise.identification.methods.baselines import search_by_simplex

        return search_by_simplex
    from pushwise.identification.methods.autograd import search_by_autograd

    return search_by_autograd
