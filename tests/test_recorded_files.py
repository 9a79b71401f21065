"""Recordings in CSV files and in files of the MIT push dataset, and the command that reads them."""

import json
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.shape.files import read_shape

NAMES = "t,x,y,theta,finger_x,finger_y"


# CSV files


def table(folder: Path, head: str, rows: Any, name: str = "data.csv") -> Path:
    """Write a CSV file."""
    path = folder / name
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return path


def straight_rows() -> list[tuple[float, ...]]:
    """Return rows of a push of 0.1 m, at 50 Hz, in SI units."""
    return [
        (t, max(0.1 * t - 0.05, 0.0), 0.0, 0.1 * t, 0.1 * t - 0.1, 0.01)
        for t in np.arange(0.0, 1.5, 0.02).tolist()
    ]


def test_columns_have_names_and_units(tmp_path: Path) -> None:
    """Read millimetres, degrees and milliseconds under other names, semicolons, in any order."""
    rows = [
        f"{1e3 * fx};{1e3 * fy};{np.degrees(th)};{1e3 * x};{1e3 * y};{1e3 * t};ok"
        for t, x, y, th, fx, fy in reversed(straight_rows())
    ]
    path = table(tmp_path, "tip x;tip y;yaw;ox;oy;stamp;note", rows)
    columns = {
        "t": "stamp",
        "x": "ox",
        "y": "oy",
        "theta": "yaw",
        "finger_x": "tip x",
        "finger_y": "tip y",
    }
    units = {**dict.fromkeys(("x", "y", "finger_x", "finger_y"), "mm"), "theta": "deg", "t": "ms"}
    (recording,) = pw.read_recordings(path, pw.CsvColumns(columns, units))
    assert recording.object.unsorted == len(rows) - 1
    want = np.array(straight_rows())
    assert recording.object.values == pytest.approx(want[:, 1:4])
    (push,) = pw.cut_pushes([recording]).pushes
    assert isinstance(push.record.push, pw.Push)
    assert push.record.push.velocity == pytest.approx([0.1, 0.0])


def test_rows_may_be_of_one_stream_alone(tmp_path: Path) -> None:
    """Take rows of object and finger in turn, and count those with half a pose."""
    rows = []
    for t, x, y, th, fx, fy in straight_rows():
        rows.append(f"{t},{x},{y},{th},,")
        rows.append(f"{t + 0.005},,NaN,,{fx + 0.0005},{fy}")
    rows[4] = "0.04,nan,0,0,,"
    rows.append(",,,,,")
    (recording,) = pw.read_recordings(table(tmp_path, NAMES, rows))
    assert (len(recording.object.t), recording.object.not_finite) == (74, 1)
    assert (len(recording.finger.t), recording.finger.not_finite) == (75, 0)
    assert len(pw.cut_pushes([recording]).pushes) == 1


def test_a_column_of_pushes_divides_the_file(tmp_path: Path) -> None:
    """Read two rows a push, before and after, as the log format itself allows."""
    rows = [
        "a,0,0,0,0,-0.1,0",
        "a,2,0.05,0,0.1,0.05,0",
        "b,0,0.05,0,6.2,0.3,0",
        "b,1,0,0,6.4,0.1,0",
    ]
    found = pw.cut_pushes(pw.read_recordings(table(tmp_path, f"push,{NAMES}", rows)))
    assert [push.source for push in found.pushes] == ["data.csv, push a", "data.csv, push b"]
    assert found.pushes[1].record.t.tolist() == [0.0, 1.0]
    assert found.pushes[1].record.pose[:, 2] == pytest.approx([6.2 - 2 * np.pi, 6.4 - 2 * np.pi])


