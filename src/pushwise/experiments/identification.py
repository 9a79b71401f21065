"""`pushwise experiment identification`: what is learned from five pushes, and how well it predicts.

Nine objects with random part masses and frictions; ten random pushes of 2 s at 0.1 m/s from one
pose; five to learn from, five to predict. The error of a prediction is the mean distance between
predicted and true final cell positions. Learning sees poses with 1 mm and 5 mrad of noise; truth
is the world without noise.
"""

from __future__ import annotations

import csv
import json as json_format
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from pushwise import objects
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import uniform_model
from pushwise.identification.identify import identify
from pushwise.identification.prior import Prior
from pushwise.objects.thing import Thing
from pushwise.physics.actions import Finger
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.simulate import simulate
from pushwise.pushes.draw import draw_push
from pushwise.pushes.record import Noise, PushRecord
from pushwise.shape.metric import mean_cell_error
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["Row", "markdown", "run"]

Array = NDArray[np.float64]

NOISE = Noise(position=1e-3, angle=5e-3)
TABLE = Table.rectangle(2.0, 2.0)
PUSHES = 10
LEARN = 5
COMPARED = (
    "descent",
    "random",
    "weighted",
    "finite-differences",
    "cma-es",
    "nelder-mead",
    "autograd",  # so slow that it learns only the first truth of each object
)
CHI2_95 = 5.991  # of two degrees of freedom


@dataclass(frozen=True)
class Row:
    """One identification and how it did."""

    world: str
    data: str  # "trajectories" or "ends"
    object: str
    model: int  # which random masses and frictions
    method: str
    error_mm: float  # mean over the pushes to predict
    uniform_mm: float  # the same of even mass and friction
    centre_mm: float  # distance of the centre of mass from the truth
    centre_std_mm: float  # what the method said it would be
    centre_chi2: float  # squared distance in units of the covariance it gave
    simulations: int
    seconds: float


@dataclass(frozen=True)
class Task:
    """What one process does: one object with one truth in one world."""

    world: str
    name: str
    model: int
    compare: bool  # also run the paper's methods
    ends: bool  # also learn from first and last poses alone


def run(output: Path, *, models: int = 5, draws: int = 108, json: bool = False) -> str:
    """Run everything and write ``rows.csv`` and ``table.md`` into a folder; return the table.

    models: random truths an object; draws: of the calibration, over all objects.
    """
    if models < 1 or draws < 1:
        raise PushwiseError(f"models and draws must be at least 1; got {models} and {draws}.")
    tasks = [
        Task(world, name, model, compare=world == "ideal", ends=world == "ideal")
        for world in ("ideal", "mujoco")
        for name in objects.names
        for model in range(models)
    ]
    tasks += [
        Task("ideal", objects.names[i % 9], 1000 + i, compare=False, ends=False)
        for i in range(draws)
    ]
    found = Parallel(n_jobs=-1)(delayed(do)(task) for task in tasks)
    rows = [row for part in found for row in part]
    output.mkdir(parents=True, exist_ok=True)
    with (output / "rows.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: _short(v) for k, v in asdict(row).items()})
    table = markdown(rows)
    (output / "table.md").write_text(table + "\n")
    return json_format.dumps([asdict(row) for row in rows]) if json else table


def do(task: Task) -> list[Row]:
    """Push, learn and predict."""
    rng = np.random.default_rng([objects.names.index(task.name), task.model])
    truth = objects.load(task.name).sample(rng)
    finger = Finger()
    make = {"ideal": Ideal, "mujoco": MuJoCo}[task.world]
    world: Any = make(truth, TABLE, noise=NOISE, finger=finger)
    exact: Any = make(truth, TABLE, finger=finger)
    learn, measured, ends = [], [], []
    for i in range(PUSHES):
        push = draw_push(rng, truth.grid, np.zeros(3), TABLE, finger)
        if i < LEARN:
            world.reset(10 * task.model + i)
            seen = world.push(push)
            learn.append(PushRecord(push, seen.t, seen.pose, noise=NOISE))
            # Automatic differentiation of single steps needs the force on them.
            measured.append(PushRecord(push, seen.t, seen.pose, seen.force, noise=NOISE))
        else:
            exact.reset(0)
            ends.append(exact.push(push))
    even = _error(uniform_model(truth.grid, Prior()), finger, ends)
    rows = [_row(task, "trajectories", "refine", truth, learn, ends, even)]
    if task.ends:
        short = [PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]], noise=NOISE) for r in learn]
        rows.append(_row(task, "ends", "refine", truth, short, ends, even))
    if task.compare:
        for method in COMPARED:
            if method != "autograd":
                rows.append(_row(task, "trajectories", method, truth, learn, ends, even))
            elif task.model == 0 and find_spec("torch") is not None:
                rows.append(_row(task, "trajectories", method, truth, measured, ends, even))
    return rows


