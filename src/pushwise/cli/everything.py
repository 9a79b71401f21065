"""The `pushwise experiment all` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.experiment import SweepCommand
from pushwise.cli.options import output_option
from pushwise.progress import Progress

__all__ = ["AllCommand", "all_experiments"]


@dataclass(frozen=True, kw_only=True)
class AllCommand(SweepCommand):
    """What `experiment all` accepts."""

    output: Annotated[Path, output_option("Folder above those of the experiments.")]


def all_experiments(asked: AllCommand) -> None:
    """Run all experiments except referee, soak, real and scenes, one after the other.

    That takes many hours on two cores; run the command again to resume, or use a cluster.

    Example: pushwise experiment all -o results --cluster tcp://localhost:8786
    """
    from pushwise.experiments.everything import run

    def said(news: Progress) -> None:
        typer.echo(f"{news.text}, {news.done} of {news.total}", err=True)

    typer.echo(run(asked.sweep(asked.output), said))
