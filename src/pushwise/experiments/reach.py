"""`pushwise experiment reach`: how far over the edge each model dares to go, and whether it falls.

With the default goal any model succeeds: 50 mm of overhang leave most objects far from falling.
Here an object is explored in MuJoCo until it may go nearly as far as if it were known, and slid to
the goal with the most overhang at which a fall is predicted with at most 1 %. For comparison, a
uniform model and the true one choose goals in the same way; whether the true object would rest
there follows from statics.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from pushwise import objects
from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, numbers, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.identification.belief import Belief
from pushwise.identification.holdout import uniform_model
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.planning.goals import Goal, choose_goal
from pushwise.planning.options import PlanOptions
from pushwise.planning.stability import Balance
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.slide import slide
from pushwise.worlds.random_scene import random_world

__all__ = ["report", "rows_of", "run", "settings_of"]

_TABLE = Table()
_SEED = 4300  # of the first trial
_MODELS = ("identified", "uniform", "true")


def run(options: SweepOptions, *, trials: int = 16) -> str:
    """Run this many trials per object; return the table, as `conduct` does."""
    check_counts(trials=trials)
    return conduct(rows_of, settings_of(trials=trials), report, options)


def settings_of(*, trials: int) -> list[Row]:
    """Return all settings, ordered by trial."""
    return [{"object": name, "trial": trial} for trial in range(trials) for name in objects.names]


def rows_of(setting: Row) -> list[Row]:
    """Slide an object as far over the edge as what was learned of it allows."""
    seed, name = _SEED + int(str(setting["trial"])), str(setting["object"])
    world = random_world(name, _TABLE, seed=seed)
    plan, begin = PlanOptions(seed=seed), process_time()
    done = slide(world, _TABLE, options=SlideOptions(prefer="overhang", plan=plan))
    seconds = process_time() - begin
    truth = Belief.certain(world.truth)
    uniform = Belief.assuming(uniform_model(world.truth.grid, Prior()))
    goals = {
        "identified": done.goal,
        "uniform": _farthest(uniform, plan),
        "true": _farthest(truth, replace(plan, placement_std=0.0)),  # as far as statics allows
    }
    return [
        {
            "success": done.success,
            "verdict": done.verdict,
            "fell": bool(world.fell),
            "explored": len(done.records),
            "pushes": None if done.followed is None else len(done.followed.records),
            **{f"{model}_mm": _overhang(goal) for model, goal in goals.items()},
            **{f"{model}_margin_mm": _margin(truth, goal) for model, goal in goals.items()},
            "total_seconds": seconds,
        }
    ]


def _farthest(belief: Belief, plan: PlanOptions) -> Goal | None:
    """Return the goal with the most overhang that a belief allows; None where there is none."""
    try:
        return choose_goal(belief, _TABLE, prefer="overhang", options=plan)
    except PushwiseError:
        return None


def _overhang(goal: Goal | None) -> float | None:
    """Return the overhang of a goal [mm], if there is one."""
    return None if goal is None else 1e3 * goal.overhang


def _margin(truth: Belief, goal: Goal | None) -> float | None:
    """Return how far the true centre of mass is inside the support at a goal [mm]."""
    return None if goal is None else 1e3 * float(Balance(truth, _TABLE).margins(goal.pose[None])[0])


def report(rows: list[Row], folder: Path) -> str:
    """Write and return the table."""
    lines = []
    for name in (*objects.names, "all"):
        some = rows if name == "all" else where(rows, object=name)
        if not some:
            continue
        both = [row for row in some if None not in (row["identified_mm"], row["true_mm"])]
        share = numbers(both, "identified_mm") / numbers(both, "true_mm")
        lines.append(
            (
                name,
                f"{len(some)}",
                f"{int(numbers(some, 'success').sum())}",
                f"{int(numbers(some, 'fell').sum())}",
                f"{np.mean(share):.0%}" if len(share) else "-",
                *(_reached(some, model) for model in _MODELS),
                f"{np.mean(numbers(some, 'explored')):.1f}",
                f"{np.max(numbers(some, 'total_seconds')):.0f}",
            )
        )
    columns = (
        "object",
        "runs",
        "grasped",
        "fallen",
        "overhang relative to the true model's",
        "identified: overhang [mm] / would fall",
        "uniform",
        "true",
        "exploring pushes",
        "longest run [s of processor time]",
    )
    title = (
        "As far over the edge as a predicted fall probability of 1 % allows, in MuJoCo, with "
        "uneven friction. Means; the object is slid there with the identified model, and whether "
        "it would fall at the goals of the others follows from statics."
    )
    table = f"{title}\n\n{markdown(columns, lines)}"
    write_text(folder / "table.md", table + "\n")
    return table


def _reached(rows: list[Row], model: str) -> str:
    """Return the mean overhang of a model's goals [mm], and how many of them are not stable."""
    overhang, margin = numbers(rows, f"{model}_mm"), numbers(rows, f"{model}_margin_mm")
    if not len(overhang):
        return "-"
    return f"{np.mean(overhang):.0f} / {int(np.sum(margin < 0.0))} of {len(margin)}"
