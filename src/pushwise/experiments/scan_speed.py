"""Time and memory from a cloud of a million points to a grid.

    python -m pushwise.experiments.scan_speed

The peak of memory is that of the whole process: the interpreter, the libraries, the making
of the cloud and the cloud itself are in it.
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Annotated

import numpy as np
import typer

from pushwise.objects import Camera, load
from pushwise.shape.scan import Scan

__all__ = ["main"]


def main(
    points: Annotated[int, typer.Option(help="How many points the cloud has.")] = 1_000_000,
    runs: Annotated[int, typer.Option(help="How many times it is scanned.")] = 5,
    name: Annotated[str, typer.Option(help="Which object is in it.")] = "hammer",
) -> None:
    """Print the time of each scan and the peak of memory."""
    columns = round((points * 4 / 3) ** 0.5)
    rows = -(-points // columns)
    camera = Camera(np.deg2rad(20.0), columns=columns, rows=rows, focal=columns * 615.0 / 640.0)
    thing = load(name)
    rng = np.random.default_rng(0)
    cloud = thing.points(rng, outliers=0.05, camera=camera)[:points]
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        scan = Scan.from_points(cloud)
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (1024.0**2 if sys.platform == "darwin" else 1024.0)
    typer.echo(f"{len(cloud)} points -> {scan.grid!r}")
    typer.echo(f"time    {min(times):.2f} s at best, {max(times):.2f} s at worst of {runs}")
    typer.echo(f"memory  {megabytes:.0f} MB at its peak")


if __name__ == "__main__":
    typer.run(main)
