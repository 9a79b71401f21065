"""Where the tasks of a sweep run: processes on this machine, or the workers of a Dask cluster.

Both go through joblib, so that a task neither knows nor cares.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import ThreadpoolController

from pushwise.errors import PushwiseError
from pushwise.experiments.rows import Row, plain

__all__ = ["Outcome", "Task", "key_of", "outcomes", "shown"]

Task = Callable[[Row], list[Row]]
"""From a setting to its rows."""


class Outcome(NamedTuple):
    """What became of one setting."""

    setting: Row
    rows: list[Row]
    traceback: str  # empty when all went well


def key_of(setting: Row) -> str:
    """Return text that is the same for equal settings."""
    return json.dumps(setting, sort_keys=True)


def outcomes(
    task: Task, settings: Sequence[Row], cluster: str | None, jobs: int
) -> Iterator[Outcome]:
    """Yield what becomes of each setting as it ends, in any order."""
    left = {key_of(setting): setting for setting in settings}
    while left:
        calls = [delayed(_attempt)(task, setting) for setting in left.values()]
        try:
            with _workers(cluster, jobs):
                for outcome in Parallel(return_as="generator_unordered")(calls):
                    del left[key_of(outcome.setting)]
                    yield outcome
        except _WorkersDied as error:
            # Go on with what is left, unless dying is all that ever happens.
            if len(left) == len(calls):
                raise PushwiseError(
                    f"workers die (out of memory?) before any of the {len(left)} settings left is "
                    f"done ({error}); the first is {next(iter(left))}."
                ) from None


class _WorkersDied(Exception):
    """A task's worker was killed from outside."""


@contextmanager
def _workers(cluster: str | None, jobs: int) -> Iterator[None]:
    """Let joblib use processes on this machine, or the cluster with a scheduler at an address."""
    if cluster is None:
        try:
            with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
                yield
        except BrokenProcessPool:
            raise _WorkersDied("a process was killed") from None
        return
    try:
        from pushwise.experiments.cluster import KilledWorker, dask_workers
    except ModuleNotFoundError:
        raise PushwiseError(
            "running on a cluster needs Dask; pip install 'pushwise[cluster]'."
        ) from None
    try:
        with dask_workers(cluster):
            yield
    except KilledWorker as error:
        raise _WorkersDied(str(error)) from None


@cache
def _pools(modules: int) -> ThreadpoolController:
    """Return this process's thread pools, looked for again when modules were loaded since.

    Looking takes a millisecond, too much for each task.
    """
    return ThreadpoolController()


def _attempt(task: Task, setting: Row) -> Outcome:
    """Run one task on a worker; when it fails, once more."""
    for last in (False, True):
        try:
            # The number of threads changes the order of sums, and with it their last digits.
            with _pools(len(sys.modules)).limit(limits=1):
                return Outcome(setting, [plain(row) for row in task(setting)], "")
        except Exception:
            if last:
                return Outcome(setting, [], traceback.format_exc())
    raise AssertionError("unreachable")


def shown(outcomes: Iterator[Outcome], todo: int, of: int) -> Iterator[Outcome]:
    """Pass outcomes on and show on stderr how many are done and how long the rest will take."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"{todo} of {of} settings to do", total=todo)
        for outcome in outcomes:
            progress.advance(bar)
            yield outcome
