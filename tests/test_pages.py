"""The pages of the documentation: their commands and code run as they stand."""

from pathlib import Path

import pytest

from pages import follow, steps

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
