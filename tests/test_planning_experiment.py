"""`pushwise experiment planning`: every search reaches every goal in the ideal world."""

import json
from pathlib import Path

import pytest

from pushwise.errors import PushwiseError
from pushwise.experiments.planning import run


@pytest.mark.slow
def test_goals_are_reached(tmp_path: Path) -> None:
    """Reach all, with at most a fifth of the simulations by Algorithm 2, and write the table."""
    (rows,) = json.loads(run(tmp_path, models=1, goals=1, parts=("ideal",), json=True))
    assert len(rows) == 24
    assert all(row["reached"] for row in rows)
    spent = {
        method: sum(row["simulations"] for row in rows if row["method"] == method)
        for method in ("gradient", "exhaustive")
    }
    assert spent["gradient"] < spent["exhaustive"] / 5
    assert (tmp_path / "ideal" / "table.md").read_text().count("100.0 %") == 3
    assert len((tmp_path / "ideal" / "rows.csv").read_text().splitlines()) == 25
    assert (tmp_path / "ideal" / "planning.png").stat().st_size > 10_000


def test_parts_are_named(tmp_path: Path) -> None:
    """Refuse a part there is not."""
    with pytest.raises(PushwiseError, match="parts must be among ideal, mujoco, obstacles, goals"):
        run(tmp_path, parts=("moon",))
