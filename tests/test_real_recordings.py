"""Long pushes recorded all along: recognised by their columns, cut, learned from, and refused."""

import csv
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from pushwise import CellGrid, Finger, ObjectModel, Push, simulate
from pushwise.cli import app
from pushwise.errors import PushwiseError
from pushwise.experiments.real.data import RECORDING, real_sets
from pushwise.experiments.real.experiment import RealOptions, run
from pushwise.experiments.real.learning import Score, order_of
from pushwise.experiments.real.recordings import Recorded
from pushwise.experiments.real.report import scores_table
from pushwise.experiments.real.stated import given
from pushwise.experiments.rows import load_rows, merge_rows
from pushwise.progress import Progress

OUTLINE = [[-0.04, -0.04], [0.04, -0.04], [0.04, 0.04], [-0.04, 0.04]]
RADIUS = 0.005
BEND = 11  # pieces of 10 mm until the finger turns
RATE = 200.0  # Hz


def _samples() -> NDArray[np.float64]:
    """Return samples of a finger that pushes a square, turns, pushes on, and leaves, (k, 6)."""
    grid = CellGrid.from_outline(OUTLINE, cell_size=0.01)
    heavy = np.where(grid.centres[:, 1] > 0.0, 3.0, 1.0)
    model = ObjectModel(grid, heavy / heavy.sum(), 0.3)
    pose, place = np.zeros(3), np.array([-0.04 - RADIUS - 1e-6, 0.005])
    t, rows = 0.0, []
    for degrees, way in ((10.0, BEND * 0.01 - 0.002), (-15.0, 0.08)):
        velocity = 0.02 * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
        push = Push.line(place, velocity, way / 0.02)
        path = simulate(model, push, pose, finger=Finger(RADIUS, 0.25), until=push.duration)
        at = np.arange(0.0, push.duration, 1.0 / RATE)
        tip = place + at[:, None] * velocity
        rows.append(np.column_stack([t + at, path.pose_at(at), tip]))
        pose, place, t = path.pose[-1], place + push.duration * velocity, t + push.duration
    at = np.arange(0.0, 1.0, 1.0 / RATE)
    away = place - at[:, None] * (0.02, 0.0)
    rows.append(np.column_stack([t + at, np.tile(pose, (len(at), 1)), away]))
    return np.concatenate(rows)


def _write(folder: Path, samples: NDArray[np.float64]) -> Path:
    """Write a recording nobody has heard of."""
    folder.mkdir(exist_ok=True)
    path = folder / "run_7.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([[*RECORDING, "mood"], *([*row, "calm"] for row in samples)])
    return path


def _outline(folder: Path) -> Path:
    path = folder / "square.json"
    path.write_text(json.dumps(OUTLINE))
    return path


def test_a_long_push_is_cut_where_the_finger_pushes(tmp_path: Path) -> None:
    """Cut pieces of 10 mm in order of time, without the corner and the way back."""
    _write(tmp_path / "data", _samples())
    (data,) = real_sets(tmp_path / "data", given(_outline(tmp_path), RADIUS))
    recorded = data.recorded
    assert recorded is not None and data.touching
    # 10 before the corner, one around it, and 7 after: the finger leaves at 188 mm.
    assert (recorded.pieces, recorded.bent, recorded.thrown, recorded.still) == (17, 1, 0, 0)
    assert len(data.records) == 17 and order_of(data, 9, 3).tolist() == list(range(17))
    for before, after in pairwise(data.records[:10]):
        assert before.pose[-1] == pytest.approx(after.pose[0])
    for record in data.records:
        assert record.finger is not None
        assert np.hypot(*(record.finger[1] - record.finger[0])) == pytest.approx(0.01, abs=2e-4)
    assert recorded.gap_mm < 0.01 and recorded.inside_percent == 0.0


def test_what_a_finger_cannot_have_done_is_left_out(tmp_path: Path) -> None:
    """Leave out a hit from the side and a second without samples, and keep the rest."""
    samples = _samples()
    hit = samples.copy()
    # On the second straight way it slips along the finger, which follows 8 mm later.
    for when, columns in ((7.2, slice(1, 3)), (7.6, slice(4, 6))):
        later = hit[:, 0] > when
        hit[later, columns] += 0.03 * np.column_stack(
            [-np.sin(hit[later, 3]), np.cos(hit[later, 3])]
        )
    _write(tmp_path / "data", hit)
    otherwise = given(_outline(tmp_path), RADIUS)
    (data,) = real_sets(tmp_path / "data", otherwise)
    assert data.recorded is not None and data.recorded.thrown == 1
    assert all(np.hypot(*np.diff(record.pose[:, :2], axis=0)[0]) < 0.012 for record in data.records)
    t = samples[:, 0]
    _write(tmp_path / "data", samples[(t < 0.8) | (t > 1.8)])
    (data,) = real_sets(tmp_path / "data", otherwise)
    assert all(record.t[-1] < 0.6 for record in data.records)


