"""The `pushwise experiment` commands: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushwise.cli.options import Json

__all__ = ["experiment"]

Cluster = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler; without it, all cores here.")
]
Check = Annotated[
    float | None, typer.Option(help="Run this share of what is done again, and compare: 0.02.")
]

experiment = typer.Typer(help="Repeat an experiment and write its tables and figures.")


@experiment.callback()
def _experiment() -> None:
    """Repeat an experiment and write its tables and figures.

    Example: pushwise experiment referee -o results/referee
    """


@experiment.command()
def referee(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for table and figure.")],
    json: Json = False,
) -> None:
    """Make the same pushes in Ideal, MuJoCo and Bullet, beside the exact answer.

    Example: pushwise experiment referee -o results/referee
    """
    from pushwise.experiments.referee import run

    typer.echo(run(output, json=json))


@experiment.command()
def identification(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and figures.")],
    models: Annotated[int, typer.Option(help="Random truths of each object.")] = 10,
    splits: Annotated[int, typer.Option(help="Splits of the pushes of each.")] = 10,
    draws: Annotated[int, typer.Option(help="Draws of the calibration.")] = 540,
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Learn nine objects from five pushes each by every method, and predict five others.

    Example: pushwise experiment identification -o results/identification
    """
    from pushwise.experiments.identification import run
    from pushwise.experiments.sweep import SweepOptions

    options = SweepOptions(output, cluster, check, json)
    typer.echo(run(options, models=models, splits=splits, draws=draws))


@experiment.command()
def samples(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and figure.")],
    models: Annotated[int, typer.Option(help="Random truths of each object.")] = 10,
    splits: Annotated[int, typer.Option(help="Choices of the pushes of each.")] = 10,
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Learn nine objects from one to nine pushes, and predict five others.

    Example: pushwise experiment samples -o results/samples
    """
    from pushwise.experiments.samples import run
    from pushwise.experiments.sweep import SweepOptions

    options = SweepOptions(output, cluster, check, json)
    typer.echo(run(options, models=models, splits=splits))


@experiment.command()
def heatmaps(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and figures.")],
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Draw what is learned of nine objects, step by step, beside the truth.

    Example: pushwise experiment heatmaps -o results/heatmaps
    """
    from pushwise.experiments.heatmaps import run
    from pushwise.experiments.sweep import SweepOptions

    typer.echo(run(SweepOptions(output, cluster, check, json)))


@experiment.command()
def stability(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the table.")],
    cases: Annotated[int, typer.Option(help="How many objects to let go.")] = 500,
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Let objects go at edges and corners in MuJoCo, beside the margin of stability.

    Example: pushwise experiment stability -o results/stability
    """
    from pushwise.experiments.stability import run
    from pushwise.experiments.sweep import SweepOptions

    typer.echo(run(SweepOptions(output, cluster, check, json), cases=cases))


@experiment.command()
def planning(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and table.")],
    models: Annotated[int, typer.Option(help="Random truths of each object, ideal world.")] = 10,
    goals: Annotated[int, typer.Option(help="Goals for each.")] = 10,
    part: Annotated[
        list[str] | None, typer.Option(help="ideal, mujoco, obstacles or goals; all when not given")
    ] = None,
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Plan to goals within 1 m with every search, and push in closed loop in MuJoCo.

    Example: pushwise experiment planning -o results/planning
    """
    from pushwise.experiments.planning import run
    from pushwise.experiments.sweep import SweepOptions

    options = SweepOptions(output, cluster, check, json)
    typer.echo(run(options, models=models, goals=goals, parts=tuple(part or ())))


@experiment.command()
def pregrasp(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and table.")],
    trials: Annotated[int, typer.Option(help="Of each object, world and variant.")] = 16,
    cluster: Cluster = None,
    check: Check = None,
    json: Json = False,
) -> None:
    """Slide nine objects to the edge and grasp them; the hammer also as the paper's rivals would.

    Example: pushwise experiment pregrasp -o results/pregrasp
    """
    from pushwise.experiments.pregrasp import run
    from pushwise.experiments.sweep import SweepOptions

    typer.echo(run(SweepOptions(output, cluster, check, json), trials=trials))


@experiment.command()
def real(
    data: Annotated[Path, typer.Argument(help="Folder with tables of real pushes.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for rows and table.")],
    pushes: Annotated[
        list[int] | None, typer.Option(help="Learn from so many; 0 for a fifth of a set.")
    ] = None,
    draws: Annotated[
        int, typer.Option(help="Choices of the pushes learned from: the first, then random.")
    ] = 3,
    only: Annotated[str, typer.Option(help="Only sets whose name contains this.")] = "",
    outline: Annotated[
        Path | None,
        typer.Option(
            help="JSON file of the object's corners, pairs x, y in metres in the tracked frame, or "
            "of its grid; for sets whose files state none."
        ),
    ] = None,
    radius: Annotated[
        float | None,
        typer.Option(help="Of the finger, in metres; for sets whose files state none."),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also learn without each addition to the model.")
    ] = False,
    json: Json = False,
) -> None:
    """Learn from real pushes of other laboratories and predict the rest, beside their own.

    Example: pushwise experiment real data/mit_push -o results/real --only window10_90 --pushes 10
    """
    from pushwise.experiments.real.experiment import COUNTS, RealOptions, run

    options = RealOptions(
        counts=tuple(pushes) if pushes else COUNTS,
        draws=draws,
        only=only,
        outline=outline,
        radius=radius,
        ablate=ablate,
        json=json,
    )
    typer.echo(run(data, output, options, lambda news: typer.echo(news.text, err=True)))
