"""`pushwise experiment pregrasp`: the complete task, from a random pose to the grasp.

Each trial is one object with random masses, and frictions of its parts that differ by up to a
factor of 3, at a random pose on a table of 1.0 m x 0.7 m, seen by a camera (1 mm, 5 mrad, 30 Hz):
exploring pushes, a goal at least 50 mm over the edge, pushes to it, and a grasp simulated in
MuJoCo. Nine objects and eight shapes explore until they are safe, and go to the safest goal.

The hammer also follows the paper's protocol: five random exploring pushes, and a sampled goal, the
first of random poses at the edges, 50 to 150 mm over, where the object is predicted not to fall.
Variants, on the same trials:

- identified: our method.
- unlimited: the same without a prior on how friction varies and without an upper limit on it.
- uniform: no exploration; mass and friction are assumed to be uniform.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from time import process_time

import numpy as np

from pushwise import objects
from pushwise.errors import PushwiseError
from pushwise.experiments.pregrasp_report import report
from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.planning.goals import Goal
from pushwise.planning.overhang import overhangs
from pushwise.planning.stability import Balance
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.slide import slide
from pushwise.sliding.target import safest
from pushwise.typing import Array
from pushwise.worlds.random_scene import random_world
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["VARIANTS", "rows_of", "run", "settings_of"]

_PAPERS = SlideOptions(explore=5)  # random pushes
VARIANTS = {
    "identified": (_PAPERS, Prior()),
    "unlimited": (_PAPERS, Prior(friction_spread=None, max_friction=None)),
    "uniform": (SlideOptions(explore=0), Prior()),
}
"""Options and prior of each variant of the paper's protocol."""
DEFAULT = "default"
"""The variant that explores until it is safe and goes to the safest goal."""
SEEDS = {"mujoco": 3600, "bullet": 1800}
"""Of the first trial in each world."""

_TABLE = Table()
_SAMPLES = 500
_OVER = (0.05, 0.15)  # m over the edge
_TIMED = ("explore", "identify", "plan", "follow", "grasp")  # phases


def sampled(belief: Belief, table: Table, options: SlideOptions, pose: Array) -> Goal:
    """Return the first of random poses at the edges where the object should not fall."""
    rng = np.random.default_rng([options.plan.seed, 5])
    balance = Balance.planned(belief, table, options.plan)
    outline, corners = balance.model.grid.outline, table.polygon
    for _ in range(_SAMPLES):
        edge = int(rng.integers(len(corners)))
        along = corners[(edge + 1) % len(corners)] - corners[edge]
        outward = np.array([along[1], -along[0]]) / np.hypot(*along)
        theta, share, deep = rng.uniform(-np.pi, np.pi), rng.uniform(0.2, 0.8), rng.uniform(*_OVER)
        turned = placed(outline, np.array([0.0, 0.0, theta]))
        at = corners[edge] + share * along + (deep - (turned @ outward).max()) * outward
        there = np.append(at, theta)
        parts = [part for part in overhangs(outline, corners, there) if part.depth >= _OVER[0]]
        margin = float(balance.margins(there[None])[0])
        fall = float(balance.fall_probabilities(there[None])[0])
        if parts and margin > 0.0 and fall <= options.plan.max_fall_probability:
            return Goal(there, fall, margin, parts[0].depth, parts[0].width, edge)
    raise PushwiseError(f"none of {_SAMPLES} sampled goals is safe.")


def run(options: SweepOptions, *, trials: int = 16) -> str:
    """Run this many trials per object, world and variant; return the table, as `conduct` does."""
    check_counts(trials=trials)
    return conduct(rows_of, settings_of(trials=trials), report, options)


def settings_of(*, trials: int) -> list[Row]:
    """Return all settings, ordered by trial; Bullet last, and only if it is installed."""
    settings = [
        setting
        for trial in range(trials)
        for setting in (
            *(_setting("mujoco", "hammer", variant, trial) for variant in VARIANTS),
            *(_setting("mujoco", name, DEFAULT, trial) for name in objects.all_names),
        )
    ]
    if find_spec("pybullet") is not None:
        settings += [
            _setting("bullet", name, DEFAULT, trial)
            for trial in range(trials)
            for name in objects.names
        ]
    return settings


def _setting(world: str, name: str, variant: str, trial: int) -> Row:
    """Return one setting."""
    return {"world": world, "object": name, "variant": variant, "trial": trial}


def rows_of(setting: Row) -> list[Row]:
    """Run one trial."""
    kind, name = str(setting["world"]), str(setting["object"])
    seed = SEEDS[kind] + int(str(setting["trial"]))
    papers = setting["variant"] != DEFAULT
    options, prior = VARIANTS[str(setting["variant"])] if papers else (SlideOptions(), Prior())
    world = random_world(name, _TABLE, world=kind, seed=seed)
    begin = process_time()
    done = slide(
        world,
        _TABLE,
        options=replace(options, plan=replace(options.plan, seed=seed)),
        prior=prior,
        choose=sampled if papers else safest,
    )
    return [{**_row(done, world), "total_seconds": process_time() - begin}]


def _row(done: Outcome, world: SimulatedWorld) -> Row:
    """Return the outcome of a trial, compared with the truth."""
    goal, followed = done.goal, done.followed
    truth = world.truth
    off = std = margin = None
    if done.belief is not None:
        off = 1e3 * float(np.hypot(*(done.belief.centre_of_mass - truth.centre_of_mass)))
    if done.found is not None:
        std = 1e3 * float(np.sqrt(np.trace(done.found.posterior.centre_of_mass_covariance)))
    if goal is not None:
        there = goal.pose if followed is None else followed.goal
        margin = 1e3 * float(Balance(Belief.certain(truth), done.table).margins(there[None])[0])
    return {
        "success": done.success,
        "end": _end(done, world),
        "verdict": done.verdict,
        "centre_off_mm": off,
        "centre_std_mm": std,
        "fall_probability": None if goal is None else goal.fall_probability,
        "expected_falls": _expected_falls(done),
        "margin_mm": None if goal is None else 1e3 * goal.margin,
        "true_margin_mm": margin,
        "explored": len(done.records),
        "pushes": None if followed is None else len(followed.records),
        "error_mm": None if followed is None else 1e3 * followed.error,
        **{f"{phase}_seconds": done.seconds.get(phase) for phase in _TIMED},
    }


def _expected_falls(done: Outcome) -> float | None:
    """Return the sum of the fall probabilities predicted where pushes to the goal ended.

    Where an object that fell was last seen, it may have been falling already: that push counts with
    the greatest probability that was permitted.
    """
    if done.followed is None or done.belief is None:
        return None
    records, plan = done.followed.records, done.options.plan
    ends = [record.pose[-1] for record in records if not record.fell]
    fallen = sum(record.fell for record in records) * plan.max_fall_probability
    if not ends:
        return fallen
    balance = Balance.planned(done.belief, done.table, plan)
    return fallen + float(balance.fall_probabilities(np.array(ends)).sum())


def _end(done: Outcome, world: SimulatedWorld) -> str:
    """Return how a trial ended in one or two words."""
    if done.success:
        return "grasped"
    if world.fell:
        return "fell"
    if done.goal is None:
        return "not moved"
    if done.followed is not None and not done.followed.reached:
        return "not reached"
    return "not held"
