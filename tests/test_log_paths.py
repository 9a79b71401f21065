"""Logs of fingers that bend, stop, turn back and are raised, and of objects that start moving."""

from pathlib import Path
from time import process_time

import numpy as np
import pytest

import pushwise as pw
from pushwise.errors import PushwiseError
from pushwise.records.finger_path import TOLERANCE, path_through
from pushwise.records.log_writer import LogWriter
from pushwise.typing import Array

NAMES = "push,t,x,y,theta,finger_x,finger_y"


def a_record(
    push: pw.Push, t: Array, *, twist: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> pw.PushRecord:
    """Return a record of a push with an object that moves."""
    pose = np.column_stack([0.01 * t, -0.02 * t, 0.1 * t])
    return pw.PushRecord(push, t, pose, twist=twist)


def a_path(rng: np.random.Generator, knots: int, *, raised: bool = False) -> pw.Push:
    """Return a random path whose every bend is far from straight."""
    times = np.concatenate([[0.0], np.cumsum(rng.uniform(0.2, 0.5, knots - 1))])
    turn = np.cumsum(rng.uniform(0.5, 2.5, knots - 1))
    steps = rng.uniform(0.02, 0.06, knots - 1)[:, None] * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    return pw.Push(times, np.vstack([np.zeros(2), np.cumsum(steps, axis=0)]), raised=raised)


def read_back(folder: Path, *records: pw.PushRecord) -> pw.PushLog:
    """Write records to a log, and read it."""
    pw.PushLog(records).save(folder / "log.csv")
    return pw.PushLog.load(folder / "log.csv")


def push_of(record: pw.PushRecord) -> pw.Push:
    """Return the push of a record by a finger."""
    assert isinstance(record.push, pw.Push)
    return record.push


@pytest.mark.parametrize("raised", [False, True])
def test_paths_sampled_at_their_knots_are_read_back_exactly(tmp_path: Path, raised: bool) -> None:
    """Keep every bit of random paths, with samples between the knots and after the end."""
    rng = np.random.default_rng(1)
    records = []
    for k in range(20):
        push = a_path(rng, 2 + k % 6, raised=raised)
        between = rng.uniform(0.0, push.duration, 30)
        t = np.unique(np.concatenate([push.times, between, push.duration + np.arange(1.0, 4.0)]))
        twist = (0.1, -0.2, 1 / 3) if k % 2 else (0.0, 0.0, 0.0)
        records.append(a_record(push, t, twist=twist))
    for old, new in zip(records, read_back(tmp_path, *records), strict=True):
        assert push_of(new).times.tolist() == push_of(old).times.tolist()
        assert push_of(new).positions.tolist() == push_of(old).positions.tolist()
        assert push_of(new).raised == raised
        for name in ("t", "pose", "twist"):
            assert getattr(new, name).tolist() == getattr(old, name).tolist()
        assert new.finger is not None and old.finger is not None
        np.testing.assert_allclose(new.finger, old.finger, atol=1e-16)


def test_bends_between_samples_lose_no_more_than_sampling_loses(tmp_path: Path) -> None:
    """Be at the finger at every sample, and as far as a straight line is from it between."""
    rng = np.random.default_rng(2)
    for k in range(20):
        push = a_path(rng, 6)
        t = np.linspace(0.0, push.duration + 0.3, 60 + k)
        (tmp_path / str(k)).mkdir()
        (new,) = read_back(tmp_path / str(k), a_record(push, t))
        np.testing.assert_allclose(new.push.at(t), push.at(t), atol=TOLERANCE)  # type: ignore[union-attr]
        fine = np.linspace(0.0, push.duration, 2000)
        sampled = np.stack([np.interp(fine, t, axis) for axis in push.at(t).T], axis=1)
        off = np.hypot(*(push_of(new).at(fine) - push.at(fine)).T)
        assert (off <= np.hypot(*(sampled - push.at(fine)).T) + TOLERANCE).all()


def test_a_straight_push_has_two_knots() -> None:
    """Ignore jitter and find the moment at which the finger stops."""
    t = np.linspace(0.0, 3.0, 301)
    line = pw.Push.line((0.1, 0.2), (0.1, 0.05), 2.0)
    push = path_through(t, line.at(t))
    assert push.times.tolist() == [0.0, 2.0]
    assert push.velocity == pytest.approx(line.velocity, rel=1e-12)
    jitter = np.random.default_rng(0).uniform(-5e-5, 5e-5, (301, 2))
    push = path_through(t, line.at(t) + jitter)
    assert len(push.times) == 2
    assert push.duration == pytest.approx(2.0, abs=0.02)
    # Raised after a rest of a second, it stays there for that second.
    push = path_through(t, line.at(t), raised=True)
    assert push.times.tolist() == [0.0, 2.0, 3.0]


def test_long_recordings_are_simplified_quickly() -> None:
    """Take well below a second for 5,000 rows, smooth or so noisy that each is a knot."""
    t = np.linspace(0.0, 50.0, 5000)
    circle = 0.1 * np.column_stack([np.cos(t), np.sin(t)])
    noise = np.random.default_rng(0).normal(0.0, 1e-3, (5000, 2))
    for places in (circle, circle + noise):
        began = process_time()
        push = path_through(t, places)
        assert process_time() - began < 0.8
        assert np.hypot(*(push.at(t) - places).T).max() <= TOLERANCE
    smooth = path_through(t, circle)
    assert 200 < len(smooth.times) < 1000


def written(folder: Path, *rows: str, names: str = NAMES) -> pw.PushLog:
    """Write a log by hand, and read it."""
    path = folder / "log.csv"
    path.write_text("\n".join([names, *rows]) + "\n", encoding="utf-8")
    return pw.PushLog.load(path)


def test_a_finger_may_turn_back_to_where_it_began(tmp_path: Path) -> None:
    """Read a path that bends, and one that ends where it began."""
    (record,) = written(
        tmp_path, "0,5,0,0,0,0,0", "0,6,0,0,0,0.1,0.1", "0,7,0.1,0,0,0.2,0", "0,8,0.1,0,0,0,0"
    )
    push = push_of(record)
    assert push.times.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert push.positions.tolist() == [[0.0, 0.0], [0.1, 0.1], [0.2, 0.0], [0.0, 0.0]]
    assert not push.raised


def test_an_object_may_slide_alone(tmp_path: Path) -> None:
    """Keep all rows of an object in motion, whatever the finger does."""
    names = f"{NAMES},vx,vy,omega"
    rows = ("0,1,0,0,0,-0.1,0,0.3,0,1", "0,1.1,0.02,0,0.1,-0.1,0,,,", "0,1.2,0.03,0,0.1,-0.1,0,,,")
    (record,) = written(tmp_path, *rows, names=names)
    assert record.twist.tolist() == [0.3, 0.0, 1.0]
    assert record.t.tolist() == pytest.approx([0.0, 0.1, 0.2])
    assert push_of(record).top_speed == 0.0
    # The same with a finger that sets out later.
    (record,) = written(tmp_path, *rows, "0,1.5,0.1,0,0.1,0.1,0,,,", names=names)
    assert len(record.t) == 4
    assert push_of(record).times.tolist() == pytest.approx([0.0, 0.2, 0.5])
    # And without a twist: the object was not at rest when the finger waited.
    rows = ("0,1,0,0,0,-0.1,0", "0,1.1,0.02,0,0,-0.1,0", "0,1.2,0.03,0,0,0.1,0")
    (record,) = written(tmp_path, *rows)
    assert len(record.t) == 3
    assert not record.twist.any()


def test_the_speed_of_a_path_is_its_greatest(tmp_path: Path) -> None:
    """Accept a finger that hardly moves for a long time, but not one that never does more."""
    rows = ("0,0,0,0,0,0,0", "0,900,0,0,0,0.001,0", "0,901,0,0,0,0.1,0", "0,999,0.1,0,0,0.1,0")
    (record,) = written(tmp_path, *rows)
    assert push_of(record).top_speed == pytest.approx(0.099)
    with pytest.raises(PushwiseError, match=r"line 2: the finger of push 0 moves at 0.099 mm/s"):
        written(tmp_path, *rows[:2], "0,1901,0,0,0,0.1,0", "0,2900,0.1,0,0,0.1,0")


def test_columns_for_a_twist_are_added_when_they_are_needed(tmp_path: Path) -> None:
    """Write them for the first push in motion, and keep the pushes before it."""
    push, t = pw.Push.line((0.0, 0.0), (0.1, 0.0), 1.0), np.array([0.0, 0.5, 1.0])
    path = tmp_path / "log.csv"
    with LogWriter(path) as writer:
        writer.append(a_record(push, t))
        before = path.read_text(encoding="utf-8")
        assert before.startswith(f"{NAMES}\n0,0.0,")
        writer.append(a_record(push, t, twist=(0.1, 0.0, 1 / 3)))
        writer.append(a_record(push, t))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:4] == [
        f"{NAMES},vx,vy,omega",
        *(row + ",,," for row in before.splitlines()[1:]),
    ]
    with LogWriter(path) as writer:
        assert writer.pushes == 3
        writer.append(a_record(push, t, twist=(0.2, 0.0, 0.0)))
    twists = [record.twist.tolist() for record in pw.PushLog.load(path)]
    assert twists == [[0.0, 0.0, 0.0], [0.1, 0.0, 1 / 3], [0.0, 0.0, 0.0], [0.2, 0.0, 0.0]]


def test_a_writer_keeps_the_order_of_a_file(tmp_path: Path) -> None:
    """Continue a log whose columns stand in another order."""
    path = tmp_path / "log.csv"
    names = "t, push, finger_x, finger_y, x, y, theta"
    path.write_text(f"{names}\n0,0,-0.1,0.5,1,2,3\n1,0,0.1,0.5,1,2,3\n", encoding="utf-8")
    push, t = pw.Push.line((0.0, 0.0), (0.1, 0.0), 1.0), np.array([0.0, 0.5, 1.0])
    with LogWriter(path) as writer:
        writer.append(a_record(push, t))
    first, second = pw.PushLog.load(path)
    assert first.pose[0].tolist() == [1, 2, 3]
    assert second.pose.tolist() == a_record(push, t).pose.tolist()
