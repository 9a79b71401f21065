"""`pushwise identify`, its picture, and what it saves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from command import Ran, pushwise
from drawn import drawn
from pushwise.errors import PushwiseError
from pushwise.model_files import load_belief
from pushwise.records.record import Noise
from pushwise.show.status_line import Identifying
from pushwise.sliding.random_push import draw_push

NOISE = Noise(1e-3, 5e-3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the grid of a box and a log of four pushes of it."""
    folder = tmp_path_factory.mktemp("pushes")
    rng = np.random.default_rng(3)
    thing = pw.objects.load("box").sample(rng)
    world = pw.worlds.Ideal(thing, seed=3, sensing=pw.worlds.Sensing(NOISE, rate=20.0))
    records = []
    pose = np.zeros(3)
    for _ in range(4):
        seen = world.push(draw_push(rng, thing.grid, pose, world.table, world.finger))
        pose = seen.pose[-1]
        records.append(pw.PushRecord(seen.push, seen.t, seen.pose, noise=NOISE))
    pw.save(thing.grid, folder / "grid.json")
    pw.save(pw.objects.load("hammer").grid, folder / "hammer.json")
    pw.PushLog(tuple(records), thing.grid, 0.01, NOISE).save(folder / "log.csv")
    pw.PushLog(tuple(records[:1]), thing.grid, 0.01, NOISE).save(folder / "one.csv")
    pw.PushLog(tuple(records[1:2]), thing.grid, 0.02, NOISE).save(folder / "thick.csv")
    # Turned by 180 degrees, this shape has most of its cells in common with itself.
    bent = pw.CellGrid.from_outline(
        [(-0.1, -0.02), (0.1, -0.02), (0.1, 0.05), (0.08, 0.05), (0.08, 0.02), (-0.1, 0.02)],
        cell_size=0.01,
    )
    turned = pw.CellGrid(-bent.centres, bent.cell_size, outline=-bent.outline)
    pw.save(turned, folder / "turned.json")
    pw.PushLog(tuple(records[:1]), bent, 0.01, NOISE).save(folder / "L.csv")
    (folder / "none.csv").write_text("push,t,x,y,theta,finger_x,finger_y\n")
    return folder


@pytest.mark.slow
def test_a_log_becomes_a_model_a_picture_and_a_report(
    folder: Path,
    tmp_path: Path,
) -> None:
    """Write what was asked for, print what was found, and overwrite only when told to."""
    model, picture = tmp_path / "model.json", tmp_path / "maps.png"
    given = (folder / "grid.json", folder / "log.csv", "-o", model)
    with drawn() as figures:
        code, out, _ = pushwise("identify", *given, "--holdout", 0.5, "--plot", picture)
    assert code == 0
    for words in ("centre of mass", "total mass not determined", "held out"):
        assert words in out
    saved = pw.load(model)
    assert isinstance(saved, pw.ObjectModel)
    first = f"learned {saved.grid.n_cells} cells from 2 pushes with the method refine: "
    assert out.startswith(first)
    assert picture.is_file()
    title = f"{saved.grid.n_cells} cells, learned from 2 pushes"
    assert figures["maps.png"].get_suptitle() == title
    code, out, err = pushwise("identify", *given)
    assert (code, out) == (1, "")
    assert err == f"pushwise: {model} exists; add --force to overwrite it.\n"
    # A model is a grid, too: learn again from where the cells of the last one lie.
    again = (model, folder / "log.csv", "-o", model, "--force", "--json")
    code, out, _ = pushwise("identify", *again, "--holdout", 0.25)
    assert code == 0
    facts = json.loads(out)
    assert facts["pushes"] == 3
    assert facts["holdout"]["pushes"] == 1
    assert 0.0 < facts["holdout"]["error"] < facts["holdout"]["uniform_error"]
    assert facts["total_mass"] is None
    assert facts["outliers"] == []
    assert np.shape(facts["centre_of_mass_covariance"]) == (2, 2)
    belief = load_belief(model)
    assert belief.centre_covariance is not None
    assert belief.centre_covariance.tolist() == facts["centre_of_mass_covariance"]
    assert belief.finger == pw.Finger(0.01, facts["finger_friction"], facts["finger_height"])
    with pytest.raises(PushwiseError, match="holds no model"):
        load_belief(folder / "grid.json")


