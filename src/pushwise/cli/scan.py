"""The `pushwise scan` command: parse, call, print."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Force, Json, check_outputs

__all__ = ["scan"]


def scan(
    file: Annotated[
        Path, typer.Argument(help="PLY, PCD, XYZ, CSV, NPY, NPZ, OBJ, STL, or a depth image.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="JSON file for the grid.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the cells over the cloud.")] = None,
    cell_size: Annotated[float | None, typer.Option(help="Side of a cell, in metres.")] = None,
    cells: Annotated[int | None, typer.Option(help="About how many cells to make.")] = None,
    near: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Point on the thing to take, in m."),
    ] = None,
    axis: Annotated[
        tuple[float, float, float] | None, typer.Option(help="Direction of the grid's x axis.")
    ] = None,
    table: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(help="The table's plane a b c d: a x + b y + c z + d = 0, a b c up."),
    ] = None,
    min_height: Annotated[
        float | None, typer.Option(help="What rises less, in metres, is no object.")
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="Metres a unit of the file; 1, but 0.001 for depth images."),
    ] = None,
    intrinsics: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(help="fx fy cx cy of the camera, in pixels, for depth images."),
    ] = None,
    mask: Annotated[
        Path | None, typer.Option(help="Image that is not zero on the object, for depth images.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Turn a cloud, a depth image or a mesh into a grid of cells.

    Example: pushwise scan cloud.ply -o grid.json --plot grid.png
    """
    check_outputs(output, plot, force=force)
    from pushwise.shape.scan import scan_file
    from pushwise.shape.scan_options import ScanOptions

    options = ScanOptions(
        cell_size=cell_size,
        n_cells=cells,
        near=near,
        axis=axis,
        table=table,
        min_height=min_height,
    )
    found, points = scan_file(file, options, scale=scale, intrinsics=intrinsics, mask=mask)
    if output is not None:
        from pushwise.model_files import save

        save(found, output)
    if plot is not None:
        from pushwise.show.figures import plot_scan

        plot_scan(found, points, plot)
    if json:
        typer.echo(dumps(found.facts()))
    else:
        typer.echo(found.summary())
