"""`pushwise slide`: what a person meets on the command line."""

import json
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

import pushwise as pw
from command import Ran, pushwise
from pushwise.errors import PushwiseError
from pushwise.model_files import load_grid
from pushwise.show.quantities import quantities
from pushwise.show.viewer_data import Viewed
from pushwise.sliding.run_folder import load_run

COASTER = ("coaster.json", "--world", "ideal", "--explore", 0)


def slide(*arguments: object, cwd: Path) -> Ran:
    """Run the command in a folder."""
    with chdir(cwd):
        return pushwise("slide", *arguments)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """Slide a scanned coaster, too small to overhang by 50 mm without falling."""
    folder = tmp_path_factory.mktemp("own")
    side = 0.03
    outline = [[-side, -side], [side, -side], [side, side], [-side, side]]
    pw.save(pw.CellGrid.from_outline(outline, cell_size=0.01), folder / "coaster.json")
    return folder, slide(*COASTER, "--json", cwd=folder)


def test_what_has_no_goal_is_reported_as_such(
    done: tuple[Path, Ran],
) -> None:
    """Exit 1 with the reason on stderr, and leave every file there is something to write in."""
    folder, ran = done
    told = json.loads(ran.out)
    assert ran.code == 1
    assert not told["success"]
    assert told["goal"] is None
    assert "there is no goal with 50 mm overhang" in told["verdict"]
    assert ran.err.splitlines()[-1].startswith("pushwise: Not moved: there is no goal")
    assert "Traceback" not in ran.err
    left = {file.name for file in (folder / "slide-coaster").iterdir()}
    assert {"run.json", "outcome.json", "grid.json", "cloud.npz", "model.json"} <= left
    assert {"report.html", "object.xml", "object.urdf", "object.sdf"} <= left
    assert not any(name.startswith(".") for name in left)


def test_what_was_assumed_is_marked_as_such(
    done: tuple[Path, Ran],
) -> None:
    """Say in the model's file that nothing was learned, and show shares instead of grams."""
    run = done[0] / "slide-coaster"
    for viewed in (Viewed.load(run), Viewed.load(run / "model.json")):
        assert viewed.belief.assumed
        assert viewed.belief.centre_covariance is None
        assert quantities(viewed.belief)["mass"].unit == "% of the whole"


def test_a_run_that_ended_is_shown_again(done: tuple[Path, Ran]) -> None:
    """Give the same answer, and say that nothing was done."""
    folder, ran = done
    again = slide(*COASTER, "--json", cwd=folder)
    assert "the run in slide-coaster ended before; --force starts over." in again.err
    assert "ended before" not in ran.err
    assert (again.code, again.out) == (ran.code, ran.out)


@pytest.mark.slow
def test_another_run_is_overwritten_only_when_forced(
    done: tuple[Path, Ran],
) -> None:
    """Say in one line what is different."""
    folder, _ = done
    refused = slide(*COASTER, "--seed", 1, cwd=folder)
    assert refused.code == 1
    assert refused.err.splitlines()[-1] == (
        "pushwise: slide-coaster holds a run with seed 0, not 1; choose another folder, or add "
        "--force to overwrite it."
    )
    slide(*COASTER, "--seed", 1, "--force", cwd=folder)
    run = json.loads((folder / "slide-coaster" / "run.json").read_text())
    assert run["settings"]["seed"] == 1


def test_another_object_in_a_file_of_the_same_name_is_another_run(
    done: tuple[Path, Ran],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Do not go on with another object than was begun with."""
    shutil.copytree(done[0], tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    seed = json.loads(Path("slide-coaster/run.json").read_text())["settings"]["seed"]
    grid = load_grid("coaster.json")
    pw.save(pw.CellGrid(grid.centres, grid.cell_size, 2.0 * grid.heights), "coaster.json")
    other = pushwise("slide", *COASTER, "--seed", seed)
    assert other.code == 1
    assert "slide-coaster holds a run with sha256 " in other.err


def test_a_run_with_another_file_for_its_model_is_refused(
    done: tuple[Path, Ran], tmp_path: Path
) -> None:
    """Name the file that holds no model."""
    run = shutil.copytree(done[0] / "slide-coaster", tmp_path / "run")
    shutil.copy(run / "grid.json", run / "model.json")
    with pytest.raises(PushwiseError, match=r"model\.json holds no model"):
        load_run(run)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("anvil", "neither a file nor an object; the objects are box, hammer"),
        ("depth.png", "make a grid from it with pushwise scan"),
    ],
)
def test_what_cannot_be_slid_is_refused(what: str, said: str, tmp_path: Path) -> None:
    """Say in one line what would be right."""
    (tmp_path / "depth.png").write_bytes(b"")
    refused = slide(what, cwd=tmp_path)
    assert refused.code == 1
    (line,) = refused.err.splitlines()
    assert said in line
