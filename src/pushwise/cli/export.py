"""The `pushwise export` command: parse, call, print."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Force, Json, check_outputs

__all__ = ["export"]


def export(
    model: Annotated[Path, typer.Argument(help="JSON file of a model, as identify writes it.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File: .xml (MJCF), .urdf or .sdf.")
    ],
    lumped: Annotated[
        bool, typer.Option("--lumped", help="MJCF of one mass and friction, not cell by cell.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a model for MuJoCo, PyBullet or Gazebo, with a valid inertia.

    Example: pushwise export model.json -o object.xml
    """
    check_outputs(output, force=force)
    from pushwise.export.files import format_of, write
    from pushwise.export.solid import Solid
    from pushwise.model_files import load_belief

    kind = format_of(output)
    belief = load_belief(model)
    write(belief.model, output, lumped=lumped)
    solid = Solid.of(belief.model)
    if json:
        facts = {
            "file": str(output),
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
        f"{output}: {kind}, {solid.mass:.3f} kg, centre of mass ({x:.1f}, {y:.1f}, {z:.1f}) mm, "
        f"mean friction {solid.friction:.2f}"
    )
    if belief.assumed:
        typer.echo("nothing was learned: masses and frictions are assumed, the same everywhere")
    elif not belief.total_mass_known:
        typer.echo(
            "the pushes did not determine the total mass: only its pattern was learned, "
            "and forces in a simulator will be off by a common factor"
        )
