"""The pages of the documentation: their commands and code run as they stand."""

from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from pages import follow, steps
from pushwise.envs.push_t_task import t_model

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
FOLLOWED = ("tutorial", "how-to/your-robot", "how-to/no-forces", "how-to/prior", "how-to/clutter")
REFERENCE = [page for page in sorted((DOCS / "reference").glob("*.md")) if any(steps(page))]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", REFERENCE, ids=lambda path: path.name)
def test_examples_of_the_reference_run(page: Path, tmp_path: Path) -> None:
    """Run the example of a page, which uses every name that the page documents."""
    follow(page, tmp_path)


@pytest.mark.parametrize("page", FOLLOWED)
def test_pages_can_be_followed(page: str, tmp_path: Path) -> None:
    """Type all that a page says to type, in order, in an empty folder."""
    follow(DOCS / f"{page}.md", tmp_path)


def test_the_page_of_the_frameworks_can_be_followed(tmp_path: Path) -> None:
    """Do all of it with pushes of a T, as the reader has them, and a model in a file."""
    for needed in ("torch", "jax", "pxr", "gymnasium"):
        pytest.importorskip(needed)
    t_shape = t_model()
    world = pw.worlds.Ideal(t_shape, sensing=pw.worlds.Sensing(pw.Noise(1e-4, 1e-3)))
    records = []
    for x in (-0.03, 0.03):
        world.reset(0)
        records.append(world.push(pw.Push.line((x, -0.1), (0.0, 0.1), 1.0)))
    pw.save(t_shape.grid, tmp_path / "grid.json")
    pw.PushLog(tuple(records), t_shape.grid, world.finger.radius).save(tmp_path / "log.csv")
    pw.save(pw.Belief.certain(t_shape), tmp_path / "model.json")
    found = follow(DOCS / "frameworks.md", tmp_path)
    assert found["terminated"]
    assert np.abs(found["gradient"]).max() > 0.0
    assert (tmp_path / "object.usda").exists()
