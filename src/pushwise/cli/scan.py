"""The `pushwise scan` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import (
    Force,
    Json,
    check_outputs,
    flag,
    output_option,
    takes_options,
)
from pushwise.errors import PushwiseError

__all__ = ["ScanCommand", "scan"]


@dataclass(frozen=True, kw_only=True)
class ScanCommand:
    """What the command line accepts."""

    file: Annotated[
        Path, typer.Argument(help="PLY, PCD, XYZ, CSV, NPY, NPZ, OBJ, STL, or a depth image.")
    ]
    output: Annotated[Path | None, output_option("JSON file for the grid, or scene.")] = None
    every: Annotated[bool, flag("--all", "Find every object on the table: a scene.")] = False
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the cells over the point cloud.")
    ] = None
    cell_size: Annotated[float | None, typer.Option(help="Side of a cell, in metres.")] = None
    cells: Annotated[int | None, typer.Option(help="Approximate number of cells.")] = None
    near: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            metavar="X Y Z",
            help="Point on the object to scan, in metres, in the frame of the file.",
        ),
    ] = None
    axis: Annotated[
        tuple[float, float, float] | None,
        typer.Option(
            metavar="X Y Z", help="Direction of the grid's x axis, in the frame of the file."
        ),
    ] = None
    table: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(
            metavar="A B C D", help="The table's plane: A x + B y + C z + D = 0, (A, B, C) up."
        ),
    ] = None
    min_height: Annotated[
        float | None,
        typer.Option(help="Ignore what rises less than this above the table, in metres."),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(help="Metres per unit of the file; by default 1, for depth images 0.001."),
    ] = None
    intrinsics: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(
            metavar="FX FY CX CY", help="Depth images: intrinsics of the camera, in pixels."
        ),
    ] = None
    mask: Annotated[
        Path | None, typer.Option(help="Depth images: an image that is nonzero on the object.")
    ] = None
    force: Force = False
    json: Json = False


@takes_options
def scan(asked: ScanCommand) -> None:
    """Turn a point cloud, a depth image or a mesh into a grid of cells.

    With --all, every object on the table is found; slide and plan take such a scene.

    Example: pushwise scan cloud.ply -o grid.json --plot grid.png
    """
    reads = [asked.file] if asked.mask is None else [asked.file, asked.mask]
    check_outputs(asked.output, asked.plot, reads=reads, force=asked.force)
    from pushwise.shape.scan import Scan, scan_file
    from pushwise.shape.scan_options import ScanOptions
    from pushwise.shape.scene import Scene, scan_scene

    if asked.cells is not None and asked.cell_size is not None:
        raise PushwiseError("give --cells or --cell-size, not both.")
    options = ScanOptions(
        cell_size=asked.cell_size,
        n_cells=asked.cells,
        near=asked.near,
        axis=asked.axis,
        table=asked.table,
        min_height=asked.min_height,
    )
    found: Scan | Scene
    if asked.every:
        if asked.mask is not None:
            raise PushwiseError("--mask shows one object, and --all finds every one: choose.")
        found, points = scan_scene(
            asked.file, options, scale=asked.scale, intrinsics=asked.intrinsics
        )
    else:
        found, points = scan_file(
            asked.file, options, scale=asked.scale, intrinsics=asked.intrinsics, mask=asked.mask
        )
    if asked.output is not None:
        from pushwise.model_files import save

        save(found, asked.output)
    if asked.plot is not None:
        from pushwise.show.figures import plot_scan
        from pushwise.show.scene_figure import plot_scene

        if isinstance(found, Scene):
            plot_scene(found, points, asked.plot)
        else:
            plot_scan(found, points, asked.plot)
    if asked.json:
        typer.echo(dumps(found.facts()))
    else:
        typer.echo(found.summary())
