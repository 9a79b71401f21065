"""The `pushwise experiment soak` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json, Seed, output_option
from pushwise.stopping import keeps

__all__ = ["SoakCommand", "soak"]


@dataclass(frozen=True, kw_only=True)
class SoakCommand:
    """What `experiment soak` accepts."""

    output: Annotated[Path, output_option("Folder for rows and the table.")]
    minutes: Annotated[float, typer.Option(help="How long it takes, in minutes.")] = 60.0
    seed: Seed = 0
    json: Json = False


def soak(asked: SoakCommand) -> None:
    """Slide, identify and control at random, and count exceptions, slow cases and memory.

    Example: pushwise experiment soak --minutes 60 -o results/soak
    """
    from pushwise.experiments.soak import SoakOptions, run

    keeps(f"the cases so far are in {asked.output}.")
    options = SoakOptions(asked.output, asked.minutes, asked.seed, asked.json)
    typer.echo(run(options, lambda news: typer.echo(news.text, err=True)))
