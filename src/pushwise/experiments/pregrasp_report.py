"""Table and figure of `pushwise experiment pregrasp`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import poisson

from pushwise import objects
from pushwise.atomic_write import save_figure, write_text
from pushwise.experiments.reporting import markdown, mean_text
from pushwise.experiments.rows import Row, grouped, numbers, where
from pushwise.show.figure_style import COLOURS, styled
from pushwise.worlds.random_scene import WORLDS

__all__ = ["report"]

_PAPER = {"identified": 16, "unlimited": 13, "uniform": 12}  # of 16, Fig. 5 (q)
_WORDS = {
    "identified": "identified",
    "unlimited": "no upper limit\non friction",
    "uniform": "uniform mass\nand friction",
}
_ENDS = ("grasped", "fell", "not reached", "not held", "not moved")
_CONDITIONS = (
    "Ours: simulated, masses of parts random by up to 1.6 either way, frictions of parts that "
    "differ by up to a factor of 3, table 1.0 m x 0.7 m, poses to 1 mm and 5 mrad at 30 Hz, no "
    "forces, at least 50 mm over the edge, grasped and lifted by 0.1 m in MuJoCo. The paper's: one "
    "real hammer, a Kuka arm, five exploring pushes, 16 initial poses."
)


def report(rows: list[Row], folder: Path) -> str:
    """Write the table and the figure; return the table."""
    worlds = grouped(where(rows, variant="default"), "world")
    hammer = [row for row in rows if row["variant"] in _PAPER]
    parts = [_objects(world, some) for world, some in worlds.items()]
    parts += [_falls(worlds), _hammer(hammer), _failures(rows), _CONDITIONS]
    table = "\n\n".join(parts)
    write_text(folder / "table.md", table + "\n")
    _figure(hammer, folder / "figure.png")
    return table


def _objects(world: str, rows: list[Row]) -> str:
    """Return how the objects fared in a world."""
    by_name = {name: where(rows, object=name) for name in objects.all_names} | {"all": rows}
    lines = [
        (
            name,
            *_counts(some),
            mean_text(some, "explored"),
            mean_text(some, "pushes"),
            mean_text(some, "centre_off_mm"),
            f"{numbers(some, 'total_seconds').max():.0f}",
        )
        for name, some in by_name.items()
        if some
    ]
    columns = (
        "object",
        *_ENDS,
        "exploring pushes",
        "pushes on the way",
        "centre of mass off by [mm]",
        "longest run [s of processor time]",
    )
    title = f"Explored until it is safe, and slid to the safest goal, in {WORLDS[world]}."
    return f"{title}\n\n{markdown(columns, lines)}"


def _falls(worlds: dict[str, list[Row]]) -> str:
    """Return the falls that were predicted and those that happened."""
    lines = []
    for world, rows in worlds.items():
        pushes, expected = numbers(rows, "pushes").sum(), numbers(rows, "expected_falls").sum()
        fell = sum(row["end"] == "fell" for row in rows)
        low, high = poisson.interval(0.95, expected) if expected > 0.0 else (0, 0)
        lines.append(
            (WORLDS[world], f"{pushes:.0f}", f"{expected:.2f}", f"{low:.0f} to {high:.0f}", fell)
        )
    columns = ("world", "pushes to goals", "falls predicted", "95 % interval", "fallen")
    title = (
        "Falls predicted: the sum, over all pushes to goals, of the predicted probability of "
        "falling where the push ended, with the model that was identified before the first of "
        "them. A push in which the object fell counts with the 1 % that is permitted."
    )
    return f"{title}\n\n{markdown(columns, lines)}"


def _hammer(rows: list[Row]) -> str:
    """Return how the hammer fared with the paper's protocol."""
    lines = [
        (variant, *_counts(where(rows, variant=variant)), f"{paper} of 16")
        for variant, paper in _PAPER.items()
    ]
    title = (
        "The hammer as in Fig. 5 (q) of the paper, in MuJoCo: five random exploring pushes, "
        "sampled goals, the same poses and masses for every variant."
    )
    return f"{title}\n\n{markdown(('variant', *_ENDS, 'the paper'), lines)}"


def _failures(rows: list[Row]) -> str:
    """Return why objects were not grasped."""
    failed = [
        f"- {WORLDS[str(row['world'])]}, {row['object']}, {row['variant']}, trial {row['trial']}: "
        f"{row['verdict']}"
        for row in rows
        if not row["success"]
    ]
    return "\n".join(["Why objects were not grasped:", "", *(failed or ["- All were."])])


def _counts(rows: list[Row]) -> list[str]:
    """Return how many trials had each of the `_ENDS`, as cells of a table."""
    ends = [row["end"] for row in rows]
    others = (str(ends.count(end)) for end in _ENDS[1:])
    return [f"{ends.count('grasped')} of {len(ends)}", *others]


@styled
def _figure(rows: list[Row], path: Path) -> None:
    """Draw the success rates next to those of the paper."""
    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    at = np.arange(len(_PAPER))
    ours = []
    for variant in _PAPER:
        some = where(rows, variant=variant)
        ours.append(sum(row["end"] == "grasped" for row in some) / max(len(some), 1))
    for shift, rates, label, colour in (
        (-0.2, [paper / 16 for paper in _PAPER.values()], "the paper, real", "0.7"),
        (0.2, ours, "ours, simulated", COLOURS["blue"]),
    ):
        bars = axes.bar(at + shift, 100.0 * np.array(rates), 0.38, label=label, color=colour)
        axes.bar_label(bars, fmt="%.0f", padding=2)
    axes.set_xticks(at, list(_WORDS.values()))
    axes.set_ylabel("hammer grasped at the edge [%]")
    axes.set_ylim(0.0, 112.0)
    axes.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.5, 1.0))
    save_figure(figure, path, dpi=150)
