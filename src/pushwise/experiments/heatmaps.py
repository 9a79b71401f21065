"""`pushwise experiment heatmaps`: maps of the learned load, step by step, and of the true one.

Fig. 4 of the paper: the uniform start of Algorithm 1, its result after 1, 2, 3 and 5 steps, the
result of our method, and the truth. Slow pushes reveal only the product of weight and friction, so
the maps show the friction load of each cell as a share of the total. The masses, which the paper
shows, are in the rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pushwise import objects
from pushwise.atomic_write import save_figure, write_text
from pushwise.experiments.reporting import PAPER_COLUMNS, markdown
from pushwise.experiments.rows import Row, grouped, numbers, where
from pushwise.experiments.sweep import SweepOptions, conduct
from pushwise.experiments.trials import ModelHistory, push_object
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.show.figure_style import CENTRE, styled
from pushwise.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

__all__ = ["report", "rows_of", "run"]

LEARN = 5  # pushes
STEPS = (1, 2, 3, 5)
STAGES = ("start", *(f"{n} steps" if n > 1 else "1 step" for n in STEPS), "refine", "truth")


def run(options: SweepOptions) -> str:
    """Run the experiment; return its table, as `conduct` does."""
    return conduct(rows_of, [{"object": name} for name in objects.names], report, options)


def rows_of(setting: Row) -> list[Row]:
    """Learn one object; return one row per stage and cell."""
    name = str(setting["object"])
    trial = push_object(name, 0)
    learn, _ = trial.split(LEARN, 0, seed=[])
    way = ModelHistory(trial.uniform)
    # The first simulation evaluates the start; each of the others follows one step.
    identify(
        trial.truth.grid,
        learn,
        method="descent",
        finger=Finger(),
        search=SearchOptions(budget=STEPS[-1] + 1),
        progress=way,
    )
    models = [
        trial.uniform,
        *(way.best(1 + n) for n in STEPS),
        identify(trial.truth.grid, learn, finger=Finger()).model,
        trial.truth.model,
    ]
    return [
        {"stage": stage, "cell": i, "x": x, "y": y, "mass": mass, "friction": friction}
        for stage, model in zip(STAGES, models, strict=True)
        for i, ((x, y), mass, friction) in enumerate(
            zip(model.grid.centres.tolist(), model.mass, model.friction, strict=True)
        )
    ]


def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md`` and one figure per object; return the table."""
    by_object = grouped(rows, "object")
    loads = {name: _centres(mine) for name, mine in by_object.items()}
    lines = [
        (name, *(1e3 * float(np.hypot(*(at - places[-1]))) for at in places[:-1]))
        for name, places in loads.items()
    ]
    means = [float(np.mean([line[i] for line in lines])) for i in range(1, len(STAGES))]
    table = "\n\n".join(
        [
            "How far the centre of the friction load is from the true one [mm]: start and steps "
            "of Algorithm 1, and refine, from five pushes (Ideal world, nearly uniform friction, "
            "1 mm and 5 mrad of noise).",
            markdown(("object", *STAGES[:-1]), [*lines, ("mean", *means)]),
            "Compared with the paper:",
            markdown(
                PAPER_COLUMNS,
                [
                    (
                        "after five steps of Algorithm 1",
                        "the mass distributions have come close to the truth (pictures)",
                        f"the load's centre is {means[-2]:.1f} mm off, from {means[0]:.1f} mm at "
                        f"the start (refine: {means[-1]:.1f} mm)",
                        "Paper: masses, five real and three simulated objects. Here: friction "
                        "loads, for masses alone do not show in slow pushes; one ground truth per "
                        "object.",
                    )
                ],
            ),
        ]
    )
    write_text(folder / "table.md", table + "\n")
    for name, mine in by_object.items():
        _draw(mine, name, folder / f"{name}.png")
    return table


def _load(rows: list[Row]) -> Array:
    """Return the share of the friction load on each cell, (n,)."""
    load = numbers(rows, "mass") * numbers(rows, "friction")
    share: Array = load / load.sum()
    return share


def _centres(rows: list[Row]) -> list[Array]:
    """Return the centre of the friction load [m] at each stage, (2,) each."""
    stages = (where(rows, stage=stage) for stage in STAGES)
    return [
        _load(mine) @ np.column_stack([numbers(mine, "x"), numbers(mine, "y")]) for mine in stages
    ]


@styled
def _draw(rows: list[Row], name: str, path: Path) -> None:
    """Draw the maps of one object next to each other, in the same colours."""
    from matplotlib.figure import Figure

    grid = objects.load(name).grid
    low, high = grid.outline.min(axis=0), grid.outline.max(axis=0)
    wide, deep = high - low
    across = 4 if wide > deep else len(STAGES)
    down = -(-len(STAGES) // across)
    width = 13.0 / across
    height = down * (width * deep / wide + 0.45) + 0.3
    figure = Figure(figsize=(13, height), layout="constrained")
    axes = figure.subplots(down, across)
    top = float(np.quantile(_load(where(rows, stage="truth")), 0.98)) * 1.3 * grid.n_cells
    centres = _centres(rows)
    for axis, stage, centre in zip(axes.flat, STAGES, centres, strict=False):
        image = _map(axis, grid, _load(where(rows, stage=stage)) * grid.n_cells, top)
        true, found = 1e3 * centres[-1], 1e3 * centre
        axis.plot(*true, "x", color="white", markersize=9, markeredgewidth=3.5)
        axis.plot(*true, "x", color="black", markersize=8, markeredgewidth=1.6)
        axis.plot(*found, "o", color=CENTRE, markersize=6, markeredgecolor="white")
        axis.set_title(stage)
    for axis in axes.flat[len(STAGES) :]:
        axis.axis("off")
    figure.colorbar(image, ax=axes, label="times the average", shrink=0.8, extend="max")
    figure.suptitle(f"{name}: friction load, its centre (dot) and the true one (cross)")
    save_figure(figure, path, dpi=90)


def _map(axis: Axes, grid: CellGrid, values: Array, top: float) -> PolyCollection:
    """Colour the cells of a grid by values (n,), from dark to bright."""
    from matplotlib.collections import PolyCollection

    corners = 0.5 * grid.cell_size * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    cells = PolyCollection(
        list(1e3 * (grid.centres[:, None] + corners)), array=values, cmap="viridis", clim=(0.0, top)
    )
    axis.add_collection(cells)
    axis.autoscale()
    axis.set_aspect("equal")
    axis.axis("off")
    return cells
