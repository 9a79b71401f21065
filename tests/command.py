"""The `pushwise` command in this process: the same `main`, without a new interpreter each time."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import NamedTuple
from unittest.mock import patch

import pytest

from pushwise import cli


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
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        cli.main()
    lines = err.getvalue().splitlines(keepends=True)
    said = "".join(line for line in lines if not line.startswith("compiling, "))
    return Ran(int(ended.value.code or 0), out.getvalue(), said)
