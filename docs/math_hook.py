"""A hook of MkDocs: formulas become MathML when the site is built, so that no script is needed.

``pymdownx.arithmatex`` finds the formulas, ``$...$`` and ``$$...$$``, as GitHub does.
"""

from __future__ import annotations

import html
import re

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

LETTER = re.compile(r"<mi>(&#x0*3[BC][0-9A-F];|\w)</mi>")  # Latin or small Greek; see math.css
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return a page with its formulas as MathML."""
    return FORMULA.sub(_mathml, content)


def _mathml(formula: re.Match[str]) -> str:
    """Return a formula, inside a line or on its own."""
    display = "inline" if formula[2] == "(" else "block"
    mathml = convert(html.unescape(formula[3]).strip(), display=display)
    return LETTER.sub(r'<mi class="letter">\1</mi>', mathml)
