"""`pushwise experiment samples`: prediction error against the number of pushes learned from.

Fig. 5 (o) of the paper: nine objects with random part masses and frictions in the ideal world. One
to nine pushes are learned from; the same five others are always predicted.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pushwise import objects
from pushwise.atomic_write import save_figure, write_text
from pushwise.experiments.reporting import (
    BANDS,
    PAPER_COLUMNS,
    label_errors,
    markdown,
    plot_runs,
    with_spread,
)
from pushwise.experiments.rows import Row, mean, numbers, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.experiments.trials import EVEN, end_error, push_object
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.physics.push import Finger
from pushwise.show.figure_style import styled

__all__ = ["report", "rows_of", "run", "settings_of"]

MOST = 9  # pushes learned from
TEST = 5  # pushes predicted
METHODS = {"refine": ("#000000", "refine (ours)"), "descent": ("#cc3311", "Algorithm 1")}


def run(options: SweepOptions, *, models: int = 10, splits: int = 10) -> str:
    """Run the experiment; return its table, as `conduct` does.

    Args:
        options: Where to run it, and where to write rows, table and figure.
        models: Number of random ground truths per object.
        splits: Number of choices of the pushes per ground truth.

    """
    check_counts(models=models, splits=splits)
    return conduct(rows_of, settings_of(models=models, splits=splits), report, options)


def settings_of(*, models: int, splits: int) -> list[Row]:
    """Return all settings, ordered by split."""
    return [
        {"object": name, "model": model, "split": split, "pushes": pushes, "method": method}
        for split in range(splits)
        for name in objects.names
        for model in range(models)
        for pushes in range(1, MOST + 1)
        for method in METHODS
    ]


def rows_of(setting: Row) -> list[Row]:
    """Push an object, learn from some of the pushes, and predict the others."""
    name, model, split, pushes, method = setting.values()
    assert isinstance(name, str) and isinstance(method, str)
    assert isinstance(model, int) and isinstance(split, int) and isinstance(pushes, int)
    trial = push_object(name, model, pushes=MOST + TEST)
    learn, test = trial.split(MOST, split, seed=[objects.names.index(name), model])
    found = identify(
        trial.truth.grid,
        learn[:pushes],
        method=method,
        finger=Finger(),
        prior=EVEN,
        search=SearchOptions(seed=model + 1000 * split),
    )
    off = found.model.centre_of_mass - trial.truth.model.centre_of_mass
    return [
        {
            "error_mm": 1e3 * end_error(found.model, found.finger, test),
            "even_mm": 1e3 * end_error(trial.uniform, Finger(), test),
            "centre_mm": 1e3 * float(np.hypot(*off)),
            "simulations": found.simulations,
            "seconds": found.seconds,
        }
    ]


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md`` and ``figure.png``; return the table."""
    lines = []
    for pushes in range(1, MOST + 1):
        mine = where(rows, pushes=pushes)
        lines.append(
            (
                pushes,
                *(with_spread(where(mine, method=m), "error_mm") for m in METHODS),
                *(mean(where(mine, method=m), "centre_mm") for m in METHODS),
            )
        )
    columns = (
        "pushes learned from",
        "error of refine",
        "error of Algorithm 1",
        "centre of mass off by, refine",
        "centre of mass off by, Algorithm 1",
    )
    models, splits = (len({row[what] for row in rows}) for what in ("model", "split"))
    count = len({row["object"] for row in rows})
    falls = {
        m: [mean(where(rows, method=m, pushes=n), "error_mm") for n in (1, MOST)] for m in METHODS
    }
    table = "\n\n".join(
        [
            f"Error of predicted final cells [mm], mean and standard deviation over {count} "
            f"objects, {models} truths of each and {splits} choices of pushes; five pushes to "
            "predict. Friction is nearly uniform, which the methods know. For uniform mass and "
            f"friction: {mean(rows, 'even_mm'):.1f} mm.",
            markdown(columns, lines),
            "Compared with the paper:",
            markdown(
                PAPER_COLUMNS,
                [
                    (
                        "error falls with the number of training pushes (Fig. 5 o)",
                        "yes (a graph without numbers)",
                        f"Algorithm 1 from {falls['descent'][0]:.1f} to {falls['descent'][1]:.1f} "
                        f"mm, refine from {falls['refine'][0]:.1f} to {falls['refine'][1]:.1f} mm",
                        f"Paper: in Bullet. Here: the ideal world, 1 mm and 5 mrad of noise, one "
                        f"to {MOST} pushes, Algorithm 1 with 50 simulations.",
                    )
                ],
            ),
        ]
    )
    write_text(folder / "table.md", table + "\n")
    _draw(rows, folder / "figure.png")
    return table


@styled
def _draw(rows: list[Row], path: Path) -> None:
    """Draw the error against the number of pushes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.2), layout="constrained")
    axes = figure.subplots()
    at = np.arange(1, MOST + 1)
    axes.set_xticks(at)
    for method, (colour, label) in METHODS.items():
        errors = [numbers(where(rows, method=method, pushes=int(n)), "error_mm") for n in at]
        plot_runs(axes, at, errors, "o-", shade=0.15, color=colour, label=label)
    nothing = float(np.median(numbers(rows, "even_mm")))
    axes.axhline(nothing, color="0.5", linestyle=":", label="uniform mass and friction")
    label_errors(axes, "pushes learned from")
    axes.legend(loc="upper right", bbox_to_anchor=(1.0, 0.93), title=BANDS)
    save_figure(figure, path, dpi=110)
