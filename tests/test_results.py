"""The committed tables say what the committed rows say."""

from importlib import import_module
from pathlib import Path

import pytest

from pushwise.experiments.planning import PARTS
from pushwise.experiments.rows import read_rows

RESULTS = Path(__file__).resolve().parent.parent / "results"


REPORTED = {
    "heatmaps": "heatmaps",
    "samples": "samples",
    "stability": "stability",
    "pregrasp": "pregrasp",
    **{f"planning/{part}": "planning_report" for part in PARTS},
}
"""Which module writes the report of which folder."""


@pytest.mark.parametrize(
    ("name", "module"),
    [item for item in REPORTED.items() if (RESULTS / item[0] / "rows.csv").exists()],
)
def test_tables_are_those_of_the_rows(name: str, module: str, tmp_path: Path) -> None:
    """Write the same table from the rows again."""
    folder = RESULTS / name
    experiment = import_module(f"pushwise.experiments.{module}")
    table = experiment.report(read_rows(folder / "rows.csv"), tmp_path)
    assert (folder / "table.md").read_text(encoding="utf-8") == table + "\n"
    assert {path.name for path in tmp_path.iterdir()} | {"rows.csv"} == {
        path.name for path in folder.iterdir()
    }
