"""A hook of MkDocs: the page of all numbers, made of the tables and figures under ``results/``.

The tables are what `pushwise experiment` wrote from the rows beside them. Every folder there that
has a table gets a section, so that a new experiment needs nothing here but a title, if any.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

MARK = "<!-- tables and figures of results/ -->"
RESULTS = Path(__file__).resolve().parent.parent / "results"
TITLES = {
    "identification": "Identification: error against simulations (Fig. 5 a-h)",
    "samples": "Samples: error against pushes (Fig. 5 o)",
    "heatmaps": "Heat maps, step by step (Fig. 4)",
    "planning": "Planning (Fig. 5 p)",
    "pregrasp": "Pre-grasp sliding (Fig. 5 q)",
    "real": "Real pushes of other laboratories",
    "referee": "Referee: the same pushes in every engine",
    "stability": "Stability: the margin beside MuJoCo",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the figures to the site."""
    for figure in sorted(RESULTS.rglob("*.png")):
        where = Path("results") / figure.relative_to(RESULTS)
        files.append(File.generated(config, where.as_posix(), abs_src_path=str(figure)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the tables in place of their mark."""
    return markdown.replace(MARK, "\n\n".join(_sections())) if MARK in markdown else markdown


def _sections() -> list[str]:
    """Return a section for each table, the known ones first."""
    tables = list(RESULTS.rglob("*.md"))
    if not tables:
        raise FileNotFoundError(f"there are no tables in {RESULTS}.")
    order = list(TITLES)

    def rank(table: Path) -> tuple[int, str]:
        name = _names(table)[0]
        return (order.index(name) if name in order else len(order), str(table))

    return [_section(table) for table in sorted(tables, key=rank)]


def _section(table: Path) -> str:
    """Return the section of one table, with the figures of its folder."""
    name, *part = _names(table)
    title = ": ".join([TITLES.get(name, name.capitalize()), *part])
    single = table.parent == RESULTS
    parts = [f"## {title}", table.read_text(encoding="utf-8").strip()]
    figures = [] if single else sorted(table.parent.glob("*.png"))
    # A page of panels says all that its panels say.
    page = [figure for figure in figures if figure.name == "figure.png"]
    for figure in page or figures:
        parts.append(f"![{name}: {figure.stem}](results/{figure.relative_to(RESULTS).as_posix()})")
    return "\n\n".join(parts)


def _names(table: Path) -> tuple[str, ...]:
    """Return the experiment a table is of, and the part of it if it has parts."""
    folders = table.relative_to(RESULTS).parent.parts
    return folders or (table.stem,)