@pytest.mark.slow
def test_the_first_pieces_predict_the_later_ones(tmp_path: Path) -> None:
    """Learn once, however many draws there are, and go on where an earlier run ended."""
    _write(tmp_path / "data", _samples())
    out = tmp_path / "out"
    said: list[object] = []
    options = RealOptions(counts=(11,), draws=2, outline=_outline(tmp_path), radius=RADIUS)
    table = run(tmp_path / "data", out, options, said.append)
    assert len(said) == 1
    assert "| data/run_7 | 10.4 | 17 | 0, 0, 1 |" in table and "| data/run_7 | 11 | " in table
    rows = {row.method: row for row in load_rows(out / "rows.csv", Score)}
    assert rows["identified"].tested == 6
    assert rows["identified"].mm < 0.5 and rows["identified"].deg < 0.5
    (recorded,) = load_rows(out / "recordings.csv", Recorded)
    assert recorded.set == "data/run_7"
    assert "data/run_7" not in scores_table([]) and "Combined" not in table
    assert run(tmp_path / "data", out, replace(options, draws=3), said.append) == table
    assert len(said) == 1


def test_recordings_of_nobody_knows_what_are_left_out_beside_others(tmp_path: Path) -> None:
    """Read what is described, and say what the rest lacks."""
    _write(tmp_path / "known", _samples())
    _write(tmp_path / "unknown", _samples())
    about = {"object": {"outline_m": OUTLINE}, "pusher": {"radius_m": RADIUS}}
    (tmp_path / "known" / "run_7.json").write_text(json.dumps(about))
    said: list[Progress] = []
    (data,) = real_sets(tmp_path, progress=said.append)
    assert data.name == "known/run_7"
    (why,) = said
    assert why.text.startswith(f"left out: {tmp_path / 'unknown'}") and "--outline" in why.text


def test_recordings_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    """Name the file, the line, and the option that would help."""
    samples = _samples()
    data = tmp_path / "data"
    path = _write(data, samples)
    result = CliRunner().invoke(app, ["experiment", "real", str(data), "-o", str(tmp_path / "o")])
    assert result.exit_code != 0 and "--outline" in str(result.exception)
    outline = _outline(tmp_path)
    with pytest.raises(PushwiseError, match="give it with --radius"):
        real_sets(data, given(outline))
    with pytest.raises(PushwiseError, match="radius must be greater than zero"):
        given(outline, 0.0)
    with pytest.raises(PushwiseError, match="smallest distance is 9"):
        _write(data, samples + np.array([0.0, 0.1, 0.0, 0.0, 0.0, 0.0]))
        real_sets(data, given(outline, RADIUS))
    samples[[7, 8]] = samples[[8, 7]]
    _write(data, samples)
    with pytest.raises(PushwiseError, match=rf"{path.name}, line 10: t_s must increase; 0.035 fo"):
        real_sets(data, given(outline, RADIUS))
    outline.write_text("[[0, 0], [1, 1]]")
    with pytest.raises(
        PushwiseError, match=r"square\.json must have at least three corners; got 2"
    ):
        given(outline)
    outline.write_text('[["left", "right"]]')
    with pytest.raises(PushwiseError, match=r"the outline of .*square\.json must"):
        given(outline)
    outline.write_text('{"size": 3}')
    with pytest.raises(PushwiseError, match=r"square\.json: .* without an outline; it has size"):
        given(outline)
    outline.write_text("corner")
    with pytest.raises(PushwiseError, match=r"square\.json: not a JSON file"):
        given(outline)


def test_runs_on_several_folders_share_a_table(tmp_path: Path) -> None:
    """Replace the rows of the same push and keep all others; refuse a file of other columns."""
    path = tmp_path / "rows.csv"

    def row(name: str, mm: float, near: float | None = None) -> Score:
        return Score(name, 10, 0, "identified, on cells", mm, 1.0, 2.0, 5, 0, near, 0.0)

    old = [row("a/set", 3.0), row("b/set", 1.23456, 0.5)]
    assert merge_rows(path, old, Score, "set", "pushes")[1].mm == 1.235
    merged = merge_rows(path, [row("a/set", 4.0)], Score, "set", "pushes")
    assert merged == [row("b/set", 1.235, 0.5), row("a/set", 4.0)]
    assert load_rows(path, Score) == merged == merge_rows(path, [], Score, "set")
    with pytest.raises(PushwiseError, match="must have the columns set, seconds"):
        load_rows(path, Recorded)
