"""`pushwise experiment real`: tables recognised by their columns, learned from, and predicted."""

import csv
import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drawn import drawn, points_of, texts
from pushwise import CellGrid, Finger, ObjectModel, Push, PushRecord, simulate
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.experiments.real.data import POSES, real_sets
from pushwise.experiments.real.experiment import RealOptions, run
from pushwise.experiments.real.forces import SAMPLE, friction_rows
from pushwise.experiments.real.learning import (
    FINGER_FRICTION,
    SETUP_STATED,
    Score,
    compare,
    learn,
    nominal_finger,
    order_of,
    variants,
)
from pushwise.experiments.real.report import impossible_note, scores_table
from pushwise.experiments.rows import load_rows
from pushwise.progress import Progress

DATA = Path(__file__).parents[2] / "shared" / "data"
OUTLINE = [[-0.05, -0.05], [0.10, -0.05], [-0.05, 0.10]]
FINGER = Finger(0.004, 0.25)


def _model() -> ObjectModel:
    """Return a triangle that stands on two corners and a spot between the others."""
    grid = CellGrid.from_outline(OUTLINE, cell_size=0.0125)
    weight = np.full(grid.n_cells, 1e-3)
    for foot in ((-0.04, -0.04), (0.07, -0.04), (-0.02, 0.05)):
        weight += np.exp(-0.5 * np.sum((grid.centres - foot) ** 2, axis=1) / 0.01**2)
    return ObjectModel(grid, weight / weight.sum(), 0.3)


