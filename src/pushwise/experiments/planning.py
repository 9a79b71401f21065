"""`pushwise experiment planning`: goals within a disk of 1 m, planned, carried out and counted.

- ideal: every search, each object with random masses and frictions; the plan is carried out as it
  is in a world without noise.
- mujoco: closed loop with a model identified there from five noisy pushes.
- obstacles: the same with two obstacles and the true model; a pose that was passed must not touch.
- goals: `choose_goal` with the true and with the identified model, let go in MuJoCo.

A goal is reached when the mean distance of the cells from it is below 20 mm.
"""

from __future__ import annotations

import csv
import json as json_format
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from pushwise import objects
from pushwise.errors import PushwiseError
from pushwise.identification.identify import identify
from pushwise.identification.result import Identification
from pushwise.objects.thing import Thing
from pushwise.physics.actions import Finger
from pushwise.physics.model import Table
from pushwise.planning.contact_search import SEARCHES
from pushwise.planning.follow import follow
from pushwise.planning.free import Free
from pushwise.planning.goals import choose_goal
from pushwise.planning.plan import plan
from pushwise.planning.stability import Balance
from pushwise.pushes.draw import draw_push
from pushwise.pushes.record import Noise
from pushwise.shape.metric import mean_cell_error
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["PARTS", "Row", "markdown", "run"]

PARTS = ("ideal", "mujoco", "obstacles", "goals")

_TABLE = Table.rectangle(4.0, 4.0)
_EDGE_TABLE = Table.rectangle(0.8, 0.6)
_NOISE = Noise(position=1e-3, angle=5e-3)
_LEARN = 5  # pushes
_TOLERANCE = 0.02  # m


@dataclass(frozen=True)
class Row:
    """One goal."""

    part: str
    object: str
    model: int
    goal: int
    method: str  # of the search, or where the model comes from
    reached: bool  # or rests, at a goal at the edge
    collided: bool
    error_mm: float  # mean distance of cells in the end; at an edge, the margin
    fall_probability: float  # as predicted, at a goal at the edge
    pushes: int
    simulations: int
    seconds: float  # spent planning; in closed loop, pushing and identifying again included


