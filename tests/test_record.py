"""`pushwise record` and `pushwise experiment referee`."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import pushwise as pw
from command import pushwise
from drawn import drawn, texts
from pushwise.experiments import referee
from pushwise.physics.gradients import loss

pytestmark = pytest.mark.slow

ABSENT: Any = None  # a world that cannot be pushed in
# Worlds must run where there is no display.
HEADLESS = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}


def words(path: Path, *, seed: int = 1) -> list[str]:
    """Return the words of a command that records pushes of a hammer."""
    asked = ("--object", "hammer", "--pushes", "4", "--seed", str(seed))
    return ["record", *asked, "-o", str(path)]


def program(*words: str) -> list[str]:
    """Return how to run a command in a new process."""
    return [sys.executable, "-c", "from pushwise.cli import main; main()", *words]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log that was recorded in one go."""
    path = tmp_path_factory.mktemp("whole") / "log.csv"
    ran = pushwise(*words(path), "--json")
    assert ran.code == 0, ran.err
    facts = json.loads(ran.out)
    assert (facts["pushes"], facts["world"]) == (4, "mujoco")
    return path


def test_a_log_is_what_identification_takes(whole: Path) -> None:
    """Load into records that a loss takes, with the grid of the object."""
    log = pw.PushLog.load(whole)
    assert log.grid is not None
    assert log.provenance == {"world": "mujoco", "object": "hammer", "seed": 1}
    model = pw.objects.load("hammer").model
    guess = pw.ObjectModel(log.grid, mass=model.mass, friction=model.friction)
    assert 0 < loss(guess, log, table=pw.Table()) < 100
    for record in log:
        assert abs(record.pose[-1] - record.pose[0]).max() > 0.02
        assert record.force is not None


def test_a_killed_recording_goes_on_to_the_same_log(whole: Path, tmp_path: Path) -> None:
    """Kill the process in the middle, run it again, and get the same bytes."""
    path = tmp_path / "log.csv"
    with subprocess.Popen(
        program(*words(path)), env=HEADLESS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 20000):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    cut = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-5])
    assert 0 < cut < whole.stat().st_size
    assert pushwise(*words(path)).code == 0
    assert path.read_bytes() == whole.read_bytes()
    assert path.with_suffix(".json").read_bytes() == whole.with_suffix(".json").read_bytes()


def test_a_log_that_has_enough_is_left_as_it_is(tmp_path: Path) -> None:
    """Push nothing again: a real push cannot be made twice."""
    thing = pw.objects.load("crimp")
    path = tmp_path / "log.csv"
    world = pw.worlds.Ideal(thing.sample(np.random.default_rng(0)), seed=0)
    pw.record(world, path, grid=thing.grid, pushes=3, seed=1)
    before = path.read_bytes()
    for pushes in (3, 2):
        log = pw.record(ABSENT, path, grid=thing.grid, pushes=pushes, seed=1)
        assert len(log) == 3
        assert path.read_bytes() == before


