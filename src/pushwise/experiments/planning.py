"""`pushwise experiment planning`: plans to goals within 1 m, and how often they are reached.

- ideal: the paper's experiment. Every search, for eight objects with random masses and frictions;
  the plan is executed unchanged in a world without noise.
- mujoco: closed loop with a model identified in MuJoCo from five noisy pushes.
- obstacles: closed loop around two obstacles with the true model; no pose may touch them.
- goals: objects released at the edge in MuJoCo, at poses that `choose_goal` finds with the true and
  with the identified model, and at random poses where the identified model is uncertain.
- control, around: the controller, see `control`.

Otherwise a goal is reached if the mean distance of the cells from it is below 20 mm. Seconds are
processor time; in the ideal world, that of planning alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from time import process_time

import numpy as np

from pushwise import objects
from pushwise.errors import PushwiseError
from pushwise.experiments.control import (
    CONTROL_TOLERANCE,
    SEEDS,
    TURNED,
    controlled,
    finger_seconds,
    true_error,
    warm_up,
)
from pushwise.experiments.planning_report import report
from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.identification.identify import identify
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.planning.contact_search import SEARCHES
from pushwise.planning.free_space import FreeSpace
from pushwise.planning.goals import choose_goal
from pushwise.planning.options import PlanOptions
from pushwise.planning.path import find_path
from pushwise.planning.plan import plan
from pushwise.planning.push_evaluation import Pusher
from pushwise.planning.stability import Balance
from pushwise.records.record import Noise
from pushwise.shape.grid import CellGrid
from pushwise.sliding.control_options import ControlOptions
from pushwise.sliding.controller import PushController
from pushwise.sliding.follow import Followed, follow
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo
from pushwise.worlds.world import Sensing

__all__ = ["PARTS", "run"]


_TABLE = Table.rectangle(4.0, 4.0)
_EDGE_TABLE = Table.rectangle(0.8, 0.6)
_SENSING = Sensing(Noise(position=1e-3, angle=5e-3))
_LEARN = 5  # pushes
_TOLERANCE = 0.02  # m
# The time limit is so long that a busy machine changes no result.
_PLANNING = PlanOptions(tolerance=_TOLERANCE, max_pushes=60, time_limit=60.0)
_FOLLOWING = replace(_PLANNING, max_pushes=40)
_CONTROL = ControlOptions(tolerance=CONTROL_TOLERANCE)
_SIMULATED = tuple(name for name in objects.names if name != "clamp")  # the paper's eight
_UNSURE = (0.005, 0.3)  # fall probabilities of random poses at the edge


def run(
    options: SweepOptions, *, models: int = 10, goals: int = 10, parts: tuple[str, ...] = ()
) -> str:
    """Run parts of the experiment, each with a folder of its own; return their tables.

    Args:
        options: Where to run it, and the folder above those of the parts; see `conduct`.
        models: Number of random ground truths per object in the ideal world.
        goals: Number of goals per ground truth; two more with obstacles, five times as many at
            the edge.
        parts: Names from `PARTS`; all if empty.

    """
    check_counts(models=models, goals=goals)
    for part in parts:
        if part not in PARTS:
            raise PushwiseError(f"parts must be among {', '.join(PARTS)}; got {part!r}.")
    counts = {"obstacles": goals + 2, "goals": 5 * goals, "around": goals + 2}
    reports = []
    for part in parts or tuple(PARTS):
        names = _SIMULATED if part == "ideal" else objects.names
        settings: list[Row] = [
            {"part": part, "object": name, "model": model, "goal": goal}
            for model in range(models if part == "ideal" else 1)
            for goal in range(counts.get(part, goals))
            for name in names
        ]
        into = replace(options, output=options.output / part)
        reports.append(conduct(rows_of, settings, report, into))
    return f"[{', '.join(reports)}]" if options.json else "\n\n".join(reports)


def rows_of(setting: Row) -> list[Row]:
    """Run one goal of one part."""
    part, name = str(setting["part"]), str(setting["object"])
    model, goal = setting["model"], setting["goal"]
    assert isinstance(model, int) and isinstance(goal, int)
    _warm_up()
    rng = np.random.default_rng([*_seed(part, name, model), goal])
    return list(PARTS[part](_thing(part, name, model), setting, rng))


@cache
def _warm_up() -> None:
    """Look for a path and for pushes once, so that the first plan is timed like those after it."""
    grid = CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], cell_size=0.05)
    belief = Belief.certain(ObjectModel(grid, np.full(4, 0.1), 0.3))
    wall = [(0.2, -0.2), (0.25, -0.2), (0.25, 0.2), (0.2, 0.2)]
    free = FreeSpace(Balance(belief, Table.rectangle(1.2, 1.0)), [wall])
    start, goal = np.zeros(3), np.array([0.3, 0.0, 0.0])
    find_path(free, start, goal, time_limit=60.0)
    pusher = Pusher(free, Finger(), goal)
    for search in SEARCHES.values():
        search(pusher, start, goal)


def _ideal(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Plan, and execute the plan unchanged."""
    there = _goal(rng)
    for method in SEARCHES:
        begin = process_time()
        world = Ideal(thing, _TABLE)
        pushes, simulations, said = 0, 0, ""
        try:
            made = plan(
                Belief.certain(thing.model),
                np.zeros(3),
                there,
                _TABLE,
                options=replace(_PLANNING, method=method),
            )
            seconds = process_time() - begin
            pushes, simulations = len(made.pushes), made.simulations
            for push in made.pushes:
                world.push(push)
        except PushwiseError as error:
            seconds = process_time() - begin
            said = str(error)
        off = mean_cell_error(thing.grid, world.observe().pose, there)
        yield {
            "method": method,
            "reached": off < _TOLERANCE,
            "error_mm": 1e3 * off,
            "pushes": pushes,
            "simulations": simulations,
            "contacts": len(thing.grid.boundary),
            "said": said or None,
            "seconds": seconds,
        }


