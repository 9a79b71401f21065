"""`pushwise experiment pregrasp`: its settings, and how it counts."""

from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from drawn import drawn
from pushwise.errors import PushwiseError
from pushwise.experiments.pregrasp import DEFAULT, VARIANTS, rows_of, sampled, settings_of
from pushwise.experiments.pregrasp_report import report
from pushwise.experiments.rows import Row
from pushwise.planning.options import PlanOptions
from pushwise.planning.stability import Balance
from pushwise.sliding.options import SlideOptions

TABLE = pw.Table()


def test_the_hammer_meets_every_variant_and_all_objects_the_default() -> None:
    """Give every variant the same trials; ask for more trials and keep the old settings."""
    few, many = settings_of(trials=2), settings_of(trials=3)
    assert all(setting in many for setting in few)
    for variant in (*VARIANTS, DEFAULT):
        hammer = {"world": "mujoco", "object": "hammer", "variant": variant}
        assert [s["trial"] for s in few if hammer.items() <= s.items()] == [0, 1]
    default = [s["object"] for s in few if (s["world"], s["variant"]) == ("mujoco", DEFAULT)]
    assert default == [*pw.objects.names, *pw.objects.shapes] * 2


def test_what_is_not_grasped_is_no_success(tmp_path: Path) -> None:
    """Count falls and objects without a goal as what they are, next to the falls predicted."""
    ends = {"identified": "grasped", "unlimited": "not moved", "uniform": "fell", DEFAULT: "fell"}
    told: Row = {
        "success": False,
        "explored": 2,
        "pushes": 3,
        "expected_falls": 0.25,
        "centre_off_mm": 1.0,
        "total_seconds": 12.0,
        "verdict": "Not moved: stuck.",
    }
    settings = [s for s in settings_of(trials=2) if s["world"] == "mujoco"]
    rows = [{**s, **told, "end": ends[str(s["variant"])]} for s in settings]
    with drawn() as figures:
        table = report(rows, tmp_path)
    assert "- MuJoCo, box, default, trial 1: Not moved: stuck." in table
    assert "| identified | 2 of 2 | 0 | 0 | 0 | 0 | 16 of 16 |" in table
    assert "| unlimited | 0 of 2 | 0 | 0 | 0 | 2 | 13 of 16 |" in table
    assert "| uniform | 0 of 2 | 2 | 0 | 0 | 0 | 12 of 16 |" in table
    assert "| all | 0 of 34 | 34 | 0 | 0 | 0 | 2.0 | 3.0 | 1.0 | 12 |" in table
    # Of a Poisson distribution with a mean of 34 / 4.
    assert "| MuJoCo | 102 | 8.50 | 3 to 15 | 34 |" in table
    (axes,) = figures["figure.png"].axes
    paper, ours = ([bar.get_height() for bar in c] for c in axes.containers)
    assert paper[0] == 100.0
    assert ours == [100.0, 0.0, 0.0]
    assert axes.get_ylabel() == "hammer grasped at the edge [%]"


@pytest.mark.slow
def test_a_trial_counts_the_falls_it_expects() -> None:
    """Slide a box, and sum up what was predicted where its pushes ended."""
    (row,) = rows_of({"world": "mujoco", "object": "box", "variant": DEFAULT, "trial": -1})
    assert row["end"] == "grasped"
    assert 0.0 <= float(str(row["expected_falls"])) <= 0.01 * int(str(row["pushes"]))


def test_sampled_goals_are_believed_to_be_stable() -> None:
    """Sample different goals for different seeds, each overhanging and at rest in the model."""
    belief = pw.Belief.certain(pw.objects.load("hammer").model)
    options = [SlideOptions(plan=PlanOptions(seed=seed)) for seed in range(5)]
    goals = [sampled(belief, TABLE, each, np.zeros(3)) for each in options]
    margins = Balance(belief, TABLE).margins(np.array([goal.pose for goal in goals]))
    assert (margins > 0.0).all()
    assert np.allclose(margins, [goal.margin for goal in goals])
    assert all(0.05 <= goal.overhang <= 0.15 + 1e-9 for goal in goals)
    assert len({tuple(goal.pose) for goal in goals}) == 5


def test_a_top_heavy_thing_has_no_sampled_goal() -> None:
    """Refuse when no sampled pose is stable."""
    side = 0.03
    outline = [[-side, -side], [side, -side], [side, side], [-side, side]]
    grid = pw.CellGrid.from_outline(outline, cell_size=0.01)
    coaster = pw.ObjectModel(grid, mass=np.full(grid.n_cells, 0.01), friction=0.3)
    with pytest.raises(PushwiseError, match="none of 500 sampled goals is safe"):
        sampled(pw.Belief.certain(coaster), TABLE, SlideOptions(), np.zeros(3))
