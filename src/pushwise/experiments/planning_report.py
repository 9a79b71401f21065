"""Tables and figure of `pushwise experiment planning`, compared with the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from pushwise.atomic_write import save_figure, write_text
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, grouped, mean, numbers
from pushwise.show.figure_style import styled
from pushwise.typing import Array

__all__ = ["report"]

_NAMES = {"gradient": "Algorithm 2", "exhaustive": "exhaustive", "batch": "ours"}
_PAPER = {"gradient": (40, 75), "exhaustive": (280, 650)}  # simulations per plan, Fig. 5 (p)
_CONDITIONS = """
The paper (Fig. 5 p): 8 objects x 10 mass and friction samples x 10 goals in a disk of 1 m, random
rotations, in Bullet; simulations as read off the figure; seconds are the authors' released planner
run on one core of our machine. Its exhaustive search is every contact at seven lengths of push,
each simulated once a plan; Algorithm 2 simulates those of them it looks at.

Here: {objects} objects x {models} samples x {goals} goals, the same seven lengths, our physics,
contacts at every outer cell. A plan counts when its pushes, carried out in the Ideal world, end
within 20 mm mean cell distance of the goal. Ours tries every duration and three directions, up to
three pushes ahead. Seconds are processor time of one core, median.
"""


_TIMES = """
Step and search are processor times, the largest 95th percentile of a drive; prepare is the longest
preparation of library and value function. The finger's time includes approaches at 0.3 m/s."""


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md``, and the figure of the ideal world; return the table."""
    part = str(rows[0]["part"])
    table = {"ideal": _ideal, "goals": _goals, "control": _control}.get(part, _loop)(rows)
    if part == "ideal":
        _figure(rows, folder / "planning.png")
    write_text(folder / "table.md", table + "\n")
    return table


def _ideal(rows: list[Row]) -> str:
    """Return simulations, seconds and pushes of each search, overall and per object."""
    searches = []
    for method, some in grouped(rows, "method").items():
        low, high = _PAPER.get(method, (None, None))
        searches.append(
            (
                _NAMES[method],
                len(some),
                _share(some),
                f"{mean(some, 'simulations'):.0f}",
                f"{low} to {high}" if low else "-",
                f"{np.median(numbers(some, 'seconds')):.2f}",
                "8 to 27" if method == "gradient" else "-",
                mean(some, "pushes"),
            )
        )
    each_object = []
    for name, some in grouped(rows, "object").items():
        each = grouped(some, "method")
        cells = (
            f"{mean(each[m], 'simulations'):.0f}, {np.median(numbers(each[m], 'seconds')):.2f}"
            for m in _NAMES
        )
        each_object.append((name, some[0]["contacts"], *cells))
    counts = {f"{name}s": len(grouped(rows, name)) for name in ("object", "model", "goal")}
    columns = ("search", "plans", "reached", "simulations, mean", "the paper's", "seconds")
    tables = [
        markdown((*columns, "the authors'", "pushes, mean"), searches),
        markdown(
            ("object", "contacts", *(f"{n}: simulations, s" for n in _NAMES.values())), each_object
        ),
    ]
    return "\n\n".join(tables) + "\n" + _CONDITIONS.format(**counts).rstrip()


def _loop(rows: list[Row]) -> str:
    """Return the outcomes of closed loops, overall and per object."""
    lines = []
    for name, some in {**grouped(rows, "object"), "all": rows}.items():
        hit = sum(bool(row.get("collided")) for row in some)
        lines.append(
            (
                name,
                len(some),
                _share(some),
                hit if "collided" in some[0] else "-",
                mean(some, "pushes"),
                f"{numbers(some, 'pushes').max():.0f}",
                float(np.median(numbers(some, "seconds"))),
            )
        )
    columns = ("object", "goals", "reached", "collided", "pushes, mean", "most", "seconds, median")
    return "\n".join([markdown(columns, lines), "", *_failures(rows)]).rstrip()


def _control(rows: list[Row]) -> str:
    """Return what the controller needs, next to the planner of whole pushes, per object."""
    lines = []
    for name, some in {**grouped(rows, "object"), "all": rows}.items():
        ours, whole = (grouped(some, "method")[m] for m in ("controller", "whole pushes"))
        lines.append(
            (
                name,
                len(ours),
                *(_share(ours), mean(ours, "pushes"), mean(ours, "finger_seconds")),
                *(_share(whole), mean(whole, "pushes"), mean(whole, "finger_seconds")),
                f"{numbers(ours, 'step_ms').max():.1f}",
                f"{numbers(ours, 'search_ms').max():.0f}",
                f"{numbers(ours, 'prepare_seconds').max():.1f}",
            )
        )
    columns = (
        *("object", "goals", "reached, 5 mm", "contacts", "finger [s]"),
        *("whole pushes, 20 mm", "pushes", "finger [s]"),
        *("step [ms]", "search [ms]", "prepare [s]"),
    )
    return "\n".join([markdown(columns, lines), "", *_failures(rows), _TIMES]).rstrip()


def _failures(rows: list[Row]) -> list[str]:
    """Return a line for each goal that was not reached."""
    return [
        f"- {row['object']}, goal {row['goal']}: {row['end']}; {row['said']}"
        for row in rows
        if not row["reached"]
    ]


def _goals(rows: list[Row]) -> str:
    """Return how often objects fell, compared with the predicted probabilities."""
    lines = []
    for method, some in grouped(rows, "method").items():
        fell = sum(bool(row["fell"]) for row in some)
        predicted = float(numbers(some, "fall_probability").sum())
        ratio = f"{fell / predicted:.2f}" if predicted > 0.0 else "-"
        least = float(numbers(some, "margin_mm").min())
        lines.append((method, len(some), fell, f"{predicted:.2f}", ratio, least))
    columns = ("poses", "let go", "fell", "predicted", "fell over predicted", "least margin [mm]")
    return markdown(columns, lines)


def _share(rows: list[Row]) -> str:
    """Return the percentage of goals that were reached."""
    return f"{100.0 * numbers(rows, 'reached').mean():.1f} %"


@styled
def _figure(rows: list[Row], path: Path) -> None:
    """Draw simulations and seconds of each search for each object, as the paper's Fig. 5 (p)."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    objects = grouped(rows, "object")
    at = np.arange(len(objects))
    for axes, column, title in zip(
        figure.subplots(1, 2),
        ("simulations", "seconds"),
        ("simulations per plan", "processor time per plan [s]"),
        strict=True,
    ):
        for k, (method, name) in enumerate(_NAMES.items()):
            values = [numbers(grouped(some, "method")[method], column) for some in objects.values()]
            axes.bar(
                at + 0.27 * (k - 1),
                [np.median(v) for v in values],
                0.25,
                yerr=_quartiles(values),
                label=name,
                error_kw={"elinewidth": 0.8},
            )
        if column == "simulations":
            for method, colour in (("gradient", "C0"), ("exhaustive", "C1")):
                axes.axhspan(*_PAPER[method], color=colour, alpha=0.12, label=None)
        axes.set_xticks(at, list(objects), rotation=30, ha="right")
        axes.set_ylabel(title)
        axes.set_ylim(bottom=0.0)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    said = "bar: median; line: middle half of the plans; band: the paper's range"
    figure.legend(handles, labels, loc="outside lower center", ncols=3, title=said)
    save_figure(figure, path, dpi=150)


def _quartiles(values: Sequence[Array]) -> Array:
    """Return how far the middle half of each set extends below and above its median, (2, k)."""
    low, median, high = np.array([np.percentile(each, [25, 50, 75]) for each in values]).T
    return np.array([median - low, high - median])
