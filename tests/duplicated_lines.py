"""Find runs of lines that stand twice in a code base, with the same names or with others."""

import ast
import io
import token
import tokenize
from collections.abc import Iterable, Iterator
from keyword import iskeyword
from pathlib import Path
from typing import NamedTuple

__all__ = ["Copy", "copies"]


class Line(NamedTuple):
    """A line of code without what may differ in a copy of it."""

    path: Path
    number: int
    shape: str
    """Its tokens; of a name, a string or a number only the kind."""


class Copy(NamedTuple):
    """A run of lines that stands in two places."""

    first: Line
    second: Line
    length: int

    def __str__(self) -> str:
        places = [f"{line.path}:{line.number}" for line in (self.first, self.second)]
        return f"{' ~ '.join(places)}, {self.length} lines"


def copies(paths: Iterable[Path], *, least: int = 10) -> list[Copy]:
    """Return the runs of at least `least` lines that stand twice, each with its first place.

    Lines without a name (brackets, text, numbers), comments and declarations do not count: a run
    of ten lines may take more in the file.
    """
    seen: dict[tuple[str, ...], tuple[list[Line], int]] = {}
    found: list[Copy] = []
    for module in map(_lines, paths):
        last: tuple[list[Line], int, int] = (module, -1, -1)
        for at in range(len(module) - least + 1):
            window = tuple(line.shape for line in module[at : at + least])
            if len(set(window)) < least // 2:
                continue  # a list of entries that look alike
            other, first = seen.setdefault(window, (module, at))
            if other is module and at - first < least:
                continue  # itself
            if last[0] is other and last[1:] == (first - 1, at - 1):
                found[-1] = found[-1]._replace(length=found[-1].length + 1)
            else:
                found.append(Copy(other[first], module[at], least))
            last = (other, first, at)
    return found


def _lines(path: Path) -> list[Line]:
    """Return the lines of a module that count."""
    text = path.read_text(encoding="utf-8")
    rows: dict[int, list[tokenize.TokenInfo]] = {}
    for item in tokenize.generate_tokens(io.StringIO(text).readline):
        if item.string.strip() and item.type != token.COMMENT:
            rows.setdefault(item.start[0], []).append(item)
    declared = set(_declarations(ast.parse(text)))
    return [
        Line(path, row, " ".join(map(_shape, items)))
        for row, items in rows.items()
        if row not in declared and any(item.type == token.NAME for item in items)
    ]


def _shape(item: tokenize.TokenInfo) -> str:
    same = item.type == token.OP or iskeyword(item.string)
    return item.string if same else token.tok_name[item.type]


def _declarations(tree: ast.Module) -> Iterator[int]:
    """Yield the rows of imports, docstrings, signatures, constants, and fields without a value."""
    constants = {node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from range(node.lineno, node.body[0].lineno)
        elif (
            isinstance(node, ast.Import | ast.ImportFrom)
            or (isinstance(node, ast.AnnAssign) and node.value is None)
            or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or node in constants
        ):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