def test_a_refused_push_is_named_by_its_file(folder: Path, tmp_path: Path) -> None:
    """Count pushes on over all logs, and say which file and push of it is meant."""
    far = tmp_path / "far.csv"
    far.write_text(
        "push,t,x,y,theta,finger_x,finger_y\n7,0,0,0,0,2,0\n7,1,0.1,0,0,2.1,0\n", encoding="utf-8"
    )
    logs = (folder / "one.csv", far)
    _, _, err = pushwise("identify", folder / "grid.json", *logs, "-o", tmp_path / "model.json")
    assert "left out: push 1 (far.csv, push 7) moved the object" in err
    assert (tmp_path / "model.json").exists()


@pytest.mark.slow
def test_a_stated_centre_of_mass_is_used(folder: Path, tmp_path: Path) -> None:
    """Say that it was stated; refuse one that is not within the object."""
    given = ("identify", folder / "grid.json", folder / "log.csv", "-o", tmp_path / "model.json")
    code, out, _ = pushwise(*given, "--centre", 0.002, -0.001)
    assert code == 0
    assert "centre of mass stated at (2.0, -1.0) mm" in out
    code, _, err = pushwise(*given, "--centre", 2.0, -1.0, "--force")
    assert code == 1
    assert "prior centre (2, -1) m is not within the object" in err


