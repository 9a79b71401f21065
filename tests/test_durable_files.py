"""Files survive full disks, vanished folders and second processes; every kind has its header."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pushwise as pw
from command import pushwise
from pushwise import documents
from pushwise.atomic_write import replacing, save_figure, write_text
from pushwise.errors import PushwiseError, WriteError
from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import sweep
from pushwise.locking import exclusive, lock_file
from pushwise.records.log_writer import LogWriter, log_text
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.run_folder import RunFolder, load_run

GRID = pw.CellGrid([(0, 0), (0.1, 0), (0, 0.1), (0.1, 0.1)], 0.1)
MODEL = pw.ObjectModel(GRID, [0.1, 0.2, 0.3, 0.4], 0.5)
ABOUT = {"object": "crimp", "world": "ideal"}
QUICK = SlideOptions(explore=0, grasp_width=0.005)  # it ends without a goal


def a_record(samples: int = 50) -> pw.PushRecord:
    """Return a push with numbers that no short text holds."""
    push = pw.Push.line((-0.1, 1 / 30), (0.1, 0.01), 2.0)
    pose = np.cumsum(np.random.default_rng(samples).uniform(0, 0.001, (samples, 3)), axis=0)
    return pw.PushRecord(push, np.linspace(0, 2.0, samples), pose)


def a_world() -> pw.worlds.Ideal:
    """Return a world with a pair of crimping pliers."""
    thing = pw.objects.load("crimp").sample(np.random.default_rng(0))
    return pw.worlds.Ideal(thing, pw.Table(), pose=(0.1, 0.1, 0.7))


@contextmanager
def full_disk(left: int) -> Iterator[None]:
    """Let no file grow beyond some bytes: as on a full disk, a write takes a part, then fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def names_in(folder: Path) -> set[str]:
    """Return the names of all files in a folder, hidden ones too."""
    return {file.name for file in folder.iterdir()}


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    """Keep models, plans, exports, pictures, reports and headers when the disk is full."""
    from matplotlib.figure import Figure

    plan = pw.Plan((), (), np.zeros((1, 3)), np.zeros((0, 3)), np.zeros((2, 3)), 0.0, 0, 0.0)
    writers: dict[str, Callable[[Path], None]] = {
        "model.json": lambda path: pw.save(MODEL, path),
        "plan.json": lambda path: plan.save(path),
        "object.xml": lambda path: pw.export.write(MODEL, path),
        "picture.png": lambda path: save_figure(Figure(), path, dpi=50),
        "goal.json": lambda path: documents.write_document(path, "goal", {"goals": [0] * 99}),
        "cloud.npz": lambda path: documents.write_arrays(path, "cloud", {"points": np.eye(30)}),
    }
    for name, write in writers.items():
        path = tmp_path / name
        write(path)
        before = path.read_bytes()
        with full_disk(100), pytest.raises(WriteError, match=r"File too large\); its previous"):
            write(path)
        assert path.read_bytes() == before, name
    assert names_in(tmp_path) == {*writers}


def test_a_full_disk_is_one_sentence(tiny_disk: Path) -> None:
    """Keep the pushes of a log and the model in a file when a real disk is full."""
    pw.save(MODEL, tiny_disk / "model.json")
    before = (tiny_disk / "model.json").read_bytes()
    made = 0
    with (
        pw.PushLog().writer(tiny_disk / "log.csv") as writer,
        pytest.raises(WriteError, match=r"No space left on device\); \d+ pushes are kept in it"),
    ):
        for made in range(100):  # noqa: B007
            writer.append(a_record(100))
    assert made > 2
    assert len(pw.PushLog.load(tiny_disk / "log.csv")) == made
    with pytest.raises(OSError, match="No space"), (tiny_disk / "fill").open("ab", 0) as file:
        while True:
            file.write(b"0" * 100)
    said = pushwise("export", tiny_disk / "model.json", "-o", tiny_disk / "object.xml")
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "No space left on device" in said.err
    with pytest.raises(WriteError, match="No space left on device"):
        pw.save(MODEL, tiny_disk / "model.json")
    assert (tiny_disk / "model.json").read_bytes() == before
    assert names_in(tiny_disk) == {"model.json", "log.csv", "log.json", "fill"}


@pytest.mark.parametrize("left", [100, 1000])
def test_a_log_that_cannot_be_overwritten_is_kept(left: int, tmp_path: Path) -> None:
    """Keep pushes and header when the disk has no room for others, or for their header alone."""
    path = tmp_path / "log.csv"
    pw.PushLog((a_record(),)).save(path)
    before = path.read_bytes(), path.with_suffix(".json").read_bytes()
    other = pw.PushLog((a_record(2),), provenance={"by": "x" * 1000})
    assert len(log_text(other.records)) < 1000
    with full_disk(left), pytest.raises(WriteError, match="its previous content is kept"):
        other.save(path, overwrite=True)
    assert (path.read_bytes(), path.with_suffix(".json").read_bytes()) == before
    assert names_in(tmp_path) == {"log.csv", "log.json"}
    other.save(path, overwrite=True)
    assert len(pw.PushLog.load(path)[0].t) == 2


