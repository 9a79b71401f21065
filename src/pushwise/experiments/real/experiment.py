"""`pushwise experiment real`: pushes other laboratories recorded, learned from few, and predicted.

From k pushes of a set (start and end pose, the finger's path), the first ones and random ones, or
from the first k pieces of a long one, the load, the finger's friction and the errors of the set-up
are learned; all other pushes are predicted from where they start. Where files state the centre of
mass, the load is centred there, as that of known feet is. How patchy the load may be is chosen by
the evidence; from few pushes the mean of such a load and of all triples of feet that explain the
pushes is taken.
Beside it: the same with an even load, the known feet where an object stands on some, and what
others predicted, each on the same pushes.
"""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import PushwiseError
from pushwise.experiments.real.data import RealSet, grid_over, real_sets
from pushwise.experiments.real.learning import (
    learn,
    learn_without,
    nominal_finger,
    stated_setup,
    variants,
)
from pushwise.experiments.real.recordings import Recorded
from pushwise.experiments.real.stated import given
from pushwise.experiments.rows import load_rows, merge_rows
from pushwise.identification.holdout import predicted_ends, uniform_model
from pushwise.identification.methods.feet import load_of_feet
from pushwise.identification.prior import Prior
from pushwise.physics.model import ObjectModel
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["Row", "compare", "run"]


SHARE = 0.2  # of a set, what the published predictions were learned from
COUNTS = (5, 10, 20, 30, 0)  # pushes to learn from; 0 stands for that share
FINE = 800  # cells of a load that is not learned
NEAR_FEET = 0.025  # m
EDGE = 0.0707  # m; what a radian counts in the combined error of Zhou et al.


@dataclass(frozen=True)
class Row:
    """How well one method predicts the pushes that were not learned from."""

    set: str
    pushes: int  # learned from
    draw: int  # which ones: 0 for the first, else random ones; see `order_of`
    method: str
    mm: float  # mean distance of the tracked origins
    deg: float  # mean difference of the angles
    combined_mm: float  # mm and 70.7 mm a radian
    tested: int
    near_feet: float | None  # share of the learned load within 25 mm of the true feet, if known
    seconds: float  # of learning


def standing_on(grid: CellGrid, feet: Array, shares: Array) -> ObjectModel:
    """Return a model that stands on feet."""
    weight = np.maximum(load_of_feet(grid, feet, shares), 1e-3 / grid.n_cells)
    return ObjectModel(grid, 0.5 * weight / weight.sum(), 0.3)


def errors(ends: Array, seen: Array) -> tuple[float, float, float]:
    """Return mean errors of predicted ends (k, 3): mm, degrees, and combined mm."""
    off = ends - seen
    mm = 1e3 * np.hypot(off[:, 0], off[:, 1])
    turn = np.abs(np.angle(np.exp(1j * off[:, 2])))
    return float(mm.mean()), float(np.degrees(turn).mean()), float((mm + 1e3 * EDGE * turn).mean())


def order_of(data: RealSet, pushes: int, draw: int) -> NDArray[np.int_]:
    """Return the pushes of a set in the order in which so many of them are learned from.

    As they were made, and then at random. The fifth that published predictions were learned from
    was random, and so is ours; pieces of a recording resemble their neighbours, so that there the
    first ones are learned from and the later ones predicted.
    """
    made = np.arange(len(data.records))
    as_published = bool(data.published) and pushes == fifth_of(data)
    if data.recorded is not None or (draw == 0 and not as_published):
        return made
    return np.random.default_rng(draw).permutation(made)


