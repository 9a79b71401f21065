"""The `pushwise slide` command: parse, call, print."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pushwise.cli.options import (
    OBJECTS,
    Json,
    PreferOption,
    RiskOption,
    WorldName,
    WorldOption,
    checksum,
    flag,
    output_option,
    preferred,
    reports_compiling,
    takes_options,
)
from pushwise.errors import PushwiseError, WriteError
from pushwise.planning.options import GRASP_WIDTH, OVERHANG, PlanOptions
from pushwise.sliding.options import SlideOptions
from pushwise.stopping import keeps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from pushwise.identification.prior import Prior
    from pushwise.physics.model import ObjectModel
    from pushwise.sliding.outcome import Outcome

__all__ = ["SlideCommand", "slide"]

_REHEARSAL = (
    "a rehearsal in {world}: {what} gives the shape, and unless it is a model, masses and "
    "frictions are drawn at random; nothing is measured of the real object."
)


@dataclass(frozen=True, kw_only=True)
class SlideCommand:
    """What the command line accepts."""

    what: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT|FILE",
            help=f"One of {OBJECTS}; or a file of your own: a cloud, mesh, scan, grid, model or "
            "scene.",
        ),
    ]
    output: Annotated[Path | None, output_option("Folder of the run; by default slide-OBJECT.")] = (
        None
    )
    number: Annotated[
        int | None,
        typer.Option("--object", help="Scenes: number of the object to move; others stay."),
    ] = None
    world: WorldOption = WorldName.MUJOCO
    explore: Annotated[
        str,
        typer.Option(
            metavar="auto|N",
            help="auto: as many pushes as needed until a goal is safe, at most 12; N: that many "
            "random pushes.",
        ),
    ] = str(SlideOptions.explore)
    table: Annotated[
        str,
        typer.Option(
            metavar="SIZE|FILE",
            help="Width x depth in metres, or a JSON file: corners [\\[x, y], ...].",
        ),
    ] = "1.0x0.7"
    obstacles: Annotated[
        Path | None,
        typer.Option(
            help="JSON file: a list of polygons that nothing may touch, [\\[x, y], ...] each, in "
            "metres."
        ),
    ] = None
    overhang: Annotated[float, typer.Option(help="Overhang at the edge, in metres.")] = OVERHANG
    grasp_width: Annotated[
        float, typer.Option(help="Maximum width of the overhanging part, in metres.")
    ] = GRASP_WIDTH
    grasp_at: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="X Y",
            help="Point of the object, in metres in the grid frame, that must be beyond the edge.",
        ),
    ] = None
    prefer: PreferOption = SlideOptions.prefer
    friction_spread: Annotated[
        float | None,
        typer.Option(
            help="Relative variation of friction over the object, by default 0.36; 0.05 for an "
            "object of one material."
        ),
    ] = None
    max_fall_probability: RiskOption = PlanOptions.max_fall_probability
    seed: Annotated[
        int, typer.Option(help="Random seed, for masses and friction, start pose and noise.")
    ] = PlanOptions.seed
    force: Annotated[bool, flag("--force", "Overwrite the run in the folder.")] = False
    json: Json = False

    def options(self, others: Sequence[ArrayLike]) -> SlideOptions:
        """Return the options of the run among other objects, polygons (k, 2) [m] each."""
        from pushwise.cli.polygon_files import load_polygons

        blocks = [] if self.obstacles is None else load_polygons(self.obstacles)
        return SlideOptions(
            explore=_number_of(self.explore),
            overhang=self.overhang,
            grasp_width=self.grasp_width,
            grasp_at=self.grasp_at,
            prefer=preferred(self.prefer),
            obstacles=[*others, *blocks],
            plan=PlanOptions(seed=self.seed, max_fall_probability=self.max_fall_probability),
        )

    def prior(self) -> Prior:
        """Return what is believed of the object before the first push."""
        from pushwise.identification.prior import Prior

        if self.friction_spread is None:
            return Prior()
        return Prior(friction_spread=self.friction_spread)


@takes_options
@reports_compiling
def slide(asked: SlideCommand) -> None:
    """Slide an unknown object to the table's edge and grasp it there, in simulation.

    Look at it, push it a few times, learn its mass and friction distribution, choose a goal where
    it does not fall, push it there, grasp it. Its masses and frictions are drawn at random, unless
    FILE is a model, and hidden from the method. The folder holds a report and all results. Run the
    same command again to resume a run that was stopped.

    Example: pushwise slide hammer -o hammer-run
    """
    from pushwise.cli.polygon_files import table_of
    from pushwise.show.status_line import Sliding, next_steps, summary
    from pushwise.sliding.run_folder import RunFolder, facts
    from pushwise.sliding.slide import slide as run
    from pushwise.worlds.mujoco import MuJoCo
    from pushwise.worlds.random_scene import random_world

    what, world = asked.what, asked.world.value
    folder = Path(f"slide-{Path(what).stem}") if asked.output is None else asked.output
    keeps(f"what was finished is kept in {folder}: run the same command again to resume.")
    table = table_of(asked.table)
    place = random_world(what, table, world=world, seed=asked.seed, number=asked.number)
    others = place if isinstance(place, MuJoCo) and asked.number is not None else None
    about = {"object": what, "world": world, **checksum(what)}
    if asked.number is not None:
        about["number"] = str(asked.number)
    options = asked.options(() if others is None else others.obstacles)
    if Path(what).exists():
        typer.echo(_REHEARSAL.format(what=what, world=world), err=True)
    ended = (folder / "outcome.json").exists() and not asked.force
    with Sliding() as line:
        try:
            outcome = run(
                place,
                table,
                options=options,
                prior=asked.prior(),
                journal=RunFolder(folder, about, force=asked.force),
                progress=line.update,
            )
        except WriteError as error:
            raise WriteError(
                f"{str(error).rstrip('.')}; what was finished is kept: run the same command again "
                "to resume."
            ) from None
        if ended:
            typer.echo(f"the run in {folder} ended before; --force starts over.", err=True)
        line.say("writing the report")
        _write_rest(outcome, folder, Path(what).stem, place.truth)
    moved = [] if others is None else others.bystanders_moved().tolist()
    if asked.json:
        said = {} if others is None else {"others_moved": moved}
        true = {"true_centre_of_mass": place.truth.centre_of_mass.tolist()}
        typer.echo(dumps({"folder": str(folder), **facts(outcome), **true, **said}))
        if not outcome.success:
            raise PushwiseError(outcome.verdict)
        return
    typer.echo(summary(outcome, place.truth))
    if moved:
        typer.echo(f"other objects moved by {', '.join(f'{1e3 * m:.1f}' for m in moved)} mm")
    if outcome.success:
        typer.echo(outcome.verdict)
    else:
        typer.echo(f"pushwise: {outcome.verdict}", err=True)
    typer.echo(next_steps(outcome, folder))
    if not outcome.success:
        raise typer.Exit(1)


def _number_of(words: str) -> int | Literal["auto"]:
    """Return how many pushes to explore with."""
    if words == "auto":
        return "auto"
    if not words.isdecimal():
        raise PushwiseError(f"--explore must be a number of pushes or auto; got {words!r}.")
    return int(words)


def _write_rest(outcome: Outcome, folder: Path, name: str, truth: ObjectModel) -> None:
    """Write what follows from the outcome: report, pictures, models for other simulators."""
    from pushwise.export import write
    from pushwise.model_files import save
    from pushwise.show.figures import plot_maps, plot_plan
    from pushwise.show.report import RunSource, write_report
    from pushwise.sliding.run_folder import files_of

    if outcome.belief is not None:
        for suffix in ("xml", "urdf", "sdf"):
            write(outcome.belief.model, folder / f"object.{suffix}")
    if outcome.found is not None:
        plot_maps(outcome.found, folder / "maps.png")
    if outcome.plan is not None and outcome.grid is not None:
        blocks = outcome.options.obstacles
        picture = folder / "plan.png"
        plot_plan(outcome.plan, outcome.grid, outcome.table, picture, obstacles=blocks)
    save(truth, folder / "truth.json")
    command = shlex.join(["pushwise", *sys.argv[1:]])
    source = RunSource(name, truth, command, files_of(folder))
    write_report(outcome, folder / "report.html", source)
