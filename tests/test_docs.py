"""The pages as they are read in the repository; `mkdocs build --strict` checks the site."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page",
    [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(page: Path) -> None:
    """Find every file and heading that a page links, from where the page is."""
    for where, heading in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / where) if where else page
        assert target.exists(), where
        assert not heading or heading in anchors(target), f"{where}#{heading}"