@pytest.mark.slow
def test_one_push_several_logs_and_another_method(
    folder: Path,
    tmp_path: Path,
) -> None:
    """Learn from a single push, from two logs, and by a method with a budget."""
    grid, one, log = folder / "grid.json", folder / "one.csv", folder / "log.csv"
    for at, (logs, pushes) in enumerate((([one], 1), ([one, log], 5))):
        code, out, _ = pushwise(
            "identify",
            *(grid, *logs, "-o", tmp_path / f"{at}.json"),
            *("--method", "random", "--budget", 3, "--seed", 1, "--json"),
            *("--finger-height", 0.01),
        )
        assert code == 0
        assert load_belief(tmp_path / f"{at}.json").finger.height == 0.01
        facts = json.loads(out)
        assert (facts["pushes"], facts["simulations"], facts["method"]) == (pushes, 3, "random")
        assert facts["holdout"] is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("grid.json", "none.csv"), "no pushes to learn from"),
        (("hammer.json", "log.csv"), "is the log of another object, or in another frame"),
        (("turned.json", "L.csv"), "the same shape in another frame: turned by 180 degrees"),
        (("grid.json", "log.csv", "--force", "--plot", "log.json"), "log.json is read by"),
        (("grid.json", "missing.csv"), "missing.csv"),
        (("missing.json", "log.csv"), "there is no such file"),
        (("log.csv", "log.csv"), "log.csv is given twice"),
        (("grid.json", "grid.json"), "a log must be a .csv file"),
        (("grid.json", "one.csv", "thick.csv"), "use logs made with one finger"),
        (("grid.json", "one.csv", "--holdout", "0.5"), "none to"),
        (("grid.json", "log.csv", "--holdout", "1.5"), "holdout must be at least 0 and below 1"),
        (("mug.ply", "log.csv"), "into a grid with pushwise scan mug.ply -o grid.json"),
        (("grid.json", "log.csv", "--method", "magic"), "method must be one of refine"),
        (("grid.json", "log.csv", "--budget", "0"), "budget must be greater than zero"),
        (("grid.json", "log.csv", "--finger-radius", "-1"), "radius must be greater than zero"),
        (("grid.json", "log.csv", "--finger-radius", "0"), "radius must be greater than zero"),
        (("grid.json", "log.csv", "--finger-height", "-1"), "height must be zero or more"),
        (
            ("grid.json", "log.csv", "--finger-height", "30"),
            "--finger-height 30 m is above the object, which is at most 0.0",
        ),
        (
            ("grid.json", "log.csv", "--finger-height", "0.01", "--method", "convex"),
            "--method convex cannot take --finger-height",
        ),
        (("grid.json", "log.csv", "--friction-spread", "0"), "spread must be greater than zero"),
        (
            ("grid.json", "log.csv", "--friction-spread", "0.1", "--unbounded-friction"),
            "not both",
        ),
        (("grid.json", "log.csv", "--plot", "nowhere/maps.png"), "there is no folder nowhere"),
        (("grid.json", "log.csv", "--plot", ".", "--force"), ". cannot be written: it is a folder"),
        (("grid.json", "log.csv", "--plot", "maps.foo"), "a picture's name must end in .eps, "),
        (("grid.json", "log.csv", "--plot", "maps"), "a picture's name must end in"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...],
    sentence: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Answer each mistake with one line on stderr, a code, and no file."""
    monkeypatch.chdir(folder)
    code, out, err = pushwise("identify", *arguments, "-o", tmp_path / "model.json")
    assert (code, out) == (1, "")
    line = err.splitlines()[-1]
    assert line.startswith("pushwise: ")
    assert sentence in line
    assert "Traceback" not in err
    assert not (tmp_path / "model.json").exists()


def test_a_read_only_folder_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ask whether the folder can be written; of a stand-in, for the superuser always may."""
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (tmp_path, os.W_OK))
    _, _, err = pushwise("identify", "no grid.json", "no log.csv", "-o", tmp_path / "model.json")
    assert f"the folder {tmp_path} is read-only" in err


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 2])
def test_an_interrupt_leaves_the_best_model(
    after: int,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Write the best model so far on Ctrl-C, say so, and exit with 130."""
    update = Identifying.update
    calls = 0

    def interrupted(self: Identifying, *arguments: object) -> None:
        nonlocal calls
        if calls == after:
            raise KeyboardInterrupt
        calls += 1
        update(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Identifying, "update", interrupted)
    model = tmp_path / "model.json"
    code, out, err = pushwise("identify", folder / "grid.json", folder / "log.csv", "-o", model)
    assert (code, out) == (130, "")
    assert "stopped" in err
    assert model.exists() == (after > 0)
    if after:
        assert "holds the best model so far" in err
        assert isinstance(pw.load(model), pw.ObjectModel)
        belief = load_belief(model)
        assert belief.total_mass_std is None
        assert belief.centre_covariance is not None
        assert belief.centre_covariance.trace() > 1e-8


INTERRUPTED = """
import signal, sys, threading
from pushwise import cli
from pushwise.show.status_line import Identifying

plain = Identifying.update
main = threading.main_thread().ident
timer = threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT))

def update(self, *arguments):
    plain(self, *arguments)
    if timer.ident is None:
        timer.start()

