"""Learn the object of a set of real pushes from some of them, and predict the others.

The load is learned on cells, on feet, or with a simpler model. For comparison, the remaining pushes
are also predicted with a uniform load and, where an object stands on known feet, with these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from pushwise.experiments.real.data import RealSet, grid_over
from pushwise.identification.calibration import Calibration
from pushwise.identification.holdout import PredictedEnds, predicted_ends, uniform_model
from pushwise.identification.identify import average, identify
from pushwise.identification.methods.feet import load_of_feet
from pushwise.identification.methods.task import SearchOptions
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array, Integers

__all__ = [
    "Score",
    "compare",
    "fifth_of",
    "learn",
    "learn_without",
    "nominal_finger",
    "order_of",
    "setup_prior",
    "stated_setup",
    "variants",
]

FINGER_FRICTION = 0.3  # metal on metal
RADIUS_DOUBT = 3e-4  # m
SPREADS = (1.0, 3.0)  # of the load: uneven, or concentrated on feet
TIME_LIMIT = 3600.0  # s; so long that a busy machine changes no result
FEW = 10  # up to this many pushes do not determine a load on cells
SHARE = 0.2  # of a set, from which the published predictions were learned
FINE = 800  # cells of a load that is not learned
NEAR_FEET = 0.025  # m
EDGE = 0.0707  # m; weight of a radian in the combined error of Zhou et al.
ON_CELLS = "identified, on cells"
ON_FEET = "identified, on feet"
SETUP_STATED = "identified, set-up as stated"
CENTRE_UNKNOWN = "identified, centre of mass not stated"
HEIGHT_UNKNOWN = "identified, height of the finger not stated"


@dataclass(frozen=True)
class Score:
    """How well one method predicts the pushes that were not learned from."""

    set: str
    pushes: int  # learned from
    draw: int  # which ones: 0 for the first, else random ones; see `order_of`
    method: str
    mm: float  # mean distance between the tracked origins
    deg: float  # mean difference of the angles
    combined_mm: float  # distance + 70.7 mm per radian
    tested: int
    impossible: int  # of these, pushes that cannot be simulated; predicted to end where they start
    near_feet: float | None  # share of the learned load within 25 mm of the true feet, if known
    seconds: float  # of learning
    # Where the centre of mass was not stated to the method: how far off it is, and its square in
    # standard errors; 5.99 is the limit of the 95 % region.
    centre_mm: float | None = None
    centre_chi2: float | None = None


def setup_prior(data: RealSet, spread: float, radius: float, *, calibrate: bool = True) -> Prior:
    """Return the prior of a set: set-up errors of about a millimetre, and the spread of the load.

    If the end of the finger was not measured, it is uncertain along the push, as a tool is.
    """
    # A tiny doubt about the radius: poses inside the finger are still moved out of it. Whoever
    # states the centre of a plate knows that it is of one material.
    load = Prior(
        friction_spread=0.05 if data.centre is not None else Prior().friction_spread,
        mass_spread=spread,
        mass_length=0.25,
        centre=data.centre,
        finger_doubt=0.4,
        radius_doubt=1e-9,
    )
    if not calibrate:
        return load
    return replace(
        load,
        radius_doubt=RADIUS_DOUBT / radius,
        tip_doubt=1e-3,
        tool_doubt=2e-3 if data.end_estimated else 0.0,
        frame_doubt=1e-3,
        frame_angle_doubt=0.02,
        touching=data.touching,
    )


def learn(
    data: RealSet, records: Sequence[PushRecord], *, calibrate: bool = True
) -> dict[str, Identification]:
    """Identify the object of a set.

    The load is learned on cells, with the spread that the pushes make most probable, and on feet;
    the result is the mean of both. More than `FEW` pushes determine the load on cells, so that feet
    are not tried.

    Returns:
        Identifications by the name of the method; the result is "identified".

    """
    finger = nominal_finger(data)

    def identified(spread: float, method: str = "refine") -> Identification:
        return identify(
            grid_over(data.outline),
            records,
            method=method,
            finger=finger,
            prior=setup_prior(data, spread, finger.radius, calibrate=calibrate),
            search=SearchOptions(time_limit=TIME_LIMIT),
        )

    found = {spread: identified(spread) for spread in SPREADS}
    best = max(found, key=lambda spread: found[spread].posterior.refined.evidence)
    cells = found[best]
    if len(records) > FEW:
        return {"identified": cells}
    feet = identified(best, "feet")
    both = average([cells, feet])
    return {"identified": both, ON_CELLS: cells, ON_FEET: feet}


def nominal_finger(data: RealSet) -> Finger:
    """Return the finger as stated, with the friction of the prior."""
    return Finger(data.radius, FINGER_FRICTION, data.height)


def stated_setup(data: RealSet) -> Calibration:
    """Return the set-up as stated: the real tip may be behind the recorded one."""
    if data.setback == 0.0:
        return Calibration()
    return Calibration(tool=np.array([-data.setback - nominal_finger(data).radius, 0.0]))


def variants(data: RealSet) -> list[str]:
    """Return the names of the simpler models with which a set can be learned."""
    found = [SETUP_STATED]
    if data.centre is not None:
        found.append(CENTRE_UNKNOWN)
    if data.height > 0.0:
        found.append(HEIGHT_UNKNOWN)
    return found


def learn_without(
    variant: str, data: RealSet, records: Sequence[PushRecord]
) -> tuple[Identification, Calibration | None]:
    """Identify the object of a set with one of the `variants`; also return the set-up."""
    if variant == SETUP_STATED:
        stated = stated_setup(data)
        placed = [stated.record(record) for record in records]
        return learn(data, placed, calibrate=False)["identified"], stated
    lacking = {
        CENTRE_UNKNOWN: replace(data, centre=None),
        HEIGHT_UNKNOWN: replace(data, height=0.0),
    }
    found = learn(lacking[variant], records)["identified"]
    return found, found.calibration


def standing_on(grid: CellGrid, feet: Array, shares: Array) -> ObjectModel:
    """Return the model of an object on feet [m], (k, 2), with these shares of its weight, (k,)."""
    weight = np.maximum(load_of_feet(grid, feet, shares), 1e-3 / grid.n_cells)
    return ObjectModel(grid, 0.5 * weight / weight.sum(), 0.3)


def errors(ends: Array, seen: Array) -> tuple[float, float, float]:
    """Return the mean errors of predicted ends (k, 3): mm, degrees, and combined mm."""
    off = ends - seen
    mm = 1e3 * np.hypot(off[:, 0], off[:, 1])
    turn = np.abs(np.angle(np.exp(1j * off[:, 2])))
    return float(mm.mean()), float(np.degrees(turn).mean()), float((mm + 1e3 * EDGE * turn).mean())


def order_of(data: RealSet, pushes: int, draw: int) -> Integers:
    """Return the order of the pushes of a set; the first ones are learned from.

    Draw 0 takes them as they were made, the others at random. Published predictions were learned
    from a random fifth of a set, and so are ours for comparison. Pieces of a recording resemble
    their neighbours, so the first ones are always learned from and the later ones predicted.
    """
    made = np.arange(len(data.records))
    as_published = bool(data.published) and pushes == fifth_of(data)
    if data.recorded is not None or (draw == 0 and not as_published):
        return made
    return np.random.default_rng(draw).permutation(made)


def compare(data: RealSet, pushes: int, draw: int, *, ablate: bool = False) -> Iterator[Score]:
    """Learn from some pushes of a set and predict the others, with every method.

    Args:
        data: The set.
        pushes: Number of pushes to learn from.
        draw: Which ones; see `order_of`.
        ablate: Also learn with simpler models; see `learn_without`.

    """
    order = order_of(data, pushes, draw)
    learned = [data.records[i] for i in order[:pushes]]
    held = order[pushes:]
    others = [data.records[i] for i in held]
    seen = np.array([record.pose[-1] for record in others])
    began = perf_counter()
    every = learn(data, learned)
    seconds = perf_counter() - began
    found = every["identified"]
    setup = found.calibration
    nominal, stated = nominal_finger(data), stated_setup(data)
    # Loads that are not learned are compared at their best, on cells too fine to matter.
    fine = grid_over(data.outline, FINE)
    even = uniform_model(fine, Prior())

    def row(
        method: str, ends: PredictedEnds, near: float | None = None, spent: float = 0.0
    ) -> Score:
        counts = len(others), len(ends.impossible)
        return Score(
            data.name, pushes, draw, method, *errors(ends.pose, seen), *counts, near, spent
        )

    for method, one in every.items():
        yield row(
            method,
            predicted_ends(one.model, others, one.finger, one.calibration),
            near_feet(one.model, data.feet),
            seconds if one is found else 0.0,
        )
    for method in variants(data) if ablate else ():
        one, its_setup = learn_without(method, data, learned)
        ends = predicted_ends(one.model, others, one.finger, its_setup)
        score = row(method, ends, near_feet(one.model, data.feet))
        if method == CENTRE_UNKNOWN and data.centre is not None:
            off = one.model.centre_of_mass - data.centre
            chi2 = off @ np.linalg.solve(one.posterior.centre_of_mass_covariance, off)
            score = replace(score, centre_mm=1e3 * float(np.hypot(*off)), centre_chi2=float(chi2))
        yield score
    yield row("even load", predicted_ends(even, others, found.finger, setup))
    yield row("even load, set-up as stated", predicted_ends(even, others, nominal, stated))
    if data.feet is not None and data.shares is not None:
        true = standing_on(fine, data.feet, data.shares)
        yield row("known feet", predicted_ends(true, others, found.finger, setup))
        yield row("known feet, set-up as stated", predicted_ends(true, others, nominal, stated))
    for model, published in data.published.items():
        yield row(f"published {model}", PredictedEnds(published[held], ()))


def near_feet(model: ObjectModel, feet: Array | None) -> float | None:
    """Return the share of the friction load within 25 mm of the feet; None if these are unknown."""
    if feet is None:
        return None
    # A cell may be partly within: take 25 points of each.
    side = model.grid.cell_size * (np.arange(5) - 2.0) / 5.0
    within = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    points = model.grid.centres[:, None] + within
    gap = np.linalg.norm(points[:, :, None] - feet, axis=-1).min(axis=2)
    load = model.mass * model.friction
    return float(load @ np.mean(gap <= NEAR_FEET, axis=1) / load.sum())


def fifth_of(data: RealSet) -> int:
    """Return the number of pushes in a fifth of a set."""
    return round(SHARE * len(data.records))