def _row(
    task: Task,
    data: str,
    method: str,
    truth: Thing,
    learn: list[PushRecord],
    ends: list[PushRecord],
    even: float,
) -> Row:
    """Identify by one method and judge the result."""
    found = identify(truth.grid, learn, method=method, finger=Finger(), seed=task.model)
    off = found.model.centre_of_mass - truth.model.centre_of_mass
    covariance = found.posterior.centre_of_mass_covariance
    return Row(
        task.world,
        data,
        task.name,
        task.model,
        method,
        1e3 * _error(found.model, found.finger, ends),
        1e3 * even,
        1e3 * float(np.hypot(*off)),
        1e3 * float(np.sqrt(np.trace(covariance))),
        float(off @ np.linalg.solve(covariance, off)),
        found.simulations,
        found.seconds,
    )


def _error(model: ObjectModel, finger: Finger, ends: list[PushRecord]) -> float:
    """Return the mean distance of predicted from true final cells [m], mean over pushes."""
    distances = []
    for record in ends:
        path = simulate(model, record.push, record.pose[0], finger=finger, until=record.t[-1])
        distances.append(mean_cell_error(model.grid, path.pose[-1], record.pose[-1]))
    return float(np.mean(distances))


def _short(value: object) -> object:
    """Write numbers with six digits: enough to compare, few enough to read."""
    return f"{value:.6g}" if isinstance(value, float) else value


def markdown(rows: list[Row]) -> str:
    """Return the tables of the results in Markdown."""
    main = [r for r in rows if r.model < 1000]

    def mean(chosen: list[Row], what: str) -> float:
        return float(np.mean([getattr(r, what) for r in chosen])) if chosen else np.nan

    lines = [
        "Mean error of predicted final cell positions [mm]; five pushes to learn, five to predict.",
        "",
        "| object | even mass and friction | refine | centre of mass off by | refine, first and "
        "last poses only | MuJoCo: even | MuJoCo: refine | centre of mass off by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in (*objects.names, "mean"):
        mine = main if name == "mean" else [r for r in main if r.object == name]
        whole = [r for r in mine if r.method == "refine" and r.data == "trajectories"]
        ideal = [r for r in whole if r.world == "ideal"]
        engine = [r for r in whole if r.world == "mujoco"]
        ends = [r for r in mine if r.data == "ends"]
        numbers = (
            mean(ideal, "uniform_mm"),
            mean(ideal, "error_mm"),
            mean(ideal, "centre_mm"),
            mean(ends, "error_mm"),
            mean(engine, "uniform_mm"),
            mean(engine, "error_mm"),
            mean(engine, "centre_mm"),
        )
        lines.append(f"| {name} | " + " | ".join(f"{v:.1f}" for v in numbers) + " |")
    lines += [
        "",
        "The paper's methods at 50 simulations of the five pushes (Ideal world, trajectories), and "
        "ours at as many as it takes. Autograd, being slow, learned one truth of each object, and "
        "was given the forces that it needs.",
        "",
        "| object | " + " | ".join(("refine", *COMPARED)) + " |",
        "|---|" + "---|" * (1 + len(COMPARED)),
    ]
    for name in (*objects.names, "mean"):
        mine = main if name == "mean" else [r for r in main if r.object == name]
        mine = [r for r in mine if r.world == "ideal" and r.data == "trajectories"]
        cells = (
            f"{mean([r for r in mine if r.method == method], 'error_mm'):.1f}"
            for method in ("refine", *COMPARED)
        )
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    drawn = [r for r in rows if r.model >= 1000]
    inside = np.mean([r.centre_chi2 < CHI2_95 for r in drawn])
    refined = [r for r in main if r.method == "refine" and r.data == "trajectories"]
    lines += [
        "",
        f"Calibration: the 95 % region of the centre of mass holds the truth in {inside:.0%} of "
        f"{len(drawn)} draws (Ideal world).",
        f"Time of refine: median {np.median([r.seconds for r in refined]):.2f} s, "
        f"{np.median([r.simulations for r in refined]):.0f} simulations of the five pushes, "
        "one process a core.",
    ]
    return "\n".join(lines)
