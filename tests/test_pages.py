"""The pages of the documentation: their commands and code run as they stand."""

from pathlib import Path

import pytest

from pages import follow, steps

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
REFERENCE = [page for page in sorted((DOCS / "reference").glob("*.md")) if any(steps(page))]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("page", REFERENCE, ids=lambda path: path.name)
def test_examples_of_the_reference_run(page: Path, tmp_path: Path) -> None:
    """Run the example of a page, which uses every name that the page documents."""
    follow(page, tmp_path)
