"""`pushwise experiment real`: learn from a few real pushes and predict the others.

The pushes were recorded by other laboratories. From k pushes of a set (start and end pose, path of
the finger), or from the first k pieces of a long push, the load, the friction of the finger and the
errors of the set-up are learned. All other pushes are predicted from their starting poses. Where
the files state the centre of mass, the load is centred there; so is that of known feet. The
evidence decides how uneven the load may be. From few pushes, the result is the mean of such a load
and of all triples of feet that explain the pushes.

The same pushes are predicted with a uniform load, with the known feet of objects that stand on
some, and by the models that others published.
"""

from __future__ import annotations

import json as json_format
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pushwise.atomic_write import make_folder, write_text
from pushwise.checks import counted
from pushwise.errors import PushwiseError
from pushwise.experiments.real.data import RealSet, real_sets
from pushwise.experiments.real.forces import forces_table
from pushwise.experiments.real.learning import Score, compare, fifth_of, variants
from pushwise.experiments.real.recordings import Recorded
from pushwise.experiments.real.report import (
    draw_curves,
    impossible_note,
    recordings_table,
    repeats_table,
    scores_table,
)
from pushwise.experiments.real.stated import given
from pushwise.experiments.rows import load_rows, merge_rows
from pushwise.experiments.sweep import check_counts
from pushwise.progress import OnProgress, Progress

__all__ = ["COUNTS", "RealOptions", "counts_of", "run"]

COUNTS = (5, 10, 20, 30, 0)  # pushes to learn from; 0 stands for a fifth of a set


@dataclass(frozen=True)
class RealOptions:
    """What to learn from, and what to return."""

    counts: Sequence[int] = COUNTS
    """Numbers of pushes to learn from; 0 for a fifth of a set."""
    draws: int = 3
    """Number of choices of these pushes: the first ones, then random ones."""
    only: str = ""
    """Text that the name of a set must contain."""
    outline: Path | None = None
    """File with the outline of objects whose files state none; see `given`."""
    radius: float | None = None
    """Radius of the finger [m] for sets whose files state none."""
    ablate: bool = False
    """Also learn with simpler models; see `compare`."""
    json: bool = False
    """Return the rows as JSON instead of the table."""


def run(
    folder: Path,
    output: Path,
    options: RealOptions,
    progress: OnProgress = lambda _: None,
) -> str:
    """Learn and predict all sets below a folder.

    Rows of other sets that `output` holds from earlier runs are kept.

    Args:
        folder: Where the tables of real pushes are.
        output: Where to write rows, tables and figures.
        options: What to learn from, and what to return.
        progress: Called after each choice of pushes, and for each set that is skipped.

    Returns:
        The table, or the rows as JSON.

    """
    check_counts(draws=options.draws)
    if (least := min(options.counts, default=0)) < 0:
        raise PushwiseError(f"a number of pushes must be zero or more; got {least}.")
    otherwise = given(options.outline, options.radius)
    every = real_sets(folder, otherwise, progress)
    sets = [data for data in every if options.only in data.name]
    if not sets:
        raise PushwiseError(f"no set below {folder} has {options.only!r} in its name.")
    make_folder(output)
    path = output / "rows.csv"
    rows = load_rows(path, Score)
    done = {(row.set, row.pushes, row.draw, row.method) for row in rows}
    for data in sets:
        # Rows of a run without `ablate` lack the methods that it adds.
        if not counts_of(data, options.counts):
            held = counted(len(data.records), "push", "pushes")
            progress(Progress("learn", f"left out: {data.name} has only {held}"))
        methods = ["identified", *(variants(data) if options.ablate else ())]
        for pushes in counts_of(data, options.counts):
            for draw in range(options.draws if data.recorded is None else 1):
                if all((data.name, pushes, draw, method) in done for method in methods):
                    continue
                new = list(compare(data, pushes, draw, ablate=options.ablate))
                rows = merge_rows(path, new, Score, "set", "pushes", "draw")
                news = f"{data.name}, {pushes} pushes: {new[0].mm:.2f} mm, {new[0].deg:.2f} deg"
                progress(Progress("learn", news))
    cut = [data.recorded for data in every if data.recorded is not None]
    recorded = merge_rows(output / "recordings.csv", cut, Recorded, "set")
    long = {one.set for one in recorded}
    parts = [
        scores_table([row for row in rows if row.set not in long]),
        recordings_table(recorded, rows),
        impossible_note(rows),
        repeats_table(every, output),
        forces_table(folder, output, otherwise, progress),
    ]
    table = "\n".join(part for part in parts if part)
    write_text(output / "table.md", table)
    if rows:
        draw_curves(rows, output / "curves.png")
    return json_format.dumps([asdict(row) for row in rows]) if options.json else table


def counts_of(data: RealSet, counts: Sequence[int]) -> list[int]:
    """Return from how many pushes of a set to learn; 0 stands for a fifth of them."""
    resolved = {k or fifth_of(data) for k in counts}
    return sorted(k for k in resolved if 0 < k < len(data.records))
