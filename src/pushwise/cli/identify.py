"""The `pushwise identify` command: parse, call, print."""

from __future__ import annotations

from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from pushwise.checks import counted
from pushwise.cli.options import Force, Json, Stopped, check_outputs
from pushwise.errors import PushwiseError

__all__ = ["identify"]


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
    finger_height: Annotated[
        float, typer.Option(help="Of the contact above the table, in metres.")
    ] = 0.0,
    friction_spread: Annotated[
        float | None, typer.Option(help="Share by which friction varies over the object; 0.05.")
    ] = None,
    unbounded_friction: Annotated[
        bool, typer.Option("--unbounded-friction", help="Friction may vary by any share.")
    ] = False,
    centre: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Centre of mass, if known to a millimetre: x y in metres, grid frame."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of mass, friction load and uncertainty.")
    ] = None,
    force: Force = False,
    json: Json = False,
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
    from pushwise.identification.identify import stopped_at
    from pushwise.identification.methods.registry import method_named
    from pushwise.identification.methods.task import SearchOptions
    from pushwise.identification.prior import Prior
    from pushwise.model_files import load_grid, save
    from pushwise.physics.push import Finger
    from pushwise.records.log import load_logs
    from pushwise.show.status_line import Identifying

    chosen = method_named(method)
    if finger_height > 0.0 and not chosen.simulates_contact:
        raise PushwiseError(
            f"--method {method} cannot take --finger-height; those that simulate, like refine, can."
        )
    cells = load_grid(grid)
    highest = float(cells.heights.max())
    if finger_height > highest:
        raise PushwiseError(
            f"--finger-height {finger_height:g} m is above the object, which is at most "
            f"{highest:g} m high by {grid.name}; give it in metres."
        )
    log = load_logs(logs, cells)
    learn, test = split(log, holdout)
    radius = finger_radius if finger_radius is not None else log.finger_radius
    radius = Finger().radius if radius is None else radius
    finger = Finger(radius, finger_friction, finger_height)
    prior = Prior(centre=centre)
    if unbounded_friction or friction_spread is not None:
        prior = replace(prior, friction_spread=friction_spread)
    with Identifying(budget=budget if chosen.needs_budget else None) as progress:
        try:
            found = run(
                cells,
                learn,
                method=method,
                finger=finger,
                prior=prior,
                search=SearchOptions(budget=budget, seed=seed),
                progress=progress.update,
            )
        except KeyboardInterrupt:
            found = None
    if found is None:
        if progress.best is None:
            raise Stopped("stopped before there was a model; nothing is written.")
        stopped = stopped_at(progress.best, learn, finger=finger, prior=prior, method=method)
        save(progress.best, output, known=stopped.known)
        raise Stopped(f"stopped; {output} holds the best model so far, {progress.words()}.")
    save(found.model, output, known=found.known)
    if plot is not None:
        from pushwise.show.figures import plot_maps

        plot_maps(found, plot)
    tested = {}
    if test:
        uniform = end_distance(uniform_model(cells, prior), test, finger)
        error = end_distance(found.model, test, found.finger)
        tested = {"pushes": len(test), "error": error, "uniform_error": uniform}
    if json:
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