@pytest.mark.parametrize(
    ("head", "row", "options", "message"),
    [
        (NAMES, "0,0,0,x,0,0", None, "data.csv, line 2: theta must be a number; got 'x'"),
        (NAMES, "0,0,0,0,0", None, "data.csv, line 2: a row has 6 values; got 5"),
        ("t,x,y,yaw,a,b", "0,0,0,0,0,0", None, "no column theta, finger_x, finger_y; it has"),
        (NAMES, "0,0,0,0,0,0", None, "at least two samples of the object"),
        (NAMES, "", None, "it has no rows"),
        (NAMES, '"' + "0" * 140_000, None, "line 2: not a row of a CSV .* look for a stray quote"),
        (
            NAMES,
            "0,0,0,0,0,0",
            pw.CsvColumns(units={"x": "deg"}),
            "x must be m or cm or mm; got 'deg'",
        ),
        (NAMES, "0,0,0,0,0,0", pw.CsvColumns({"X": "x"}), "must be one of push, t, x, .*; got 'X'"),
        (NAMES, "0,0,0,0,0,0", pw.BagTopics("/box"), "topics are options for ROS bags"),
        (NAMES, "0,800,0,0,0,0\n1,900,0,0,0,0", None, "900 looks like millimetres"),
        (NAMES, "0,0,0,80,0,0\n1,0,0,90,0,0", None, "in radians; 90 looks like degrees"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused(
    head: str,
    row: str,
    options: pw.BagTopics | pw.CsvColumns | None,
    message: str,
    tmp_path: Path,
) -> None:
    """Name the file, and the line or the column."""
    with pytest.raises(PushwiseError, match=message):
        pw.read_recordings(table(tmp_path, head, [row]), options)


# Files of the MIT push dataset


def mit_tables() -> dict[str, list[list[float]]]:
    """Return a push as the dataset has it: three clocks, the force that on the pusher."""
    t = 1.4e9 + np.arange(0.0, 1.5, 0.004)
    s = t - t[0]
    x = np.maximum(0.1 * s - 0.05, 0.0)
    o = np.zeros_like(s)
    return {
        "object_pose": np.column_stack([t, x, o, o]).tolist(),
        "tip_pose": np.column_stack([t + 1e-3, 0.1 * s - 0.0999, o, o]).tolist(),
        "ft_wrench": np.column_stack([t + 2e-3, np.where(x > 0, -2.0, 0.0), o, o]).tolist(),
    }


def mit_file(folder: Path, suffix: str, tables: dict[str, Any]) -> Path:
    """Write a file of the dataset."""
    path = folder / f"motion_surface=abs_shape=rect1_a=0_v=100_i=0.000_s=0.500_t=0.000{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(tables))
    else:
        with h5py.File(path, "w") as file:
            for name, rows in tables.items():
                file.create_dataset(name, data=rows)
    return path


@pytest.mark.parametrize("suffix", [".h5", ".json"])
def test_files_of_the_mit_dataset_are_read_as_published(suffix: str, tmp_path: Path) -> None:
    """Read a push from HDF5 and from JSON, with the force on the object."""
    found = pw.cut_pushes(pw.read_recordings(mit_file(tmp_path, suffix, mit_tables())))
    (push,) = found.pushes
    record = push.record
    assert isinstance(record.push, pw.Push)
    assert record.push.velocity == pytest.approx([0.1, 0.0], abs=1e-4)
    assert record.force is not None
    assert record.force[-1] == pytest.approx([2.0, 0.0], abs=1e-3)
    assert "negated" in found.notes[0]


@pytest.mark.parametrize("suffix", [".h5", ".json"])
def test_files_without_the_tables_are_refused(suffix: str, tmp_path: Path) -> None:
    """List what is there instead."""
    tables = mit_tables()
    tables["object"] = tables.pop("object_pose")
    with pytest.raises(
        PushwiseError, match=r"has no object_pose; .*this one ft_wrench, object, tip_pose"
    ):
        pw.read_recordings(mit_file(tmp_path, suffix, tables))
    flat = {**mit_tables(), "tip_pose": [1.0, 2.0]}
    with pytest.raises(PushwiseError, match=r"tip_pose must have rows of a time and three numbers"):
        pw.read_recordings(mit_file(tmp_path, suffix, flat))
    path = mit_file(tmp_path, suffix, {})
    path.write_bytes(path.read_bytes()[:3] + b"\x00{")
    with pytest.raises(PushwiseError, match=r"(not a JSON file|cannot be read as an HDF5 file)"):
        pw.read_recordings(path)


# The command


def test_the_command_writes_a_log_and_says_what_it_found(tmp_path: Path) -> None:
    """Convert two files into one log, in words and as JSON; overwrite it only by force."""
    files = []
    for name in "ab":
        (tmp_path / name).mkdir()
        files.append(mit_file(tmp_path / name, ".h5", mit_tables()))
    log = tmp_path / "log.csv"
    code, said, errors = pushwise("convert", *files, "-o", log, "--finger-radius", 0.00475)
    assert (code, errors) == (0, "")
    for words in ("2 pushes", "250 Hz", "noise: ", "negated", f"written to {log}"):
        assert words in said
    read = pw.PushLog.load(log)
    assert (len(read), read.finger_radius) == (2, 0.00475)
    code, said, errors = pushwise("convert", *files, "-o", log)
    assert (code, said) == (1, "")
    assert errors == f"pushwise: {log} exists; add --force to overwrite it.\n"
    code, said, errors = pushwise("convert", files[0], "-o", log, "--force")
    assert (code, errors) == (0, "")
    assert (len(pw.PushLog.load(log)), pw.PushLog.load(log).finger_radius) == (1, None)
    code, said, errors = pushwise("convert", *files, "--json")
    facts = json.loads(said)
    assert (code, facts["log"], len(facts["pushes"])) == (0, None, 2)
    assert facts["recordings"][0]["streams"][0]["rate"] == pytest.approx(250.0, rel=1e-3)


def test_the_command_never_overwrites_what_it_reads(tmp_path: Path) -> None:
    """Refuse a recording or a grid as the log or its header, even by force; and any other JSON."""
    recording = table(tmp_path, NAMES, [",".join(map(str, row)) for row in straight_rows()])
    pw.save(pw.objects.load("box").grid, tmp_path / "grid.json")
    read = {file: file.read_bytes() for file in (recording, tmp_path / "grid.json")}
    grid = ("--grid", tmp_path / "grid.json")
    for more, output, said in (
        ((), recording, f"{recording} is read by this command; choose another name to write to."),
        (grid, tmp_path / "grid.csv", "grid.json is read by this command; choose another name"),
        ((), tmp_path / "grid.csv", "grid.json exists; a log never overwrites a file."),
    ):
        code, _, errors = pushwise("convert", recording, *more, "-o", output, "--force")
        assert code == 1 and said in errors
        assert {file: file.read_bytes() for file in read} == read
        assert not (tmp_path / "grid.csv").exists()


@pytest.mark.parametrize(
    ("package", "name", "purpose"),
    [("h5py", "push.h5", "reading HDF5 files"), ("rosbags", "run.bag", "reading ROS bags")],
)
def test_a_missing_reader_is_named_with_its_extra(
    package: str, name: str, purpose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Say what to install when the package that reads a kind of file is not there."""
    (tmp_path / name).touch()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PushwiseError) as caught:
        pw.read_recordings(tmp_path / name)
    assert str(caught.value) == (
        f"{purpose} needs the package {package}; install it with: pip install "
        "'pushwise[recordings]'"
    )


def test_the_command_takes_options_for_one_kind_of_file(tmp_path: Path) -> None:
    """Refuse topics together with columns, and either for a file of another kind."""
    path = mit_file(tmp_path, ".json", mit_tables())
    for options, message in (
        (("--object", "/box", "--unit", "x=mm"), "topics are for ROS bags, --column and --unit"),
        (("--object", "/box"), f"topics are options for ROS bags; {path} is not a ROS bag"),
        (("--unit", "x=mm"), f"columns and units are for CSV files; {path} is not a CSV file"),
    ):
        code, _, errors = pushwise("convert", path, *options)
        assert code == 1
        assert message in errors


def test_the_command_says_why_all_pushes_are_left_out(tmp_path: Path) -> None:
    """Give the reason when there are pushes, but none whose force was recorded."""
    rows = [",".join(map(str, row)) + (",0,0" if row[0] < 0.3 else ",,") for row in straight_rows()]
    code, _, errors = pushwise("convert", table(tmp_path, f"{NAMES},fx,fy", rows))
    assert code == 1
    assert errors.endswith(
        " s: the force was not recorded throughout; without forces it would be kept.\n"
    )


def test_the_command_maps_columns_and_finds_nothing(tmp_path: Path) -> None:
    """Take --column and --unit, and exit with a sentence when there is no push."""
    rows = [f"{t},0,0,0,{t},0" for t in range(10)]
    path = table(tmp_path, "time,x,y,theta,finger_x,finger_y", rows)
    options = ("--column", "t=time", "--unit", "finger_x,finger_y=mm")
    code, said, errors = pushwise("convert", path, *options, "-o", tmp_path / "log.csv")
    assert code == 1
    assert "0 pushes" in said
    assert errors.startswith(f"pushwise: no push found in {path}: ")
    assert not (tmp_path / "log.csv").exists()
    code, said, _ = pushwise("convert", path, *options, "-o", tmp_path / "log.csv", "--json")
    assert (code, json.loads(said)["log"]) == (1, None)
    code, _, errors = pushwise("convert", path, "--unit", "mm")
    assert code == 1
    assert errors == "pushwise: --unit must be NAME=VALUE, as in x,y=mm; got 'mm'.\n"
    for bad in (("--offset", "nan", 0, 0), ("--delay", "nan"), ("--finger-radius", -1)):
        code, said, errors = pushwise("convert", path, *options, *bad, "--json")
        assert (code, said) == (1, "")
        assert errors.startswith(f"pushwise: {bad[0]} must be ")


def test_columns_that_are_not_unique_are_refused(tmp_path: Path) -> None:
    """Name a column that is there twice, one that is taken twice, and a row without a push."""
    rows = [",".join(f"{value:.6f}" for value in row) for row in straight_rows()]
    twice = table(tmp_path, f"{NAMES},x", [f"{row},0" for row in rows])
    with pytest.raises(PushwiseError, match="2 columns called x"):
        pw.read_recordings(twice)
    path = table(tmp_path, NAMES, rows)
    with pytest.raises(PushwiseError, match="x and y are both taken from column x"):
        pw.read_recordings(path, pw.CsvColumns({"x": "x", "y": "x"}, {}))
    unnamed = [f"{row},{'' if i == 4 else 'a'}" for i, row in enumerate(rows)]
    with pytest.raises(PushwiseError, match="line 6: the row does not say to which push"):
        pw.read_recordings(table(tmp_path, f"{NAMES},push", unnamed))
    cloud = tmp_path / "cloud.csv"
    cloud.write_text("x,y,z,x\n0,0,0,1\n")
    with pytest.raises(PushwiseError, match="2 columns called x; keep one"):
        read_shape(cloud)