def _mujoco(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Identify, then push in closed loop."""
    belief = _identified("mujoco", thing.name)
    there = _goal(rng)
    world = MuJoCo(thing, _TABLE, sensing=_SENSING, seed=int(rng.integers(1 << 30)))
    begin = process_time()
    done = follow(world, belief, there, _TABLE, options=_FOLLOWING)
    yield _loop("identified", true_error(world, thing, there), done, begin)


def _obstacles(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Push around two obstacles in MuJoCo, and check every pose for collisions."""
    belief = Belief.certain(thing.model)
    there, blocks, free = _between_blocks(belief, rng)
    world = MuJoCo(thing, _TABLE)
    begin = process_time()
    done = follow(world, belief, there, _TABLE, obstacles=blocks, options=_FOLLOWING)
    hit = any(not free(record.pose).all() for record in done.records)
    off = true_error(world, thing, there)
    yield {**_loop("true model", off, done, begin), "collided": hit}


def _control(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Go to a goal with the controller, and with whole pushes."""
    warm_up()
    belief = _identified("control", thing.name)
    there = _goal(rng)
    if int(str(setting["goal"])) % 10 in TURNED:
        there[2] = np.pi
    seed = int(rng.integers(1 << 30))
    begin = process_time()
    controller = PushController(belief, _TABLE, options=_CONTROL)
    prepared = process_time() - begin
    first, second = (MuJoCo(thing, _TABLE, sensing=_SENSING, seed=seed) for _ in range(2))
    _, row = controlled(first, thing, controller, there)
    yield (ours := {**row, "prepare_seconds": prepared, "simulations": None})
    begin = process_time()
    done = follow(second, belief, there, _TABLE, options=_FOLLOWING)
    whole = _loop("whole pushes", true_error(second, thing, there), done, begin)
    whole["finger_seconds"] = finger_seconds(thing, done)
    yield {column: whole.get(column) for column in ours}


def _around(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Go around two obstacles with the controller."""
    warm_up()
    belief = Belief.certain(thing.model)
    there, blocks, free = _between_blocks(belief, rng)
    controller = PushController(belief, _TABLE, blocks, options=_CONTROL)
    done, row = controlled(MuJoCo(thing, _TABLE), thing, controller, there)
    yield {**row, "collided": not free(done.poses).all()}


def _goals(thing: Thing, setting: Row, rng: np.random.Generator) -> Iterator[Row]:
    """Release the object at goals chosen at the edge, and at poses beyond what is safe."""
    found = _identified("goals", thing.name)
    certain = Belief.certain(thing.model)
    overhang = float(rng.uniform(0.03, 0.08))
    for method, belief in (("true model", certain), ("identified", found)):
        begin = process_time()
        try:
            best = choose_goal(belief, _EDGE_TABLE, overhang=overhang, grasp_width=0.3)
        except PushwiseError:
            continue  # no goal, no fall
        seconds = process_time() - begin
        every = (best, *best.alternatives)
        chosen = every[int(rng.integers(len(every)))]
        yield _let_go(method, thing, chosen.pose, chosen.fall_probability, overhang, seconds)
    begin = process_time()
    pose, probability = _unsure_pose(found, rng)
    yield _let_go("identified, unsure", thing, pose, probability, None, process_time() - begin)


PARTS: dict[str, Callable[[Thing, Row, np.random.Generator], Iterator[Row]]] = {
    "ideal": _ideal,
    "mujoco": _mujoco,
    "obstacles": _obstacles,
    "goals": _goals,
    "control": _control,
    "around": _around,
}


def _seed(part: str, name: str, model: int) -> list[int]:
    """Return the seed of an object of a part."""
    return [list(PARTS).index(part), objects.names.index(name), model, *SEEDS.get(part, ())]


def _thing(part: str, name: str, model: int) -> Thing:
    """Return an object with random masses and frictions."""
    return objects.load(name).sample(np.random.default_rng(_seed(part, name, model)))


@cache
def _identified(part: str, name: str) -> Belief:
    """Return the belief after five noisy pushes in MuJoCo."""
    thing = _thing(part, name, 0)
    rng = np.random.default_rng(_seed(part, name, 0))
    world = MuJoCo(thing, _TABLE, sensing=_SENSING)
    records = []
    for i in range(_LEARN):
        world.reset(i)
        records.append(world.push(draw_push(rng, thing.grid, np.zeros(3), _TABLE, Finger())))
    return identify(thing.grid, records).belief


def _unsure_pose(belief: Belief, rng: np.random.Generator) -> tuple[Array, float]:
    """Return a random pose at an edge with a moderate fall probability, and that probability."""
    balance = Balance(belief, _EDGE_TABLE)
    while True:
        theta = rng.uniform(-np.pi, np.pi)
        centre = placed(belief.centre_of_mass[None], np.array([0.0, 0.0, theta]))[0]
        at = np.array([0.4 - rng.uniform(0.0, 0.03), rng.uniform(-0.15, 0.15)])
        pose = np.append(at - centre, theta)
        probability = float(balance.fall_probabilities(pose[None])[0])
        if _UNSURE[0] < probability < _UNSURE[1]:
            return pose, probability


def _loop(method: str, off: float, done: Followed, begin: float) -> Row:
    """Return the row of an object pushed in closed loop, which rests off its goal [m]."""
    seconds = process_time() - begin
    return {
        "method": method,
        "reached": done.reached and off < _TOLERANCE,
        "error_mm": 1e3 * off,
        "pushes": len(done.records),
        "simulations": done.simulations,
        "end": done.end.value,
        "said": done.detail or None,
        "seconds": seconds,
    }


def _let_go(
    method: str,
    thing: Thing,
    pose: Array,
    probability: float,
    overhang: float | None,
    seconds: float,
) -> Row:
    """Release an object at a pose at the edge; return the row."""
    balance = Balance(Belief.certain(thing.model), _EDGE_TABLE)
    return {
        "method": method,
        "fell": MuJoCo(thing, _EDGE_TABLE, pose=pose).fell,
        "fall_probability": probability,
        "margin_mm": 1e3 * float(balance.margins(pose[None])[0]),
        "overhang_mm": None if overhang is None else 1e3 * overhang,
        "seconds": seconds,
    }


def _goal(rng: np.random.Generator) -> Array:
    """Return a pose (3,) within a disk of 1 m."""
    radius, angle, theta = np.sqrt(rng.random()), *rng.uniform(-np.pi, np.pi, 2)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), theta])


def _between_blocks(
    belief: Belief, rng: np.random.Generator
) -> tuple[Array, list[Array], FreeSpace]:
    """Return a goal (3,), two obstacles (4, 2), and what is free of them."""
    while True:
        there = _goal(rng)
        blocks = [_block(rng) for _ in range(2)]
        free = FreeSpace(Balance(belief, _TABLE), blocks)
        # Every pose within the tolerance of the goal must be free, too.
        if free([np.zeros(3), there], clearance=_TOLERANCE).all():
            return there, blocks, free


def _block(rng: np.random.Generator) -> Array:
    """Return a rectangle (4, 2) within the disk."""
    at = _goal(rng)
    corners = 0.5 * rng.uniform(0.05, 0.2, 2) * [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    cos, sin = np.cos(at[2]), np.sin(at[2])
    block: Array = corners @ np.array([[cos, sin], [-sin, cos]]) + at[:2]
    return block
