"""The `pushwise bench` command: parse, call, print."""

from __future__ import annotations

import typer

from pushwise.cli.options import Json

__all__ = ["bench"]


def bench(
    json: Json = False,
) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(run(json=json))
