"""The experiments on identification, in small: rows, tables, figures, and the same again."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from numpy.typing import NDArray
from typer.testing import CliRunner

from drawn import drawn, points_of, texts
from pushwise import Push, PushRecord
from pushwise.cli.experiment import experiment
from pushwise.errors import PushwiseError
from pushwise.experiments import (
    coverage,
    coverage_report,
    heatmaps,
    identification,
    identification_report,
    samples,
)
from pushwise.experiments.reporting import markdown, with_spread
from pushwise.experiments.rows import Row, numbers, read_rows, where
from pushwise.experiments.sweep import SweepOptions, compare, conduct
from pushwise.experiments.trials import ModelHistory, push_object
from pushwise.progress import Progress

NAME = "toothpaste"


def axes_colours(axes: Axes) -> NDArray[np.float64]:
    """Return the colours of the cells of a map, shape (n, 4)."""
    return np.asarray(axes.collections[0].get_facecolor())


def small(settings: list[Row]) -> list[Row]:
    """Return the settings of one object, without the one that takes a minute."""
    return [s for s in where(settings, object=NAME) if s.get("method") != "autograd"]


@pytest.mark.slow
def test_identification(tmp_path: Path) -> None:
    """Learn one object by every method: ours is best in the end, and all of it repeats."""
    settings = small(identification.settings_of(models=1, splits=1, draws=9))
    with drawn() as figures:
        table = conduct(
            identification.rows_of, settings, identification_report.report, SweepOptions(tmp_path)
        )
    assert (tmp_path / "table.md").read_text() == table + "\n"
    rows = read_rows(tmp_path / "rows.csv")
    other = where(rows, friction="uneven", simulations=50, ended=False)
    assert {row["method"] for row in other} == {*identification.METHODS[:-1]}
    at = where(rows, part="compare", friction="even", simulations=50, ended=False)
    errors = {m: numbers(where(at, method=m), "error_mm") for m in identification.METHODS[:-1]}
    assert all(len(found) == 1 for found in errors.values())
    panel, alone = figures["figure.png"].axes[0], figures[f"panel-{NAME}.png"].axes[0]
    assert [panel.get_title(loc="left"), alone.get_title(loc="left")] == [f"(a) {NAME}", NAME]
    for axes in (panel, alone):
        ends = sorted(points_of(line)[-1, 1] for line in axes.get_lines())
        assert ends == pytest.approx(sorted(float(each.mean()) for each in errors.values()))
        assert axes.get_ylabel() == "error of predicted cells [mm]"
    assert texts(figures[f"panel-{NAME}.png"]) == texts(figures["figure.png"])
    ours = errors.pop("refine")
    assert all(ours.mean() < other.mean() for other in errors.values())
    # All but the evolution begin with the same even model.
    first = where(rows, part="compare", friction="even", simulations=1, split=0)
    starts = numbers([row for row in first if row["method"] != "cma-es"], "error_mm")
    assert starts == pytest.approx(starts[0])
    for part in ("ends", "low ends", "mujoco", "calibration"):
        (end,) = where(rows, part=part)
        assert end["ended"] and end["error_mm"] < end["even_mm"]  # type: ignore[operator]
    assert f"| {NAME} | " in table and "below 15.3" in table
    again = compare(identification.rows_of, settings, tmp_path, share=0.2)
    assert again.endswith("all the same to the last digit.")


@pytest.mark.slow
def test_coverage(tmp_path: Path) -> None:
    """Learn one object in every world from slow pushes and, in two, from flicks; say it again."""
    settings = [
        setting
        for setting in where(coverage.settings_of(draws=1), friction="uneven")
        if setting["plan"] == "slow" or setting["world"] != "mujoco"
    ]
    assert len(settings) == 5
    table = conduct(coverage.rows_of, settings, coverage_report.report, SweepOptions(tmp_path))
    assert (tmp_path / "table.md").read_text() == table + "\n"
    rows = read_rows(tmp_path / "rows.csv")
    flicked = where(rows, plan="flicks")
    assert all(row["flicks"] == 5 and row["lost"] == 0 for row in flicked)
    assert numbers(flicked, "slides").min() >= 3
    assert numbers(rows, "centre_chi2").max() < 14.0  # one of a thousand is above it
    assert "| uneven | 2 slow, 5 flicks | stiff bed | 1 | 100.0 % |" in table
    # Flicks determine the centre of mass better than slow pushes alone. How far over the edge one
    # object may go is another matter: that depends on where the error of its centre points.
    for world in ("own weight", "stiff bed"):
        slow, flicked = (where(rows, plan=plan, world=world) for plan in ("slow", "flicks"))
        assert numbers(flicked, "centre_std_mm")[0] < numbers(slow, "centre_std_mm")[0]
    again = compare(coverage.rows_of, settings, tmp_path, share=0.2)
    assert again.endswith("all the same to the last digit.")


@pytest.mark.slow
def test_samples(tmp_path: Path) -> None:
    """Predict better from nine pushes than from one."""
    settings = [s for s in small(samples.settings_of(models=1, splits=1)) if s["pushes"] in (1, 9)]
    rows = [{**s, **row} for s in settings for row in samples.rows_of(s)]
    one, nine = (numbers(where(rows, pushes=n), "error_mm") for n in (1, 9))
    assert (nine < one).all()


def test_samples_report(tmp_path: Path) -> None:
    """Write the table and the figure of made-up rows."""
    rows = [
        {**s, "error_mm": 9.0 / int(s["pushes"] or 0), "even_mm": 30.0, "centre_mm": 1.0}
        for s in samples.settings_of(models=2, splits=1)
    ]
    with drawn() as figures:
        table = samples.report(rows, tmp_path)
    assert "| 3 | 3.0 ± 0.0 | 3.0 ± 0.0 | 1.0 | 1.0 |" in table
    assert "refine from 9.0 to 1.0 mm" in table
    (axes,) = figures["figure.png"].axes
    *curves, baseline = axes.get_lines()
    for curve in curves:
        assert points_of(curve)[:, 1] == pytest.approx(9.0 / np.arange(1, 10))
    assert set(points_of(baseline)[:, 1]) == {30.0}
    assert texts(axes)[-1] == "uniform mass and friction"


def test_heatmaps(tmp_path: Path) -> None:
    """Map one object: the start is even, refine is nearest to the truth."""
    settings: list[Row] = [{"object": NAME}]
    with drawn() as figures:
        table = conduct(heatmaps.rows_of, settings, heatmaps.report, SweepOptions(tmp_path))
    rows = read_rows(tmp_path / "rows.csv")
    cells = len(where(rows, stage="truth"))
    assert len(rows) == cells * len(heatmaps.STAGES)
    assert len(set(numbers(where(rows, stage="start"), "mass"))) == 1
    line = next(line for line in table.splitlines() if line.startswith(f"| {NAME}"))
    off = [float(cell) for cell in line.split("|")[2:-1]]
    assert off[-1] == min(off) and off[0] > off[-2]
    maps = [axes for axes in figures[f"{NAME}.png"].axes if axes.get_title(loc="left")]
    assert [axes.get_title(loc="left") for axes in maps] == list(heatmaps.STAGES)
    for axes in maps:
        assert len(axes.collections[0].get_paths()) == cells
    start = axes_colours(maps[0])
    assert (start == start[0]).all() and len(np.unique(axes_colours(maps[-1]), axis=0)) > 1


def starts_of(records: Sequence[PushRecord]) -> set[tuple[float, ...]]:
    """Return where the finger was when each push began."""
    pushes = [record.push for record in records]
    return {tuple(push.start) for push in pushes if isinstance(push, Push)}


def test_a_split_is_its_seed() -> None:
    """Learn from the first pushes at split 0, from others at split 1, never from those to test."""
    trial = push_object(NAME, 0)
    for split in range(3):
        learn, test = trial.split(5, split, seed=[1, 2])
        starts = starts_of(learn)
        assert len(starts) == 5
        assert not starts & starts_of(test)
        assert all(record.force is None for record in learn)
        assert (split == 0) == (starts == starts_of(trial.seen[:5]))
        again, _ = trial.split(5, split, seed=[1, 2], forces=True)
        assert [r.push for r in again] == [r.push for r in learn]
        assert all(record.force is not None for record in again)


def test_the_way_gives_the_best_so_far() -> None:
    """Return the best model reported up to a number of simulations, but not the final one."""
    models = [push_object(NAME, 0).uniform for _ in range(4)]
    way = ModelHistory(models[0])
    for at, model in ((2, 1), (3, 1), (9, 3), (9, 0)):
        way(Progress("identify", done=at, result=models[model]))
    assert way.best(1) is models[0]
    assert way.best(2) is models[1]
    assert way.best(8) is models[1]
    assert way.best(9) is models[3]


def test_tables() -> None:
    """Write one digit, and a dash for nothing."""
    assert with_spread([{"a": 1}, {"a": 3.0}, {"a": None}], "a") == "2.0 ± 1.0"
    assert with_spread([], "a") == "-"
    assert markdown(("x", "y"), [(1.234, float("nan"))]) == "| x | y |\n|---|---|\n| 1.2 | - |"


@pytest.mark.parametrize("name", ["identification", "samples"])
def test_commands_refuse_nothing_to_do(name: str, tmp_path: Path) -> None:
    """Say what is wrong with a count of zero."""
    result = CliRunner().invoke(experiment, [name, "-o", str(tmp_path / "out"), "--models", "0"])
    assert isinstance(result.exception, PushwiseError)
    assert str(result.exception) == "--models must be at least 1; got 0."
    assert not (tmp_path / "out").exists()


def test_check_needs_results(tmp_path: Path) -> None:
    """Say that there is nothing to check."""
    result = CliRunner().invoke(experiment, ["heatmaps", "-o", str(tmp_path), "--check", "0.02"])
    assert "holds no results to check" in str(result.exception)
