"""What pushes revealed about an object, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pushwise.geometry.metric import cell_distance
from pushwise.identification.belief import centre_error
from pushwise.identification.calibration import NUISANCES
from pushwise.identification.free_slide import is_free
from pushwise.identification.objective import centre_off
from pushwise.identification.posterior import Posterior
from pushwise.identification.prior import Prior
from pushwise.identification.record_quality import contradicts, jumps, misses
from pushwise.physics.constants import GRAVITY
from pushwise.physics.push import Push
from pushwise.records.finger_path import kept_up_speed
from pushwise.typing import Integers

__all__ = ["UNKNOWN", "outliers", "setup_errors", "statements", "total_mass_determined"]


UNKNOWN = 0.3  # an uncertainty reduced by less than this share counts as not determined
COARSE = 0.05  # of the object's length: a centre of mass with a larger error is known roughly
ASSUMED = 0.75  # of a variance: if more is due to what is believed of friction, that is said
SLOW = 0.01  # m; pushes after which the object would coast by less end where models say
# What inertia adds to slow pushes is less than the errors of models: in MuJoCo, whose friction
# yields a little, coasting by 2 mm gave masses wrong by half, with a standard error of 6 %. A real
# steel block that would coast by 5 to 10 mm got 0.4 instead of 0.73 kg, with one of 15 %.
# So twice that is required.
COASTS = 0.02  # m
CONTRADICTS = 3.0  # standard deviations by which a stated centre of mass may be off
MISPLACED = 0.01  # m; larger errors of tip or markers are not those of a calibration


def statements(posterior: Posterior, *, fitted: bool, error: float) -> list[str]:
    """Return what is known, what is not, and what looks wrong, as sentences.

    Args:
        posterior: What is known.
        fitted: Whether the model is where the pushes, forces included, fit best.
        error: Mean distance between predicted and observed ends of the pushes [m].

    """
    return [
        *_doubts(posterior, error if fitted else 0.0),
        _centre(posterior),
        _total(posterior, fitted=fitted),
        _loads(posterior),
        *_bounds(posterior),
        *_setup(posterior),
        *outliers(posterior).values(),
    ]


def _doubts(posterior: Posterior, error: float) -> list[str]:
    """Return why the log as a whole looks wrong, as sentences; usually it does not.

    Args:
        posterior: What is known.
        error: Mean distance between predicted and observed ends [m] where the pushes fit best.

    """
    refined, problem = posterior.refined, posterior.problem
    used = [i for i in range(len(problem.records)) if i not in problem.flaws]
    check = "check the grid, the frames of object and finger, and the sign and the unit of theta"
    misfits = [
        i for i in used if i in refined.left_out or contradicts(refined.weight[problem.owner == i])
    ]
    found = []
    if len(misfits) > 1 and 2 * len(misfits) >= len(used):
        found.append(
            f"{len(misfits)} of {len(used)} pushes fit no model, so do not trust this one: {check}."
        )
    elif _coasting(posterior) <= SLOW and misses(error, _moved(posterior, used)):
        found.append(
            f"the model misses the ends of its own pushes by {1e3 * error:.0f} mm on average, so "
            f"do not trust it: {check}."
        )
    if (off := _misplaced(posterior)) > MISPLACED:
        found.append(
            f"tip or markers would have to be off by {1e3 * off:.0f} mm, which is more than a "
            f"calibration is, so do not trust this model: {check}."
        )
    if posterior.determined == 0:
        found.append("the pushes determine nothing: what follows was believed before them.")
    angles = np.concatenate([problem.records[i].pose[:, 2] for i in used])
    if len(used) > 1 and np.ptp(angles) == 0.0:
        found.append("theta is the same in every sample: is it measured?")
    return found


def _moved(posterior: Posterior, used: Sequence[int]) -> float:
    """Return how far the cells were moved by some pushes, on average [m]."""
    problem = posterior.problem
    ends = (problem.records[i].pose[[0, -1]] for i in used)
    return float(np.mean([cell_distance(problem.grid, first, last) for first, last in ends]))


def _misplaced(posterior: Posterior) -> float:
    """Return the larger of the estimated errors of tip and markers [m]."""
    errors = setup_errors(posterior)
    if errors is None:
        return 0.0
    return max(float(np.linalg.norm(errors[name][0][:2])) for name in ("tip", "frame"))


def outliers(posterior: Posterior) -> dict[int, str]:
    """Return the indices of pushes that do not fit the others, with what is wrong in words."""
    refined, owner = posterior.refined, posterior.problem.owner
    found = {}
    for i in range(len(posterior.problem.records)):
        mine = refined.weight[owner == i]
        wild = jumps(mine)
        if i in posterior.problem.flaws:
            found[i] = f"left out: {posterior.problem.flaws[i]}"
        elif i in refined.left_out:
            found[i] = (
                f"push {i} was left out, because it does not fit the others or turns on a point of "
                "balance: is its pose wrong?"
            )
        elif contradicts(mine):
            found[i] = f"push {i} does not fit the others: is its pose wrong, or one of theirs?"
        elif wild:
            # A pose that jumps is one bad sample: innovations compare each with the one before.
            times = "once" if wild == 1 else f"{wild} times"
            found[i] = f"push {i}: the pose jumps {times}, as no push could: is a pose wrong?"
    return found


def setup_errors(posterior: Posterior) -> dict[str, tuple[list[float], list[float]]] | None:
    """Return the estimated errors of the set-up with their standard errors, in SI units.

    They are named tip, tool, frame and radius: of the first two x and y or along and left, of the
    frame x, y and angle, and the finger's radius itself. None where the set-up is not in doubt.
    """
    problem, u = posterior.problem, posterior.refined.u
    setup = problem.calibration_at(u)
    if setup is None:
        return None
    radius = problem.finger_at(u).radius
    std = problem.doubts * np.sqrt(np.diag(posterior.covariance)[-NUISANCES:])
    return {
        "tip": (setup.tip.tolist(), std[:2].tolist()),
        "tool": (setup.tool.tolist(), std[2:4].tolist()),
        "frame": (setup.frame.tolist(), std[4:7].tolist()),
        "radius": ([radius], [radius * float(std[7])]),
    }


def _setup(posterior: Posterior) -> list[str]:
    """Return the estimated errors of the set-up as a sentence; none where it is not in doubt."""
    errors = setup_errors(posterior)
    if errors is None:
        return []

    def mm(name: str) -> str:
        (x, y), (dx, dy) = (values[:2] for values in errors[name])
        return f"({1e3 * x:.1f}, {1e3 * y:.1f}) mm (+/- {1e3 * dx:.1f}, {1e3 * dy:.1f})"

    (radius,), (radius_std,) = errors["radius"]
    angle, angle_std = np.degrees([values[2] for values in errors["frame"]])
    friction = posterior.problem.finger_at(posterior.refined.u).friction
    return [
        f"set-up in doubt, so it was estimated: tip off by {mm('tip')}, tool by {mm('tool')} along "
        f"and left of a push, grid at {mm('frame')} in the tracked frame, turned by {angle:.1f} "
        f"degrees (+/- {angle_std:.1f}); finger radius {1e3 * radius:.1f} mm (+/- "
        f"{1e3 * radius_std:.1f}), friction {friction:.2f}."
    ]


def _centre(posterior: Posterior) -> str:
    error = centre_error(posterior.centre_of_mass_covariance)
    centre = posterior.problem.model(posterior.refined.u).centre_of_mass
    x, y = np.round(1e3 * centre, 1) + 0.0  # no minus before a zero
    place = f"({x:.1f}, {y:.1f}) mm, standard error {error}"
    rough = error.along > COARSE * float(np.ptp(posterior.problem.grid.outline, axis=0).max())
    if posterior.problem.prior.centre is not None and not rough:
        return _stated_centre(posterior, place)
    anything = posterior.problem.prior.friction_spread is None and _rests_on_friction(posterior)
    if anything or posterior.centre_learned < UNKNOWN:
        known = f"centre of mass not determined: at {place}"
    elif rough:
        known = f"centre of mass known roughly: at {place}"
    else:
        known = f"centre of mass at {place}"
    return f"{known}{_believed_of_friction(posterior)}."


def _rests_on_friction(posterior: Posterior) -> bool:
    """Return whether most of the doubt about the centre of mass is that about friction."""
    return posterior.centre_assumed >= ASSUMED


def _believed_of_friction(posterior: Posterior) -> str:
    """Return how far a centre of mass rests on what is believed of friction, as a clause."""
    spread = posterior.problem.prior.friction_spread
    if not _rests_on_friction(posterior):
        return ""
    if spread is None:
        return ", because nothing is believed of how friction varies; flick the object"
    verb = "assumed" if spread == Prior().friction_spread else "stated"
    even = centre_error(posterior.centre_covariance_of_even_friction).along
    return (
        f", for friction that is {verb} to vary by {spread:.0%} over the object "
        f"({1e3 * even:.1f} mm if it were known not to vary); flicks would show it"
    )


def _stated_centre(posterior: Posterior, found: str) -> str:
    """Return what the pushes add to a centre of mass that was stated."""
    prior = posterior.problem.prior
    x, y = 1e3 * np.array(prior.centre)
    doubt = 1e3 * prior.centre_doubt
    stated = f"centre of mass stated at ({x:.1f}, {y:.1f}) mm, standard error {doubt:.1f} mm"
    (off,) = np.linalg.norm(centre_off(posterior.problem, posterior.refined.u)[0], axis=1)
    if off > CONTRADICTS:
        return (
            f"{stated}, but the pushes put it at {found}: is the statement wrong, or does friction "
            "vary more than the prior allows?"
        )
    if posterior.centre_learned < UNKNOWN:
        return f"{stated}; the pushes add nothing to that."
    return f"{stated}; together with the pushes, at {found}."


def total_mass_determined(posterior: Posterior) -> bool:
    """Return whether the pushes determine the total mass.

    Measured forces determine weight times friction; only inertia separates the two.
    """
    after, before = posterior.total_mass_log_std
    return after <= (1.0 - UNKNOWN) * before and _coasting(posterior) > COASTS


def _coasting(posterior: Posterior) -> float:
    """Return how far the object would coast after the fastest push [m]."""
    model = posterior.problem.model(posterior.refined.u)
    friction = model.mean_friction
    speed = 0.0
    for i in posterior.problem.used:
        record = posterior.problem.records[i]
        speed = max(speed, float(np.hypot(*record.twist[:2])))
        if isinstance(record.push, Push):
            speed = max(speed, kept_up_speed(record.push))
        elif not is_free(record):
            return np.inf  # a given force accelerates the mass directly
    return speed**2 / (2.0 * friction * GRAVITY)


def _total(posterior: Posterior, *, fitted: bool) -> str:
    after = posterior.total_mass_log_std[0]
    total = posterior.problem.model(posterior.refined.u).total_mass
    if fitted and total_mass_determined(posterior):
        return f"total mass {total:.3f} kg, standard error {100 * after:.1f} %."
    if not any(steady.any() for steady in posterior.problem.steady):
        return "total mass not determined: that requires forces measured during steady pushing."
    if not fitted:
        return "total mass not determined: this method does not fit forces."
    after = posterior.total_load_log_std
    return (
        f"total friction force {posterior.load.sum():.2f} N, standard error {100 * after:.1f} %; "
        "total mass not determined: that requires pushes so fast that the object coasts."
    )


def _loads(posterior: Posterior) -> str:
    unknown = np.flatnonzero(posterior.load_known < UNKNOWN)
    n = posterior.problem.grid.n_cells
    if len(unknown) == 0:
        return "friction load of every cell at least partly determined."
    if len(unknown) == n:
        return "friction load not determined for any single cell, only for sums over many cells."
    return f"friction load of cells {_ranges(unknown)} not determined."


def _ranges(cells: Integers) -> str:
    """Write indices as ranges: 3-9, 12."""
    runs = np.split(cells, np.flatnonzero(np.diff(cells) > 1) + 1)
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)


def _bounds(posterior: Posterior) -> list[str]:
    """Return which cells are at an upper bound."""
    model = posterior.problem.model(posterior.refined.u)
    prior = posterior.problem.prior
    found = []
    for what, values, limit in (
        ("mass", model.mass, prior.max_mass),
        ("friction", model.friction, prior.max_friction),
    ):
        if limit is not None and (values >= limit).any():
            cells = _ranges(np.flatnonzero(values >= limit))
            found.append(f"{what} of cells {cells} is at its upper bound {limit:g}.")
    return found
