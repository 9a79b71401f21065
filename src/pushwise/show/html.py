"""The pieces of a page: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from importlib.resources import files

from pushwise.show.svg import gradient

__all__ = ["facts", "figure", "page", "paragraph", "ramp", "section"]


def page(title: str, body: str) -> str:
    """Return a whole document around what a page says."""
    style = files("pushwise.show").joinpath("report.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def section(title: str, *parts: str) -> str:
    """Return a part of a page under a heading."""
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def paragraph(text: str) -> str:
    """Return a paragraph of plain words."""
    return f"<p>{escape(text)}</p>"


def figure(picture: str, caption: str, *, title: str = "", below: str = "") -> str:
    """Return a picture with plain words under it; below: an element between the two."""
    head = f"<h3>{escape(title)}</h3>" if title else ""
    return f"<figure>{head}{picture}{below}<figcaption>{escape(caption)}</figcaption></figure>"


def facts(values: Mapping[str, str]) -> str:
    """Return a few numbers and what they are."""
    each = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in values.items()
    )
    return f'<dl class="facts">{each}</dl>'


def ramp(scheme: str, top: str) -> str:
    """Return the scale of a map's colours, from zero to a number with its unit."""
    shown = f'<i style="background: {gradient(scheme)}"></i>'
    return f'<div class="ramp"><span>0</span>{shown}<span>{escape(top)}</span></div>'
