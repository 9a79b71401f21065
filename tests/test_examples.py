"""The examples run as they stand."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_five_pushes(tmp_path: Path) -> None:
    """Learn the hammer in MuJoCo and draw it."""
    picture = tmp_path / "hammer.png"
    done = subprocess.run(
        [sys.executable, EXAMPLES / "five_pushes.py", picture],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "centre of mass at" in done.stdout
    off = float(done.stdout.rsplit("centre of mass is ", 1)[1].split()[0])
    assert off < 8.0
    assert picture.stat().st_size > 10_000
