"""`pushwise experiment exploration`: its settings, and how it counts."""

from pathlib import Path

import pytest

import pushwise as pw
from pushwise.experiments.exploration import CHOICES, MOST, report, rows_of, settings_of
from pushwise.experiments.rows import plain


def test_all_choices_meet_the_same_objects(tmp_path: Path) -> None:
    """Count pushes per object, and average the objects' shares."""
    settings = settings_of(trials=2)
    assert len(settings) == 2 * len(pw.objects.names) * len(CHOICES)
    pushes = {"active": 4, "random": 8}
    done = {"overhang_mm": 90.0, "fell": False, "verdict": None}
    rows = [{**s, **done, "pushes": pushes[str(s["choice"])]} for s in settings]
    rows[0] |= {"pushes": MOST, "verdict": "no goal."}  # of two active boxes
    rows[1] |= {"pushes": 8, "verdict": "no safe push."}  # it counts as all
    table = report(rows, tmp_path)
    assert "| box | 2 | 14.0 | 16.0 | 88% | 1 | 0 | 0 |" in table
    assert "| hammer | 2 | 4.0 | 8.0 | 50% | 0 | 0 | 0 |" in table
    assert f"| all | 18 | 5.1 | 8.9 | {(0.875 + 8 * 0.5) / 9:.0%} | 1 | 0 | 0 |" in table
    assert "\n- box, random, trial 0: no safe push." in table
    assert "no goal." not in table  # it is among those that used all pushes
    assert (tmp_path / "table.md").read_text() == table + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("choice", CHOICES)
def test_a_trial_ends_when_the_risk_is_known(choice: str) -> None:
    """Explore a book with more than the two first pushes, and keep it on the table."""
    (row,) = map(plain, rows_of({"object": "book", "choice": choice, "trial": -1}))
    assert 2 <= int(str(row["pushes"])) <= MOST
    assert row["fell"] is False
    assert row["verdict"] is None or row["pushes"] == MOST
