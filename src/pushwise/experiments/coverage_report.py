"""Tables of the second half of `pushwise experiment identification`; see `coverage`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pushwise.atomic_write import write_text
from pushwise.experiments.coverage import FRICTIONS, PLANS, WORLDS
from pushwise.experiments.edge_risk import DIRECTIONS
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, mean, numbers, where

__all__ = ["report"]

CHI2_95 = 5.991  # 95 % quantile with two degrees of freedom
STD_95 = 1.96  # standard errors, of a number


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md``; return the tables."""
    tables = "\n\n".join([_error_bars(rows), _edge(rows), _total_mass(rows)])
    write_text(folder / "table.md", tables + "\n")
    return tables


def _cases(rows: list[Row]) -> list[tuple[tuple[str, str, str], list[Row]]]:
    """Return friction, pushes and world of each case that has rows, and these rows."""
    found = []
    for friction in FRICTIONS:
        for plan, (slow, flicks) in PLANS.items():
            for world in WORLDS:
                mine = where(rows, world=world, friction=friction, plan=plan)
                pushes = f"{slow} slow" + (f", {flicks} flicks" if flicks else "")
                if mine:
                    found.append(((friction, pushes, world), mine))
    return found


def _error_bars(rows: list[Row]) -> str:
    """Return how far off the centre of mass is, and how far it was said to be."""
    lines = []
    for case, mine in _cases(rows):
        off, seconds = numbers(mine, "centre_mm"), numbers(mine, "longest_seconds")
        lines.append(
            (
                *case,
                f"{len(mine)}",
                _percent(np.mean(numbers(mine, "centre_chi2") < CHI2_95)),
                f"{np.median(off):.1f} / {np.percentile(off, 90):.1f}",
                f"{np.median(numbers(mine, 'centre_std_mm')):.1f}",
                f"{mean(mine, 'error_mm'):.1f}" if len(numbers(mine, "error_mm")) else "-",
                f"{numbers(mine, 'lost').sum():.0f} of {numbers(mine, 'flicks').sum():.0f}",
                f"{np.median(seconds):.2f} / {seconds.max():.2f}",
            )
        )
    columns = (
        "friction",
        "pushes",
        "world",
        "truths",
        "95 % region holds the centre of mass",
        "centre off, median / 90 % [mm]",
        "claimed, median [mm]",
        "slow pushes predicted, mean error [mm]",
        "flicks that lost the object",
        "CPU time of an identification, median / longest [s]",
    )
    title = (
        "Error bars in worlds that the method does not know. It knows where friction is even; "
        "of uneven friction, which differs by up to a factor of 3, it knows nothing. Claimed: "
        "the root of the sum of both variances. The time is that of the longest identification "
        "of each truth."
    )
    return f"{title}\n\n{markdown(columns, lines)}"


def _edge(rows: list[Row]) -> str:
    """Return what happens at the table's edge where a fall is predicted with 1 %."""
    lines = []
    for case, mine in _cases(rows):
        poses = DIRECTIONS * len(mine)
        fallen = numbers(mine, "fallen").sum()
        short = np.median(numbers(mine, "short_mm"))
        lines.append(
            (*case, f"{fallen:.0f} of {poses} ({_percent(fallen / poses)})", f"{short:.1f}")
        )
    columns = ("friction", "pushes", "world", "true objects fall", "short of the limit [mm]")
    title = (
        f"Over the table's edge in {DIRECTIONS} directions, until the predicted probability of a "
        "fall is 1 %: how often the true object falls there, and how much farther it could have "
        "gone, the median over truths of the median over directions."
    )
    return f"{title}\n\n{markdown(columns, lines)}"


def _total_mass(rows: list[Row]) -> str:
    """Return how often forces determine the total mass, and how well."""
    lines = []
    for case, mine in _cases(where(rows, world="mujoco", plan="flicks")):
        off = np.abs(numbers(mine, "mass_error"))
        claimed = numbers(mine, "mass_std")
        lines.append(
            (
                *case[:2],
                f"{len(off)} of {len(mine)}",
                _percent(np.mean(off < STD_95)) if len(off) else "-",
                _percent(np.median(claimed)) if len(off) else "-",
            )
        )
    columns = (
        "friction",
        "pushes",
        "total mass determined",
        "95 % interval holds it",
        "claimed standard error, median",
    )
    title = "Total mass in MuJoCo, if the forces of all pushes are measured, with 0.05 N of noise."
    return f"{title}\n\n{markdown(columns, lines)}"


def _percent(share: float | np.floating[Any]) -> str:
    """Return a share in percent."""
    return f"{100.0 * share:.1f} %"
