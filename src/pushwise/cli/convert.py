"""The `pushwise convert` command: parse, call, print."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import (
    Force,
    Json,
    check_angle,
    check_outputs,
    output_option,
    takes_options,
)
from pushwise.errors import PushwiseError, PushwiseWarning

__all__ = ["ConvertCommand", "convert"]

_APART = 10.0  # s; no push is sampled as rarely as that


@dataclass(frozen=True, kw_only=True)
class ConvertCommand:
    """What the command line accepts."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="ROS bags, MIT push dataset files, or CSV files, all of one object.",
        ),
    ]
    output: Annotated[
        Path | None, output_option("CSV log to write; a JSON header goes next to it.")
    ] = None
    object: Annotated[
        str | None, typer.Option("--object", help="Bags: the object's topic, or /tf:frame.")
    ] = None
    finger: Annotated[str | None, typer.Option(help="Bags: the finger's topic, or /tf:frame.")] = (
        None
    )
    wrench: Annotated[str | None, typer.Option(help="Bags: the force topic.")] = None
    frame: Annotated[
        str | None,
        typer.Option(
            help="Bags: the table frame, z up; by default that of the object's poses. Poses that "
            "name no frame are taken as given in it."
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NAME",
            help="CSV: the file's name for a column, as in x=box_x; repeat for others.",
        ),
    ] = None
    unit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES=UNIT", help="CSV: the unit of columns, as in x,y=mm; repeat for others."
        ),
    ] = None
    grid: Annotated[
        Path | None,
        typer.Option(help="JSON file of the object's grid: finds contact, goes into the header."),
    ] = None
    offset: Annotated[
        tuple[float, float, float],
        typer.Option(
            metavar="X Y THETA",
            help="Pose of the grid frame in the tracked frame, in m and rad.",
        ),
    ] = (0.0, 0.0, 0.0)
    delay: Annotated[
        float | None,
        typer.Option(
            help="Delay of the object's poses, such as a camera's, in seconds; estimated by "
            "default."
        ),
    ] = None
    finger_radius: Annotated[
        float | None, typer.Option(help="Radius of the finger, in metres; goes into the header.")
    ] = None
    force: Force = False
    json: Json = False

    def reads(self) -> list[Path]:
        """Return every file that is read, also those of a bag that is a folder."""
        given = [*self.files, *([] if self.grid is None else [self.grid])]
        return [each for file in given for each in (file.rglob("*") if file.is_dir() else [file])]


@takes_options
def convert(asked: ConvertCommand) -> None:
    """Cut the pushes out of recordings, write them as a log, and assess the data.

    Without -o nothing is written. A bag without --object and --finger lists its topics.

    Example: pushwise convert run.bag --object /box/pose --finger /tf:tool0 -o log.csv
    """
    import numpy as np
    from rich.console import Console

    from pushwise.checks import finite_array, finite_number, positive_number
    from pushwise.identification.mistakes import finger_inside
    from pushwise.model_files import load_grid
    from pushwise.records.log import check_new, header_path
    from pushwise.records.recordings import BagTopics, CsvColumns, read_recordings
    from pushwise.records.recordings.cut_pushes import cut_pushes

    if asked.output is not None:
        header = header_path(asked.output)
        check_outputs(asked.output, reads=asked.reads(), force=asked.force)
        check_outputs(header, reads=asked.reads(), force=True)
        check_new(asked.output, overwrite=asked.force)
    finite_array("--offset", asked.offset, (3,))
    check_angle("--offset", asked.offset)
    if asked.delay is not None:
        finite_number("--delay", asked.delay)
    if asked.finger_radius is not None:
        positive_number("--finger-radius", asked.finger_radius)
    topics = BagTopics(asked.object, asked.finger, asked.wrench, asked.frame)
    columns = CsvColumns(
        _pairs("--column", "x=box_x", asked.column), _pairs("--unit", "x,y=mm", asked.unit)
    )
    options = next((given for given in (topics, columns) if given != type(given)()), None)
    if options is topics and columns != CsvColumns():
        raise PushwiseError("topics are for ROS bags, --column and --unit for CSV files; give one.")
    cells = None if asked.grid is None else load_grid(asked.grid)
    with Console(stderr=True).status("Reading"):
        recordings = [
            recording for file in asked.files for recording in read_recordings(file, options)
        ]
        found = cut_pushes(recordings, grid=cells, offset=asked.offset, delay=asked.delay)
    if cells is not None and (why := finger_inside(cells, [each.record for each in found.pushes])):
        warnings.warn(f"{asked.grid}: {why}", PushwiseWarning, stacklevel=1)
    written = asked.output if found.pushes else None
    if written is not None:
        provenance = {
            "converted": [str(file) for file in asked.files],
            "offset": list(asked.offset),
            "delay": asked.delay,
            "findings": found.facts(),
        }
        found.log(cells, asked.finger_radius, provenance).save(written, overwrite=asked.force)
    if asked.json:
        facts = {"log": written and str(written), **found.facts()}
        typer.echo(dumps(facts, allow_nan=False))
    else:
        typer.echo(found.summary())
    if not found.pushes:
        why = "the object never moves while the finger moves"
        if found.left_out:
            why = f"every candidate was left out, the first: {found.left_out[0]}"
        steps = np.concatenate([np.diff(each.object.t) for each in recordings])
        if len(steps) and (apart := float(np.median(steps))) > _APART:
            why += f", and its samples are {apart:.0f} s apart (is t in ms? add --unit t=ms)"
        raise PushwiseError(f"no push found in {_named(asked.files)}: {why}.")
    if written is not None and not asked.json:
        typer.echo(f"written to {written}, with the header {header_path(written)}")


def _pairs(option: str, example: str, given: list[str] | None) -> dict[str, str]:
    """Return options such as x,y=mm as a mapping from each name to its value."""
    pairs = {}
    for text in given or []:
        names, sign, value = text.partition("=")
        if not sign or not value or not names:
            raise PushwiseError(f"{option} must be NAME=VALUE, as in {example}; got {text!r}.")
        pairs.update({name.strip(): value.strip() for name in names.split(",")})
    return pairs


def _named(files: list[Path]) -> str:
    """Return a phrase that names the files."""
    from pushwise.checks import counted

    others = counted(len(files) - 1, "other", "others")
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {others}"
