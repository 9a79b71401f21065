"""`pushwise experiment pregrasp`: the whole story, from a random pose to the grasp, and counted.

Each trial is one object with random masses and frictions at a random pose on a table of 1.0 m x
0.7 m, seen by a camera (1 mm, 5 mrad, 10 Hz). Five exploring pushes, a goal with at least 50 mm
over the edge, closed loop, and a grasp carried out in MuJoCo's contacts. Variants, on the same
trials:

- identified: ours.
- unlimited: the same, but nothing is believed about how friction varies, and it has no upper limit.
- even: no exploration; mass and friction are believed to be the same everywhere.

Goals are the safest pose there is, or, as in the paper, sampled: the first of random poses at the
edges, 50 to 150 mm over, in which the object is predicted not to fall.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pushwise import objects
from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.rows import Row, numbers, where
from pushwise.experiments.sweep import conduct
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.planning.goals import Goal
from pushwise.planning.stability import Balance
from pushwise.planning.support_polygon import overhangs
from pushwise.sliding.follow import End
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.outcome import Outcome
from pushwise.sliding.slide import safest, slide
from pushwise.typing import Array
from pushwise.worlds.random_scene import stage
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["VARIANTS", "report", "rows_of", "run", "settings_of"]

VARIANTS = {
    "identified": (SlideOptions(), Prior()),
    "unlimited": (SlideOptions(), Prior(friction_spread=None, max_friction=None)),
    "even": (SlideOptions(explore=0), Prior()),
}
"""Options and prior of each."""


def sampled(belief: Belief, table: Table, options: SlideOptions, pose: Array) -> Goal:
    """Return the first of random poses at the edges in which the object should not fall."""
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
"""How a goal is chosen."""

_SAMPLES = 500
_OVER = (0.05, 0.15)  # m over the edge
_PAPER = {"identified": 16, "unlimited": 13, "even": 12}  # of 16, Fig. 5 (q)
_WORDS = {
    "identified": "identified",
    "unlimited": "no upper limit\non friction",
    "even": "even mass\nand friction",
}
_TABLE = Table()
_TIMED = ("explore", "identify", "plan", "follow")  # phases


def run(
    output: Path,
    *,
    trials: int = 16,
    cluster: str | None = None,
    check: float | None = None,
    json: bool = False,
) -> str:
    """Run all trials and write rows, table and figure into a folder; return the table.

    trials: of each object, world and variant.
    """
    if trials < 1:
        raise PushwiseError(f"trials must be at least 1; got {trials}.")
    settings = settings_of(trials=trials)
    return conduct(rows_of, settings, output, report, cluster=cluster, check=check, json=json)


def settings_of(*, trials: int) -> list[Row]:
    """Return all settings, trial by trial; Bullet last, and only where it is installed."""
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
    """Carry out one trial."""
    seed, name = int(str(setting["trial"])), str(setting["object"])
    options, prior = VARIANTS[str(setting["variant"])]
    world = stage(name, _TABLE, world=str(setting["world"]), seed=seed)
    done = slide(
        world,
        _TABLE,
        options=replace(options, plan=replace(options.plan, seed=seed)),
        prior=prior,
        choose=GOALS[str(setting["goal"])],
    )
    return [_row(done, world)]


def _row(done: Outcome, world: SimulatedWorld) -> Row:
    """Say what came of it, beside the truth."""
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
    """Return how it ended in a word or two."""
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
    lines = [
        "The hammer, as in Fig. 5 (q) of the paper: the same poses and masses for every variant.",
        "",
        "| goal | variant | grasped | fell | not reached | not held | not moved | the paper |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for goal in reversed(GOALS):
        for variant in VARIANTS:
            some = where(rows, world="mujoco", object="hammer", variant=variant, goal=goal)
            paper = f"{_PAPER[variant]} of 16" if goal == "sampled" else ""
            lines.append(f"| {goal} | {variant} | {_counts(some)} | {paper} |")
    for world in dict.fromkeys(str(row["world"]) for row in rows):
        lines += [
            "",
            f"All objects, identified, the safest goal, in {world}.",
            "",
            "| object | grasped | fell | not reached | not held | not moved "
            "| pushes on the way | centre of mass off by [mm] |",
            "|---|---|---|---|---|---|---|---|",
        ]
        all_of_it = where(rows, world=world, variant="identified", goal="safest")
        for name in (*objects.names, None):
            some = all_of_it if name is None else where(all_of_it, object=name)
            lines.append(
                f"| {name or 'all'} | {_counts(some)} | {_mean(some, 'pushes')} "
                f"| {_mean(some, 'centre_off_mm')} |"
            )
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


def _counts(rows: list[Row]) -> str:
    """Return how many ended how, as cells of a table."""
    ends = [row["end"] for row in rows]
    others = ("fell", "not reached", "not held", "not moved")
    cells = [f"{ends.count('grasped')} of {len(ends)}", *(str(ends.count(end)) for end in others)]
    return " | ".join(cells)


def _mean(rows: list[Row], name: str) -> str:
    """Return the mean of a column where there is a value."""
    values = numbers(rows, name)
    return f"{values.mean():.1f}" if len(values) else ""


def _share(these: list[bool]) -> float:
    """Return the share that is true; nothing of nothing."""
    return sum(these) / max(len(these), 1)


def _figure(rows: list[Row], path: Path) -> None:
    """Draw the rates of success beside the paper's."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
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
        (0.0, ours["sampled"], "ours, goals sampled", "tab:cyan"),
        (0.27, ours["safest"], "ours, safest goal", "tab:blue"),
    ):
        bars = axes.bar(at + shift, 100.0 * np.array(rates), 0.25, label=label, color=colour)
        axes.bar_label(bars, fmt="%.0f", padding=2)
    axes.set_xticks(at, list(_WORDS.values()))
    axes.set_ylabel("hammer grasped at the edge [%]")
    axes.set_ylim(0.0, 112.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", ncols=3, frameon=False, bbox_to_anchor=(0.5, 1.0))
    figure.savefig(path, dpi=150)
