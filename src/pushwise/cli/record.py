"""The `pushwise record` command: parse, call, print."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.checks import counted
from pushwise.cli.options import Json
from pushwise.cli.slide import World

__all__ = ["record"]


def record(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="CSV file; a JSON header goes beside it.")
    ],
    thing: Annotated[str, typer.Option("--object", help="One of the paper's nine objects.")],
    world: Annotated[World, typer.Option(help="Where to push.")] = World.MUJOCO,
    pushes: Annotated[int, typer.Option(help="How many pushes the log shall have.")] = 10,
    seed: Annotated[int, typer.Option(help="Decides every push.")] = 0,
    json: Json = False,
) -> None:
    """Push an object at random, keeping it on the table, and log what happens.

    A log that was cut short is continued; a file that holds anything else is left alone.

    Example: pushwise record --world mujoco --object hammer --pushes 10 --seed 1 -o log.csv
    """
    from rich.console import Console
    from rich.progress import Progress

    from pushwise import objects, worlds
    from pushwise.sliding.record_pushes import RecordOptions
    from pushwise.sliding.record_pushes import record as record_pushes
    from pushwise.worlds.random_scene import WORLDS

    drawn = objects.load(thing)
    place = getattr(worlds, WORLDS[world])(drawn)
    console = Console(stderr=True)
    # A bar that nobody sees would still leave an empty line.
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(f"Pushing the {thing}", total=pushes)
        log = record_pushes(
            place,
            output,
            grid=drawn.grid,
            pushes=pushes,
            seed=seed,
            options=RecordOptions(
                noise=place.noise, provenance={"world": world.value, "object": thing}
            ),
            progress=lambda news: progress.update(task, completed=news.done),
        )
    if json:
        facts = {"log": str(output), "world": world.value, "object": thing}
        typer.echo(dumps({**facts, "pushes": len(log), "samples": sum(len(r.t) for r in log)}))
    else:
        typer.echo(f"{output}: {counted(len(log), 'push', 'pushes')} of the {thing}")
