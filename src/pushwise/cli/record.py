"""The `pushwise record` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import (
    OBJECTS,
    Json,
    Seed,
    WorldName,
    WorldOption,
    checksum,
    output_option,
    reports_compiling,
    takes_options,
)
from pushwise.errors import PushwiseError
from pushwise.stopping import keeps

__all__ = ["RecordCommand", "record"]


@dataclass(frozen=True, kw_only=True)
class RecordCommand:
    """What the command line accepts."""

    output: Annotated[Path, output_option("CSV file to write; a JSON header goes next to it.")]
    thing: Annotated[
        str,
        typer.Option(
            "--object",
            metavar="OBJECT|FILE",
            help=f"Object to push: {OBJECTS}; or a scan, grid, model, cloud or mesh of your own.",
        ),
    ]
    world: WorldOption = WorldName.MUJOCO
    pushes: Annotated[int, typer.Option(help="Number of pushes in the log.")] = 10
    seed: Seed = 0
    json: Json = False


@takes_options
@reports_compiling
def record(asked: RecordCommand) -> None:
    """Push an object at random in simulation, keeping it on the table, and log what happens.

    A model has its own mass and friction distribution; a shape of your own gets a random one. A log
    that was cut short is continued; a file that holds anything else is left alone.

    Example: pushwise record --world mujoco --object hammer --pushes 10 --seed 1 -o log.csv
    """
    import numpy as np

    from pushwise import objects, worlds
    from pushwise.checks import counted, non_negative_integer
    from pushwise.show.status_line import PushBar
    from pushwise.sliding.record_pushes import RecordOptions
    from pushwise.sliding.record_pushes import record as record_pushes
    from pushwise.worlds.random_scene import WORLDS, hidden_object

    if asked.pushes < 1:
        raise PushwiseError(f"--pushes must be at least 1; got {asked.pushes}.")
    keeps(f"the pushes so far are in {asked.output}: run the same command again to continue.")
    rng = np.random.default_rng(non_negative_integer("seed", asked.seed))
    known = asked.thing in objects.all_names
    drawn = objects.load(asked.thing) if known else hidden_object(asked.thing, rng)
    place = getattr(worlds, WORLDS[asked.world])(drawn)
    name = f"the {asked.thing}" if known else Path(asked.thing).name
    about = {"world": asked.world.value, "object": asked.thing, **checksum(asked.thing)}
    with PushBar(f"Pushing {name}", asked.pushes) as bar:
        log = record_pushes(
            place,
            asked.output,
            grid=drawn.grid,
            pushes=asked.pushes,
            seed=asked.seed,
            options=RecordOptions(noise=place.noise, provenance=about),
            progress=bar.update,
        )
    if asked.json:
        facts = {"log": str(asked.output), "world": asked.world.value, "object": asked.thing}
        typer.echo(dumps({**facts, "pushes": len(log), "samples": sum(len(r.t) for r in log)}))
    else:
        typer.echo(f"{asked.output}: {counted(len(log), 'push', 'pushes')} of {name}")