def compare(data: RealSet, pushes: int, draw: int, *, ablate: bool = False) -> Iterator[Row]:
    """Learn from some pushes of a set and predict the others, with every method.

    ablate: also learn without each addition to the model, see `learn_without`.
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
    # What is not learned is compared at its best: cells so fine that their shape does not show.
    fine = grid_over(data.outline, FINE)
    even = uniform_model(fine, Prior())

    def row(method: str, ends: Array, near: float | None = None, spent: float = 0.0) -> Row:
        return Row(data.name, pushes, draw, method, *errors(ends, seen), len(others), near, spent)

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
        yield row(method, ends, near_feet(one.model, data.feet))
    yield row("even load", predicted_ends(even, others, found.finger, setup))
    yield row("even load, set-up as stated", predicted_ends(even, others, nominal, stated))
    if data.feet is not None and data.shares is not None:
        true = standing_on(fine, data.feet, data.shares)
        yield row("known feet", predicted_ends(true, others, found.finger, setup))
        yield row("known feet, set-up as stated", predicted_ends(true, others, nominal, stated))
    for model, ends in data.published.items():
        yield row(f"published {model}", ends[held])


def near_feet(model: ObjectModel, feet: Array | None) -> float | None:
    """Return the share of the friction load within 25 mm of the feet; None without feet."""
    if feet is None:
        return None
    # A cell may lie half within: look at 25 points of each.
    side = model.grid.cell_size * (np.arange(5) - 2.0) / 5.0
    within = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    points = model.grid.centres[:, None] + within
    gap = np.linalg.norm(points[:, :, None] - feet, axis=-1).min(axis=2)
    load = model.mass * model.friction
    return float(load @ np.mean(gap <= NEAR_FEET, axis=1) / load.sum())


def fifth_of(data: RealSet) -> int:
    """Return how many pushes are a fifth of a set."""
    return round(SHARE * len(data.records))


def counts_of(data: RealSet, counts: Sequence[int]) -> list[int]:
    """Return from how many pushes to learn; 0 stands for a fifth of them."""
    wanted = {k or fifth_of(data) for k in counts}
    return sorted(k for k in wanted if k < len(data.records))


def run(
    folder: Path,
    output: Path,
    *,
    counts: Sequence[int] = COUNTS,
    draws: int = 3,
    only: str = "",
    outline: Path | None = None,
    radius: float | None = None,
    ablate: bool = False,
    json: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> str:
    """Compare on all sets below a folder; write rows, table and figure, and return the table.

    counts: pushes to learn from, 0 for a fifth of a set; draws: how many choices of them;
    only: what a set's name must contain; outline, radius: see `given`; ablate: see `compare`. What
    `output` holds of other sets from earlier runs is kept.
    """
    from pushwise.experiments.real.forces import forces_table
    from pushwise.experiments.real.report import (
        draw_curves,
        markdown,
        recordings_table,
        repeats_table,
    )

    if draws < 1:
        raise PushwiseError(f"draws must be at least 1; got {draws}.")
    otherwise = given(outline, radius)
    every = real_sets(folder, otherwise, progress)
    sets = [data for data in every if only in data.name]
    if not sets:
        raise PushwiseError(f"no set below {folder} has {only!r} in its name.")
    output.mkdir(parents=True, exist_ok=True)
    path = output / "rows.csv"
    rows = load_rows(path, Row)
    done = {(row.set, row.pushes, row.draw, row.method) for row in rows}
    for data in sets:
        for pushes in counts_of(data, counts):
            for draw in range(draws if data.recorded is None else 1):
                # Rows of a run without `ablate` lack what it adds.
                wanted = ["identified", *(variants(data) if ablate else ())]
                if all((data.name, pushes, draw, method) in done for method in wanted):
                    continue
                new = list(compare(data, pushes, draw, ablate=ablate))
                rows = merge_rows(path, new, Row, "set", "pushes", "draw")
                progress(f"{data.name}, {pushes} pushes: {new[0].mm:.2f} mm, {new[0].deg:.2f} deg")
    cut = [data.recorded for data in every if data.recorded is not None]
    recorded = merge_rows(output / "recordings.csv", cut, Recorded, "set")
    long = {one.set for one in recorded}
    parts = [
        markdown([row for row in rows if row.set not in long]),
        recordings_table(recorded, rows),
        repeats_table(every, output),
        forces_table(folder, output, otherwise, progress),
    ]
    table = "\n".join(part for part in parts if part)
    (output / "table.md").write_text(table, encoding="utf-8")
    draw_curves(rows, output / "curves.png")
    if json:
        return json_format.dumps([asdict(row) for row in rows])
    return table
