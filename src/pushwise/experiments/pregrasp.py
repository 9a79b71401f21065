"""`pushwise experiment pregrasp`: the complete task, from a random pose to the grasp.

Each trial is one object with random masses and frictions at a random pose on a table of 1.0 m x
0.7 m, seen by a camera (1 mm, 5 mrad, 10 Hz): five exploring pushes, a goal at least 50 mm over the
edge, pushes in closed loop, and a grasp simulated in MuJoCo. Variants, on the same trials:

- identified: our method.
- unlimited: the same without a prior on how friction varies and without an upper limit on it.
- even: no exploration; mass and friction are assumed to be uniform.

The goal is the safest pose, or, as in the paper, sampled: the first of random poses at the edges,
50 to 150 mm over, where the object is predicted not to fall.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from pushwise import objects
from pushwise.atomic_write import save_figure, write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown, mean_text
from pushwise.experiments.rows import Row, grouped, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.planning.goals import Goal
from pushwise.planning.overhang import overhangs
from pushwise.planning.stability import Balance
from pushwise.show.figure_style import COLOURS, styled
from pushwise.sliding.moved import End
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.slide import slide
from pushwise.sliding.target import safest
from pushwise.typing import Array
from pushwise.worlds.random_scene import random_world
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["VARIANTS", "report", "rows_of", "run", "settings_of"]

_PAPERS = SlideOptions(explore=5)  # random pushes
VARIANTS = {
    "identified": (_PAPERS, Prior()),
    "unlimited": (_PAPERS, Prior(friction_spread=None, max_friction=None)),
    "even": (SlideOptions(explore=0), Prior()),
}
"""Options and prior of each variant."""


def sampled(belief: Belief, table: Table, options: SlideOptions, pose: Array) -> Goal:
    """Return the first of random poses at the edges where the object should not fall."""
    rng = np.random.default_rng([options.plan.seed, 5])
    balance = Balance(belief, table, seed=options.plan.seed)
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


GOALS = {"safest": safest, "sampled": sampled}
"""Ways to choose a goal."""

_SAMPLES = 500
_OVER = (0.05, 0.15)  # m over the edge
_PAPER = {"identified": 16, "unlimited": 13, "even": 12}  # of 16, Fig. 5 (q)
_WORDS = {
    "identified": "identified",
    "unlimited": "no upper limit\non friction",
    "even": "uniform mass\nand friction",
}
_TABLE = Table()
_ENDS = ("grasped", "fell", "not reached", "not held", "not moved")
_TIMED = ("explore", "identify", "plan", "follow")  # phases


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
            *(_setting("mujoco", "hammer", v, goal, trial) for goal in GOALS for v in VARIANTS),
            *(
                _setting("mujoco", name, "identified", "safest", trial)
                for name in objects.names
                if name != "hammer"
            ),
        )
    ]
    if find_spec("pybullet") is not None:
        settings += [
            _setting("bullet", name, "identified", "safest", trial)
            for trial in range(trials)
            for name in objects.names
        ]
    return settings


def _setting(world: str, name: str, variant: str, goal: str, trial: int) -> Row:
    """Return one setting."""
    return {"world": world, "object": name, "variant": variant, "goal": goal, "trial": trial}


def rows_of(setting: Row) -> list[Row]:
    """Run one trial."""
    seed, name = int(str(setting["trial"])), str(setting["object"])
    options, prior = VARIANTS[str(setting["variant"])]
    world = random_world(name, _TABLE, world=str(setting["world"]), seed=seed)
    done = slide(
        world,
        _TABLE,
        options=replace(options, plan=replace(options.plan, seed=seed)),
        prior=prior,
        choose=GOALS[str(setting["goal"])],
    )
    return [_row(done, world)]


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
        "end": _end(done),
        "verdict": done.verdict,
        "centre_off_mm": off,
        "centre_std_mm": std,
        "fall_probability": None if goal is None else goal.fall_probability,
        "margin_mm": None if goal is None else 1e3 * goal.margin,
        "true_margin_mm": margin,
        "planned_pushes": None if done.plan is None else len(done.plan.pushes),
        "pushes": None if followed is None else len(followed.records),
        "error_mm": None if followed is None else 1e3 * followed.error,
        **{f"{phase}_seconds": done.seconds.get(phase) for phase in _TIMED},
    }


def _end(done: Outcome) -> str:
    """Return how a trial ended in one or two words."""
    if done.success:
        return "grasped"
    if done.goal is None:
        return "not moved"
    if done.followed is not None and not done.followed.reached:
        return "fell" if done.followed.end is End.FELL else "not reached"
    return "not held"


def report(rows: list[Row], folder: Path) -> str:
    """Write the table and the figure; return the table."""
    table = _table(rows)
    write_text(folder / "table.md", table + "\n")
    _figure(where(rows, object="hammer", world="mujoco"), folder / "figure.png")
    return table


def _table(rows: list[Row]) -> str:
    """Return the tables in Markdown."""
    hammer = []
    for goal in reversed(GOALS):
        for variant in VARIANTS:
            some = where(rows, world="mujoco", object="hammer", variant=variant, goal=goal)
            paper = f"{_PAPER[variant]} of 16" if goal == "sampled" else ""
            hammer.append((goal, variant, *_counts(some), paper))
    lines = [
        "The hammer, as in Fig. 5 (q) of the paper: the same poses and masses for every variant.",
        "",
        markdown(("goal", "variant", *_ENDS, "the paper"), hammer),
    ]
    for world, there in grouped(rows, "world").items():
        every = where(there, variant="identified", goal="safest")
        by_name = {name: where(every, object=name) for name in objects.names} | {"all": every}
        lines += [
            "",
            f"All objects, identified, the safest goal, in {world}.",
            "",
            markdown(
                ("object", *_ENDS, "pushes on the way", "centre of mass off by [mm]"),
                [
                    (
                        name,
                        *_counts(some),
                        mean_text(some, "pushes"),
                        mean_text(some, "centre_off_mm"),
                    )
                    for name, some in by_name.items()
                ],
            ),
        ]
    lines += ["", "Why objects were not grasped:", ""]
    lines += [
        f"- {row['world']}, {row['object']}, {row['variant']}, {row['goal']} goal, trial "
        f"{row['trial']}: {row['verdict']}"
        for row in rows
        if not row["success"]
    ]
    lines += [
        "",
        "Ours: simulated, masses of parts random by up to 1.6 and frictions by up to 1.4 either "
        "way, table 1.0 m x 0.7 m, poses to 1 mm and 5 mrad at 10 Hz, no forces, five exploring "
        "pushes of 0.2 m, at least 50 mm over the edge, grasped and lifted by 0.1 m in MuJoCo.",
        "The paper's: one real hammer, a Kuka arm, five exploring pushes, 16 initial poses.",
    ]
    return "\n".join(lines)


def _counts(rows: list[Row]) -> list[str]:
    """Return how many trials had each of the `_ENDS`, as cells of a table."""
    ends = [row["end"] for row in rows]
    others = (str(ends.count(end)) for end in _ENDS[1:])
    return [f"{ends.count('grasped')} of {len(ends)}", *others]


def _share(these: list[bool]) -> float:
    """Return the share that is true; 0 of an empty list."""
    return sum(these) / max(len(these), 1)


@styled
def _figure(rows: list[Row], path: Path) -> None:
    """Draw the success rates next to those of the paper."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    at = np.arange(len(VARIANTS))
    ours = {
        goal: [
            _share([row["end"] == "grasped" for row in where(rows, variant=variant, goal=goal)])
            for variant in VARIANTS
        ]
        for goal in GOALS
    }
    for shift, rates, label, colour in (
        (-0.27, [_PAPER[variant] / 16 for variant in VARIANTS], "the paper, real", "0.7"),
        (0.0, ours["sampled"], "ours, goals sampled", COLOURS["sky"]),
        (0.27, ours["safest"], "ours, safest goal", COLOURS["blue"]),
    ):
        bars = axes.bar(at + shift, 100.0 * np.array(rates), 0.25, label=label, color=colour)
        axes.bar_label(bars, fmt="%.0f", padding=2)
    axes.set_xticks(at, list(_WORDS.values()))
    axes.set_ylabel("hammer grasped at the edge [%]")
    axes.set_ylim(0.0, 112.0)
    axes.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.5, 1.0))
    save_figure(figure, path, dpi=150)
