"""`pushwise experiment stability`: objects released at the edge in MuJoCo, and predicted falls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from pushwise import objects
from pushwise.atomic_write import save_figure, write_text
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.physics.model import Table
from pushwise.planning.stability import Balance
from pushwise.show.figure_style import COLOURS, styled
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["report", "rows_of", "run"]

_TABLE = Table.rectangle(0.8, 0.6)
_NEAR = 0.04  # m; largest distance of the centre of mass from an edge
_SURE = 5.0  # mm; a margin beyond which the prediction must be right


def rows_of(setting: Row) -> list[Row]:
    """Release an object with random masses at a random pose, at an edge or a corner."""
    case = setting["case"]
    assert isinstance(case, int)
    rng = np.random.default_rng(case)
    thing = objects.load(objects.names[case % len(objects.names)]).sample(rng)
    theta = float(rng.uniform(-np.pi, np.pi))
    centre = placed(thing.model.centre_of_mass[None], np.array([0.0, 0.0, theta]))[0]
    at = np.array([0.4, 0.3]) + rng.uniform(-_NEAR, _NEAR, 2)
    if rng.random() < 0.5:
        at[1] = rng.uniform(-0.2, 0.2)
    pose = np.append(at - centre, theta)
    margin = float(Balance(Belief.certain(thing.model), _TABLE).margins(pose[None])[0])
    return [
        {
            "object": thing.name,
            "x": pose[0],
            "y": pose[1],
            "theta": theta,
            # None if no part of the object is on the table.
            "margin_mm": 1e3 * margin if np.isfinite(margin) else None,
            "fell": MuJoCo(thing, _TABLE, pose=pose).fell,
        }
    ]


def run(options: SweepOptions, *, cases: int = 500) -> str:
    """Release this many objects; return how often the margin was wrong, as `conduct` does."""
    check_counts(cases=cases)
    return conduct(rows_of, [{"case": case} for case in range(cases)], report, options)


@styled
def report(rows: list[Row], folder: Path) -> str:
    """Write ``table.md`` and the figure; return the table."""
    margins = (row["margin_mm"] for row in rows)
    margin = np.array([-np.inf if each is None else each for each in margins], float)
    fell = np.array([row["fell"] for row in rows], bool)
    wrong = fell != (margin < 0.0)
    table = markdown(
        ("margin of the centre of mass", "cases", "fell", "the margin was wrong"),
        [
            (which, some.sum(), fell[some].sum(), wrong[some].sum())
            for which, some in (
                (f"outside by more than {_SURE:g} mm", margin < -_SURE),
                (f"within {_SURE:g} mm", np.abs(margin) <= _SURE),
                (f"inside by more than {_SURE:g} mm", margin > _SURE),
                ("all", np.ones(len(rows), bool)),
            )
        ],
    )
    write_text(folder / "table.md", table + "\n")
    figure = Figure(figsize=(6.0, 3.0), layout="constrained")
    axes = figure.add_subplot()
    edges = np.arange(-40.0, 42.0, 2.0)
    axes.hist(
        [margin[~fell], margin[fell]],
        edges.tolist(),
        stacked=True,
        label=["rested", "fell"],
        color=[COLOURS["blue"], COLOURS["orange"]],
    )
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.set_xlabel("margin of the centre of mass [mm]")
    axes.set_ylabel("objects let go in MuJoCo")
    axes.legend()
    save_figure(figure, folder / "stability.png", dpi=150)
    return table
