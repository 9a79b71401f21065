"""What a sweep costs beside its tasks: 1,000 tasks of 10 ms on two workers.

    python -m pushwise.experiments.sweep_speed

The tasks sleep, so that the table tells what handing out, streaming and collecting cost, and not
what else the machine is doing. Starting the workers is not counted.
"""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import sweep

__all__ = ["main", "nap"]

_TASK = 0.01  # s
_WORKERS = 2


def nap(setting: Row) -> list[Row]:
    """Sleep."""
    time.sleep(_TASK)
    return [{"awake": True}]


def main(
    tasks: Annotated[int, typer.Option(help="How many tasks.")] = 1000,
) -> None:
    """Print the time of a sweep on processes and on a Dask cluster, over that of its tasks."""
    from distributed import LocalCluster

    ideal = tasks * _TASK / _WORKERS
    lines = ["| workers | seconds | over the tasks alone | wanted |", "|---|---|---|---|"]
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=_WORKERS, threads_per_worker=1, dashboard_address=None
    ) as local:
        for name, address in (
            ("2 processes", None),
            ("Dask, 2 workers", local.scheduler_address),
        ):
            _timed(2 * _WORKERS, address)
            seconds = _timed(tasks, address)
            over = seconds / ideal - 1.0
            lines.append(f"| {name} | {seconds:.2f} | {over:.0%} | at most 30 % |")
    typer.echo(f"{tasks} tasks of {_TASK * 1e3:.0f} ms, {ideal:.2f} s on {_WORKERS} workers.\n")
    typer.echo("\n".join(lines))


def _timed(tasks: int, cluster: str | None) -> float:
    """Return how long a sweep takes [s]."""
    with TemporaryDirectory() as folder:
        begin = time.perf_counter()
        sweep(
            nap, [{"task": i} for i in range(tasks)], Path(folder), cluster=cluster, jobs=_WORKERS
        )
        return time.perf_counter() - begin


if __name__ == "__main__":
    # Workers find the task under its module's name, which is not __main__.
    from pushwise.experiments.sweep_speed import main as run

    typer.run(run)
