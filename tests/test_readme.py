"""The README: what it says to type works, and its numbers are those of the tables it links."""

import re
from pathlib import Path

import pytest

from pages import follow, steps

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
ROW = re.compile(r"^\| (?!experiment|-)(.*) \| (.*) \| ?(.*) \|$", re.MULTILINE)
RESULT = re.compile(r"\]\((results/[^)]*)\)")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?: of \d+)?(?: %)?")


def test_the_two_commands_come_first() -> None:
    """Keep the two commands that do everything."""
    first = next(steps(README))
    assert first.text.splitlines() == [
        "pip install . && pushwise slide hammer",
        "pip install '.[test]' && pytest",
    ]


@pytest.mark.slow
def test_everything_in_it_runs_in_an_empty_folder(tmp_path: Path) -> None:
    """Type all commands and code, in order."""
    names = follow(README, tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {
        "slide-hammer", "grid.json", "grid.png", "model.json", "maps.png", "plan.json", "plan.png",
        "object.xml",
    }  # fmt: skip
    assert (tmp_path / "slide-hammer" / "report.html").exists()
    assert names["goal"].fall_probability < 0.01
    assert names["outcome"].success


def test_its_numbers_are_in_the_tables() -> None:
    """Find every number of the results in the table that its row, or one above it, links."""
    rows = ROW.findall(README.read_text(encoding="utf-8"))
    assert len(rows) > 5
    table = ""
    for what, ours, others in rows:
        if link := RESULT.search(what):
            table = (ROOT / link[1]).read_text(encoding="utf-8")
        if "real" in (link[1] if link else ""):
            assert "9 of 10" in ours and better_than_the_quartic(table) == (9, 10)
            continue
        for number in NUMBER.findall(f"{ours} {others}"):
            if number not in ("16", "12"):  # of the paper; the table has them as 16 of 16
                assert number in table, f"{what}: {number}"


def test_its_numbers_are_listed_with_their_rows() -> None:
    """Name the command and the rows of every number of the results."""
    claims = (ROOT / "docs/experiments/claims.md").read_text(encoding="utf-8")
    lines = [line for line in claims.splitlines() if line.startswith("| ") and "results/" in line]
    listed = " ".join(line.split("|")[1] for line in lines)
    for what, ours, others in ROW.findall(README.read_text(encoding="utf-8")):
        for number in NUMBER.findall(f"{ours} {others}"):
            assert number in listed, f"{what}: {number}"
    for line in lines:
        for path in re.findall(r"results/[\w/]+\.(?:csv|md)", line):
            assert (ROOT / path).is_file(), path


def better_than_the_quartic(table: str) -> tuple[int, int]:
    """Count sets on which the most pushes learned from predict better, and all sets."""
    sets: dict[str, tuple[int, bool]] = {}
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 8 and cells[0].startswith("window10_90/"):
            ours, quartic = ([float(x) for x in cells[k].split(",")] for k in (3, 6))
            best = all(a < b for a, b in zip(ours, quartic, strict=True))
            sets[cells[0]] = max(sets.get(cells[0], (0, False)), (int(cells[1]), best))
    return sum(best for _, best in sets.values()), len(sets)
