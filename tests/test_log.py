"""`PushLog` and its file: round trips, crashes, and refusals with the line."""

import json
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pushwise import documents
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.records.log_writer import LogWriter
from pushwise.records.record import Noise

NAMES = "push,t,x,y,theta,finger_x,finger_y"
GRID = pw.CellGrid([(0, 0), (0.1, 0)], 0.1)


def a_record(samples: int = 5, *, force: bool = True) -> pw.PushRecord:
    """Return a push with numbers that no short text holds."""
    push = pw.Push.line((-0.1, 1 / 30), (0.1, 0.01), 2.0)
    rng = np.random.default_rng(samples)
    pose = np.cumsum(rng.uniform(0, 0.01, (samples, 3)), axis=0)
    t = np.linspace(0, 2.0, samples)
    return pw.PushRecord(push, t, pose, rng.uniform(0, 1, (samples, 2)) if force else None)


def written(folder: Path, *rows: str, names: str = NAMES) -> Path:
    """Write a log by hand."""
    path = folder / "log.csv"
    path.write_text("\n".join([names, *rows]) + "\n", encoding="utf-8")
    return path


def test_logs_read_back_as_written(tmp_path: Path) -> None:
    """Keep every bit of poses, times, fingers and forces, and the header."""
    records = [a_record(5), a_record(9)]
    log = pw.PushLog(tuple(records), GRID, 0.01, Noise(0.001, 0.01), {"world": "mine"})
    log.save(tmp_path / "log.csv")
    again = pw.PushLog.load(tmp_path / "log.csv")
    assert len(again) == 2
    for old, new in zip(records, again, strict=True):
        for name in ("t", "pose", "finger", "force"):
            assert getattr(new, name).tolist() == getattr(old, name).tolist()
        assert isinstance(new.push, pw.Push) and isinstance(old.push, pw.Push)
        assert new.push.start.tolist() == old.push.start.tolist()
        assert new.push.velocity == pytest.approx(old.push.velocity, rel=1e-14)
        assert new.push.duration == old.push.duration
        assert new.noise == Noise(0.001, 0.01)
    assert again[1].source == "log.csv, push 1"
    assert again.header() == log.header()
    assert again.grid is not None
    assert again.grid.outline.tolist() == GRID.outline.tolist()


def test_two_rows_by_hand_are_a_push(tmp_path: Path) -> None:
    """Take before and after, without a header, as a push at constant velocity."""
    path = written(tmp_path, "1, 3.0, 0, 0, 3.1, -0.1, 0", "1, 5.0, 0.1, 0, -3.1, 0.1, 0")
    (record,) = pw.PushLog.load(path)
    assert isinstance(record.push, pw.Push)
    assert record.push.velocity == pytest.approx([0.1, 0.0])
    assert (record.push.duration, record.t.tolist()) == (2.0, [0.0, 2.0])
    assert record.force is None
    # A spreadsheet puts a byte order mark before the first name.
    path.write_text(path.read_text(encoding="utf-8"), encoding="utf-8-sig")
    assert pw.PushLog.load(path)[0].t.tolist() == [0.0, 2.0]
    assert record.pose[1, 2] == pytest.approx(2 * np.pi - 3.1)


def test_a_finger_may_wait_and_rest(tmp_path: Path) -> None:
    """Find the push between the rows where the finger stands still."""
    rows = [f"7,{t},0,0,0,{x},0" for t, x in ((0, 0), (1, 0), (2, 0.1), (3, 0.2), (4, 0.2))]
    (record,) = pw.PushLog.load(written(tmp_path, *rows))
    assert record.t.tolist() == [0, 1, 2, 3]
    assert record.push.duration == 2.0
    assert isinstance(record.push, pw.Push)
    assert record.push.velocity.tolist() == [0.1, 0.0]


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    """Read columns by their names."""
    names = "t,push,finger_x,finger_y,x,y,theta"
    path = written(tmp_path, "0,1,-0.1,0.5,1,2,3", "1,1,0.1,0.5,1,2,3", names=names)
    assert pw.PushLog.load(path)[0].pose[0].tolist() == [1, 2, 3]


GOOD = ("0,0,0,0,0,-0.1,0", "0,1,0.1,0,0,0,0")