Identifying.update = update
cli.main()
"""


@pytest.mark.slow
def test_ctrl_c_in_compiled_code_is_survived(folder: Path, tmp_path: Path) -> None:
    """Send a real interrupt in the midst of simulations."""
    model = tmp_path / "model.json"
    given = ["identify", folder / "grid.json", folder / "log.csv", "-o", model]
    search = ["--method", "random", "--budget", "100000", "--time-limit", "1000"]
    answer = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *map(str, given), *search],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 130, answer.stderr
    assert "holds the best model so far" in answer.stderr
    assert isinstance(pw.load(model), pw.ObjectModel)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"known": 3}, "known must have the fields"),
        ({"finger": {"radius": 0.01}}, r"known\.finger must have the fields"),
        ({"total_mass_std": -1.0}, "total_mass_std must be greater than zero"),
        ({"centre_of_mass_covariance": [[1.0, 0.0]]}, "centre_of_mass_covariance must"),
        ({"centre_of_mass_covariance": [[1.0, 2.0], [0.0, 1.0]]}, "must be symmetric"),
        ({"centre_of_mass_covariance": [[1.0, 2.0], [2.0, 1.0]]}, "must be positive definite"),
    ],
)
def test_a_broken_file_is_named(change: dict[str, object], sentence: str, tmp_path: Path) -> None:
    """Refuse a model whose error bars cannot be."""
    grid = pw.CellGrid([(0.0, 0.0), (0.1, 0.0)], 0.1)
    path = tmp_path / "model.json"
    model = pw.ObjectModel(grid, [1.0, 2.0], 0.3)
    belief = pw.Belief(model, pw.Finger(height=0.01), 1e-6 * np.eye(2), 0.1, np.zeros(3))
    pw.save(belief, path)
    again = load_belief(path)
    assert (again.total_mass_std, again.finger) == (0.1, belief.finger)
    document = json.loads(path.read_text())
    document["known"] = change.get("known", {**document["known"], **change})
    path.write_text(json.dumps(document))
    with pytest.raises(PushwiseError, match=sentence):
        pw.load(path)


def test_the_grid_of_a_log_is_enough(folder: Path, tmp_path: Path) -> None:
    """Take the grid of a log's header, and ask for one where there is none."""

    def identified(*names: str) -> Ran:
        paths = [folder / name for name in names]
        output = tmp_path / f"{'-'.join(names)}.json"
        return pushwise("identify", *paths, "-o", output, "--method", "convex", "--json")

    both, alone = identified("grid.json", "log.csv"), identified("log.csv")
    assert (both.code, alone.code) == (0, 0)
    assert json.loads(both.out)["centre_of_mass"] == json.loads(alone.out)["centre_of_mass"]
    assert identified("one.csv", "log.csv").code == 0
    lacking, without = identified("none.csv"), identified("grid.json")
    assert (lacking.code, without.code) == (1, 1)
    assert "none.csv has no header with a grid; give the JSON file" in lacking.err
    assert "give a log of pushes after" in without.err


def test_whatever_is_loaded_can_be_identified(folder: Path, tmp_path: Path) -> None:
    """Identify with a grid, a model or a scan, and say what a scene lacks."""
    log = pw.PushLog.load(folder / "log.csv")
    grid = pw.load(folder / "grid.json")
    assert isinstance(grid, pw.CellGrid)
    frame, plane = np.eye(4), pw.Scan.from_mesh(*_box_mesh()).table
    scan = pw.Scan(grid, frame, (), plane, 0.0, 1000, ())
    pw.save(scan, tmp_path / "scan.json")
    pw.save(
        pw.ObjectModel(grid, np.full(grid.n_cells, 0.01), np.full(grid.n_cells, 0.4)),
        tmp_path / "model.json",
    )
    loaded = [grid, pw.load(tmp_path / "scan.json"), pw.load(tmp_path / "model.json")]
    assert [type(one).__name__ for one in loaded] == ["CellGrid", "Scan", "ObjectModel"]
    found = [pw.identify(one, log, method="convex").model.mass for one in loaded]  # type: ignore[arg-type]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    scene = pw.Scene((), plane, frame, np.eye(3, 2), 0.0, 0.01)
    with pytest.raises(PushwiseError, match="a scene of 0 objects is not one grid"):
        pw.identify(scene, log)  # type: ignore[arg-type]
    with pytest.raises(PushwiseError, match="or a Scan has cells; got str"):
        pw.identify("grid.json", log)  # type: ignore[arg-type]


def _box_mesh() -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices and faces of a box."""
    import trimesh

    box = trimesh.creation.box((0.2, 0.1, 0.05))
    return np.asarray(box.vertices), np.asarray(box.faces)
