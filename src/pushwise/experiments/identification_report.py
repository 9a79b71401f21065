"""Tables and figures of `pushwise experiment identification`, compared with the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pushwise.atomic_write import save_figure, write_text
from pushwise.checks import counted
from pushwise.experiments.reporting import (
    BANDS,
    PAPER_COLUMNS,
    label_errors,
    markdown,
    plot_runs,
    with_spread,
)
from pushwise.experiments.rows import Row, grouped, mean, numbers, where
from pushwise.show.figure_style import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["report"]

CHI2_95 = 5.991  # 95 % quantile with two degrees of freedom
BUDGET = 50  # simulations
STYLES = {
    "refine": ("#000000", "-", "refine (ours)"),
    "descent": ("#cc3311", "-", "descent (Algorithm 1)"),
    "weighted": ("#0077bb", "-", "weighted sampling"),
    "random": ("#33bbee", "-", "random search"),
    "cma-es": ("#009988", "-", "CMA-ES"),
    "nelder-mead": ("#ee7733", "-", "Nelder-Mead"),
    "finite-differences": ("#ee3377", "-", "finite differences"),
    "autograd": ("#888888", "--", "autograd (fewer truths)"),
}


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md``, ``figure.png`` and one figure per panel; return the table."""
    even, uneven = (where(rows, friction=friction) for friction in ("even", "uneven"))
    parts = [_learned(even), _methods(even, "nearly uniform friction")]
    if uneven:
        parts.append(_methods(uneven, "frictions of parts that differ by up to a factor of 3"))
    table = "\n\n".join([*parts, _against_the_paper(even), _notes(even)])
    write_text(folder / "table.md", table + "\n")
    _draw(where(even, part="compare", ended=False), folder)
    return table


def _learned(rows: list[Row]) -> str:
    """Return the errors of our method after five pushes."""
    lines = []
    for name, some in {**grouped(rows, "object"), "mean": rows}.items():
        mine = where(some, method="refine", ended=True)
        parts = ("compare", "ends", "low ends", "mujoco")
        ideal, ends, low, engine = (where(mine, part=part) for part in parts)
        lines.append(
            (
                name,
                mean(ideal, "even_mm"),
                mean(ideal, "error_mm"),
                mean(ideal, "centre_mm"),
                mean(ends, "error_mm"),
                mean(low, "error_mm"),
                mean(engine, "even_mm"),
                mean(engine, "error_mm"),
                mean(engine, "centre_mm"),
            )
        )
    columns = (
        "object",
        "even mass and friction",
        "refine",
        "centre of mass off by",
        "refine, first and last poses only",
        "the same, height of the finger stated",
        "MuJoCo: even",
        "MuJoCo: refine",
        "centre of mass off by",
    )
    title = (
        "Mean error of predicted final cell positions [mm]; five pushes to learn, five to predict."
    )
    return f"{title}\n\n{markdown(columns, lines)}"


def _methods(rows: list[Row], friction: str) -> str:
    """Return the errors of all methods after the same number of simulations."""
    at = where(rows, part="compare", simulations=BUDGET, ended=False)
    found = [method for method in STYLES if where(at, method=method)]
    lines = []
    for name, mine in {**grouped(at, "object"), "mean": at}.items():
        lines.append((name, *(with_spread(where(mine, method=m), "error_mm") for m in found)))
    models = counted(len({row["model"] for row in at}), "truth", "truths")
    splits = counted(len({row["split"] for row in at}), "split", "splits")
    title = (
        f"All methods after {BUDGET} simulations of the five pushes (Ideal world, trajectories, "
        f"{friction}) [mm]: mean and standard deviation over {models} and {splits} of the pushes."
    )
    if slow := len({row["model"] for row in where(at, method="autograd")}):
        title += (
            f" Autograd, being slow, learned only {counted(slow, 'truth', 'truths')} of each "
            "object and one split, and was given the forces that it needs."
        )
    return f"{title}\n\n{markdown(('object', *found), lines)}"


