"""`pushwise experiment exploration`: how many pushes are needed until the risk is known.

An object with uneven friction is explored in MuJoCo until there is a goal at which it extends 95 %
as far over the edge as its true masses allow, with a fall probability of at most 1 %. After two
random pushes, each further one is chosen among six slow pushes and six flicks for what it would do
to that probability; or all are random slow pushes, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pushwise import objects
from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, numbers, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.identification.belief import Belief
from pushwise.identification.free_slide import is_flick
from pushwise.identification.next_push import next_push
from pushwise.identification.prior import Prior
from pushwise.physics.model import Table
from pushwise.physics.push import Finger, Push
from pushwise.planning.goals import choose_goal
from pushwise.planning.options import PlanOptions
from pushwise.sliding.explore import Unexplored
from pushwise.sliding.explore_safely import ExploringPolicy, RankPushes, explore_until_safe
from pushwise.sliding.learner import Learner
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.slide import look
from pushwise.sliding.target import safest
from pushwise.worlds.random_scene import random_world

__all__ = ["CHOICES", "MOST", "report", "rows_of", "run", "settings_of"]

CHOICES = ("active", "random")
"""Ways to choose the next push."""
MOST = 24
"""Pushes after which a trial ends; random ones often need more than the 12 that `slide` makes."""
_TABLE = Table()
_SEED = 4100  # of the first trial
_SHARE = 0.95  # of the overhang that the true masses allow


def run(options: SweepOptions, *, trials: int = 16) -> str:
    """Run this many trials per object and choice; return the table, as `conduct` does."""
    check_counts(trials=trials)
    return conduct(rows_of, settings_of(trials=trials), report, options)


def settings_of(*, trials: int) -> list[Row]:
    """Return all settings, ordered by trial."""
    return [
        {"object": name, "choice": choice, "trial": trial}
        for trial in range(trials)
        for name in objects.names
        for choice in CHOICES
    ]


def rows_of(setting: Row) -> list[Row]:
    """Explore an object until it may go nearly as far over the edge as if it were known."""
    seed = _SEED + int(str(setting["trial"]))
    world = random_world(str(setting["object"]), _TABLE, seed=seed)
    plan = PlanOptions(seed=seed, placement_std=0.0)  # the question is what is known of the object
    truth = Belief.certain(world.truth)
    farthest = choose_goal(truth, _TABLE, prefer="overhang", options=plan).overhang
    options = SlideOptions(overhang=_SHARE * farthest, plan=plan)
    seen, grid = look(world)
    learner = Learner(Unexplored(grid, _TABLE, Finger(), Prior()), seed=seed)
    made: list[object] = []
    verdict: str | None = None
    try:
        explore_until_safe(
            world,
            learner,
            seen.pose,
            lambda belief, pose: safest(belief, _TABLE, options, pose),
            options=options,
            policy=ExploringPolicy(_ranking(str(setting["choice"]), seed), MOST),
            progress=made.append,
        )
    except PushwiseError as error:
        verdict = str(error)
    return [
        {
            "overhang_mm": 1e3 * options.overhang,
            "pushes": len(made),
            "fell": bool(world.fell),
            "verdict": verdict,
        }
    ]


def _ranking(choice: str, seed: int) -> RankPushes:
    """Return how pushes are ranked: by what they reveal, or slow ones at random."""
    if choice == "active":
        return next_push
    rng = np.random.default_rng([seed, 13])

    def shuffled(belief: Belief, pushes: Sequence[Push], *args: Any, **named: Any) -> Any:
        slow = [push for push in pushes if not is_flick(push)]
        possible = next_push(belief, slow, *args, **named)
        return [possible[i] for i in rng.permutation(len(possible))]

    return shuffled


def report(rows: list[Row], folder: Path) -> str:
    """Write and return the table."""
    lines: list[tuple[object, ...]] = []
    shares: list[list[float]] = []
    for name in (*objects.names, "all"):
        some = rows if name == "all" else where(rows, object=name)
        if not some:
            continue
        each = [where(some, choice=choice) for choice in CHOICES]
        active, *others = (float(np.mean(_pushes(group))) for group in each)
        if name != "all":
            shares.append([active / other for other in others])
        share = np.mean(shares, axis=0) if name == "all" else shares[-1]
        lines.append(
            (
                name,
                len(each[0]),
                active,
                *others,
                *(f"{value:.0%}" for value in share),
                *(_used_up(group) for group in each),
                int(numbers(some, "fell").sum()),
            )
        )
    columns = (
        "object",
        "trials",
        *(f"{choice}: pushes" for choice in CHOICES),
        *(f"active relative to {choice}" for choice in CHOICES[1:]),
        *(f"{choice}: used all {MOST}" for choice in CHOICES),
        "fallen",
    )
    failed = [
        f"- {row['object']}, {row['choice']}, trial {row['trial']}: {row['verdict']}"
        for row in rows
        if row["verdict"] and int(str(row["pushes"])) < MOST
    ]
    table = "\n\n".join(
        (
            "Pushes, two random ones included, until an object with uneven friction may go "
            f"{_SHARE:.0%} as far over the edge as its true masses allow, with a fall probability "
            "of at most 1 %, in MuJoCo: chosen among slow pushes and flicks by what they would do "
            "to that probability, or random slow pushes, as in the paper. "
            f"Trials end after {MOST} pushes at the latest. The last line has the mean of the "
            "objects' shares.",
            markdown(columns, lines),
            "\n".join(["Trials that ended otherwise:", "", *(failed or ["- None."])]),
        )
    )
    write_text(folder / "table.md", table + "\n")
    return table


def _used_up(rows: list[Row]) -> int:
    """Return how many trials used up all pushes."""
    return int((numbers(rows, "pushes") >= MOST).sum())


def _pushes(rows: list[Row]) -> list[int]:
    """Return the pushes of each trial; one that ended without a goal counts as all of them."""
    return [MOST if row["verdict"] else int(str(row["pushes"])) for row in rows]
