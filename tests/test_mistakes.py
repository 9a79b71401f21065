"""Mistakes in logs are recognised and named, and correct logs are never accused."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.experiments.real.data import grid_over, real_sets
from pushwise.experiments.real.learning import nominal_finger
from pushwise.identification.calibration import Calibration
from pushwise.identification.mistakes import find_mistake, finger_inside
from random_logs import KINDS, random_log

DATA = Path(__file__).parents[2] / "shared" / "data"
Array = np.ndarray
Change = Callable[[Array], Array]
OBJECTS = ("hammer", "box", "clamp")


@cache
def log(name: str) -> tuple[pw.CellGrid, Sequence[pw.PushRecord], pw.Finger]:
    """Return a correct log of slow pushes with noise."""
    return random_log(11, name=name, kind="line", world="Ideal")


def same(values: Array) -> Array:
    """Change nothing."""
    return values


def changed(
    record: pw.PushRecord, *, pose: Change = same, finger: Change = same, force: Change = same
) -> pw.PushRecord:
    """Return a record with a mistake in its poses, its finger or its forces."""
    push = record.push
    assert isinstance(push, pw.Push)
    return pw.PushRecord(
        pw.Push(push.times, finger(push.positions), raised=push.raised),
        record.t,
        pose(record.pose),
        None if record.force is None else force(record.force),
        twist=record.twist,
        noise=record.noise,
    )


def turned(degrees: float, x: float, y: float) -> Change:
    """Turn positions about the origin and move them by x, y [m]."""
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return lambda places: places @ np.array([[cos, sin], [-sin, cos]]) + (x, y)


def swapped(values: Array) -> Array:
    """Swap x and y."""
    return np.column_stack([values[:, 1], values[:, 0], values[:, 2:]])


MISTAKES: dict[str, tuple[str, dict[str, Change]]] = {
    "wrong sign": ("fx, fy look negated, like the force on the finger", {"force": lambda f: -f}),
    "mN": ("fx, fy look like millinewtons", {"force": lambda f: 1e3 * f}),
    "kN": ("fx, fy look like .*kilonewtons: no force exceeds", {"force": lambda f: 1e-3 * f}),
    "fx fy": ("fx and fy look swapped", {"force": swapped}),
    "poses": ("x and y of the object look swapped", {"pose": swapped}),
    "finger": ("finger_x and finger_y look swapped", {"finger": swapped}),
    "both": (
        "x and y of object and finger look swapped",
        {"pose": swapped, "finger": swapped, "force": swapped},
    ),
    "negated": ("theta looks negated", {"pose": lambda p: p * (1.0, 1.0, -1.0)}),
    "degrees": ("theta looks like degrees", {"pose": lambda p: p * (1.0, 1.0, 180.0 / np.pi)}),
    "offset": (
        r"different frames \(finger_x, finger_y turned by -?[0-2] degrees .* moved by \(-\d+, ",
        {"finger": turned(0.0, 0.03, -0.01)},
    ),
    "rotation": (
        r"different frames \(finger_x, finger_y turned by -(19|20|21) degrees",
        {"finger": turned(20.0, 0.0, 0.0)},
    ),
    "frame": (
        r"different frames \(finger_x, finger_y turned by 1(19|20|21) degrees",
        {"finger": turned(-120.0, 0.4, 0.8)},
    ),
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named(name: str, mistake: str) -> None:
    """Say what the data look like before anything is fitted."""
    grid, records, finger = log(name)
    looks, how = MISTAKES[mistake]
    wrong = [changed(record, **how) for record in records]
    with pytest.raises(PushwiseError, match=looks) as error:
        pw.identify(grid, wrong, finger=finger)
    assert " must be " in str(error.value) or "must grow" in str(error.value)


def test_another_frame_of_the_object_is_found() -> None:
    """Say where the grid is in the frame of the poses, also where that is far away and turned."""
    grid, records, finger = log("clamp")
    frame = Calibration(frame=np.array([0.4, 0.2, 2.2]))
    wrong = [changed(record, pose=frame.tracked) for record in records]
    why = find_mistake(grid, wrong, finger)
    assert "a grid at (40" in why and "turned by 127 degrees, would fit" in why


def exchanged(record: pw.PushRecord) -> pw.PushRecord:
    """Return a record with the positions of object and finger in each other's columns."""
    push = record.push
    assert isinstance(push, pw.Push)
    pose = np.column_stack([push.at(record.t), record.pose[:, 2]])
    return pw.PushRecord(pw.Push(record.t, record.pose[:, :2]), record.t, pose, noise=record.noise)