def _write_table(folder: Path, *, pushes: int) -> Path:
    """Write pushes of a set-up that is a millimetre off, with a published prediction of no use."""
    rng = np.random.default_rng(0)
    model = _model()
    corners = np.array(OUTLINE)
    lines = []
    for k in range(pushes):
        a, b = corners[k % 3], corners[(k + 1) % 3]
        inward = np.array([a[1] - b[1], b[0] - a[0]]) / np.hypot(*(b - a))
        touched = a + rng.uniform(0.15, 0.85) * (b - a)
        aim = rng.uniform(-0.6, 0.6)
        way = np.cos(aim) * inward + np.sin(aim) * np.array([-inward[1], inward[0]])
        start = touched - (FINGER.radius + 1e-6) * inward
        push = Push.line(start, 0.01 * way, 3.0)
        end = simulate(model, push, finger=FINGER, until=3.0).pose[-1]
        end = end + rng.normal(size=3) * (2e-4, 2e-4, 1e-3)
        tip = np.concatenate([start, start + 0.03 * way]) - np.tile([1e-3, 0.0], 2)
        lines.append([0.0, 0.0, 0.0, *end, *tip, k, *end[:2], end[2] + 1.0, ""])
    lines[-1][-1] = "pose_jump"
    names = [*POSES, "tip_x0_m", "tip_y0_m", "tip_x1_m", "tip_y1_m", "parent_push_id"]
    names += ["pred_guess_x_m", "pred_guess_y_m", "pred_guess_th_rad", "flags"]
    path = folder / "somewhere" / "board_wedge_slow.csv.gz"
    path.parent.mkdir(parents=True)
    with gzip.open(path, "wt", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(lines)
    objects = {"pusher": {"radius_m": FINGER.radius}, "objects": {"wedge": {"outline_m": OUTLINE}}}
    (folder / "objects.json").write_text(json.dumps(objects))
    return path


@pytest.mark.slow
def test_any_table_with_the_columns_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Learn a set nobody has heard of, and go on where an earlier run ended."""
    monkeypatch.setattr("pushwise.identification.methods.feet.CROWD", 60)  # a glance is enough here
    _write_table(tmp_path / "data", pushes=25)
    said: list[Progress] = []
    options = RealOptions(counts=(10,), draws=1)
    with drawn() as figures:
        table = run(tmp_path / "data", tmp_path / "out", options, said.append)
    assert len(said) == 1 and "published guess" in table
    rows = {row.method: row for row in load_rows(tmp_path / "out" / "rows.csv", Score)}
    assert rows["identified"].tested == 14  # the jump is left out
    assert rows["identified"].combined_mm < 0.5 * rows["even load"].combined_mm
    assert rows["published guess"].deg == pytest.approx(np.degrees(1.0), rel=1e-3)
    figure = figures["curves.png"]
    points = {line.get_label(): points_of(line) for line in figure.axes[0].get_lines()}
    assert points["identified"].tolist() == [[10.0, rows["identified"].combined_mm]]
    assert set(texts(figure)) == set(points)
    run(tmp_path / "data", tmp_path / "out", options, said.append)
    assert len(said) == 1
    more = run(
        tmp_path / "data", tmp_path / "out", replace(options, ablate=True, json=True), said.append
    )
    methods = [row["method"] for row in json.loads(more)]
    assert len(said) == 2
    assert set(methods) == {*rows, SETUP_STATED} and len(methods) == len(set(methods))


@pytest.mark.slow
def test_a_push_from_inside_the_object_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Leave it out of what is learned from, and count it where it is to be predicted."""
    monkeypatch.setattr("pushwise.identification.methods.feet.CROWD", 40)
    _write_table(tmp_path / "data", pushes=16)
    (data,) = real_sets(tmp_path / "data")

    def inside(i: int) -> PushRecord:
        record = data.records[i]
        push = Push.line((0.0, 0.0), (0.01, 0.0), 3.0)  # between the feet
        return PushRecord(push, record.t, record.pose, source=record.source)

    bad = replace(data, records=[inside(0), *data.records[1:12], inside(12), *data.records[13:]])
    with pytest.warns(PushwiseWarning, match=r"left out: push 0 \(somewhere/.*, line 2\): the fin"):
        rows = {row.method: row for row in compare(bad, 10, 0, ablate=True)}
    good = {row.method: row for row in compare(data, 10, 0)}
    found = rows["identified"]
    assert (found.tested, found.impossible, good["identified"].impossible) == (5, 1, 0)
    assert rows["published guess"].impossible == 0
    # What one of five pushes that stays where it is adds, and little more.
    assert found.combined_mm < good["identified"].combined_mm + 12.0
    note = impossible_note(list(rows.values()))
    assert "| somewhere/board_wedge_slow | 10 | 0 | identified | 1 | 5 |" in note


def test_the_first_pushes_are_learned_from_and_then_random_ones(tmp_path: Path) -> None:
    """Take a fifth at random, as published predictions did, and others as they were made."""
    _write_table(tmp_path, pushes=21)
    (data,) = real_sets(tmp_path)
    made = list(range(20))
    assert order_of(data, 5, 0).tolist() == made
    assert order_of(data, 5, 1).tolist() != made
    assert order_of(data, 4, 0).tolist() != made
    assert sorted(order_of(data, 4, 0).tolist()) == made
    silent = replace(data, published={})
    assert order_of(silent, 4, 0).tolist() == made


def test_the_height_of_a_push_is_read(tmp_path: Path) -> None:
    """Take it as stated, else from the thickness of the object, else push at the table."""
    path = _write_table(tmp_path, pushes=2)
    (data,) = real_sets(tmp_path)
    assert nominal_finger(data).height == 0.0
    thing: dict[str, object] = {"outline_m": OUTLINE, "thickness_m": 0.026}
    own = path.with_name("board_wedge_slow.json")
    stated: dict[str, object] = {"object": thing, "pusher": {"radius_m": 0.004}}
    own.write_text(json.dumps(stated))
    (data,) = real_sets(tmp_path)
    assert nominal_finger(data) == Finger(0.004, FINGER_FRICTION, 0.013)
    own.write_text(json.dumps({**stated, "push_height_above_object_origin_mm": 12.5}))
    (data,) = real_sets(tmp_path)
    assert data.height == 0.0125


@pytest.mark.slow
def test_a_stated_centre_of_mass_is_read_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Take it as stated or as the origin of the outline's frame, and show what it is worth."""
    monkeypatch.setattr("pushwise.identification.methods.feet.CROWD", 40)
    path = _write_table(tmp_path, pushes=12)
    own = path.with_name("board_wedge_slow.json")
    centre = _model().centre_of_mass.tolist()
    for thing, expected in (
        ({"outline_m": OUTLINE}, None),
        ({"outline_com_frame_m": OUTLINE}, (0.0, 0.0)),
        ({"outline_m": OUTLINE, "outline_com_frame_m": OUTLINE}, None),
        ({"outline_body_frame_m": OUTLINE, "centroid_body_frame_m": [0.001, 0.0]}, (0.001, 0.0)),
        ({"outline_m": OUTLINE, "centre_of_mass_m": centre, "thickness_m": 1e-6}, tuple(centre)),
    ):
        own.write_text(json.dumps({"object": thing, "pusher": {"radius_m": FINGER.radius}}))
        (data,) = real_sets(tmp_path)
        assert data.centre == expected
    rows = {row.method: row for row in compare(data, 3, 0, ablate=True)}
    assert len(variants(data)) == 3
    assert set(variants(data)) < rows.keys()
    found = learn(data, data.records[:3])
    for method in ("identified", "identified, on cells"):
        assert found[method].model.centre_of_mass == pytest.approx(centre, abs=3e-3)
    thing = {"outline_m": OUTLINE, "centre_of_mass_m": [0.0]}
    own.write_text(json.dumps({"object": thing, "pusher": {"radius_m": FINGER.radius}}))
    with pytest.raises(PushwiseError, match=r"centre_of_mass_m of .*board_wedge_slow"):
        real_sets(tmp_path)


def test_variants_are_compared_on_the_same_pushes() -> None:
    """Leave out of that table the draws that only the full model was learned from."""

    def row(draw: int, method: str, error: float) -> Score:
        return Score("a/set", 10, draw, method, 1.0, 1.0, error, 5, 0, None, 0.0)

    rows = [row(draw, "identified", 2.0 + 7.0 * draw) for draw in (0, 1)]
    rows += [row(draw, "identified, on cells", 4.0 - draw) for draw in (0, 1)]
    rows.append(row(0, SETUP_STATED, 3.0))
    table = scores_table(rows)
    assert "| a/set | 10 | 2 | 5.50 | 3.50 |  |" in table
    assert "| a/set | 10 | 1 | 2.00 | 3.00 |  |  |" in table


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """Name the file, the line and what is missing."""
    with pytest.raises(PushwiseError, match="no CSV file below it has the columns obj_x0_m"):
        real_sets(tmp_path)
    path = _write_table(tmp_path / "data", pushes=2)
    (tmp_path / "data" / "objects.json").unlink()
    with pytest.raises(PushwiseError, match="neither board_wedge_slow"):
        real_sets(tmp_path / "data")
    objects = {"objects": {"ball": {"outline_m": OUTLINE}}}
    (tmp_path / "data" / "objects.json").write_text(json.dumps(objects))
    with pytest.raises(PushwiseError, match="its objects are ball"):
        real_sets(tmp_path / "data")
    text = gzip.decompress(path.read_bytes()).decode().replace("0.0", "zero", 1)
    path.write_bytes(gzip.compress(text.encode()))
    objects = {"objects": {"wedge": {"outline_m": OUTLINE}}}
    (tmp_path / "data" / "objects.json").write_text(json.dumps(objects))
    with pytest.raises(PushwiseError, match="line 2: obj_x0_m must be a number; got 'zero'"):
        real_sets(tmp_path / "data")


def test_total_friction_follows_from_wrenches(tmp_path: Path) -> None:
    """Find the total friction force of a patchy load from noisy wrenches, to three percent."""
    rng = np.random.default_rng(1)
    model = _model()
    load = 2.0 * model.mass / model.mass.sum()
    x, y = model.grid.centres.T
    lines = []
    for _ in range(200):
        vx, vy, w = rng.normal(size=3) * (0.01, 0.01, 0.1)
        ux, uy = vx - w * y, vy + w * x
        fx, fy = load * np.array([ux, uy]) / np.hypot(ux, uy)
        wrench = np.array([fx.sum(), fy.sum(), (x * fy - y * fx).sum()])
        lines.append([*(wrench * rng.normal(1.0, 0.02, 3)), vx, vy, w])
    with (tmp_path / "wedge.csv").open("w", newline="") as file:
        csv.writer(file).writerows([SAMPLE, *lines])
    objects = {"objects": {"wedge": {"outline_m": OUTLINE, "mass_kg": 0.5}}}
    (tmp_path / "objects.json").write_text(json.dumps(objects))
    (row,) = friction_rows(tmp_path, {})
    assert row.force_N == pytest.approx(2.0, rel=0.03)
    assert row.coefficient == pytest.approx(2.0 / (0.5 * 9.81), rel=0.03)


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real pushes are not in ../shared/data")
def test_real_feet_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learn from ten real pushes of a block on three feet: far better than an even load."""
    monkeypatch.setattr("pushwise.identification.methods.feet.CROWD", 150)  # enough for this set
    data = next(s for s in real_sets(DATA / "zhou2016") if s.name.endswith("hardboard_3pt_outer"))
    rows = {row.method: row for row in compare(data, 10, 0)}
    assert rows["identified"].combined_mm < 0.7 * rows["even load"].combined_mm
    near = rows["identified"].near_feet
    assert near is not None and near > 0.5


def test_what_lies_next_to_the_tables_is_left_alone(tmp_path: Path) -> None:
    """Pass over ragged, empty, binary and damaged files, and folders, that are no tables."""
    _write_table(tmp_path, pushes=6)
    (tmp_path / "notes.csv").write_text("a,b\n1,2,3\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "latin.csv").write_bytes("gr\xf6\xdfe\n1\n".encode("latin-1"))
    (tmp_path / "half.csv.gz").write_bytes(gzip.compress(b"a,b\n" * 1000)[:20])
    (tmp_path / "folder.csv").mkdir()
    (found,) = real_sets(tmp_path)
    assert len(found.records) == 5  # one is flagged as failed
    assert friction_rows(tmp_path, {}) == []


def test_angles_may_jump_at_pi(tmp_path: Path) -> None:
    """Read the same motion of an object that turns through half a turn as of one that does not."""
    path = _write_table(tmp_path, pushes=6)
    (plain,) = real_sets(tmp_path)
    head, *rows = csv.reader(gzip.decompress(path.read_bytes()).decode().splitlines())
    at = head.index(POSES[5])
    for row in rows[::2]:
        row[at] = repr(float(row[at]) - 2.0 * np.pi)
    text = "\n".join(",".join(row) for row in (head, *rows)) + "\n"
    path.write_bytes(gzip.compress(text.encode()))
    (jumping,) = real_sets(tmp_path)
    for one, other in zip(plain.records, jumping.records, strict=True):
        np.testing.assert_allclose(one.pose, other.pose, atol=1e-12)


def test_sets_that_are_too_small_are_left_out(tmp_path: Path) -> None:
    """Say so, and refuse a number of pushes below zero."""
    _write_table(tmp_path, pushes=4)
    said: list[Progress] = []
    run(tmp_path, tmp_path / "out", RealOptions(counts=(5,)), said.append)
    assert any("has only 3 pushes" in news.text for news in said)  # one is flagged
    with pytest.raises(PushwiseError, match="must be zero or more; got -3"):
        run(tmp_path, tmp_path / "out", RealOptions(counts=(-3,)))
