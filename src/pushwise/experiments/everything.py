"""`pushwise experiment all`: all but referee, soak, real and scenes, and how long they take.

Each goes into a folder of its own, resumes as it does alone, and uses the same cluster. How long
all of it would take on other numbers of workers follows from the processor time of each task.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.experiments import (
    among,
    exploration,
    heatmaps,
    identification,
    planning,
    pregrasp,
    pusht,
    reach,
    samples,
    stability,
)
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import numbers, read_rows
from pushwise.experiments.sweep import SweepOptions
from pushwise.progress import OnProgress, Progress

__all__ = ["EXPERIMENTS", "makespan", "run", "times_table"]

EXPERIMENTS: dict[str, Callable[[SweepOptions], str]] = {
    "stability": stability.run,
    "heatmaps": heatmaps.run,
    "pusht": pusht.run,
    "among": among.run,
    "reach": reach.run,
    "exploration": exploration.run,
    "pregrasp": pregrasp.run,
    "planning": planning.run,
    "samples": samples.run,
    "identification": identification.run,
}
"""All experiments that are sweeps, the shorter ones first."""
_WORKERS = (2, 8, 64)


def run(options: SweepOptions, progress: OnProgress) -> str:
    """Run all experiments, each in the folder of its name, and return the table of their times.

    Args:
        options: Where to run them, and the folder above theirs; with `json`, the rows of all are
            returned, and with `check` what the comparisons say.
        progress: Called as each begins.

    Raises:
        PushwiseError: Some experiments failed, after the others were run.

    """
    said: dict[str, str] = {}
    failed: dict[str, PushwiseError] = {}
    for number, (name, experiment) in enumerate(EXPERIMENTS.items(), start=1):
        progress(Progress("experiment", name, number, len(EXPERIMENTS)))
        try:
            said[name] = experiment(replace(options, output=options.output / name))
        except PushwiseError as error:
            failed[name] = error
    table = times_table(options.output)
    if options.check is None and said:
        write_text(options.output / "times.md", table + "\n")
    if failed:
        raise PushwiseError(" ".join(f"{name}: {error}" for name, error in failed.items()))
    if options.check is not None:
        return "\n".join(f"{name}: {text}" for name, text in said.items())
    if options.json:
        return "{" + ", ".join(f'"{name}": {rows}' for name, rows in said.items()) + "}"
    return table


def times_table(folder: Path) -> str:
    """Return a table of how long the experiments in a folder take on some numbers of workers."""
    lines: list[tuple[object, ...]] = []
    total = dict.fromkeys(_WORKERS, 0.0)
    for name in EXPERIMENTS:
        # A sweep begins when the one before it has ended.
        sweeps = [
            [float(x) for x in numbers(read_rows(file), "seconds")]
            for file in sorted((folder / name).rglob("times.csv"))
        ]
        hours = {n: sum(makespan(sweep, n) for sweep in sweeps) / 3600.0 for n in _WORKERS}
        tasks = [seconds for sweep in sweeps for seconds in sweep]
        total = {n: total[n] + hours[n] for n in _WORKERS}
        longest = f"{max(tasks, default=0.0):.0f}"
        lines.append((name, len(tasks), longest, *(f"{x:.2f}" for x in hours.values())))
    lines.append(("all", "", "", *(f"{x:.2f}" for x in total.values())))
    columns = ("experiment", "tasks", "longest task [s]", *(f"{n} workers [h]" for n in _WORKERS))
    return (
        "Hours that all experiments take, from the processor time of each task as it was measured: "
        "tasks go to the next free worker in the order of the settings, and nothing else takes "
        f"time.\n\n{markdown(columns, lines)}"
    )


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Return when the last task ends if each goes to the worker that is free first [s]."""
    free = [0.0] * workers
    for task in seconds:
        heapq.heapreplace(free, free[0] + task)
    return max(free)
