"""The `pushwise slide` command: parse, call, print."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushwise.cli.options import (
    OBJECTS,
    Json,
    Stopped,
    WorldName,
    WorldOption,
    flag,
    output_option,
    reports_compiling,
    takes_options,
)
from pushwise.errors import PushwiseError
from pushwise.planning.options import PlanOptions
from pushwise.sliding.options import SlideOptions

if TYPE_CHECKING:
    from pushwise.sliding.outcome import Outcome

__all__ = ["SlideCommand", "slide"]


@dataclass(frozen=True, kw_only=True)
class SlideCommand:
    """What the command line accepts."""

    what: Annotated[
        str,
        typer.Argument(
            metavar="OBJECT|FILE", help=f"One of {OBJECTS}; or a scan, grid or model of your own."
        ),
    ]
    output: Annotated[Path | None, output_option("Folder of the run; by default slide-OBJECT.")] = (
        None
    )
    world: WorldOption = WorldName.MUJOCO
    explore: Annotated[int, typer.Option(help="Number of pushes to learn from.")] = (
        SlideOptions.explore
    )
    seed: Annotated[
        int, typer.Option(help="Random seed, for masses and friction, start pose and noise.")
    ] = PlanOptions.seed
    force: Annotated[bool, flag("--force", "Overwrite the run in the folder.")] = False
    json: Json = False


@takes_options
@reports_compiling
def slide(asked: SlideCommand) -> None:
    """Slide an unknown object to the table's edge and grasp it there, in simulation.

    Look at it, push it a few times, learn its mass and friction distribution, choose a goal where
    it does not fall, push it there, grasp it. Its masses and frictions are drawn at random and kept
    from the method. The folder holds a report and all results. Run the same command again to resume
    a run that was stopped.

    Example: pushwise slide hammer -o hammer-run
    """
    from pushwise.physics.model import Table
    from pushwise.show.status_line import Sliding, summary
    from pushwise.sliding.run_folder import RunFolder, facts
    from pushwise.sliding.slide import slide as run
    from pushwise.worlds.random_scene import random_world

    what, world = asked.what, asked.world.value
    folder = Path(f"slide-{Path(what).stem}") if asked.output is None else asked.output
    table = Table()
    place = random_world(what, table, world=world, seed=asked.seed)
    about = {"object": what, "world": world, **_content(what)}
    with _one_thread(), Sliding() as line:
        try:
            outcome = run(
                place,
                table,
                options=SlideOptions(explore=asked.explore, plan=PlanOptions(seed=asked.seed)),
                journal=RunFolder(folder, about, force=asked.force),
                progress=line.update,
            )
        except KeyboardInterrupt:
            raise Stopped("stopped; run the same command again to resume.") from None
        line.say("writing the report")
        _write_rest(outcome, folder, Path(what).stem)
    if asked.json:
        typer.echo(dumps({"folder": str(folder), **facts(outcome)}))
    else:
        typer.echo(summary(outcome, folder))
    if not outcome.success:
        raise PushwiseError(outcome.verdict)


def _one_thread() -> AbstractContextManager[object]:
    """Return a block in which linear algebra uses one thread, where threadpoolctl is installed.

    With matrices this small, more threads only wait for each other.
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        return nullcontext()
    limited: AbstractContextManager[object] = threadpool_limits(limits=1)
    return limited


def _content(what: str) -> dict[str, str]:
    """Return the checksum that identifies a file; nothing for one of the nine objects."""
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
