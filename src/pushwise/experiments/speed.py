"""Time two things that `pushwise bench` does not: a large scan, and the overhead of a sweep.

python -m pushwise.experiments.speed scan
python -m pushwise.experiments.speed sweep
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
import typer

from pushwise.experiments.rows import Row
from pushwise.experiments.sweep import sweep as run_sweep
from pushwise.extras import require
from pushwise.objects import Camera, load
from pushwise.shape.scan import Scan

__all__ = ["app", "nap"]

app = typer.Typer(help="Time a large scan, or the overhead of a sweep.")

_TASK = 0.01  # s
_WORKERS = 2


@app.command()
def scan(
    points: Annotated[int, typer.Option(help="Number of points.")] = 1_000_000,
    runs: Annotated[int, typer.Option(help="Number of scans.")] = 5,
    name: Annotated[str, typer.Option(help="Object in the cloud.")] = "hammer",
) -> None:
    """Time the way from a point cloud to a grid, and print the peak memory.

    The peak is that of the whole process: interpreter, libraries, and the making of the cloud.
    """
    import resource  # not on Windows

    columns = round((points * 4 / 3) ** 0.5)
    rows = -(-points // columns)
    camera = Camera(np.deg2rad(20.0), columns=columns, rows=rows, focal=columns * 615.0 / 640.0)
    thing = load(name)
    rng = np.random.default_rng(0)
    cloud = thing.points(rng, outliers=0.05, camera=camera)[:points]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        found = Scan.from_points(cloud)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
    typer.echo(f"{len(cloud)} points -> {found.grid!r}")
    typer.echo(f"time    {min(times):.2f} s (best) to {max(times):.2f} s (worst of {runs})")
    typer.echo(f"memory  {megabytes:.0f} MB at its peak")


@app.command()
def sweep(tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 1000) -> None:
    """Time a sweep on two processes and on a Dask cluster with two workers.

    The tasks sleep for 10 ms, so that the table shows the cost of distributing, streaming and
    collecting them, and not what else the machine is doing. Starting the workers is not counted.
    """
    require("distributed", extra="cluster", purpose="this comparison")
    from distributed import LocalCluster

    ideal = tasks * _TASK / _WORKERS
    lines = ["| workers | seconds | over the tasks alone | target |", "|---|---|---|---|"]
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


def nap(setting: Row) -> list[Row]:
    """Sleep: the task of the sweep."""
    time.sleep(_TASK)
    return [{"awake": True}]


def _timed(tasks: int, cluster: str | None) -> float:
    """Return the time of a sweep [s]."""
    settings: list[Row] = [{"task": i} for i in range(tasks)]
    with TemporaryDirectory() as folder:
        begin = time.perf_counter()
        run_sweep(nap, settings, Path(folder), cluster=cluster, jobs=_WORKERS)
        return time.perf_counter() - begin


if __name__ == "__main__":
    # Workers find the task by the name of its module, which must not be __main__.
    from pushwise.experiments.speed import app as command

    command()
