"""XML documents, as the formats need them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

__all__ = ["Element", "child", "document", "numbers"]

Element = ElementTree.Element


def child(parent: Element, tag: str, text: str | None = None, /, **attributes: str) -> Element:
    """Add an element to another and return it."""
    element = ElementTree.SubElement(parent, tag, attributes)
    element.text = text
    return element


def numbers(values: Iterable[float]) -> str:
    """Write numbers so that reading them gives the same ones back, bit for bit."""
    return " ".join(repr(float(value)) for value in values)


def document(root: Element, comment: str) -> str:
    """Return a document with a comment at its top."""
    ElementTree.indent(root)
    # Two hyphens end a comment.
    said = re.sub("-(?=-)", "- ", comment)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {said} -->\n{body}\n'