@pytest.mark.parametrize(
    ("rows", "names", "sentence"),
    [
        (
            GOOD,
            "push,t,x,y,theta",
            r"line 1: the columns must be .*\(missing: finger_x, finger_y\);",
        ),
        (GOOD, f"{NAMES},fx", r"line 1: the columns must be .* \(missing: fy\); pushwise convert"),
        (GOOD, f"{NAMES},note,x", r"line 1: the columns must be .* \(unknown: note; twice: x\);"),
        ([GOOD[0], "0,1,0,0"], NAMES, "line 3: a row has 7 values; got 4"),
        ([GOOD[0], "0,1,100.5,0,0,0,0"], NAMES, "line 3: x must be in metres; 100.5 looks like mi"),
        (["0,0,0,0,0,-100,0", GOOD[1]], NAMES, "line 2: finger_x must be in metres; -100 looks"),
        (["0,0,0,0,0,0,0", "0,0.1,0,0,0,1,0"], NAMES, "line 3: the finger moves at 10 m/s"),
        ([GOOD[0], "0,1000,0.1,0,0,0,0"], NAMES, "2: the finger of push 0 moves at 0.1 mm/s; pos"),
        (
            [GOOD[0], '0,1,"0,' + "0" * 140_000],
            NAMES,
            "line 3: not a row .* look for a stray quote",
        ),
        ([GOOD[0], "0,1,0,0,90,0,0"], NAMES, "line 3: theta must be in radians; 90 looks like deg"),
        ([GOOD[0], "0,0,0,0,0,0,0"], NAMES, "line 3: t must increase within push 0; 0 follows 0"),
        ([*GOOD, "1,0,0,0,0,0,0"], NAMES, "line 4: push 1 has one row; give at least two"),
        (
            [*GOOD, GOOD[0].replace("0", "1", 1), GOOD[1].replace("0", "1", 1), *GOOD],
            NAMES,
            "line 6: push 0 appears again after its rows from line 2 on",
        ),
        ([GOOD[0], "0,1,nan,0,0,0,0"], NAMES, "line 3: x must be a finite number; got 'nan'"),
        ([GOOD[0], "0,1,,0,0,0,0"], NAMES, "line 3: x must be a finite number; got ''"),
        (
            [GOOD[0], "0,1,0,0,0,-0.1,0"],
            NAMES,
            "line 3: neither the finger nor the object moves during push 0",
        ),
        ([GOOD[0], "0,1,0.1,0,0,0,"], NAMES, "line 3: finger_x and finger_y must both be numbers"),
        (
            [GOOD[0], "0,1,0.1,0,0,,", "0,2,0.1,0,0,,"],
            NAMES,
            "line 3: push 0 must have finger_x and finger_y in its first two rows at least",
        ),
        (
            [*GOOD, "0,2,0.1,0,0,,", "0,3,0.1,0,0,0,0"],
            NAMES,
            "line 5: the finger is back after it was raised in line 4; give the rows from here on",
        ),
        (GOOD, f"{NAMES},vx,vy", "line 1: the columns must be .*, omega; got .*(missing: omega)"),
        (
            [f"{GOOD[0]},0.1,,0", f"{GOOD[1]},,,"],
            f"{NAMES},vx,vy,omega",
            "line 2: vx, vy and omega in the first row of push 0 must all be numbers, or all be",
        ),
        (
            [f"{GOOD[0]},120,0,0", f"{GOOD[1]},,,"],
            f"{NAMES},vx,vy,omega",
            "line 2: vx must be in metres per second; 120 looks like millimetres per second",
        ),
        (
            [f"{GOOD[0]},0,0,180", f"{GOOD[1]},,,"],
            f"{NAMES},vx,vy,omega",
            "line 2: omega must be in radians per second; 180 looks like degrees per second",
        ),
    ],
)
def test_bad_logs_are_refused_with_the_line(
    tmp_path: Path, rows: list[str], names: str, sentence: str
) -> None:
    """Refuse what cannot be right and say where it stands."""
    with pytest.raises(PushwiseError, match=sentence):
        pw.PushLog.load(written(tmp_path, *rows, names=names))


def test_a_torn_line_is_ignored_with_a_warning(tmp_path: Path) -> None:
    """Lose no more than the row that a crash interrupted."""
    path = tmp_path / "log.csv"
    pw.PushLog((a_record(5),)).save(path)
    for cut in range(2, 40):
        torn = tmp_path / f"torn{cut}.csv"
        torn.write_bytes(path.read_bytes()[:-cut])
        torn.with_suffix(".json").write_bytes(path.with_suffix(".json").read_bytes())
        with pytest.warns(PushwiseWarning, match=r"line 6 is ignored, .* no line end; add one"):
            (record,) = pw.PushLog.load(torn)
        assert record.pose.tolist() == a_record(5).pose[:4].tolist()