def _against_the_paper(rows: list[Row]) -> str:
    """Return the paper's numbers and ours, with the conditions of both."""
    compare = where(rows, part="compare", ended=True)
    at = where(rows, part="compare", simulations=BUDGET, ended=False)
    descent, ours = (where(compare, method=m) for m in ("descent", "refine"))
    errors = [mean(where(at, method=m), "error_mm") for m in ("descent", "refine")]
    spent = numbers(where(compare, method="random"), "seconds").sum()
    per = spent / max(numbers(where(compare, method="random"), "simulations").sum(), 1.0)
    counts = _wins(at)
    behind, compared = counts.pop("refine")
    wins = "; ".join(f"{method} on {count} of {of}" for method, (count, of) in counts.items())
    lines = [
        (
            "error of Algorithm 1 [mm]",
            "below 15.3",
            f"{errors[0]:.1f} (refine: {errors[1]:.1f})",
            "Paper: eight objects in Bullet, its gradients of single steps under measured forces, "
            "mean after its last step. Here: nine objects, the model's own physics in the world, "
            f"1 mm and 5 mrad of noise, gradients of whole pushes, {BUDGET} simulations.",
        ),
        (
            "Algorithm 1 beats the compared methods",
            "all of them, on all objects (graphs)",
            wins,
            f"Lower mean error after {BUDGET} simulations, of the truths and splits both learned.",
        ),
        (
            "refine beats Algorithm 1",
            "-",
            f"on {compared - behind} of {compared}",
            f"Lower mean error after {BUDGET} simulations.",
        ),
        (
            "time of one identification [s]",
            "30",
            f"{np.median(numbers(descent, 'seconds')):.2f} "
            f"(refine: {np.median(numbers(ours, 'seconds')):.2f})",
            "Five pushes; medians, one process a core of a shared machine.",
        ),
        (
            "time of one simulation of all pushes [s]",
            "1.34 ± 0.56",
            f"{per:.3f}",
            "Random search, everything included.",
        ),
    ]
    return "Compared with the paper:\n\n" + markdown(PAPER_COLUMNS, lines)


def _wins(at: list[Row]) -> dict[str, tuple[int, int]]:
    """Compare Algorithm 1 with each method on the ground truths and splits that both learned.

    Returns:
        By method: on how many objects Algorithm 1 is better, and the number of objects.

    """
    wins = {}
    for method in STYLES:
        both = []
        for mine in grouped(at, "object").values():
            theirs = where(mine, method=method)
            learned = {(row["model"], row["split"]) for row in theirs}
            ours = [
                row
                for row in where(mine, method="descent")
                if (row["model"], row["split"]) in learned
            ]
            if ours:
                both.append((mean(ours, "error_mm"), mean(theirs, "error_mm")))
        if method != "descent" and both:
            wins[method] = (sum(a < b for a, b in both), len(both))
    return wins


def _notes(rows: list[Row]) -> str:
    """Return how good the error bars are, and how long our method takes."""
    ended = where(rows, method="refine", ended=True)
    ours = [row for row in ended if row["part"] in ("compare", "mujoco")]
    held = "; ".join(
        f"{said} {_held(where(ended, part=part))}"
        for part, said in (
            ("calibration", "Ideal world, every draw another truth and other pushes:"),
            ("compare", "the truths and splits compared above:"),
            ("ends", "from first and last poses:"),
            ("low ends", "the same, height of the finger stated:"),
            ("mujoco", "MuJoCo:"),
        )
    )
    return (
        f"The 95 % region of the centre of mass holds the truth in: {held}.\n"
        f"Time of refine: median {np.median(numbers(ours, 'seconds')):.2f} s, "
        f"{np.median(numbers(ours, 'simulations')):.0f} simulations of the five pushes, "
        "one process a core."
    )


def _held(rows: list[Row]) -> str:
    """Return how often the 95 % region contained the truth."""
    if not rows:
        return "-"
    held = int(np.sum(numbers(rows, "centre_chi2") < CHI2_95))
    return f"{held / len(rows):.1%} of {len(rows)}"


@styled
def _draw(rows: list[Row], folder: Path) -> None:
    """Draw error against simulations: all objects in one figure as in the paper, and each alone."""
    from matplotlib.figure import Figure

    by_object = grouped(rows, "object")
    rows_of_panels = -(-len(by_object) // 3)
    page = Figure(figsize=(13, 3.4 * rows_of_panels))
    panels = page.subplots(rows_of_panels, 3, squeeze=False, sharey=True)
    for letter, panel, (name, mine) in zip(
        "abcdefghi", panels.flat, by_object.items(), strict=False
    ):
        _panel(panel, mine, f"({letter}) {name}")
        alone = Figure(figsize=(5.2, 5.0), layout="constrained")
        axes = alone.subplots()
        _panel(axes, mine, name)
        handles = axes.get_legend_handles_labels()
        alone.legend(*handles, loc="outside lower center", ncols=2, title=BANDS)
        save_figure(alone, folder / f"panel-{name}.png", dpi=100)
    for panel in panels.flat[len(by_object) :]:
        panel.axis("off")
    for panel in panels.flat:
        panel.label_outer()
    shown = panels.flat[0].get_legend_handles_labels()
    page.legend(*shown, loc="outside lower center", ncols=4, title=BANDS)
    page.set_layout_engine("constrained")
    save_figure(page, folder / "figure.png", dpi=100)


def _panel(axes: Axes, rows: list[Row], title: str) -> None:
    """Draw one object."""
    for method, (colour, line, label) in STYLES.items():
        mine = where(rows, method=method)
        if not mine:
            continue
        at = sorted({int(row["simulations"] or 0) for row in mine})
        errors = [numbers(where(mine, simulations=n), "error_mm") for n in at]
        plot_runs(axes, at, errors, line, shade=0.12, color=colour, label=label, linewidth=1.6)
    axes.set_title(title)
    label_errors(axes, "simulations of all pushes")
