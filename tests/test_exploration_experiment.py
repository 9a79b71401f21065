"""`pushwise experiment exploration`: its settings, and how it counts."""

from pathlib import Path

import pytest

import pushwise as pw
from pushwise.experiments.exploration import CHOICES, report, rows_of, settings_of
from pushwise.sliding.explore_safely import MOST


def test_both_choices_meet_the_same_objects(tmp_path: Path) -> None:
    """Count pushes per object, and average the objects' shares."""
    settings = settings_of(trials=2)
    assert len(settings) == 2 * len(pw.objects.names) * len(CHOICES)
    rows = [
        {**s, "pushes": (4 if s["choice"] == "active" else 8), "fell": False, "verdict": ""}
        for s in settings
    ]
    rows[0] |= {"pushes": MOST, "verdict": "no safe push."}  # of two active boxes
    table = report(rows, tmp_path)
    assert "| box | 2 | 8.0 | 8.0 | 100% | 1 | 0 | 0 |" in table
    assert "| hammer | 2 | 4.0 | 8.0 | 50% | 0 | 0 | 0 |" in table
    share = (1.0 + 8 * 0.5) / 9
    assert f"| all | 18 | 4.4 | 8.0 | {share:.0%} | 1 | 0 | 0 |" in table
    assert "- box, active, trial 0: no safe push." in table
    assert (tmp_path / "table.md").read_text() == table + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_a_trial_ends_when_the_risk_is_known(choice: str) -> None:
    """Explore a book with more than the two first pushes, and keep it on the table."""
    (row,) = rows_of({"object": "book", "choice": choice, "trial": -1})
    assert 2 <= int(str(row["pushes"])) <= MOST
    assert (row["fell"], row["verdict"]) == (False, "")
