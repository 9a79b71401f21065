"""The `pushwise slide` command: parse, call, print."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushwise.cli.options import Json, Stopped
from pushwise.errors import PushwiseError
from pushwise.planning.options import PlanOptions
from pushwise.sliding.options import SlideOptions

if TYPE_CHECKING:
    from pushwise.sliding.outcome import Outcome

__all__ = ["slide"]


class World(StrEnum):
    """Where the object is pushed."""

    MUJOCO = "mujoco"
    IDEAL = "ideal"
    BULLET = "bullet"


def slide(
    what: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT|FILE", help="One of the paper's nine objects, or a scan of your own."
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder of the run; slide-OBJECT.")
    ] = None,
    world: Annotated[World, typer.Option(help="Where to push.")] = World.MUJOCO,
    explore: Annotated[int, typer.Option(help="Pushes to learn from.")] = SlideOptions.explore,
    seed: Annotated[
        int, typer.Option(help="Random seed of masses, pose and noise.")
    ] = PlanOptions.seed,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the run in the folder.")
    ] = False,
    json: Json = False,
) -> None:
    """Slide an unknown object to the table's edge and grasp it there, in simulation.

    Look, push a few times, learn what weighs where, choose a goal where it does not fall, push it
    there, grasp. The object gets masses that nobody knows. The folder holds a report and all that
    was found. A run that was stopped is taken up by the same command.

    Example: pushwise slide hammer -o hammer-run
    """
    from threadpoolctl import threadpool_limits

    from pushwise.physics.model import Table
    from pushwise.show.slide_progress import Sliding, summary
    from pushwise.sliding.run_folder import RunFolder, facts
    from pushwise.sliding.slide import slide as run
    from pushwise.worlds.random_scene import stage

    folder = Path(f"slide-{Path(what).stem}") if output is None else output
    table = Table()
    place = stage(what, table, world=world.value, seed=seed)
    about = {"object": what, "world": world.value, **_content(what)}
    # Of matrices this small, more threads only wait for each other.
    with threadpool_limits(limits=1), Sliding() as progress:
        try:
            outcome = run(
                place,
                table,
                options=SlideOptions(explore=explore, plan=PlanOptions(seed=seed)),
                journal=RunFolder(folder, about, force=force),
                progress=progress.update,
            )
        except KeyboardInterrupt:
            raise Stopped("stopped; the same command goes on from here.") from None
        progress.say("writing the report")
        _write_rest(outcome, folder, Path(what).stem)
    if json:
        typer.echo(dumps({"folder": str(folder), **facts(outcome)}))
    else:
        typer.echo(summary(outcome, folder))
    if not outcome.success:
        raise PushwiseError(outcome.verdict)


def _content(what: str) -> dict[str, str]:
    """Return what tells a file from another of the same name; nothing for one of the objects."""
    from pushwise import objects

    if what in objects.names:
        return {}
    try:
        return {"sha256": sha256(Path(what).read_bytes()).hexdigest()}
    except OSError as error:
        raise PushwiseError(f"cannot read {what} ({error.strerror}).") from None


def _write_rest(outcome: Outcome, folder: Path, name: str) -> None:
    """Write what follows from the outcome: report, pictures, models for other simulators."""
    from pushwise.export import write
    from pushwise.show.figures import plot_maps, plot_plan
    from pushwise.show.report import write_report

    if outcome.belief is not None:
        for suffix in ("xml", "urdf", "sdf"):
            write(outcome.belief.model, folder / f"object.{suffix}")
    if outcome.found is not None:
        plot_maps(outcome.found, folder / "maps.png")
    if outcome.plan is not None and outcome.grid is not None:
        plot_plan(outcome.plan, outcome.grid, outcome.table, folder / "plan.png")
    write_report(outcome, folder / "report.html", name=name)
