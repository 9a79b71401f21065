"""`pushwise experiment reach`: how far over the edge each model dares to go."""

from pathlib import Path

import pushwise as pw
from pushwise.experiments.reach import _farthest, _margin, report
from pushwise.experiments.rows import Row
from pushwise.identification.holdout import uniform_model
from pushwise.planning.options import PlanOptions


def test_who_knows_the_object_goes_as_far_as_it_rests() -> None:
    """Stop where the true hammer just rests, and where a uniform one would."""
    model = pw.objects.load("hammer").model
    truth = pw.Belief.certain(model)
    exactly = PlanOptions(placement_std=0.0)
    true = _farthest(truth, exactly)
    uniform = _farthest(pw.Belief.assuming(uniform_model(model.grid, pw.Prior())), exactly)
    assert true is not None and uniform is not None
    assert true.overhang > 1.3 * uniform.overhang  # with the handle first
    margin = _margin(truth, true)
    assert margin is not None and 0.0 <= margin < 6.0


def test_the_table_counts_falls(tmp_path: Path) -> None:
    """Compare overhangs with those of the true model, and count goals that are not stable."""
    row: Row = {
        "object": "hammer",
        "trial": 0,
        "success": True,
        "verdict": "",
        "fell": False,
        "explored": 4,
        "pushes": 3,
        "identified_mm": 180.0,
        "uniform_mm": 150.0,
        "true_mm": 200.0,
        "identified_margin_mm": 5.0,
        "uniform_margin_mm": -4.0,
        "true_margin_mm": 1.0,
        "total_seconds": 30.0,
    }
    lost: Row = {**row, "success": False, "identified_mm": None, "identified_margin_mm": None}
    table = report([row, lost], tmp_path)
    assert "| all | 2 | 1 | 0 | 90% | 180 / 0 of 1 | 150 / 2 of 2 | 200 / 0 of 2 | 4.0 |" in table
    assert (tmp_path / "table.md").read_text() == table + "\n"
