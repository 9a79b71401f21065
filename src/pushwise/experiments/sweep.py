"""Sweeps: thousands of independent tasks, on all cores or on a cluster.

An experiment is a list of settings and a function that turns one setting into rows::

    def rows_of(setting: Row) -> list[Row]: ...           # at the top level of a module, pure

    settings = [{"object": name, "model": i} for name in objects.names for i in range(10)]
    conduct(rows_of, settings, report, SweepOptions(Path("results/new")))

A setting and a row are dicts of text, numbers, bools and None (see `rows`). All settings have the
same keys, and so do all rows; a row need not repeat its setting. A task may depend on its setting
alone, so seed everything random from it. Columns called ``seconds`` or ending in ``_seconds`` are
clock times, the only values that may differ from run to run.

A sweep writes into its folder:

- ``rows.csv``: the columns of the setting, then those of the row, in the order of the settings,
  regardless of the number and the order of the workers. Numbers are written in full precision.
- ``times.csv``: the processor time of each task, which shows how long other sweeps will take.
- ``rows.stream`` while the sweep runs: one line per finished task. A sweep that was killed resumes
  from it; an incomplete last line is dropped.
- ``failures.jsonl``: settings whose task failed twice, with the traceback. Failures do not stop the
  other tasks, and the next run tries them again.

Settings that are already in ``rows.csv`` are not run again. With more settings, only the new ones
are run; with fewer, the sweep is refused, so that no results are lost. To start afresh, use a new
folder.

`SweepOptions.check` runs a random share of the settings again and compares every value. Numbers may
differ by `SAME`, since last digits may vary between machines; the largest difference is reported.
An iterative method can amplify such a digit beyond that: compare then with rows that the earlier
version gives on the same machine.
"""

from __future__ import annotations

import json as json_format
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pushwise.atomic_write import make_folder
from pushwise.errors import PushwiseError, WriteError
from pushwise.experiments.rows import Row, Value, plain, read_rows, write_rows
from pushwise.experiments.workers import (
    Task,
    TaskResult,
    key_of,
    require_workers,
    results,
    shown,
)
from pushwise.locking import exclusive

__all__ = ["Report", "SweepOptions", "check_counts", "compare", "conduct", "sweep"]

SAME = 1e-9  # relative difference of numbers that count as equal
Report = Callable[[list[Row], Path], str]
"""Writes the tables and figures of all rows into a folder and returns the table, in Markdown."""


@dataclass(frozen=True)
class SweepOptions:
    """Where an experiment writes its results, where it runs, and what it returns."""

    output: Path
    """Folder for rows, tables and figures."""
    cluster: str | None = None
    """Address of a Dask scheduler; None for all cores of this machine."""
    check: float | None = None
    """Share of the finished settings to run again and compare, instead of running the rest."""
    json: bool = False
    """Return the rows as JSON instead of the table."""


def check_counts(**counts: int) -> None:
    """Raise PushwiseError if one of the named numbers of trials is below 1."""
    for name, count in counts.items():
        if count < 1:
            raise PushwiseError(f"{name} must be at least 1; got {count}.")


def conduct(task: Task, settings: Sequence[Row], report: Report, options: SweepOptions) -> str:
    """Run the settings that are not done yet and report on all of them.

    Returns:
        The table, or the rows as JSON; with `options.check`, the result of the comparison.

    """
    folder = options.output
    if options.check is not None:
        return compare(task, settings, folder, share=options.check, cluster=options.cluster)
    rows, failed = sweep(task, settings, folder, cluster=options.cluster)
    table = report(rows, folder) if rows else ""
    if failed:
        raise PushwiseError(
            f"{failed} of {len(settings)} settings failed twice and are missing; see "
            f"{folder / 'failures.jsonl'} for the reasons. Run the same command to try them again."
        )
    return json_format.dumps(rows) if options.json else table


def sweep(
    task: Task,
    settings: Sequence[Row],
    folder: Path,
    *,
    cluster: str | None = None,
    jobs: int = -1,
) -> tuple[list[Row], int]:
    """Run every setting that is not done yet.

    Args:
        task: Turns a setting into rows.
        settings: All settings, done or not.
        folder: Where the results are and go.
        cluster: Address of a Dask scheduler; None for this machine.
        jobs: Number of processes on this machine; -1 for one per core.

    Returns:
        All rows, and how many settings failed.

    """
    require_workers(cluster)
    wanted = _distinct(settings)
    make_folder(folder)
    with exclusive(folder):
        return _swept(wanted, folder, lambda todo: results(task, todo, cluster, jobs))


def _swept(
    wanted: dict[str, Row], folder: Path, run: Callable[[list[Row]], Iterator[TaskResult]]
) -> tuple[list[Row], int]:
    """Run the settings that are not done yet in a folder that is locked; see `sweep`."""
    table, clock, stream, failures = (
        folder / name for name in ("rows.csv", "times.csv", "rows.stream", "failures.jsonl")
    )
    done, times = _recorded(table, wanted), _recorded(clock, wanted)
    for setting, rows, seconds in _streamed(stream, wanted):
        done[key_of(setting)], times[key_of(setting)] = rows, [{"seconds": seconds}]
    todo = [setting for key, setting in wanted.items() if key not in done]
    failures.unlink(missing_ok=True)
    for result in shown(run(todo), len(todo), len(wanted)):
        if result.traceback:
            _append(failures, result._asdict())
        else:
            _append(stream, [result.setting, result.rows, result.seconds])
            key = key_of(result.setting)
            done[key], times[key] = result.rows, [{"seconds": result.seconds}]
    rows = _joined(wanted, done)
    write_rows(clock, _joined(wanted, times))
    write_rows(table, rows)
    stream.unlink(missing_ok=True)
    return rows, len(wanted) - len(done)


