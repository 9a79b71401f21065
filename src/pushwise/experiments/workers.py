"""Where the tasks of a sweep run: processes on this machine, or the workers of a Dask cluster.

Both run through joblib, which comes with the extra ``experiments``, so that a task need not know
which.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import process_time
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pushwise.errors import PushwiseError
from pushwise.experiments.rows import Row, plain
from pushwise.extras import require
from pushwise.threads import one_thread

__all__ = ["Task", "TaskResult", "key_of", "require_workers", "results", "shown"]

Task = Callable[[Row], list[Row]]
"""Turns a setting into its rows."""


class TaskResult(NamedTuple):
    """The rows of one setting, or why there are none."""

    setting: Row
    rows: list[Row]
    traceback: str
    """Empty if the task succeeded."""
    seconds: float
    """Processor time of the task."""


def key_of(setting: Row) -> str:
    """Return text that is the same for equal settings."""
    return json.dumps(setting, sort_keys=True)


def require_workers(cluster: str | None) -> None:
    """Raise PushwiseError if a package is missing that running tasks needs."""
    require("joblib", extra="experiments", purpose="this experiment")
    if cluster is not None:
        for module in ("dask", "distributed"):
            require(module, extra="cluster", purpose="running on a cluster")


def results(
    task: Task, settings: Sequence[Row], cluster: str | None, jobs: int
) -> Iterator[TaskResult]:
    """Yield the result of each setting as soon as it is there, in any order."""
    from joblib import Parallel, delayed

    left = {key_of(setting): setting for setting in settings}
    while left:
        calls = [delayed(_attempt)(task, setting) for setting in left.values()]
        try:
            with _workers(cluster, jobs):
                for result in Parallel(return_as="generator_unordered")(calls):
                    del left[key_of(result.setting)]
                    yield result
        except _WorkersDied as error:
            # Continue with the rest, unless no task finished before the workers died.
            if len(left) == len(calls):
                raise PushwiseError(
                    f"workers die (out of memory?) before any of the {len(left)} remaining "
                    f"settings is done ({error}); the first is {next(iter(left))}."
                ) from None


class _WorkersDied(Exception):
    """The worker of a task was killed from outside."""


@contextmanager
def _workers(cluster: str | None, jobs: int) -> Iterator[None]:
    """Let joblib use processes on this machine, or the cluster of the scheduler at an address."""
    if cluster is None:
        from joblib import parallel_config
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
                yield
        except BrokenProcessPool:
            raise _WorkersDied("a process was killed") from None
        return
    from pushwise.experiments.cluster import KilledWorker, dask_workers

    try:
        with dask_workers(cluster):
            yield
    except KilledWorker as error:
        raise _WorkersDied(str(error)) from None


def _attempt(task: Task, setting: Row) -> TaskResult:
    """Run one task on a worker; if it fails, run it once more."""
    begun = process_time()
    for last in (False, True):
        try:
            with one_thread():
                rows = [plain(row) for row in task(setting)]
            return TaskResult(setting, rows, "", process_time() - begun)
        except Exception:  # whatever goes wrong in one task must not stop the other thousands
            if last:
                return TaskResult(setting, [], traceback.format_exc(), process_time() - begun)
    raise AssertionError("unreachable")


def shown(results: Iterator[TaskResult], todo: int, total: int) -> Iterator[TaskResult]:
    """Pass results on, and show on stderr how many are done and how long the rest will take."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"{todo} of {total} settings to do", total=todo)
        for result in results:
            progress.advance(bar)
            yield result
