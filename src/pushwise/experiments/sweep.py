"""Sweeps: thousands of settings, each a task of its own, on all cores or on a cluster.

An experiment is a list of settings and a function of one setting::

    def rows_of(setting: Row) -> list[Row]: ...           # at the top level of a module, pure

    settings = [{"object": name, "model": i} for name in objects.names for i in range(10)]
    conduct(rows_of, settings, folder, report, cluster=None, check=None, json=False)

A setting and a row are dicts of text, numbers, bools and None (`rows`); all settings have the same
names, all rows too, and a row need not repeat its setting. What a task returns may depend on its
setting alone, so seed everything random from it. Columns called ``seconds`` or ending in
``_seconds`` are clock times: the only ones that may differ from run to run.

Into `folder` go

- ``rows.csv``: the names of the setting, then those of the row, in the order of the settings,
  whatever the number and the order of the workers; numbers to the last digit.
- ``rows.stream`` while the sweep runs: a line as soon as a task ends. A sweep that was killed goes
  on from it; the half line that a kill may leave is dropped.
- ``failures.jsonl``: settings whose task failed twice, with the traceback. They do not stop the
  rest, and the next run tries them again.

Settings that are in ``rows.csv`` are not run again: ask for more settings and only those are run;
ask for fewer and the sweep is refused rather than results dropped. For a new start, take a new
folder.

`check` runs a random share of the settings again and compares every number to the last digit.
"""

from __future__ import annotations

import json as json_format
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.experiments.rows import Row, plain, read_rows, write_rows
from pushwise.experiments.workers import Task, key_of, outcomes, shown

__all__ = ["Report", "compare", "conduct", "sweep"]

Report = Callable[[list[Row], Path], str]
"""Writes tables and figures of all rows into a folder and returns the table, in Markdown."""


def conduct(
    task: Task,
    settings: Sequence[Row],
    folder: Path,
    report: Report,
    *,
    cluster: str | None = None,
    check: float | None = None,
    json: bool = False,
) -> str:
    """Run what is not done yet, report all of it, and return the table, or the rows as JSON.

    cluster: address of a Dask scheduler; without one, all cores of this machine. check: instead
    of running the rest, run this share of what is done again and compare.
    """
    if check is not None:
        return compare(task, settings, folder, share=check, cluster=cluster)
    rows, failed = sweep(task, settings, folder, cluster=cluster)
    table = report(rows, folder) if rows else ""
    if failed:
        raise PushwiseError(
            f"{failed} of {len(settings)} settings failed twice and are missing; "
            f"{folder / 'failures.jsonl'} tells why, and running again tries them again."
        )
    return json_format.dumps(rows) if json else table


def sweep(
    task: Task,
    settings: Sequence[Row],
    folder: Path,
    *,
    cluster: str | None = None,
    jobs: int = -1,
) -> tuple[list[Row], int]:
    """Run every setting that is not done yet; return all rows, and how many settings failed.

    jobs: processes on this machine, -1 for one a core.
    """
    wanted = _distinct(settings)
    folder.mkdir(parents=True, exist_ok=True)
    table, stream, failures = (
        folder / name for name in ("rows.csv", "rows.stream", "failures.jsonl")
    )
    done = _recorded(table, wanted) | _streamed(stream, wanted)
    failures.unlink(missing_ok=True)
    todo = [setting for key, setting in wanted.items() if key not in done]
    with stream.open("a", encoding="utf-8") as lines:
        for outcome in shown(outcomes(task, todo, cluster, jobs), len(todo), len(wanted)):
            if outcome.traceback:
                with failures.open("a", encoding="utf-8") as file:
                    file.write(json_format.dumps(outcome._asdict()) + "\n")
                continue
            done[key_of(outcome.setting)] = outcome.rows
            lines.write(json_format.dumps([outcome.setting, outcome.rows]) + "\n")
            lines.flush()
    rows = [{**wanted[key], **row} for key in wanted if key in done for row in done[key]]
    write_rows(table, rows)
    stream.unlink()
    return rows, len(wanted) - len(done)


