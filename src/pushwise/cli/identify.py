"""The `pushwise identify` command: parse, call, print."""

from __future__ import annotations

from dataclasses import dataclass, replace
from json import dumps
from math import degrees
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushwise.cli.options import (
    Force,
    Json,
    Seed,
    Stopped,
    check_outputs,
    flag,
    output_option,
    reports_compiling,
    takes_options,
)
from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from pushwise.identification.methods.task import SearchOptions
    from pushwise.identification.prior import Prior
    from pushwise.physics.push import Finger
    from pushwise.shape.grid import CellGrid

__all__ = ["METHODS", "IdentifyCommand", "identify"]

METHODS = (
    "refine, convex, feet, descent, random, weighted, finite-differences, cma-es, nelder-mead or "
    "autograd"
)
"""The methods, as the help lists them; importing their module would make it slow."""


@dataclass(frozen=True, kw_only=True)
class IdentifyCommand:
    """What the command line accepts."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="[GRID] LOG...",
            help="JSON file of a grid, a scan or a model, then CSV logs of pushes of that object. "
            "Without the first, the grid in the header of a log is taken.",
        ),
    ]
    output: Annotated[Path, output_option("JSON file for the model.")]
    method: Annotated[
        str,
        typer.Option(help=f"Method: {METHODS}; others than refine and feet are for comparison."),
    ] = "refine"
    holdout: Annotated[
        float,
        typer.Option(help="Fraction of the pushes, the last ones, held out to test the model."),
    ] = 0.0
    budget: Annotated[
        float,
        typer.Option(help="How often a method that searches may simulate all pushes."),
    ] = 50.0
    time_limit: Annotated[
        float, typer.Option(help="Seconds after which the best model so far is taken.")
    ] = 120.0
    seed: Seed = 0
    finger_radius: Annotated[
        float | None,
        typer.Option(help="Radius of the finger, in metres; by default that of the log, or 0.01."),
    ] = None
    finger_friction: Annotated[
        float, typer.Option(help="First guess of the finger's friction.")
    ] = 0.3
    finger_height: Annotated[
        float,
        typer.Option(
            help="Height of the contact above the table, in metres; estimated by default.",
            show_default=False,
        ),
    ] = 0.0
    friction_spread: Annotated[
        float | None,
        typer.Option(
            help="Relative variation of friction over the object, by default 0.36; 0.05 for an "
            "object of one material."
        ),
    ] = None
    unbounded_friction: Annotated[
        bool, flag("--unbounded-friction", "Let friction vary without a bound.")
    ] = False
    centre: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="X Y",
            help="Centre of mass in metres, grid frame, if known to a millimetre.",
        ),
    ] = None
    plot: Annotated[
        Path | None, typer.Option(help="Picture of mass, friction load and uncertainty.")
    ] = None
    force: Force = False
    json: Json = False

    def finger(self, radius: float | None) -> Finger:
        """Return the finger; radius: the one that the log states, if any [m]."""
        from pushwise.physics.push import Finger

        radius = self.finger_radius if self.finger_radius is not None else radius
        radius = Finger().radius if radius is None else radius
        return Finger(radius, self.finger_friction, self.finger_height)

    def prior(self) -> Prior:
        """Return what is believed about the object before any push."""
        from pushwise.identification.prior import Prior

        prior = Prior(centre=self.centre)
        if self.unbounded_friction or self.friction_spread is not None:
            prior = replace(prior, friction_spread=self.friction_spread)
        return prior

    def search(self) -> SearchOptions:
        """Return how long a method may search."""
        from pushwise.identification.methods.task import SearchOptions

        return SearchOptions(self.budget, seed=self.seed, time_limit=self.time_limit)

    def check_height(self, cells: CellGrid) -> None:
        """Refuse a finger above the object."""
        highest = float(cells.heights.max())
        if self.finger_height > highest:
            raise PushwiseError(
                f"--finger-height {self.finger_height:g} m is above the object, which is at most "
                f"{highest:g} m high according to {self.files[0].name}; give it in metres."
            )


@takes_options
@reports_compiling
def identify(asked: IdentifyCommand) -> None:
    """Find the mass and friction distribution of an object from pushes.

    Ctrl-C stops early and leaves the best model so far in the output file.

    Example: pushwise identify grid.json log.csv -o model.json --holdout 0.5 --plot maps.png
    """
    output, method = asked.output, asked.method
    if folder := next((file for file in asked.files if file.is_dir()), None):
        raise PushwiseError(f"cannot read {folder}: it is a folder; give a grid and logs.")
    # A model that is learned again may take the place of the one that gives the cells.
    logs = [file for file in asked.files if file.suffix != ".json"]
    headers = [log.with_suffix(".json").resolve() for log in logs]
    check_outputs(output, asked.plot, reads=[*logs, *headers], force=asked.force)
    if output.resolve() in headers:
        of = logs[headers.index(output.resolve())]
        raise PushwiseError(f"{output} would be taken for the header of {of}; choose another name.")
    if asked.unbounded_friction and asked.friction_spread is not None:
        raise PushwiseError("give --friction-spread or --unbounded-friction, not both.")
    from pushwise.checks import counted
    from pushwise.identification.holdout import (
        end_distance,
        piece_errors,
        predicted_ends,
        split,
        uniform_model,
    )
    from pushwise.identification.identify import identify as run
    from pushwise.identification.identify import stopped_at
    from pushwise.identification.methods.registry import method_named
    from pushwise.identification.setup_doubts import doubt_setup
    from pushwise.model_files import load_grid, save
    from pushwise.records.log import load_logs
    from pushwise.show.status_line import Identifying

    chosen = method_named(method)
    if asked.finger_height > 0.0 and not chosen.simulates_contact:
        raise PushwiseError(
            f"--method {method} cannot take --finger-height; those that simulate, like refine, can."
        )
    first, *others = asked.files
    if (kind := first.suffix.lower()) not in (".json", ".csv"):
        raise PushwiseError(
            f"{first} is neither the JSON file of a grid nor a CSV log; turn a cloud or a mesh "
            f"into a grid with pushwise scan {first} -o grid.json."
        )
    given = load_grid(first) if kind == ".json" else None
    if given is not None and not others:
        raise PushwiseError(f"give a log of pushes after {first}.")
    log = load_logs(asked.files if given is None else others, given)
    assert log.grid is not None
    cells = log.grid
    asked.check_height(cells)
    learn, test = split(log, asked.holdout)
    finger, prior = asked.finger(log.finger_radius), asked.prior()
    if chosen.calibrates:
        known = asked.finger_radius is not None or log.finger_radius is not None
        finger, prior = doubt_setup(cells, learn, finger, prior, radius_known=known)
    with Identifying(budget=asked.budget if chosen.needs_budget else None) as line:
        try:
            found = run(
                cells,
                learn,
                method=method,
                finger=finger,
                prior=prior,
                search=asked.search(),
                progress=line.update,
            )
        except KeyboardInterrupt:
            found = None
    if found is None:
        if line.best is None:
            raise Stopped("stopped before there was a model; nothing is written.")
        stopped = stopped_at(line.best, learn, finger=finger, prior=prior, method=method)
        save(stopped.belief, output)
        raise Stopped(f"stopped; {output} holds the best model so far, {line.words()}.")
    save(found.belief, output)
    if asked.plot is not None:
        from pushwise.show.figures import plot_maps

        plot_maps(found, asked.plot)
    tested = {}
    if test:
        # The baseline has the same set-up: what is compared is the model of the object.
        setup = found.calibration
        baseline = (
            uniform_model(cells, prior),
            test,
            finger if setup is None else found.finger,
            setup,
        )
        learned = found.model, test, found.finger, setup
        error, uniform = end_distance(*learned), end_distance(*baseline)
        impossible = len(predicted_ends(*learned).impossible)
        pieces = list(zip(piece_errors(*learned), piece_errors(*baseline), strict=True))
        tested = {
            "pushes": len(test),
            "impossible": impossible,
            "error": error,
            "uniform_error": uniform,
            "pieces": [
                {
                    **one._asdict(),
                    "uniform_position": other.position,
                    "uniform_angle": other.angle,
                }
                for one, other in pieces
            ],
        }
    if asked.json:
        facts = {"model": str(output), **found.facts(), "holdout": tested or None}
        typer.echo(dumps(facts))
        return
    typer.echo(found.summary())
    if tested:
        typer.echo(
            f"on {counted(len(test), 'push', 'pushes')} held out, predicted final poses are "
            f"{1e3 * error:.1f} mm from the observed ones (uniform baseline: "
            f"{1e3 * uniform:.1f} mm)"
        )
        for one, other in pieces:
            typer.echo(
                f"over {1e3 * one.length:.0f} mm of the finger's path in contact, in {one.pieces} "
                f"pieces: {1e3 * one.position:.2f} mm and {degrees(one.angle):.2f} degrees "
                f"(uniform baseline: {1e3 * other.position:.2f} mm and "
                f"{degrees(other.angle):.2f} degrees)"
            )
        if impossible:
            typer.echo(
                f"{impossible} of these cannot be simulated, because the finger starts too far "
                "inside the object; they are predicted to end where they start"
            )
