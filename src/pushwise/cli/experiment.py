"""The `pushwise experiment` commands: parse, call, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from pushwise.cli.options import (
    Json,
    PlainCommand,
    PlainGroup,
    output_option,
    reports_compiling,
    takes_options,
)
from pushwise.stopping import keeps

if TYPE_CHECKING:
    from pushwise.experiments.sweep import SweepOptions

__all__ = ["RESUMES", "SweepCommand", "experiment", "experiment_command"]

T = TypeVar("T")
RESUMES = "what was finished is kept in {}: run the same command again to resume."
"""What is said when an experiment that writes into a folder is interrupted."""

experiment = typer.Typer(
    cls=PlainGroup, help="Repeat an experiment and write its tables and figures."
)


@experiment.callback()
def _experiment() -> None:
    """Repeat an experiment and write its tables and figures.

    Example: pushwise experiment referee -o results/referee
    """


def experiment_command(command: Callable[[T], None], name: str | None = None) -> None:
    """Add a command, which takes its options as one dataclass; its name is the function's."""
    experiment.command(name, cls=PlainCommand)(takes_options(reports_compiling(command)))


Models = Annotated[int, typer.Option(help="Random ground truths per object.")]


@dataclass(frozen=True, kw_only=True)
class SweepCommand:
    """The options of every experiment that runs many settings; listed after a command's own."""

    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler; by default all local cores.")
    ] = None
    check: Annotated[
        float | None,
        typer.Option(help="Run this fraction of the finished rows again and compare, e.g. 0.02."),
    ] = None
    json: Json = False

    def sweep(self, output: Path) -> SweepOptions:
        """Return where an experiment writes its results, and where it runs."""
        from pushwise.experiments.sweep import SweepOptions

        keeps(RESUMES.format(output))
        return SweepOptions(output, self.cluster, self.check, self.json)


@dataclass(frozen=True, kw_only=True)
class RefereeCommand:
    """What `experiment referee` accepts."""

    output: Annotated[Path, output_option("Folder for the table and the figure.")]
    json: Json = False


@experiment_command
def referee(asked: RefereeCommand) -> None:
    """Make the same pushes in Ideal, MuJoCo and Bullet and compare with the exact solution.

    Example: pushwise experiment referee -o results/referee
    """
    from pushwise.experiments.referee import run

    typer.echo(run(asked.output, json=asked.json))


@dataclass(frozen=True, kw_only=True)
class IdentificationCommand(SweepCommand):
    """What `experiment identification` accepts."""

    output: Annotated[Path, output_option("Folder for rows and figures.")]
    models: Models = 10
    splits: Annotated[int, typer.Option(help="Splits of the pushes per ground truth.")] = 10
    draws: Annotated[int, typer.Option(help="Ground truths in the calibration test.")] = 540
    truths: Annotated[int, typer.Option(help="Ground truths per case of the coverage test.")] = 180


@experiment_command
def identification(asked: IdentificationCommand) -> None:
    """Identify nine objects from five pushes each with every method, and predict five others.

    Example: pushwise experiment identification -o results/identification
    """
    from pushwise.experiments.identification import run

    counts = {"models": asked.models, "splits": asked.splits, "draws": asked.draws}
    typer.echo(run(asked.sweep(asked.output), **counts, truths=asked.truths))


@dataclass(frozen=True, kw_only=True)
class SamplesCommand(SweepCommand):
    """What `experiment samples` accepts."""

    output: Annotated[Path, output_option("Folder for rows and the figure.")]
    models: Models = 10
    splits: Annotated[int, typer.Option(help="Choices of the pushes per ground truth.")] = 10


@experiment_command
def samples(asked: SamplesCommand) -> None:
    """Identify nine objects from one to nine pushes, and predict five others.

    Example: pushwise experiment samples -o results/samples
    """
    from pushwise.experiments.samples import run

    typer.echo(run(asked.sweep(asked.output), models=asked.models, splits=asked.splits))


@dataclass(frozen=True, kw_only=True)
class HeatmapsCommand(SweepCommand):
    """What `experiment heatmaps` accepts."""

    output: Annotated[Path, output_option("Folder for rows and figures.")]


@experiment_command
def heatmaps(asked: HeatmapsCommand) -> None:
    """Draw what is learned about nine objects, step by step, next to the ground truth.

    Example: pushwise experiment heatmaps -o results/heatmaps
    """
    from pushwise.experiments.heatmaps import run

    typer.echo(run(asked.sweep(asked.output)))


