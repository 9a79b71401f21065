"""The `pushwise bench` command: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json

__all__ = ["bench"]


def bench(
    first_start: Annotated[
        bool,
        typer.Option("--first-start", help="Measure only how long the first start compiles."),
    ] = False,
    against: Annotated[
        Path | None,
        typer.Option(help="With --first-start: folder (src) of another version, to compare."),
    ] = None,
    json: Json = False,
) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(run(first=first_start, against=against, json=json))
