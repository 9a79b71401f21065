"""The examples run as they stand; `own_robot.py` in `test_worlds.py`, as a program of its own."""

import runpy
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from drawn import pixels_of

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[1] / "examples"


def told(name: str, *arguments: Path | str) -> str:
    """Return what an example prints, run in this process, which has loaded everything."""
    said = StringIO()
    with patch.object(sys, "argv", [name, *map(str, arguments)]), redirect_stdout(said):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return said.getvalue()


def test_five_pushes(tmp_path: Path) -> None:
    """Learn the hammer in MuJoCo and draw it."""
    picture = tmp_path / "hammer.png"
    said = told("five_pushes.py", picture)
    assert "centre of mass at" in said
    off = float(said.rsplit("centre of mass is ", 1)[1].split()[0])
    along = float(said.split("standard error ", 1)[1].split()[0])
    assert off < 2.45 * along < 25.0  # 95 %
    # Three maps, one below the other; a dot alone, as in the legend, has 21 red pixels.
    red, yellow = pixels_of(picture, (181, 18, 63)), pixels_of(picture, (253, 231, 37))
    for top in (0.0, 0.31, 0.62):
        mark = red[(red[:, 1] > top) & (red[:, 1] < top + 0.31)]
        assert len(mark) > 42  # with an ellipse around it
        assert np.ptp(mark, axis=0).max() < 0.07 and mark[:, 0].mean() < 0.35  # near the head
    heaviest = yellow[yellow[:, 0] < 0.5]  # the others are of the colour bars
    assert len(heaviest) > 1000 and heaviest[:, 0].max() < red[:, 0].min()


def test_learn_from_half() -> None:
    """Learn simulated pliers from two of four logs in six ways, better than the baseline."""
    lines = told("learn_from_half.py").splitlines()
    (means,) = [line.split("|") for line in lines if line.startswith("| mean")]
    learned, uniform = (float(cell) for cell in means[-5:-3])
    assert learned < 0.5 * uniform
    assert sum(line.startswith("| run") for line in lines) == 6
    assert lines[-1].startswith("Of 15 pairs of centres of mass")


def test_slide() -> None:
    """Grasp the pliers at the edge."""
    assert told("slide.py", "crimp").splitlines()[-1].startswith("Grasped")


def test_to_a_pose() -> None:
    """End the plan at the goal."""
    *pushes, last = told("to_a_pose.py").splitlines()
    assert len(pushes) >= 2
    x, y = (float(part.split()[0]) for part in pushes[-1].split("(")[2].split(",")[:2])
    assert np.hypot(x - 0.4, y + 0.1) < 0.02
    assert float(last.split()[-2]) > 0.0


def test_next_push() -> None:
    """Know the centre of mass better with each push."""
    *steps, last = told("next_push.py").splitlines()
    known = [float(line.split("known to ")[1].split()[0]) for line in steps]
    assert known[-1] < known[0]
    assert float(last.split()[-3]) < 5.0


def test_push_t() -> None:
    """Push 64 T's nearer to their goals."""
    pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")
    speed, covered = told("push_t.py").splitlines()
    assert float(speed.split()[0].replace(",", "")) > 100.0
    start, best = (float(part.split()[-1]) for part in covered.split(","))
    assert best > start + 0.1


def test_solve_push_t() -> None:
    """Solve all five episodes."""
    pytest.importorskip("gymnasium", reason="gymnasium is not installed (extra 'gym')")
    lines = told("solve_push_t.py").splitlines()
    assert len(lines) == 5
    assert all(": solved in " in line for line in lines)


def test_optimise_push() -> None:
    """Come at least three times nearer to the goal by gradient descent."""
    pytest.importorskip("torch", reason="PyTorch is not installed (extra 'torch')")
    *steps, last = told("optimise_push.py").splitlines()
    far = [float(line.split(": ")[1].split()[0]) for line in steps]
    assert far[-1] < far[0] / 3.0
    assert last.startswith("push through (")


def test_to_usd(tmp_path: Path) -> None:
    """Read back the mass that was written."""
    pytest.importorskip("pxr", reason="usd-core is not installed (extra 'usd')")
    said = told("to_usd.py", tmp_path / "hammer.usda")
    assert "kg, 88 colliders" in said and (tmp_path / "hammer.usda").exists()