def test_a_push_that_is_refused_is_drawn_again(tmp_path: Path) -> None:
    """Record with an arm so inaccurate that its finger often starts inside the object."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], cell_size=0.05)
    world = pw.worlds.Ideal(
        pw.ObjectModel(grid, np.full(4, 0.1), 0.3),
        arm_error=(0.01, 0.0),
        sensing=pw.worlds.Sensing(rate=2.0),
    )
    assert len(pw.record(world, tmp_path / "log.csv", grid=grid, pushes=6, seed=0)) == 6


def test_other_logs_are_left_alone(whole: Path) -> None:
    """Refuse to write into a log of another seed, in one line."""
    before = whole.read_bytes()
    assert pushwise(*words(whole, seed=2)) == (
        1,
        "",
        f"pushwise: {whole} holds another log, and a log is never overwritten; "
        "choose another file.\n",
    )
    assert whole.read_bytes() == before


def test_every_world_records(tmp_path: Path) -> None:
    """Record in the other worlds too, without a display."""
    pytest.importorskip("pybullet")
    for world in ("ideal", "bullet"):
        path = tmp_path / f"{world}.csv"
        asked = ("--object", "hammer", "--pushes", "1", "--world", world, "-o", str(path))
        done = subprocess.run(
            program("record", *asked), capture_output=True, text=True, check=False, env=HEADLESS
        )
        assert (done.returncode, done.stdout) == (0, f"{path}: 1 push of the hammer\n")
        assert len(pw.PushLog.load(path)) == 1


def test_a_shape_of_your_own_is_pushed(tmp_path: Path) -> None:
    """Take a mesh, a grid or a model, draw masses by the seed, and notice another file."""
    mesh, path = tmp_path / "plate.stl", tmp_path / "log.csv"
    trimesh.creation.box((0.12, 0.05, 0.02)).export(mesh)
    ideal = ("record", "--world", "ideal", "--pushes", 1)
    done = pushwise(*ideal, "--object", mesh, "-o", path)
    assert (done.code, done.out, done.err) == (0, f"{path}: 1 push of plate.stl\n", "")
    log = pw.PushLog.load(path)
    assert log.grid is not None and np.ptp(log.grid.outline[:, 0]) == pytest.approx(0.12, abs=1e-3)
    grid, model = tmp_path / "plate.json", tmp_path / "model.json"
    pw.save(log.grid, grid)
    n = log.grid.n_cells
    pw.save(pw.ObjectModel(log.grid, np.full(n, 0.3 / n), 0.4), model)
    ends = []
    for file in (grid, model):
        assert pushwise(*ideal, "--object", file, "-o", f"{file}.csv").code == 0
        ends.append(pw.PushLog.load(f"{file}.csv")[0].pose[-1])
    assert np.abs(ends[0] - ends[1]).max() > 1e-3
    trimesh.creation.box((0.12, 0.05, 0.03)).export(mesh)
    done = pushwise(*ideal, "--object", mesh, "-o", path)
    assert done.code == 1 and "holds another log" in done.err
    done = pushwise(*ideal, "--object", "plat", "-o", tmp_path / "none.csv")
    assert done.code == 1 and "plat is neither a file nor an object; the objects are" in done.err


def test_the_referee_throws_curves_and_speeds_up() -> None:
    """Have an arc of a quarter turn, a constant acceleration, and objects thrown without a push."""
    found = {case.name: case for case in referee.cases()}
    assert len(found) == 12
    for name in ("square", "hammer"):
        arc = found[f"{name}, quarter circle"].push
        assert arc.length == pytest.approx(0.05 * np.pi, rel=1e-4)
        assert arc.velocities[0] @ arc.velocities[-1] == pytest.approx(0.0, abs=1e-3)
        fast = found[f"{name}, accelerating"].push
        speeds = np.hypot(*fast.velocities.T)
        assert np.diff(speeds) / np.diff(fast.times[1:]) == pytest.approx(0.5, rel=1e-6)
        thrown = found[f"{name}, thrown"]
        assert thrown.push.raised and any(thrown.twist) and thrown.push.length == 0.0


def test_the_referee_writes_table_and_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judge one push and write CSV, Markdown and PNG."""
    monkeypatch.setattr(referee, "cases", lambda cases=referee.cases: [next(iter(cases()))] * 6)
    monkeypatch.setattr(referee, "judge", cache(referee.judge))  # six panels, one judgement
    with drawn() as figures:
        rows = json.loads(referee.run(tmp_path, json=True))
    assert {row["world"] for row in rows} >= {"exact, own", "exact, rigid", "ideal", "mujoco"}
    ideal = next(row for row in rows if row["world"] == "ideal")
    assert ideal["from exact, own [mm]"] < 0.1
    for suffix in ("csv", "md"):
        assert "exact, own" in (tmp_path / f"referee.{suffix}").read_text()
    panels = figures["referee.png"].axes
    assert len(panels) == 6
    labels = [str(line.get_label()) for line in panels[0].get_lines()]
    worlds = [label for label in labels if not label.startswith("_")]  # the finger's path has none
    assert worlds == [row["world"] for row in rows[: len(worlds)]]
    assert texts(figures["referee.png"]) == ["start", *worlds]
    assert panels[0].get_title(loc="left") == rows[0]["push"]