def test_a_push_that_lacks_the_last_line_says_so(tmp_path: Path) -> None:
    """Say in the refusal that a row was left out, and what would bring it back."""
    path = written(tmp_path, *GOOD, "1,0,0,0,0,-0.1,0", "1,1,0.1,0,0,0,0")
    path.with_suffix(".json").write_text('{"format": "pushwise log 1"}', encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").rstrip(), encoding="utf-8")
    with pytest.raises(PushwiseError, match=r"push 1 has one row; .*; line 5 is ignored, .* add"):
        pw.PushLog.load(path)


def test_a_writer_continues_a_torn_log(tmp_path: Path) -> None:
    """Cut off a torn push, and the last one when asked to, before writing on."""
    path = tmp_path / "log.csv"
    pw.PushLog((a_record(5), a_record(6))).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    with LogWriter(path) as writer:
        assert writer.pushes == 1
        writer.append(a_record(6))
    assert path.read_bytes() == whole
    with LogWriter(path, drop_last=True) as writer:
        assert writer.pushes == 1
        writer.append(a_record(6))
    assert path.read_bytes() == whole
    with LogWriter(path) as writer:
        assert writer.pushes == 2
    assert path.read_bytes() == whole


def test_what_no_log_can_hold_is_refused(tmp_path: Path) -> None:
    """Refuse forces without a finger, falls, missing forces and files that exist."""
    t, pose = [0, 1], np.zeros((2, 3))
    with pw.PushLog().writer(tmp_path / "log.csv") as writer:
        with pytest.raises(PushwiseError, match="a ForcePush has none"):
            writer.append(pw.PushRecord(pw.ForcePush(0, (1, 0), 1), t, pose))
        fell = pw.PushRecord(pw.Push.line((0, 0), (1, 0), 1), t, pose, fell=True)
        with pytest.raises(PushwiseError, match="whose object fell"):
            writer.append(fell)
        writer.append(a_record(3))
        with pytest.raises(PushwiseError, match="forces for all of its pushes or for none"):
            writer.append(a_record(3, force=False))
    with pytest.raises(PushwiseError, match="exists; a log never overwrites a file"):
        pw.PushLog().save(tmp_path / "log.csv")
    with pytest.raises(PushwiseError, match=r"a log must be a .csv file"):
        pw.PushLog().save(tmp_path / "log.txt")


def test_bad_headers_are_refused(tmp_path: Path) -> None:
    """Refuse a header that is no JSON or of another format."""
    path = written(tmp_path, *GOOD)
    path.with_suffix(".json").write_text("{", encoding="utf-8")
    with pytest.raises(PushwiseError, match=r"log\.json: not a JSON file"):
        pw.PushLog.load(path)
    path.with_suffix(".json").write_text(json.dumps({"format": "x"}), encoding="utf-8")
    with pytest.raises(PushwiseError, match=r"log\.json: format must be"):
        pw.PushLog.load(path)
    for part, sentence in (
        ({"grid": {"cells": 3}}, "grid must be a JSON object of centres, .*; got cells"),
        ({"grid": {"centres": [[0, 0]]}}, "grid must be .* at least centres and cell_size"),
        ({"noise": 3}, "noise must be a JSON object of position, angle, force; got 3"),
        ({"noise": {"force": -1}}, "noise force must be"),
        ({"finger_radius": "0.01"}, "finger_radius must be a number; got '0.01'"),
    ):
        header = {**documents.header("log"), **part}
        path.with_suffix(".json").write_text(json.dumps(header), encoding="utf-8")
        with pytest.raises(PushwiseError, match=rf"log\.json: {sentence}"):
            pw.PushLog.load(path)
    path.with_suffix(".json").unlink()
    path.with_suffix(".json").mkdir()
    with pytest.raises(PushwiseError, match=r"cannot read .*log\.json: it is a folder"):
        pw.PushLog.load(path)
    with pytest.raises(PushwiseError, match=r"cannot read .*none\.csv: there is no such file"):
        pw.PushLog.load(tmp_path / "none.csv")


def test_a_log_needs_a_folder(tmp_path: Path) -> None:
    """Refuse a folder that does not exist before anything is written."""
    with pytest.raises(PushwiseError, match="there is no folder"):
        pw.PushLog((a_record(),)).save(tmp_path / "none" / "log.csv")


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    """Name the file that the system refuses: a link that leads nowhere, or a folder."""
    (tmp_path / "log.json").symlink_to(tmp_path / "none" / "log.json")
    with pytest.raises(PushwiseError, match=r"cannot write .*log\.json \(No such file"):
        pw.PushLog((a_record(),)).save(tmp_path / "log.csv")
    (tmp_path / "log.csv").mkdir()
    with pytest.raises(PushwiseError, match=r"cannot write .*log\.csv \(Is a directory"):
        LogWriter(tmp_path / "log.csv")


def test_a_slice_of_a_log_keeps_its_finger(tmp_path: Path) -> None:
    """Learn from some of the pushes with the finger that made them."""
    record = pw.PushRecord(pw.Push.line((-0.1, 0.0), (0.1, 0.0), 2.0), [0.0, 2.0], np.zeros((2, 3)))
    log = pw.PushLog((record,) * 3, finger_radius=0.002)
    assert isinstance(log[1:], pw.PushLog)
    assert (len(log[1:]), log[1:].finger_radius) == (2, 0.002) and log[0] is record


def test_a_log_that_was_changed_is_not_continued(tmp_path: Path) -> None:
    """Refuse numbers with a gap; keep a whole push before a line that was cut short."""
    path = tmp_path / "log.csv"
    pushes = tuple(
        pw.PushRecord(pw.Push.line((-0.1, y), (0.1, 0.0), 2.0), [0.0, 2.0], np.zeros((2, 3)))
        for y in (0.0, 0.01, 0.02)
    )
    pw.PushLog(pushes).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b"3,0.0,0.0")
    with LogWriter(path) as writer:
        assert writer.pushes == 3
    assert path.read_bytes() == whole
    path.write_bytes(whole + b"2,3.0,0.0")  # cut short in the middle of the last push
    with LogWriter(path) as writer:
        assert writer.pushes == 2
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not line.startswith(b"1,")))
    with pytest.raises(PushwiseError, match="does not number the pushes 0, 1, 2"):
        LogWriter(path)
