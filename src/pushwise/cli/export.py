"""The `pushwise export` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import (
    Force,
    Json,
    ModelFile,
    check_outputs,
    flag,
    output_option,
    takes_options,
)

__all__ = ["ExportCommand", "export"]


@dataclass(frozen=True, kw_only=True)
class ExportCommand:
    """What the command line accepts."""

    model: ModelFile
    output: Annotated[Path, output_option("File to write: .xml (MJCF), .urdf, .sdf or .usda.")]
    lumped: Annotated[
        bool, flag("--lumped", "MJCF, USD: one mass and one friction instead of one per cell.")
    ] = False
    force: Force = False
    json: Json = False


@takes_options
def export(asked: ExportCommand) -> None:
    """Write a model for MuJoCo, PyBullet, Gazebo or Isaac Sim, with a valid inertia.

    Example: pushwise export model.json -o object.xml
    """
    check_outputs(asked.output, reads=[asked.model], force=asked.force)
    from pushwise.export.formats import format_of, write
    from pushwise.export.solid import Solid
    from pushwise.model_files import load_belief

    kind = format_of(asked.output)
    belief = load_belief(asked.model)
    write(belief.model, asked.output, lumped=asked.lumped)
    solid = Solid.of(belief.model)
    if asked.json:
        facts = {
            "file": str(asked.output),
            "format": kind,
            "mass": solid.mass,
            "mass_determined": belief.total_mass_known,
            "centre_of_mass": solid.centre.tolist(),
            "inertia": solid.inertia.tolist(),
            "friction": solid.friction,
        }
        typer.echo(dumps(facts))
        return
    x, y, z = 1e3 * solid.centre
    typer.echo(
        f"{asked.output}: {kind}, {solid.mass:.3f} kg, "
        f"centre of mass ({x:.1f}, {y:.1f}, {z:.1f}) mm, mean friction {solid.friction:.2f}"
    )
    if belief.assumed:
        typer.echo("nothing was learned: mass and friction are assumed to be uniform")
    elif not belief.total_mass_known:
        typer.echo(
            "the pushes did not determine the total mass: only its distribution was learned, "
            "and forces in a simulator will be off by a common factor"
        )
