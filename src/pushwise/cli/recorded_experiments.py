"""`pushwise experiment real` and `scenes`, which need recorded data: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.experiment import RESUMES
from pushwise.cli.options import Json, flag, output_option
from pushwise.stopping import keeps

__all__ = ["real", "scenes"]


@dataclass(frozen=True, kw_only=True)
class RealCommand:
    """What `experiment real` accepts."""

    data: Annotated[Path, typer.Argument(help="Folder with tables of real pushes.")]
    output: Annotated[Path, output_option("Folder for rows and table.")]
    pushes: Annotated[
        list[int] | None,
        typer.Option(
            metavar="COUNT",
            help="Number of pushes to learn from, 0 for a fifth of a set; repeatable.",
        ),
    ] = None
    draws: Annotated[
        int, typer.Option(help="Choices of the pushes to learn from: the first ones, then random.")
    ] = 3
    only: Annotated[str, typer.Option(help="Only sets whose name contains this.")] = ""
    outline: Annotated[
        Path | None,
        typer.Option(
            help="JSON file of the object's corners, pairs x, y in metres in the tracked frame, or "
            "of its grid; for sets whose files state none."
        ),
    ] = None
    radius: Annotated[
        float | None,
        typer.Option(help="Radius of the finger, in metres, for sets whose files state none."),
    ] = None
    ablate: Annotated[bool, flag("--ablate", "Also learn without each addition to the model.")] = (
        False
    )
    json: Json = False


def real(asked: RealCommand) -> None:
    """Learn from other laboratories' real pushes, predict the rest, and compare with their models.

    Example: pushwise experiment real data/mit_push -o results/real --only window10_90 --pushes 10
    """
    from pushwise.experiments.real.experiment import COUNTS, RealOptions, run

    keeps(RESUMES.format(asked.output))
    options = RealOptions(
        counts=tuple(asked.pushes) if asked.pushes else COUNTS,
        draws=asked.draws,
        only=asked.only,
        outline=asked.outline,
        radius=asked.radius,
        ablate=asked.ablate,
        json=asked.json,
    )
    typer.echo(run(asked.data, asked.output, options, lambda news: typer.echo(news.text, err=True)))


@dataclass(frozen=True, kw_only=True)
class ScenesCommand:
    """What `experiment scenes` accepts."""

    data: Annotated[Path, typer.Argument(help="Folder with labelled clouds, PCD files.")]
    output: Annotated[Path, output_option("Folder for the table and the contact sheet.")]
    json: Json = False


def scenes(asked: ScenesCommand) -> None:
    """Find the objects in labelled clouds of tables, and compare their footprints with the labels.

    Example: pushwise experiment scenes data/scenes -o results/scenes
    """
    from pushwise.experiments.scenes import run

    typer.echo(run(asked.data, asked.output, json=asked.json))
