"""`pushwise experiment planning`: every search reaches every goal in the ideal world."""

import json
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import BarContainer

import pushwise as pw
from drawn import drawn
from pushwise.errors import PushwiseError
from pushwise.experiments import planning
from pushwise.experiments.planning import rows_of, run
from pushwise.experiments.planning_report import report
from pushwise.experiments.rows import Row, write_rows
from pushwise.experiments.sweep import SweepOptions
from pushwise.sliding.moved import End


def _heights(axes: Axes) -> list[list[float]]:
    """Return the heights of the bars, a list per colour."""
    groups = [group for group in axes.containers if isinstance(group, BarContainer)]
    return [[bar.get_height() for bar in group] for group in groups]


@pytest.mark.slow
def test_goals_are_reached(tmp_path: Path) -> None:
    """Reach all, with at most a fifth of the simulations by Algorithm 2, and write the table."""
    with drawn() as figures:
        options = SweepOptions(tmp_path, json=True)
        (rows,) = json.loads(run(options, models=1, goals=1, parts=("ideal",)))
    assert len(rows) == 24
    assert all(row["reached"] for row in rows)
    spent = {
        method: sum(row["simulations"] for row in rows if row["method"] == method)
        for method in ("gradient", "exhaustive")
    }
    assert spent["gradient"] < spent["exhaustive"] / 5
    assert (tmp_path / "ideal" / "table.md").read_text().count("100.0 %") == 3
    assert len((tmp_path / "ideal" / "rows.csv").read_text().splitlines()) == 25
    simulations, seconds = figures["planning.png"].axes
    names = [label.get_text() for label in simulations.get_xticklabels()]
    assert names == list(dict.fromkeys(row["object"] for row in rows))
    mine = [row["simulations"] for row in rows if row["method"] == "gradient"]
    assert any(np.allclose(sorted(bars), sorted(mine)) for bars in _heights(simulations))
    assert seconds.get_ylabel() == "processor time per plan [s]"


@pytest.mark.slow
def test_the_controller_goes_around_obstacles(tmp_path: Path) -> None:
    """Reach a goal within 5 mm without touching, and report it with its times."""
    (row,) = rows_of({"part": "around", "object": "snack", "model": 1, "goal": 0})
    assert row["reached"]
    assert not row["collided"]
    assert isinstance(row["error_mm"], float)
    assert row["error_mm"] < 5.0
    ours: Row = {
        **row,
        "part": "control",
        "object": "snack",
        "goal": 0,
        "prepare_seconds": 5.0,
    }
    whole: Row = {**ours, "method": "whole pushes", "pushes": 5}
    table = report([ours, whole], tmp_path)
    assert table.count("100.0 %") == 4
    assert "| all | 1 |" in table


def test_parts_are_named(tmp_path: Path) -> None:
    """Refuse a part there is not."""
    with pytest.raises(
        PushwiseError, match="parts must be among ideal, mujoco, obstacles, goals, control"
    ):
        run(SweepOptions(tmp_path), parts=("moon",))


def test_both_ways_to_a_goal_have_the_same_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write the rows of the controller and of whole pushes to one file."""
    at = np.zeros(3)
    belief = pw.Belief.certain(pw.objects.load("box").model)
    done = pw.Followed(End.REACHED, "", at, at, 0.0, (), belief, simulations=3)
    monkeypatch.setattr(planning, "warm_up", lambda: None)
    monkeypatch.setattr(planning, "_identified", lambda part, name: belief)
    monkeypatch.setattr(planning, "PushController", lambda *given, **options: None)
    monkeypatch.setattr(planning, "controlled", lambda *given: (None, {"method": "controller"}))
    monkeypatch.setattr(planning, "follow", lambda *given, **options: done)
    rows = rows_of({"part": "control", "object": "box", "model": 0, "goal": 0})
    write_rows(tmp_path / "rows.csv", rows)
    assert [row["method"] for row in rows] == ["controller", "whole pushes"]