@pytest.mark.parametrize("name", ("hammer", "clamp"))
def test_exchanged_columns_of_object_and_finger_are_named(name: str, tmp_path: Path) -> None:
    """Say which columns are meant, in one line."""
    grid, records, finger = log(name)
    wrong = [exchanged(record) for record in records]
    pw.save(grid, tmp_path / "grid.json")
    pw.PushLog(tuple(wrong), None, finger.radius).save(tmp_path / "log.csv")
    files = (tmp_path / "grid.json", tmp_path / "log.csv", "-o", tmp_path / "model.json")
    code, _, said = pushwise("identify", *files)
    assert code == 1 and said.count("\n") == 1
    assert said.startswith("pushwise: object and finger look exchanged: ")


@pytest.mark.parametrize("name", OBJECTS)
def test_a_correct_log_is_not_accused(name: str) -> None:
    """Find nothing wrong with slow pushes, whole or seen only before and after."""
    grid, records, finger = log(name)
    assert find_mistake(grid, records, finger) == ""
    ends = [pw.PushRecord(r.push, r.t[[0, -1]], r.pose[[0, -1]]) for r in records]
    assert find_mistake(grid, ends, finger) == ""
    pulled = pw.PushRecord(
        pw.ForcePush(0, (1.0, 0.0), 1.0), [0.0, 1.0], np.diag([0.0, 0.1, 0.1])[:2]
    )
    assert find_mistake(grid, [pulled], finger) == ""


def test_single_bad_pushes_are_no_mistake() -> None:
    """Leave them to what is said about single pushes."""
    grid, records, finger = log("box")
    away = turned(0.0, 0.5, 0.5)
    assert find_mistake(grid, [changed(records[0], finger=away), *records[1:]], finger) == ""


def test_another_object_is_suspected() -> None:
    """Say what is seen where no usual mistake explains it."""
    _, records, finger = log("box")
    other = pw.CellGrid.from_outline(
        [(0.0, 0.0), (0.02, 0.0), (0.02, 0.3), (0.0, 0.3)], cell_size=0.01
    )
    why = find_mistake(other, records, finger)
    assert "pushes are impossible" in why and "is this the log of another object" in why


def test_a_finger_inside_the_object_is_named(tmp_path: Path) -> None:
    """Refuse a single push whose finger is too deep for any calibration, and warn in convert."""
    grid, records, finger = log("box")
    push = records[0].push
    assert isinstance(push, pw.Push)
    ahead = 0.02 * push.velocities[0] / np.hypot(*push.velocities[0])
    deep = changed(records[0], finger=lambda at: at + ahead * (finger.radius + 0.014) / 0.02)
    assert finger_inside(grid, [records[0]]) == ""
    assert "the centre of the finger is 14 mm inside the object; ch" in finger_inside(grid, [deep])
    with pytest.raises(PushwiseError, match=r"1[34] mm inside the object; check the finger's"):
        pw.identify(grid, [deep], finger=finger)
    little = changed(records[0], finger=lambda at: at + 0.2 * ahead)
    assert find_mistake(grid, [little], finger) == ""


def test_the_command_stops_at_a_mistake(tmp_path: Path) -> None:
    """Print the sentence and write no model."""
    grid, records, finger = log("hammer")
    wrong = [changed(record, pose=lambda p: p * (1.0, 1.0, -1.0)) for record in records]
    pw.save(grid, tmp_path / "grid.json")
    pw.PushLog(tuple(wrong), grid, finger.radius, records[0].noise).save(tmp_path / "log.csv")
    files = (tmp_path / "grid.json", tmp_path / "log.csv", "-o", tmp_path / "model.json")
    code, _, said = pushwise("identify", *files)
    assert code == 1
    assert "theta looks negated" in said
    assert not (tmp_path / "model.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("world", ["Ideal", "MuJoCo"])
def test_twenty_correct_logs_are_not_accused(world: str) -> None:
    """Push any object in every way, twice, in two worlds."""
    for seed, kind in enumerate(2 * KINDS, 7000):
        assert find_mistake(*random_log(seed, kind=kind, world=world)) == "", seed


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the real pushes are not in ../shared/data")
def test_real_pushes_are_not_accused() -> None:
    """Real set-ups are a few millimetres off, which is no mistake."""
    rng = np.random.default_rng(0)
    for data in [*real_sets(DATA / "zhou2016"), *real_sets(DATA / "mit_push")]:
        grid, finger = grid_over(data.outline), nominal_finger(data)
        for size in (2, 5, 20):
            some = [data.records[i] for i in rng.choice(len(data.records), size, replace=False)]
            assert find_mistake(grid, some, finger) == "", data.name
