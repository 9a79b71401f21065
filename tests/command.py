"""The `pushwise` command in this process: the same `main`, without a new interpreter each time."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from typing import NamedTuple
from unittest.mock import patch

import pytest
import typer.main

from pushwise import cli

# Typer makes the commands anew in every call, which takes longer than most of them; a process that
# is not a test calls once.
_commands = cache(typer.main.get_command)


class Ran(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def pushwise(*words: object) -> Ran:
    """Run the command; return its code and output, without the line that says it compiles."""
    out, err = StringIO(), StringIO()
    with (
        patch.object(sys, "argv", ["pushwise", *map(str, words)]),
        patch.object(typer.main, "get_command", _commands),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    lines = err.getvalue().splitlines(keepends=True)
    said = "".join(line for line in lines if not line.startswith("compiling, "))
    return Ran(int(ended.value.code or 0), out.getvalue(), said)
