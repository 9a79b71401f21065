"""A hook of MkDocs: the page of the commands is made from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from pushwise.cli import app

PAGE, PLACE = "reference/commands.md", "<!-- commands -->"
EXAMPLE = re.compile(r"^Example: (.*)$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with all commands in it."""
    if page.file.src_uri != PAGE:
        return markdown
    group = typer.main.get_command(app)
    assert PLACE in markdown
    return markdown.replace(PLACE, "\n".join(described(group, "pushwise")))


def described(command: Any, name: str) -> Iterator[str]:
    """Yield the lines that describe a command, and the commands below it."""
    yield from (f"## {name}", "", EXAMPLE.sub(r"    \1", inspect.cleandoc(command.help or "")), "")
    rows = [_row(each) for each in command.params if each.name not in ("help", "version")]
    if rows:
        yield from ("| argument or option | meaning |", "|---|---|", *rows, "")
    for below, inner in getattr(command, "commands", {}).items():
        yield from described(inner, f"{name} {below}")


def _row(parameter: Any) -> str:
    """Return the row of an argument or option."""
    words = (parameter.help or "").replace("\\[", "[").replace("|", "\\|")
    if parameter.param_type_name == "argument":
        name = parameter.metavar or parameter.name.upper()
        return f"| `{name}` | {words} |"
    names = ", ".join(f"`{name}`" for name in parameter.opts)
    if parameter.required:
        words += " Required."
    elif not parameter.is_flag and isinstance(parameter.default, str | int | float):
        words += f" Default: `{parameter.default}`."
    return f"| {names} | {words} |"
