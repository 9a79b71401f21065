"""The `pushwise convert` command: parse, call, print."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.checks import counted
from pushwise.cli.options import Json
from pushwise.errors import PushwiseError

__all__ = ["convert"]


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="ROS bags, files of the MIT push dataset, or CSV files, of one object."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="CSV log to write; a JSON header goes beside it."),
    ] = None,
    object_: Annotated[
        str | None, typer.Option("--object", help="Bags: the object's topic, or /tf:frame.")
    ] = None,
    finger: Annotated[
        str | None, typer.Option(help="Bags: the finger's topic, or /tf:frame.")
    ] = None,
    wrench: Annotated[str | None, typer.Option(help="Bags: the topic of the force.")] = None,
    frame: Annotated[
        str | None, typer.Option(help="Bags: the table frame, z up; that of the object's poses.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="CSV: what it calls a column, as in x=box_x; once for each."),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(help="CSV: the unit of columns, as in x,y=mm; once for each unit."),
    ] = None,
    grid: Annotated[
        Path | None,
        typer.Option(help="JSON file of the object's grid: finds contact, goes into the header."),
    ] = None,
    offset: Annotated[
        tuple[float, float, float],
        typer.Option(help="Pose x y theta of the grid frame in the tracked one, in m and rad."),
    ] = (0.0, 0.0, 0.0),
    delay: Annotated[
        float, typer.Option(help="Seconds by which the object is seen late, as by a camera.")
    ] = 0.0,
    finger_radius: Annotated[
        float | None, typer.Option(help="In metres; goes into the header.")
    ] = None,
    json: Json = False,
) -> None:
    """Cut the pushes out of recordings and write them as a log; say how good the data is.

    Without -o nothing is written. A bag without --object and --finger lists its topics.

    Example: pushwise convert run.bag --object /box/pose --finger /tf:tool0 -o log.csv
    """
    from rich.console import Console

    from pushwise.checks import finite_array, finite_number, positive_number
    from pushwise.model_files import load_grid
    from pushwise.records.log import check_new
    from pushwise.records.recordings import BagTopics, CsvColumns, read_recordings
    from pushwise.records.recordings.cut_pushes import cut_pushes

    if output is not None:
        check_new(output)
    finite_array("--offset", offset, (3,))
    finite_number("--delay", delay)
    if finger_radius is not None:
        positive_number("--finger-radius", finger_radius)
    topics = BagTopics(object_, finger, wrench, frame)
    columns = CsvColumns(_pairs("--column", "x=box_x", column), _pairs("--unit", "x,y=mm", unit))
    options = next((given for given in (topics, columns) if given != type(given)()), None)
    if options is topics and columns != CsvColumns():
        raise PushwiseError("topics are for ROS bags, --column and --unit for CSV files; give one.")
    cells = None if grid is None else load_grid(grid)
    with Console(stderr=True).status("Reading"):
        recordings = [recording for file in files for recording in read_recordings(file, options)]
        found = cut_pushes(recordings, grid=cells, offset=offset, delay=delay)
    written = output if found.pushes else None
    if written is not None:
        provenance = {"converted": [str(file) for file in files], "findings": found.facts()}
        found.log(cells, finger_radius, provenance).save(written)
    if json:
        facts = {"log": written and str(written), **found.facts()}
        typer.echo(dumps(facts, allow_nan=False))
    else:
        typer.echo(found.summary())
    if not found.pushes:
        why = "nowhere does the object move while the finger moves straight on"
        if found.left_out:
            why = f"whatever looks like one is left out, first {found.left_out[0]}"
        raise PushwiseError(f"no push found in {_named(files)}: {why}.")
    if written is not None and not json:
        typer.echo(f"written to {written}")


def _pairs(option: str, example: str, given: list[str] | None) -> dict[str, str]:
    """Return options such as x,y=mm as a mapping from each name to what it is."""
    pairs = {}
    for text in given or []:
        names, sign, value = text.partition("=")
        if not sign or not value or not names:
            raise PushwiseError(f"{option} must be NAME=VALUE, as in {example}; got {text!r}.")
        pairs.update({name.strip(): value.strip() for name in names.split(",")})
    return pairs


def _named(files: list[Path]) -> str:
    """Return the files in words."""
    others = counted(len(files) - 1, "other", "others")
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {others}"