@dataclass(frozen=True, kw_only=True)
class StabilityCommand(SweepCommand):
    """What `experiment stability` accepts."""

    output: Annotated[Path, output_option("Folder for the table.")]
    cases: Annotated[int, typer.Option(help="Number of objects to release.")] = 500


@experiment_command
def stability(asked: StabilityCommand) -> None:
    """Release objects at edges and corners in MuJoCo and compare with the stability margin.

    Example: pushwise experiment stability -o results/stability
    """
    from pushwise.experiments.stability import run

    typer.echo(run(asked.sweep(asked.output), cases=asked.cases))


@dataclass(frozen=True, kw_only=True)
class PlanningCommand(SweepCommand):
    """What `experiment planning` accepts."""

    output: Annotated[Path, output_option("Folder for rows and the table.")]
    models: Annotated[
        int, typer.Option(help="Random ground truths per object, in the ideal world.")
    ] = 10
    goals: Annotated[int, typer.Option(help="Goals per ground truth.")] = 10
    part: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help="ideal, mujoco, obstacles, goals, control or around; repeat for several, "
            "default all.",
        ),
    ] = None


@experiment_command
def planning(asked: PlanningCommand) -> None:
    """Plan to goals within 1 m with every search, and push in closed loop in MuJoCo.

    Example: pushwise experiment planning -o results/planning
    """
    from pushwise.experiments.planning import run

    parts = tuple(asked.part or ())
    counts = {"models": asked.models, "goals": asked.goals}
    typer.echo(run(asked.sweep(asked.output), **counts, parts=parts))


@dataclass(frozen=True, kw_only=True)
class TrialsCommand(SweepCommand):
    """What `experiment pregrasp`, `reach` and `exploration` accept."""

    output: Annotated[Path, output_option("Folder for rows and the table.")]
    trials: Annotated[int, typer.Option(help="Trials per object and variant.")] = 16


@experiment_command
def pregrasp(asked: TrialsCommand) -> None:
    """Slide objects to the edge and grasp them; the hammer also with the paper's baselines.

    Example: pushwise experiment pregrasp -o results/pregrasp
    """
    from pushwise.experiments.pregrasp import run

    typer.echo(run(asked.sweep(asked.output), trials=asked.trials))


@dataclass(frozen=True, kw_only=True)
class AmongCommand(SweepCommand):
    """What `experiment among` accepts."""

    output: Annotated[Path, output_option("Folder for rows and the table.")]
    trials: Annotated[int, typer.Option(help="Random scenes per object.")] = 8


@experiment_command
def among(asked: AmongCommand) -> None:
    """Slide one object of a random scene to the edge and grasp it, among two others, in MuJoCo.

    Example: pushwise experiment among -o results/among
    """
    from pushwise.experiments.among import run

    typer.echo(run(asked.sweep(asked.output), trials=asked.trials))


@experiment_command
def reach(asked: TrialsCommand) -> None:
    """Slide objects as far over the edge as the risk allows, with what each model knows.

    Example: pushwise experiment reach -o results/reach
    """
    from pushwise.experiments.reach import run

    typer.echo(run(asked.sweep(asked.output), trials=asked.trials))


@experiment_command
def exploration(asked: TrialsCommand) -> None:
    """Explore objects until the risk is known, with pushes chosen for it or at random.

    Example: pushwise experiment exploration -o results/exploration
    """
    from pushwise.experiments.exploration import run

    typer.echo(run(asked.sweep(asked.output), trials=asked.trials))


@dataclass(frozen=True, kw_only=True)
class PushTCommand(SweepCommand):
    """What `experiment pusht` accepts."""

    output: Annotated[Path, output_option("Folder for rows, the table and the film.")]
    episodes: Annotated[int, typer.Option(help="Episodes per environment and model.")] = 200
    gym_pusht: Annotated[
        Path | None,
        typer.Option(help="Python with gym-pusht 0.1.8, to play there as well."),
    ] = None


@experiment_command
def pusht(asked: PushTCommand) -> None:
    """Play Push-T with the controller, in our environment and in gym-pusht.

    Example: pushwise experiment pusht -o results/pusht
    """
    from pushwise.experiments.pusht import run

    options = asked.sweep(asked.output)
    typer.echo(run(options, episodes=asked.episodes, gym_pusht=asked.gym_pusht))
