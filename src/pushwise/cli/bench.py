"""The `pushwise bench` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json, flag, reports_compiling, takes_options

__all__ = ["BenchCommand", "bench"]


@dataclass(frozen=True, kw_only=True)
class BenchCommand:
    """What the command line accepts."""

    first_start: Annotated[
        bool, flag("--first-start", "Measure only the compile time of the first start.")
    ] = False
    against: Annotated[
        Path | None,
        typer.Option(help="Folder (src) of another version to compare with."),
    ] = None
    gym_pusht: Annotated[
        Path | None,
        typer.Option(help="Python with gym-pusht 0.1.8: measure only Push-T, next to it."),
    ] = None
    json: Json = False


@takes_options
@reports_compiling
def bench(asked: BenchCommand) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(
        run(
            first=asked.first_start,
            against=asked.against,
            gym_pusht=asked.gym_pusht,
            json=asked.json,
        )
    )
