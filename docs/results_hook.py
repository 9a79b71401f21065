"""A hook of MkDocs: what pages link under ``results/`` becomes a part of the site.

The pages are also read in the repository, where ``../results/...`` leads to the files. On the
site a paragraph that only links a table becomes that table, followed by its figures, and links to
figures lead to where the site has them.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

RESULTS = Path(__file__).resolve().parent.parent / "results"
TABLE = re.compile(r"^\[Table\]\((?:\.\./)+results/(\S+\.md)\)$", re.MULTILINE)
PAGES = Path(__file__).resolve().parent / "experiments"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the figures to the site."""
    for figure in sorted([*RESULTS.rglob("*.png"), *RESULTS.rglob("*.gif")]):
        where = Path("results") / figure.relative_to(RESULTS)
        files.append(File.generated(config, where.as_posix(), abs_src_path=str(figure)))
    return files


def on_pre_build(config: MkDocsConfig) -> None:
    """Refuse to build a site that lacks a table."""
    tables = {table.relative_to(RESULTS).as_posix() for table in RESULTS.rglob("*.md")}
    shown = {
        table for page in PAGES.glob("*.md") for table in TABLE.findall(page.read_text("utf-8"))
    }
    if missing := tables - shown:
        raise PluginError(f"no page in docs/experiments shows {', '.join(sorted(missing))}.")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put tables in place of the links to them, and let figures be found."""
    up = "../" * page.file.src_uri.count("/")  # from the page to the top of the site
    markdown = TABLE.sub(lambda link: _table(RESULTS / link[1], up), markdown)
    return markdown.replace(f"](../{up}results/", f"]({up}results/")


def _table(table: Path, up: str) -> str:
    """Return a table and the figures of its folder."""
    name = table.relative_to(RESULTS).parts[0]
    parts = [table.read_text(encoding="utf-8").strip()]
    figures = [] if table.parent == RESULTS else sorted(table.parent.glob("*.png"))
    # A page of panels says all that its panels say.
    page = [figure for figure in figures if figure.name == "figure.png"]
    for figure in page or figures:
        where = figure.relative_to(RESULTS).as_posix()
        parts.append(f"![{name}: {figure.stem}](../{up}results/{where})")
    return "\n\n".join(parts)
