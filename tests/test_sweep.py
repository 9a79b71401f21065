"""Sweeps: resumed, retried, sorted, checked; the same whatever the workers do."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import sweep_tasks
from pushwise.errors import PushwiseError
from pushwise.experiments.rows import Row, plain, read_rows, write_rows
from pushwise.experiments.sweep import SweepOptions, compare, conduct, sweep
from sweep_tasks import SETTINGS, dying, dying_once, failing, failing_once, slow, steady


def table(folder: Path) -> str:
    """Return the table of a sweep, and see that nothing else is left."""
    assert sorted(path.name for path in folder.iterdir()) == ["rows.csv", "times.csv"]
    return (folder / "rows.csv").read_text()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the table of a sweep on one process."""
    folder = tmp_path_factory.mktemp("expected")
    sweep(steady, SETTINGS, folder, jobs=1)
    return table(folder)


def test_workers_do_not_show(tmp_path: Path, expected: str) -> None:
    """Give the same bytes on two processes, and in the order of the settings."""
    rows, failed = sweep(steady, SETTINGS, tmp_path, jobs=2)
    assert failed == 0
    assert table(tmp_path) == expected
    assert rows == read_rows(tmp_path / "rows.csv")
    times = read_rows(tmp_path / "times.csv")
    assert [{**row, "seconds": 0.0} for row in times] == [{**s, "seconds": 0.0} for s in SETTINGS]
    assert all(0.0 < float(row["seconds"] or 0.0) < 60.0 for row in times)
    assert [(row["object"], row["seed"], row["step"]) for row in rows] == [
        (setting["object"], setting["seed"], step) for setting in SETTINGS for step in range(2)
    ]


@pytest.mark.slow
def test_a_killed_sweep_goes_on(tmp_path: Path, expected: str) -> None:
    """Kill a sweep, tear its last line, and run only what was not done."""
    process = subprocess.Popen(
        [sys.executable, sweep_tasks.__file__, str(tmp_path)], start_new_session=True
    )
    stream = tmp_path / "rows.stream"
    while not stream.exists() or stream.read_bytes().count(b"\n") < 4:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = stream.read_bytes()
    assert 4 <= done.count(b"\n") < len(SETTINGS)
    assert not (tmp_path / "rows.csv").exists()
    # A kill may come in the middle of a write.
    stream.write_bytes(done + done.splitlines()[0][:25])
    ran = []

    def counted(setting: Row) -> list[Row]:
        ran.append(setting)
        return slow(setting)

    sweep(counted, SETTINGS, tmp_path, jobs=1)
    assert len(ran) == len(SETTINGS) - done.count(b"\n")
    assert table(tmp_path) == expected


def test_a_failing_task_is_recorded_and_tried_again(tmp_path: Path, expected: str) -> None:
    """Finish the rest, keep the traceback, and run only the failed one next time."""
    rows, failed = sweep(failing, SETTINGS, tmp_path, jobs=2)
    assert failed == 1
    assert len(rows) == 2 * (len(SETTINGS) - 1)
    (line,) = (tmp_path / "failures.jsonl").read_text().splitlines()
    failure = json.loads(line)
    assert failure["setting"] == {"object": "b", "seed": 3}
    assert "RuntimeError: the object is gone" in failure["traceback"]
    with pytest.raises(PushwiseError, match="1 of 30 settings failed twice and are missing"):
        conduct(failing, SETTINGS, lambda rows, folder: "", SweepOptions(tmp_path))
    sweep(steady, SETTINGS, tmp_path, jobs=1)
    assert table(tmp_path) == expected


@pytest.mark.slow
@pytest.mark.parametrize("task", [failing_once, dying_once])
def test_a_second_try_helps(
    tmp_path: Path, expected: str, task: Callable[[Path, Row], list[Row]]
) -> None:
    """Lose nothing when a task fails once, or when a worker is killed."""
    marked = partial(task, tmp_path / "mark")
    assert sweep(marked, SETTINGS, tmp_path / "out", jobs=2)[1] == 0
    assert (tmp_path / "mark").exists()
    assert table(tmp_path / "out") == expected