def compare(
    task: Task,
    settings: Sequence[Row],
    folder: Path,
    *,
    share: float,
    seed: int = 0,
    cluster: str | None = None,
) -> str:
    """Run a random share of the settings in ``rows.csv`` again; return a sentence.

    Raises PushwiseError with the first number that differs in its last digit.
    """
    if not 0.0 < share <= 1.0:
        raise PushwiseError(f"the share to check must be above 0 and at most 1; got {share}.")
    table = folder / "rows.csv"
    wanted = _distinct(settings)
    done = _recorded(table, wanted)
    if not done:
        raise PushwiseError(f"{table} holds no results to check; run the experiment first.")
    keys = sorted(done)
    count = max(1, round(share * len(keys)))
    picked = np.random.default_rng(seed).choice(len(keys), count, replace=False)
    chosen = [wanted[keys[i]] for i in picked]
    numbers = 0
    for outcome in [*shown(outcomes(task, chosen, cluster, -1), count, count)]:
        if outcome.traceback:
            raise PushwiseError(f"{outcome.setting} failed when run again: {outcome.traceback}")
        before = done[key_of(outcome.setting)]
        if len(before) != len(outcome.rows):
            raise PushwiseError(
                f"{outcome.setting} gave {len(outcome.rows)} rows when run again; "
                f"{table} has {len(before)}."
            )
        for old, new in zip(before, outcome.rows, strict=True):
            for name in new.keys() | old.keys():
                if _is_clock(name):
                    continue
                numbers += 1
                if name not in old or name not in new or old[name] != new[name]:
                    raise PushwiseError(
                        f"{outcome.setting} gave {name} = {new.get(name)!r} when run again; "
                        f"{table} has {old.get(name)!r}."
                    )
    return (
        f"{count} of {len(keys)} settings run again: {numbers} values, "
        "all the same to the last digit."
    )


def _is_clock(name: str) -> bool:
    """Return whether a column holds clock times."""
    return name == "seconds" or name.endswith("_seconds")


def _distinct(settings: Sequence[Row]) -> dict[str, Row]:
    """Return settings by key; refuse a list that is empty, repeats itself or mixes names."""
    wanted = {key_of(setting): plain(setting) for setting in settings}
    if not settings or len(wanted) < len(settings):
        raise PushwiseError(
            f"a sweep needs settings that differ; {len(wanted)} of {len(settings)} do."
        )
    if any(setting.keys() != settings[0].keys() for setting in settings):
        raise PushwiseError("all settings of a sweep must have the same names.")
    return wanted


def _recorded(table: Path, wanted: dict[str, Row]) -> dict[str, list[Row]]:
    """Return the results that a table of an earlier run holds, by setting."""
    if not table.exists():
        return {}
    names = list(next(iter(wanted.values())))
    done: dict[str, list[Row]] = {}
    for row in read_rows(table):
        missing = [name for name in names if name not in row]
        if missing:
            raise PushwiseError(
                f"{table} has no column {missing[0]!r}: it is of another experiment or version; "
                "use another folder."
            )
        key = key_of({name: row.pop(name) for name in names})
        done.setdefault(key, []).append(row)
    _refuse_others(table, done, wanted)
    return done


def _streamed(stream: Path, wanted: dict[str, Row]) -> dict[str, list[Row]]:
    """Return the results of a run that was killed, and cut off the line it did not finish."""
    if not stream.exists():
        return {}
    content = stream.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with stream.open("r+b") as file:
            file.truncate(len(whole))
    done = {key_of(setting): rows for setting, rows in map(json_format.loads, whole.splitlines())}
    _refuse_others(stream, done, wanted)
    return done


def _refuse_others(path: Path, done: Iterable[str], wanted: dict[str, Row]) -> None:
    """Refuse results of settings that are not asked for."""
    others = [key for key in done if key not in wanted]
    if others:
        raise PushwiseError(
            f"{path} holds results of {len(others)} settings that are not asked for now, such as "
            f"{others[0]}; ask for these too, or use another folder."
        )
