"""Run the commands and code blocks of a page, as a reader who follows it would."""

import re
import shlex
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

from command import pushwise

matplotlib.use("Agg")  # no test has a screen

_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:(?<=\n\n) {4}\S[^\n]*\n(?: {4}[^\n]*\n)*)")
_INSTALLS = "pip install . && "


class Step(NamedTuple):
    """One thing to do."""

    kind: str
    """`shell` or `python`."""
    text: str
    """The commands, one per line, or the code."""
    line: int
    """Where it begins in the page."""


def steps(page: Path) -> Iterator[Step]:
    """Yield the commands and code of a page, in order; other blocks show output or files."""
    text = page.read_text(encoding="utf-8")
    found = [(m.start(), m[1], m[2]) for m in _FENCED.finditer(text)]
    prose = _FENCED.sub(lambda m: re.sub(r"[^\n]", "`", m[0]), text)  # the same length
    found += [(m.start(), "", m[0]) for m in _INDENTED.finditer(prose)]
    for start, language, block in sorted(found):
        line = text.count("\n", 0, start) + 1
        if language == "python":
            yield Step("python", block, line)
        elif language == "bash" or (not language and _is_command(block)):
            yield Step("shell", "\n".join(line.strip() for line in block.splitlines()), line)


def _is_command(block: str) -> bool:
    """Whether an indented block is for the shell."""
    return block.strip().startswith(("pushwise ", "pip "))


def commands(step: Step) -> Iterator[list[str]]:
    """Yield the arguments of each `pushwise` command; what installs Pushwise is left out."""
    for line in step.text.replace("\\\n", " ").splitlines():
        line = line.removeprefix(_INSTALLS)
        if line and not line.startswith(("pip install", "#")):
            program, *words = shlex.split(line, comments=True)
            assert program == "pushwise", line
            yield words


def follow(page: Path, folder: Path, **given: Any) -> dict[str, Any]:
    """Do all that a page says in a folder; return the variables of its code in the end.

    given: variables of things that the reader has.
    """
    names: dict[str, Any] = {"__name__": "__page__", **given}
    with chdir(folder):
        for step in steps(page):
            where = f"{page.name}:{step.line}"
            if step.kind == "shell":
                for words in commands(step):
                    ran = pushwise(*words)
                    assert ran.code == 0, f"{where}: pushwise {shlex.join(words)}: {ran.err}"
            else:
                code = compile("\n" * step.line + step.text, str(page), "exec")
                with redirect_stdout(StringIO()):
                    exec(code, names)
    return names