@pytest.mark.slow
def test_a_task_that_always_kills_is_named(tmp_path: Path) -> None:
    """Stop with the setting at fault when no worker survives, the rest being kept."""
    with pytest.raises(PushwiseError, match="workers die"):
        sweep(dying, SETTINGS, tmp_path, jobs=2)
    done = (tmp_path / "rows.stream").read_bytes().count(b"\n")
    assert done > 0


def test_other_settings(tmp_path: Path) -> None:
    """Run only new settings, and refuse to drop old ones."""
    sweep(steady, SETTINGS[:10], tmp_path, jobs=1)
    ran = []

    def counted(setting: Row) -> list[Row]:
        ran.append(setting)
        return steady(setting)

    sweep(counted, SETTINGS[:12], tmp_path, jobs=1)
    assert ran == SETTINGS[10:12]
    with pytest.raises(PushwiseError, match=r"rows.csv holds results of 2 settings that are not"):
        sweep(steady, SETTINGS[:10], tmp_path, jobs=1)
    with pytest.raises(PushwiseError, match="has no column 'world'"):
        sweep(steady, [{"world": "moon"}], tmp_path, jobs=1)
    with pytest.raises(PushwiseError, match="must all differ; 1 of 2 do"):
        sweep(steady, SETTINGS[:1] * 2, tmp_path / "new", jobs=1)


def test_check_finds_one_changed_number(tmp_path: Path) -> None:
    """Compare all but clock times; report a last digit that differs, and refuse more."""
    rows, _ = sweep(steady, SETTINGS, tmp_path, jobs=1)
    assert compare(steady, SETTINGS, tmp_path, share=0.1).startswith(
        "3 of 30 settings run again: 12 values, all the same"
    )
    late = [{**row, "seconds": 9.0} for row in rows]
    write_rows(tmp_path / "rows.csv", late)
    assert compare(steady, SETTINGS, tmp_path, share=1.0).startswith("30 of 30")
    late[17]["value"] = float(np.nextafter(float(late[17]["value"] or 0.0), np.inf))
    write_rows(tmp_path / "rows.csv", late)
    found = compare(steady, SETTINGS, tmp_path, share=1.0)
    assert "equal to within" in found and float(found.split()[-1].rstrip(".")) < 1e-15
    late[17]["value"] = float(late[17]["value"] or 0.0) * (1.0 + 1e-8)
    write_rows(tmp_path / "rows.csv", late)
    with pytest.raises(PushwiseError, match=r"gave value = .* when run again"):
        compare(steady, SETTINGS, tmp_path, share=1.0)
    with pytest.raises(PushwiseError, match="no results to check"):
        compare(steady, SETTINGS, tmp_path / "none", share=0.5)
    with pytest.raises(PushwiseError, match="above 0 and at most 1; got 2"):
        compare(steady, SETTINGS, tmp_path, share=2.0)


def test_rows_come_back_exactly(tmp_path: Path) -> None:
    """Give back every value with its type, and refuse what would not come back."""
    rows = [
        {"a": 0.1 + 0.2, "b": np.float64(1.0), "c": np.int64(3), "d": True, "e": "x, y", "f": None},
        {"a": 1e300, "b": -0.0, "c": 0, "d": np.bool_(False), "e": "1_0", "f": None},
    ]
    write_rows(tmp_path / "rows.csv", rows)
    back = read_rows(tmp_path / "rows.csv")
    assert back == [plain(row) for row in rows]
    assert [type(value) for value in back[0].values()] == [
        float,
        float,
        int,
        bool,
        str,
        type(None),
    ]
    for bad in ("5", "True", "", float("nan"), [1]):
        with pytest.raises(PushwiseError, match="a must"):
            plain({"a": bad})
    with pytest.raises(PushwiseError, match="all rows must have the columns"):
        write_rows(tmp_path / "rows.csv", [{"a": 1}, {"b": 1}])


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say which extra a sweep needs, before anything is written."""
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(
        PushwiseError,
        match=r"this experiment needs the package joblib; .* pip install 'pushwise\[experiments\]'",
    ):
        sweep(steady, SETTINGS, tmp_path / "out")
    assert not (tmp_path / "out").exists()
