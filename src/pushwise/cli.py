"""The `pushwise` command: parse, call, print. Commands import what they need when they run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pushwise import __version__
from pushwise.cli_convert import convert
from pushwise.cli_experiment import experiment
from pushwise.cli_export import export
from pushwise.cli_files import check_outputs
from pushwise.cli_plan import plan
from pushwise.cli_record import record
from pushwise.cli_slide import slide
from pushwise.cli_view import view
from pushwise.counting import counted
from pushwise.errors import PushwiseError

__all__ = ["app", "main"]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line: exit 0, or with one line on stderr and another code."""
    try:
        code = app(args=sys.argv[1:] or ["--help"], prog_name="pushwise", standalone_mode=False)
    except PushwiseError as error:
        _fail(str(error), 1)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except typer.Abort:
        _fail("stopped.", 1)
    sys.exit(code or 0)


def _fail(message: str, code: int) -> NoReturn:
    """Print a message as one line on stderr and exit."""
    typer.echo(f"pushwise: {' '.join(message.split())}", err=True)
    sys.exit(code)


def _version(wanted: bool) -> None:
    """Print the version and stop, when asked to."""
    if wanted:
        typer.echo(f"pushwise {__version__}")
        raise typer.Exit


@app.callback()
def pushwise(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Learn what an object weighs where from a few pushes, then slide it where you want it."""


def bench(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure speed and accuracy on this machine, next to MuJoCo and the paper's LCP.

    Example: pushwise bench --json > bench.json
    """
    from pushwise.experiments.bench import run

    typer.echo(run(json=json))


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
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Turn a cloud, a depth image or a mesh into a grid of cells.

    Example: pushwise scan cloud.ply -o grid.json --plot grid.png
    """
    check_outputs(output, plot, force=force)
    from pushwise.shape.source import scan_file

    found, points = scan_file(
        file,
        cell_size=cell_size,
        n_cells=cells,
        near=near,
        axis=axis,
        table=table,
        min_height=min_height,
        scale=scale,
        intrinsics=intrinsics,
        mask=mask,
    )
    if output is not None:
        from pushwise.saved import save

        save(found, output)
    if plot is not None:
        from pushwise.show.scan import plot_scan

        plot_scan(found, points, plot)
    if json:
        from json import dumps

        typer.echo(dumps(found.facts()))
    else:
        typer.echo(found.summary())


def identify(
    grid: Annotated[Path, typer.Argument(help="JSON file of a grid, a scan or a model.")],
    logs: Annotated[list[Path], typer.Argument(help="CSV files of pushes of that object.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="JSON file for the model.")],
    method: Annotated[str, typer.Option(help="How; a wrong name lists them all.")] = "refine",
    holdout: Annotated[
        float, typer.Option(help="Share of the pushes, the last ones, kept to test the model.")
    ] = 0.0,
    budget: Annotated[float, typer.Option(help="Simulations a searching method may use.")] = 50.0,
    seed: Annotated[int, typer.Option(help="Decides all that is random.")] = 0,
    finger_radius: Annotated[
        float | None, typer.Option(help="In metres; as the log says, or 0.01.")
    ] = None,
    finger_friction: Annotated[float, typer.Option(help="A first guess of it.")] = 0.3,
    friction_spread: Annotated[
        float | None, typer.Option(help="Share by which friction varies over the object; 0.05.")
    ] = None,
    unbounded_friction: Annotated[
        bool, typer.Option("--unbounded-friction", help="Friction may vary by any share.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of mass, friction load and uncertainty.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Find what an object weighs where, and where it rubs, from pushes.

    Ctrl-C stops early and leaves the best model so far in the output file.

    Example: pushwise identify grid.json log.csv -o model.json --holdout 0.5 --plot maps.png
    """
    check_outputs(output, plot, force=force)
    if unbounded_friction and friction_spread is not None:
        raise PushwiseError("give --friction-spread or --unbounded-friction, not both.")
    from pushwise.identification.holdout import end_distance, split, uniform_model
    from pushwise.identification.identify import identify as run
    from pushwise.identification.prior import Prior
    from pushwise.physics.actions import Finger
    from pushwise.pushes.join import load_logs
    from pushwise.saved import load_grid, save
    from pushwise.show.identifying import Identifying

    cells = load_grid(grid)
    log = load_logs(logs, cells)
    learn, test = split(log, holdout)
    radius = finger_radius if finger_radius is not None else log.finger_radius
    finger = Finger(0.01 if radius is None else radius, finger_friction)
    spread = None if unbounded_friction else 0.05 if friction_spread is None else friction_spread
    prior = Prior(friction_spread=spread)
    with Identifying(budget=None if method in ("refine", "convex") else budget) as progress:
        try:
            found = run(
                cells,
                learn,
                method=method,
                finger=finger,
                prior=prior,
                budget=budget,
                seed=seed,
                callback=progress.update,
            )
        except KeyboardInterrupt:
            found = None
    if found is None:
        if progress.best is None:
            _fail("stopped before there was a model; nothing is written.", 130)
        save(progress.best, output)
        _fail(f"stopped; {output} holds the best model so far, {progress.words()}.", 130)
    save(found.model, output, known=found.known)
    if plot is not None:
        from pushwise.show.maps import plot_maps

        plot_maps(found, plot)
    tested = {}
    if test:
        uniform = end_distance(uniform_model(cells, prior), test, finger)
        error = end_distance(found.model, test, found.finger)
        tested = {"pushes": len(test), "error": error, "uniform_error": uniform}
    if json:
        from json import dumps

        facts = {"model": str(output), **found.facts(), "holdout": tested or None}
        typer.echo(dumps(facts))
        return
    typer.echo(found.summary())
    if tested:
        typer.echo(
            f"on {counted(len(test), 'push', 'pushes')} held out, predicted ends are "
            f"{1e3 * error:.1f} mm from the observed ones (the same stuff everywhere: "
            f"{1e3 * uniform:.1f} mm)"
        )


# In the order in which a person meets them.
for command in (slide, scan, record, convert, identify, plan, export, view, bench):
    app.command()(command)
app.add_typer(experiment, name="experiment")