def test_a_push_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Take back the part of a push that still went onto the disk, and go on once there is room."""
    path = tmp_path / "log.csv"
    with pw.PushLog().writer(path) as writer:
        writer.append(a_record())
        whole = path.read_bytes()
        with full_disk(len(whole) + 1000), pytest.raises(WriteError, match="1 push is kept in it"):
            writer.append(a_record())
        assert path.read_bytes() == whole
        writer.append(a_record(60))
    assert [len(record.t) for record in pw.PushLog.load(path)] == [50, 60]


def test_a_log_that_vanishes_is_reported(tmp_path: Path) -> None:
    """Do not go on writing pushes to a file that nobody can find."""
    path = tmp_path / "log.csv"
    with pw.PushLog().writer(path) as writer:
        writer.append(a_record())
        path.unlink()
        with pytest.raises(WriteError, match="was removed while it was written"):
            writer.append(a_record())


def test_a_folder_that_vanishes_or_cannot_be_written_is_one_sentence(tiny_disk: Path) -> None:
    """Say which file cannot be written to a read-only disk, and in a folder that is gone."""
    with pytest.raises(WriteError, match=r"cannot write .*model\.json \(No such file"):
        pw.save(MODEL, tiny_disk / "gone" / "model.json")
    pw.save(MODEL, tiny_disk / "model.json")
    subprocess.run(["mount", "-o", "remount,ro", str(tiny_disk)], check=True)
    for words in (
        ("export", tiny_disk / "model.json", "-o", tiny_disk / "object.xml"),
        ("record", "--object", "crimp", "--world", "ideal", "-o", tiny_disk / "log.csv"),
        ("slide", "crimp", "--world", "ideal", "-o", tiny_disk / "run"),
        ("experiment", "stability", "-o", tiny_disk / "rows"),
    ):
        said = pushwise(*words)
        assert (said.code, said.err.count("\n")) == (1, 1), said.err
        assert "ead-only" in said.err, said.err


def test_a_run_on_a_full_disk_resumes(tmp_path: Path) -> None:
    """Do not take a full disk for an object that cannot be explored; go on where it stopped."""
    whole = pw.slide(a_world(), pw.Table(), options=QUICK, journal=RunFolder(tmp_path / "a", ABOUT))
    stopped = RunFolder(tmp_path / "b", ABOUT)
    with full_disk(5000), pytest.raises(WriteError, match=r"cannot write .* \(File too large\)"):
        pw.slide(a_world(), pw.Table(), options=QUICK, journal=stopped)
    pw.slide(a_world(), pw.Table(), options=QUICK, journal=RunFolder(tmp_path / "b", ABOUT))
    assert load_run(tmp_path / "b").verdict == whole.verdict
    assert names_in(tmp_path / "a") == names_in(tmp_path / "b")


HOLD = """
import sys
from pathlib import Path
from pushwise.locking import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process_at(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another process write to a log or a folder during the block."""
    line = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def square(setting: Row) -> list[Row]:
    """Return the square of a setting."""
    return [{"square": int(str(setting["n"])) ** 2}]


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    """Refuse a log, a run and a sweep that another process writes to; a killed one has none."""
    run, rows = tmp_path / "run", tmp_path / "rows"
    run.mkdir()
    rows.mkdir()

    def attempts() -> Iterator[tuple[Path, Any]]:
        yield tmp_path / "log.csv", lambda: pw.PushLog().writer(tmp_path / "log.csv").close()
        yield tmp_path / "log.csv", lambda: LogWriter(tmp_path / "log.csv").close()
        new = RunFolder(run, ABOUT)
        yield run, lambda: pw.slide(a_world(), pw.Table(), options=QUICK, journal=new)
        yield rows, lambda: sweep(square, [{"n": 3}], rows, jobs=1)

    for path, attempt in attempts():
        with another_process_at(path) as process:
            with pytest.raises(PushwiseError, match=f"another process is writing to {path}; wait"):
                attempt()
            process.kill()
            process.wait()
            assert lock_file(path).exists()
            attempt()
        assert not lock_file(path).exists()


def test_two_recordings_at_once_are_one_log(tmp_path: Path) -> None:
    """Refuse the second of two commands that record to the same log."""
    path = tmp_path / "log.csv"
    with exclusive(path):
        said = pushwise(*("record", "--object", "crimp", "--world", "ideal", "-o", path))
    assert (said.code, said.out) == (1, "")
    assert "another process is writing to" in said.err
    assert names_in(tmp_path) == set()


def test_an_interrupted_write_leaves_nothing(tmp_path: Path) -> None:
    """Remove what was written of a file when Ctrl-C ends the writing; follow links."""
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as half:
        half.write_text("new")
        raise KeyboardInterrupt
    (tmp_path / "link.txt").symlink_to(path)
    write_text(tmp_path / "link.txt", "linked")
    assert path.read_text() == "linked"
    assert (tmp_path / "link.txt").is_symlink()
    assert names_in(tmp_path) == {"a.txt", "link.txt"}


def test_a_header_without_its_log_is_taken_over(tmp_path: Path) -> None:
    """Save a log where an interrupted command has left the header; leave other files alone."""
    log = pw.PushLog((a_record(),), GRID)
    pw.PushLog((), GRID).save(tmp_path / "log.csv")
    (tmp_path / "log.csv").unlink()
    log.save(tmp_path / "log.csv")
    assert len(pw.PushLog.load(tmp_path / "log.csv")) == 1
    (tmp_path / "mine.json").write_text('{"private": 1}')
    with pytest.raises(PushwiseError, match=r"mine\.json exists"):
        log.save(tmp_path / "mine.csv")


@pytest.mark.parametrize("kind", sorted(documents.header(k)["kind"] for k in documents.KINDS))
def test_every_kind_of_file_has_a_header(kind: str, tmp_path: Path) -> None:
    """Refuse other formats, kinds and versions with a sentence that names the file."""
    head = documents.header(kind)
    for change, said in (
        ({"format": "other"}, "Pushwise did not write this file"),
        ({"kind": "cat"}, f"kind must be {kind}; it is 'cat'"),
        ({"version": 0}, "the one this release reads; it is 0"),
        ({"version": True}, "the one this release reads; it is True"),
    ):
        path = tmp_path / "document.json"
        path.write_text(json.dumps({**head, **change}))
        with pytest.raises(PushwiseError, match=rf"document\.json: .*{said}"):
            documents.read_document(path, kind)
        np.savez(tmp_path / "arrays.npz", header=json.dumps({**head, **change}), a=1)
        with pytest.raises(PushwiseError, match=rf"arrays\.npz: .*{said}"):
            documents.read_arrays(tmp_path / "arrays.npz", kind)
    documents.write_arrays(tmp_path / "arrays.npz", kind, {"a": [1, 2]})
    assert documents.read_arrays(tmp_path / "arrays.npz", kind)["a"].tolist() == [1, 2]


def test_a_log_of_version_1_is_read(tmp_path: Path) -> None:
    """Read logs of version 0.1 on purpose: their header differs in its format only."""
    path = tmp_path / "log.csv"
    pw.PushLog((a_record(),), GRID, 0.02).save(path)
    stated = json.loads(path.with_suffix(".json").read_text())
    old = {name: stated[name] for name in stated if name not in documents.header("log")}
    path.with_suffix(".json").write_text(json.dumps({"format": "pushwise log 1", **old}))
    log = pw.PushLog.load(path)
    assert (len(log), log.finger_radius) == (1, 0.02)


def test_files_that_belong_together_survive_a_disk_that_fails_at_any_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keep the old log and the old header, whichever of the calls that flush them fails."""
    path, flush = tmp_path / "log.csv", os.fsync
    pw.PushLog((a_record(),)).save(path)
    before = [file.read_bytes() for file in (path, path.with_suffix(".json"))]
    for working in range(8):
        calls = iter([flush] * working)

        def fails(handle: int, calls: Iterator[Callable[[int], None]] = calls) -> None:
            call = next(calls, None)
            if call is None:
                raise OSError(28, "No space left on device")
            call(handle)

        monkeypatch.setattr(os, "fsync", fails)
        try:
            pw.PushLog((a_record(), a_record(30))).save(path, overwrite=True)
        except WriteError as error:
            assert "No space left on device" in str(error)
        else:
            break
        assert [file.read_bytes() for file in (path, path.with_suffix(".json"))] == before
        assert names_in(tmp_path) == {"log.csv", "log.json"}
    assert working >= 2
    assert len(pw.PushLog.load(path)) == 2 and names_in(tmp_path) == {"log.csv", "log.json"}


def test_a_journal_that_is_used_again_counts_every_push_once(tmp_path: Path) -> None:
    """Interrupt a run in a notebook and go on with the same journal; lose no push."""
    options = SlideOptions(explore=2, grasp_width=0.005)
    journal = RunFolder(tmp_path / "run", ABOUT)

    def interrupt(news: pw.Progress) -> None:
        if isinstance(news.result, pw.PushRecord):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pw.slide(a_world(), pw.Table(), options=options, journal=journal, progress=interrupt)
    assert len(pw.PushLog.load(tmp_path / "run" / "log.csv")) == 1  # it was made: it is kept
    silent: list[pw.Progress] = []
    outcome = pw.slide(
        a_world(), pw.Table(), options=options, journal=journal, progress=silent.append
    )
    assert len(outcome.records) == len(pw.PushLog.load(tmp_path / "run" / "log.csv")) == 2