def run(
    output: Path,
    *,
    models: int = 10,
    goals: int = 10,
    parts: tuple[str, ...] = PARTS,
    json: bool = False,
) -> str:
    """Run parts of the experiment, write ``rows.csv`` and ``table.md``, and return the table.

    models: random masses and frictions of each object in the ideal world; goals: for each.
    """
    for part in parts:
        if part not in PARTS:
            raise PushwiseError(f"parts must be among {', '.join(PARTS)}; got {part!r}.")
    tasks = [
        (part, name, model, goals)
        for part in parts
        for name in objects.names
        for model in range(models if part == "ideal" else 1)
    ]
    rows = [row for some in Parallel(n_jobs=-1)(delayed(_rows)(*t) for t in tasks) for row in some]
    output.mkdir(parents=True, exist_ok=True)
    with (output / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(
                {k: f"{v:.4g}" if isinstance(v, float) else v for k, v in asdict(row).items()}
            )
    table = markdown(rows)
    (output / "table.md").write_text(table + "\n", encoding="utf-8")
    return json_format.dumps([asdict(row) for row in rows]) if json else table


def markdown(rows: list[Row]) -> str:
    """Return a table, a line for each part and method."""
    lines = [
        "| part | method | goals | reached | collided | pushes | simulations | seconds, median |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for part, method in dict.fromkeys((row.part, row.method) for row in rows):
        some = [row for row in rows if (row.part, row.method) == (part, method)]
        lines.append(
            f"| {part} | {method} | {len(some)} "
            f"| {100.0 * np.mean([row.reached for row in some]):.1f} % "
            f"| {sum(row.collided for row in some)} "
            f"| {np.mean([row.pushes for row in some]):.1f} "
            f"| {np.mean([row.simulations for row in some]):.0f} "
            f"| {np.median([row.seconds for row in some]):.2f} |"
        )
    return "\n".join(lines)


def _rows(part: str, name: str, model: int, goals: int) -> list[Row]:
    """Do one part with one object."""
    rng = np.random.default_rng([PARTS.index(part), objects.names.index(name), model])
    thing = objects.load(name).sample(rng)
    do = {"ideal": _ideal, "mujoco": _mujoco, "obstacles": _obstacles, "goals": _goals}[part]
    return list(do(thing, model, goals, rng))


def _ideal(thing: Thing, model: int, goals: int, rng: np.random.Generator) -> Iterator[Row]:
    """Plan, and carry the plan out as it is."""
    for goal in range(goals):
        there = _goal(rng)
        for method in SEARCHES:
            begin = perf_counter()
            world = Ideal(thing, _TABLE)
            pushes, simulations = 0, 0
            try:
                made = plan(thing.model, (0.0, 0.0, 0.0), there, _TABLE, method=method)
                seconds = perf_counter() - begin
                pushes, simulations = len(made.pushes), made.simulations
                for push in made.pushes:
                    world.push(push)
            except PushwiseError:
                seconds = perf_counter() - begin
            error = mean_cell_error(thing.grid, world.observe().pose, there)
            yield _row("ideal", thing, model, goal, method, error, pushes, simulations, seconds)


def _mujoco(thing: Thing, model: int, goals: int, rng: np.random.Generator) -> Iterator[Row]:
    """Identify, then push in closed loop."""
    world = MuJoCo(thing, _TABLE, noise=_NOISE)
    found = _identified(thing, rng)
    for goal in range(goals):
        there = _goal(rng)
        world.reset(goal)
        begin = perf_counter()
        done = follow(world, found, there, _TABLE, tolerance=_TOLERANCE)
        seconds = perf_counter() - begin
        row = (len(done.records), done.simulations, seconds)
        yield _row("mujoco", thing, model, goal, "identified", done.error, *row)


def _obstacles(thing: Thing, model: int, goals: int, rng: np.random.Generator) -> Iterator[Row]:
    """Go round two obstacles in MuJoCo, and look at every pose on the way."""
    world = MuJoCo(thing, _TABLE)
    for goal in range(goals):
        while True:
            there = _goal(rng)
            blocks = [_block(rng) for _ in range(2)]
            free = Free(Balance(thing.model, _TABLE), blocks)
            if free([np.zeros(3), there]).all():
                break
        world.reset(goal)
        begin = perf_counter()
        done = follow(world, thing.model, there, _TABLE, obstacles=blocks, tolerance=_TOLERANCE)
        seconds = perf_counter() - begin
        hit = any(not free(record.pose).all() for record in done.records)
        row = (len(done.records), done.simulations, seconds)
        yield _row("obstacles", thing, model, goal, "true model", done.error, *row, collided=hit)


def _goals(thing: Thing, model: int, goals: int, rng: np.random.Generator) -> Iterator[Row]:
    """Choose goals at the edge, and let the object go there."""
    found = _identified(thing, rng)
    for goal in range(goals):
        overhang = rng.uniform(0.03, 0.08)
        for method, known in (("true model", thing.model), ("identified", found)):
            begin = perf_counter()
            try:
                best = choose_goal(known, _EDGE_TABLE, overhang=overhang, grasp_width=0.3)
            except PushwiseError:
                continue  # refusing a goal is no fall
            seconds = perf_counter() - begin
            every = (best, *best.alternatives)
            chosen = every[int(rng.integers(len(every)))]
            fell = MuJoCo(thing, _EDGE_TABLE, pose=chosen.pose).fell
            yield Row(
                "goals",
                thing.name,
                model,
                goal,
                method,
                not fell,
                False,
                1e3 * chosen.margin,
                chosen.fall_probability,
                0,
                0,
                seconds,
            )


def _identified(thing: Thing, rng: np.random.Generator) -> Identification:
    """Return what five noisy pushes in MuJoCo tell."""
    world = MuJoCo(thing, _TABLE, noise=_NOISE)
    records = []
    for i in range(_LEARN):
        world.reset(i)
        records.append(world.push(draw_push(rng, thing.grid, np.zeros(3), _TABLE, Finger())))
    return identify(thing.grid, records)


def _goal(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a pose (3,) within a disk of 1 m."""
    radius, angle, theta = np.sqrt(rng.random()), *rng.uniform(-np.pi, np.pi, 2)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), theta])


def _block(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a rectangle (4, 2) within the disk."""
    at = _goal(rng)
    corners = 0.5 * rng.uniform(0.05, 0.2, 2) * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    cos, sin = np.cos(at[2]), np.sin(at[2])
    block: NDArray[np.float64] = corners @ np.array([[cos, sin], [-sin, cos]]) + at[:2]
    return block


def _row(
    part: str,
    thing: Thing,
    model: int,
    goal: int,
    method: str,
    error: float,
    pushes: int,
    simulations: int,
    seconds: float,
    *,
    collided: bool = False,
) -> Row:
    """Return the row of a goal that an object was pushed to."""
    reached = error < _TOLERANCE
    numbers = (1e3 * error, 0.0, pushes, simulations, seconds)
    return Row(part, thing.name, model, goal, method, reached, collided, *numbers)