def _joined(wanted: dict[str, Row], done: dict[str, list[Row]]) -> list[Row]:
    """Return rows with the columns of their settings, in the order of the settings."""
    return [{**wanted[key], **row} for key in wanted if key in done for row in done[key]]


def _append(path: Path, value: object) -> None:
    """Append a line of JSON to a file."""
    try:
        with path.open("a", encoding="utf-8") as lines:
            lines.write(json_format.dumps(value) + "\n")
    except OSError as error:
        raise WriteError(
            f"cannot write {path} ({error.strerror}); the results written before are kept: run the "
            "same command again to resume."
        ) from None


def compare(
    task: Task,
    settings: Sequence[Row],
    folder: Path,
    *,
    share: float,
    seed: int = 0,
    cluster: str | None = None,
) -> str:
    """Run a random share of the settings in ``rows.csv`` again.

    Returns:
        A sentence that says how many values were compared, and how much they differ.

    Raises:
        PushwiseError: A value differs, a number by more than `SAME`.

    """
    if not 0.0 < share <= 1.0:
        raise PushwiseError(f"the share to check must be above 0 and at most 1; got {share}.")
    require_workers(cluster)
    table = folder / "rows.csv"
    wanted = _distinct(settings)
    done = _recorded(table, wanted)
    if not done:
        raise PushwiseError(f"{table} holds no results to check; run the experiment first.")
    keys = sorted(done)
    count = max(1, round(share * len(keys)))
    picked = np.random.default_rng(seed).choice(len(keys), count, replace=False)
    chosen = [wanted[keys[i]] for i in picked]
    values = 0
    largest = 0.0
    for result in [*shown(results(task, chosen, cluster, -1), count, count)]:
        if result.traceback:
            raise PushwiseError(f"{result.setting} failed when run again: {result.traceback}")
        before = done[key_of(result.setting)]
        if len(before) != len(result.rows):
            raise PushwiseError(
                f"{result.setting} gave {len(result.rows)} rows when run again; "
                f"{table} has {len(before)}."
            )
        for old, new in zip(before, result.rows, strict=True):
            for name in sorted(new.keys() | old.keys()):
                if _is_clock(name):
                    continue
                values += 1
                difference = _difference(old.get(name, "missing"), new.get(name, "missing"))
                if difference > SAME:
                    raise PushwiseError(
                        f"{result.setting} gave {name} = {new.get(name)!r} when run again; "
                        f"{table} has {old.get(name)!r}."
                    )
                largest = max(largest, difference)
    same = f"equal to within {largest:.1g}" if largest > 0.0 else "all the same to the last digit"
    return f"{count} of {len(keys)} settings run again: {values} values, {same}."


def _difference(old: Value, new: Value) -> float:
    """Return the relative difference of two numbers; of other values 0 or infinity."""
    if old == new:
        return 0.0
    if not isinstance(old, float) or not isinstance(new, float):
        return math.inf
    return abs(old - new) / max(abs(old), abs(new))


def _is_clock(name: str) -> bool:
    """Return whether a column holds clock times, which may differ between runs."""
    return name == "seconds" or name.endswith("_seconds")


def _distinct(settings: Sequence[Row]) -> dict[str, Row]:
    """Return settings by key; raise if there are none, some are equal, or their keys differ."""
    wanted = {key_of(setting): plain(setting) for setting in settings}
    if not settings:
        raise PushwiseError("a sweep needs at least one setting.")
    if len(wanted) < len(settings):
        raise PushwiseError(
            f"the settings of a sweep must all differ; {len(wanted)} of {len(settings)} do."
        )
    if any(setting.keys() != settings[0].keys() for setting in settings):
        raise PushwiseError("all settings of a sweep must have the same keys.")
    return wanted


def _recorded(table: Path, wanted: dict[str, Row]) -> dict[str, list[Row]]:
    """Return the results of an earlier run from its table, by setting."""
    if not table.exists():
        return {}
    names = list(next(iter(wanted.values())))
    done: dict[str, list[Row]] = {}
    for row in read_rows(table):
        missing = [name for name in names if name not in row]
        if missing:
            raise PushwiseError(
                f"{table} has no column {missing[0]!r}: it belongs to another experiment or "
                "version; use another folder."
            )
        key = key_of({name: row.pop(name) for name in names})
        done.setdefault(key, []).append(row)
    _refuse_others(table, done, wanted)
    return done


def _streamed(stream: Path, wanted: dict[str, Row]) -> list[tuple[Row, list[Row], float]]:
    """Return setting, rows and seconds of what a killed run did; drop its incomplete last line."""
    if not stream.exists():
        return []
    content = stream.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with stream.open("r+b") as file:
            file.truncate(len(whole))
    try:
        lines = map(json_format.loads, whole.splitlines())
        done = [(setting, rows, seconds) for setting, rows, seconds in lines]
    except (ValueError, TypeError):
        raise PushwiseError(
            f"{stream} is damaged; remove it to run the settings in it again."
        ) from None
    _refuse_others(stream, [key_of(setting) for setting, _, _ in done], wanted)
    return done


def _refuse_others(path: Path, done: Iterable[str], wanted: dict[str, Row]) -> None:
    """Raise PushwiseError if there are results of settings outside this sweep."""
    others = [key for key in done if key not in wanted]
    if others:
        raise PushwiseError(
            f"{path} holds results of {len(others)} settings that are not part of this sweep, "
            f"such as {others[0]}; include these too, or use another folder."
        )
