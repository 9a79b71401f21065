"""What the commands share: options, how a dataclass becomes them, and how commands end.

A command takes one frozen dataclass. Its fields, annotated with Typer's options and arguments, are
what the command line accepts; `takes_options` unfolds them for Typer.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from pushwise.planning.options import Prefer

__all__ = [
    "OBJECTS",
    "Force",
    "Json",
    "ModelFile",
    "PlainCommand",
    "PlainGroup",
    "PreferOption",
    "RiskOption",
    "Seed",
    "Stopped",
    "WorldName",
    "WorldOption",
    "check_angle",
    "check_outputs",
    "checksum",
    "flag",
    "output_option",
    "preferred",
    "reports_compiling",
    "takes_options",
]

OBJECTS = (
    "box, hammer, book, clamp, crimp, wrench, snack, spray-gun, toothpaste, L, T, U, slot, ring, "
    "cross, rod, bar"
)
"""The paper's nine objects and further shapes, as the help lists them; importing their module would
make it slow."""

T = TypeVar("T")
_TYPED = {"n_cells": "cells"}
"""Options that have another name than the parameter they set."""


class Stopped(Exception):
    """Ctrl-C was pressed; the message says what is left of the work."""


def takes_options(command: Callable[[T], None]) -> Callable[..., None]:
    """Let Typer call a command that takes one dataclass, a field per option or argument.

    The help lists the fields in their order, inherited ones last. The dataclass is declared with
    `kw_only=True`, so that it may state required fields after optional ones.
    """
    hints = get_type_hints(command)
    kind: Any = hints[next(iter(inspect.signature(command).parameters))]
    types = get_type_hints(kind, include_extras=True)
    own = inspect.get_annotations(kind)
    declared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in sorted(fields(kind), key=lambda field: field.name not in own)
    ]

    @functools.wraps(command)
    def called(**given: Any) -> None:
        try:
            command(kind(**given))
        except PushwiseError as error:
            raise _as_typed(error, set(types)) from None

    called.__signature__ = inspect.Signature(declared)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in declared}
    return called


def _as_typed(error: PushwiseError, names: set[str]) -> PushwiseError:
    """Return an error that names an option as it is typed, if it begins with a parameter's name."""
    found = re.match(r"(?:prior )?([a-z_]+)(?= must | chooses )", str(error))
    name = "" if found is None else _TYPED.get(found[1], found[1])
    if found is None or name not in names:
        return error
    return type(error)(f"--{name.replace('_', '-')}{str(error)[found.end() :]}")


def reports_compiling(command: Callable[[T], None]) -> Callable[[T], None]:
    """Let a command say so on stderr when it has to compile the physics first."""

    @functools.wraps(command)
    def reporting(asked: T) -> None:
        from pushwise.compilation import compiling_reported
        from pushwise.show.status_line import say_compiling

        with compiling_reported(say_compiling):
            command(asked)

    return reporting


class PlainHelp:
    """A command or group whose option --help, a flag like others, is listed without a type."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return --help."""
        option = super().get_help_option(ctx)  # type: ignore[misc]
        option.metavar = ""
        return option


class PlainCommand(PlainHelp, TyperCommand):
    """A command of `pushwise`."""


class PlainGroup(PlainHelp, TyperGroup):
    """A group of commands of `pushwise`."""


def flag(name: str, help: str) -> Any:
    """Return a switch such as --json, which takes no value."""
    return typer.Option(name, help=help, metavar="")


def output_option(help: str) -> Any:
    """Return -o, --output; what it names differs from command to command."""
    return typer.Option("-o", "--output", help=help)


class WorldName(StrEnum):
    """Where an object is pushed."""

    MUJOCO = "mujoco"
    IDEAL = "ideal"
    BULLET = "bullet"


Force = Annotated[bool, flag("--force", "Overwrite existing files.")]
Json = Annotated[bool, flag("--json", "Print one JSON object.")]
ModelFile = Annotated[Path, typer.Argument(help="JSON file of a model, as identify writes it.")]
Seed = Annotated[int, typer.Option(help="Random seed.")]
PreferOption = Annotated[
    str,
    typer.Option(
        metavar="safety|overhang",
        help="Which goal to prefer: the safest, or the one with the most overhang.",
    ),
]
RiskOption = Annotated[
    float, typer.Option(help="Highest fall risk allowed at the goal and along the path.")
]
WorldOption = Annotated[
    WorldName, typer.Option(help="Simulator to push in: mujoco, ideal or bullet.")
]


def check_outputs(
    output: Path | None, plot: Path | None = None, *, reads: Sequence[Path], force: bool
) -> None:
    """Refuse files that cannot be written, or exist, before any work is done.

    Args:
        output: The file to write.
        plot: A picture to write; its suffix says in which format.
        reads: Files that the command reads, which are never overwritten.
        force: Whether other existing files may be overwritten.

    """
    kept = {file.resolve() for file in reads}
    for path in (output, plot):
        if path is None:
            continue
        if path.exists() and path.resolve() in kept:
            raise PushwiseError(f"{path} is read by this command; choose another name to write to.")
        if path.is_dir():
            raise PushwiseError(f"{path} cannot be written: it is a folder; give a file name.")
        if path.exists() and not force:
            raise PushwiseError(f"{path} exists; add --force to overwrite it.")
        if not path.parent.is_dir():
            raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")
        if not os.access(path.parent, os.W_OK):
            raise PushwiseError(f"{path} cannot be written: the folder {path.parent} is read-only.")
    if plot is not None:
        if output is not None and plot.resolve() == output.resolve():
            raise PushwiseError(f"-o and --plot both name {plot}; give the picture its own name.")
        from matplotlib.backend_bases import FigureCanvasBase

        endings = FigureCanvasBase.get_supported_filetypes()
        if plot.suffix[1:].lower() not in endings:
            raise PushwiseError(
                f"{plot} cannot be written: a picture's name must end in .{', .'.join(endings)}."
            )


def preferred(words: str) -> Prefer:
    """Return which goal is best, as an option says."""
    if words == "safety":
        return "safety"
    if words == "overhang":
        return "overhang"
    raise PushwiseError(f"--prefer must be safety or overhang; got {words!r}.")


def check_angle(option: str, pose: tuple[float, float, float] | None) -> None:
    """Refuse a pose whose angle is more than a turn: it is meant in degrees."""
    if pose is not None and abs(pose[2]) > 2.0 * math.pi:
        raise PushwiseError(
            f"{option} takes its angle in radians; {pose[2]:g} looks like degrees: "
            f"{math.radians(pose[2]):.4g} rad."
        )


def checksum(what: str) -> dict[str, str]:
    """Return what identifies the content of an object's file; nothing for an object with a name."""
    from hashlib import sha256

    from pushwise import objects
    from pushwise.documents import read_bytes
    from pushwise.shape.files import LARGEST_SHAPE

    if what in objects.all_names:
        return {}
    return {"sha256": sha256(read_bytes(Path(what), LARGEST_SHAPE)).hexdigest()}
