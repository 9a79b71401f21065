"""The `pushwise bench` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from pushwise.cli.options import Json, reports_compiling, takes_options

__all__ = ["BenchCommand", "bench"]


@dataclass(frozen=True, kw_only=True)
class BenchCommand:
    """What the command line accepts."""

    json: Json = False


@takes_options
@reports_compiling
def bench(asked: BenchCommand) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(run(json=asked.json))
