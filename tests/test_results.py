"""The committed tables say what the committed rows say."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from matplotlib.figure import Figure

from pushwise.experiments.rows import read_rows

RESULTS = Path(__file__).resolve().parent.parent / "results"

# The table of `real` also needs the data of other laboratories.
FOLDERS = sorted(rows.parent for rows in RESULTS.rglob("rows.csv") if rows.parent.name != "real")

# Push-T: the model that its rows are played with, and a film of the first episodes.
NOT_FROM_ROWS = {"model.json", "film.gif", "times.csv"}


def reporter(folder: Path) -> ModuleType:
    """Return the module that writes the report of a folder, or of the experiment it belongs to."""
    words = reversed(folder.relative_to(RESULTS).parts)
    names = [f"pushwise.experiments.{word}{end}" for word in words for end in ("_report", "")]
    found = (import_module(name) for name in names if find_spec(name) is not None)
    return next(module for module in found if hasattr(module, "report"))


@pytest.mark.slow
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_tables_are_those_of_the_rows(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write the same table, and figures of the same names, from the rows again."""
    # Drawing takes half a minute, and what is drawn is not compared.
    monkeypatch.setattr(Figure, "savefig", lambda _, path, **__: path.touch())
    table = reporter(folder).report(read_rows(folder / "rows.csv"), tmp_path)
    assert (folder / "table.md").read_text(encoding="utf-8") == table + "\n"
    written = {path.name for path in tmp_path.iterdir()}
    there = {path.name for path in folder.iterdir() if path.is_file()}
    assert written | {"rows.csv"} == there - NOT_FROM_ROWS
