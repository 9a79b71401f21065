"""A hook of MkDocs: the tutorial is also a notebook, made by Jupytext from the same page.

``jupyter execute`` runs it in the folder of its file: copy it to an empty one.
"""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGE = "tutorial.md"
HEADER = """---
jupyter:
  kernelspec:
    display_name: Python 3
    language: python
    name: python3
---

"""
OUTPUT = re.compile(r"^```text\n.*?^```\n\n", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"^!\[(.*?)\]\(pictures/tutorial/(.*?)\)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebook to the site; it makes outputs and pictures of its own."""
    text = (Path(config.docs_dir) / PAGE).read_text(encoding="utf-8")
    text = PICTURE.sub(
        r'```python\nfrom IPython.display import Image\n\nImage("\2")\n```', OUTPUT.sub("", text)
    )
    notebook = jupytext.writes(jupytext.reads(HEADER + text, fmt="md"), fmt="ipynb")
    files.append(File.generated(config, "tutorial.ipynb", content=notebook))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link the notebook from the page."""
    if page.file.src_uri != PAGE:
        return markdown
    return markdown.replace("# Tutorial\n", "# Tutorial\n\n[As a notebook](tutorial.ipynb)\n", 1)
