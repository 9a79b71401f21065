"""`pushwise experiment soak`: slides, identifications and controls at random, for a stated time.

Each case draws an object, its mass and friction, and all else from its own seed. What counts is
that nothing goes wrong, not that every goal is reached: an exception other than `PushwiseError`, a
case that takes more than a minute of processor time, memory that grows, files that stay open.

Memory is that of the whole process after a case. It grows while kernels are loaded and caches
fill, so that growth is measured from the end of the first sixth of the time, as the median of the
last quarter of the cases over that of the first quarter.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import numpy as np

from pushwise import objects
from pushwise.atomic_write import make_folder, write_text
from pushwise.checks import positive_number
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import Row, numbers, where, write_rows
from pushwise.identification.belief import Belief
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.locking import exclusive
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.planning.options import PlanOptions
from pushwise.progress import OnProgress, Progress
from pushwise.sliding.controller import PushController
from pushwise.sliding.drive import drive
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.random_push import draw_push
from pushwise.sliding.run_folder import RunFolder, load_run
from pushwise.sliding.slide import slide
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.random_scene import CAMERA, random_pose, random_world

__all__ = ["SoakOptions", "run"]

_TABLE = Table()
_SLOW = 60.0  # s of processor time that no case may take
_WARM = 1 / 6  # of the time, after which memory must not grow
_DRIVEN = 60.0  # s of the world that a control may take


@dataclass(frozen=True)
class SoakOptions:
    """What to do for how long."""

    output: Path
    """Folder for the rows and the table."""
    minutes: float = 60.0
    """How long it takes [min]."""
    seed: int = 0
    """Random seed; case k depends on it and on k alone."""
    json: bool = False
    """Return the rows as JSON instead of the table."""


def run(options: SoakOptions, progress: OnProgress) -> str:
    """Run cases for as long as asked; return the table, or the rows as JSON.

    The rows are written after each case, so that a soak that is stopped keeps them.
    """
    seconds = 60.0 * positive_number("minutes", options.minutes)
    make_folder(options.output)
    rows: list[Row] = []
    with exclusive(options.output), tempfile.TemporaryDirectory() as scratch:
        begin = time.monotonic()
        while time.monotonic() - begin < seconds:
            rows.append(_case(options.seed, len(rows), Path(scratch)))
            rows[-1]["at_seconds"] = time.monotonic() - begin
            write_rows(options.output / "rows.csv", rows)
            text = f"case {len(rows)}, {rows[-1]['kind']} {rows[-1]['object']}: {rows[-1]['end']}"
            progress(Progress("soak", text, len(rows)))
        table = _table(rows)
        write_text(options.output / "table.md", table + "\n")
    return dumps(rows) if options.json else table


def _case(seed: int, number: int, scratch: Path) -> Row:
    """Run case k and return its row; scratch: a folder for files of its own."""
    rng = np.random.default_rng([seed, number, 23])
    kind = str(rng.choice([*_KINDS]))
    name = str(rng.choice(objects.all_names))
    begin, spent = time.perf_counter(), time.process_time()
    failure = None
    try:
        end = _KINDS[kind](name, rng, scratch / str(number))
    except PushwiseError as error:
        end = f"refused: {error}"
    except Exception:  # what a soak is for
        end, failure = "exception", traceback.format_exc()
    return {
        "case": number,
        "kind": kind,
        "object": name,
        "end": end,
        "exception": failure,
        "cpu_seconds": time.process_time() - spent,
        "seconds": time.perf_counter() - begin,
        "memory_mb": _memory(),
        "open_files": _open_files(),
    }


def _slide(name: str, rng: np.random.Generator, folder: Path) -> str:
    """Slide an object to the edge in a random world, with the run in files."""
    seed = int(rng.integers(2**31))
    kind = str(rng.choice(["ideal", "mujoco"]))
    world = random_world(name, _TABLE, world=kind, seed=seed)
    done = slide(
        world,
        _TABLE,
        options=SlideOptions(plan=PlanOptions(seed=seed)),
        journal=RunFolder(folder, {"object": name, "world": kind}),
    )
    if load_run(folder).verdict != done.verdict:
        raise AssertionError("the run read back has another verdict")
    return done.verdict


def _identify(name: str, rng: np.random.Generator, folder: Path) -> str:
    """Identify an object from two to six random pushes."""
    thing = objects.load(name).sample(rng)
    world = Ideal(thing, _TABLE, sensing=CAMERA, seed=int(rng.integers(2**31)))
    records = []
    for _ in range(int(rng.integers(2, 7))):
        world.reset(int(rng.integers(2**31)))
        push = draw_push(rng, thing.grid, world.observe().pose, _TABLE, Finger())
        records.append(world.push(push))
    found = identify(thing.grid, records, search=SearchOptions(seed=int(rng.integers(2**31))))
    if not np.isfinite(found.model.mass).all():
        raise AssertionError("a mass is not finite")
    return f"identified from {len(records)} pushes"


def _control(name: str, rng: np.random.Generator, folder: Path) -> str:
    """Drive an object that is known to a random pose."""
    thing = objects.load(name).sample(rng)
    start, goal = (random_pose(rng, thing.outline, _TABLE) for _ in range(2))
    seed = int(rng.integers(2**31))
    world = Ideal(thing, _TABLE, pose=start, sensing=CAMERA, seed=seed)
    controller = PushController(Belief.certain(thing.model), _TABLE)
    return str(drive(world, controller, goal, time_limit=_DRIVEN, noise=world.noise).end)


_KINDS: dict[str, Callable[[str, np.random.Generator, Path], str]] = {
    "slide": _slide,
    "identify": _identify,
    "control": _control,
}


def _memory() -> float:
    """Return the memory of this process [MB]: now on Linux, at its peak elsewhere."""
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(_system_text(pages).split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


def _system_text(path: Path) -> str:
    """Return the content of a file of the system, which has no size."""
    from pushwise.documents import read_text

    return read_text(path)


def _open_files() -> int | None:
    """Return how many files this process has open; None where that cannot be seen."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else None


def _table(rows: list[Row]) -> str:
    """Return what happened as tables."""
    lines = []
    for kind in (*_KINDS, "all"):
        some = rows if kind == "all" else where(rows, kind=kind)
        if not some:
            continue
        spent = numbers(some, "cpu_seconds")
        lines.append(
            (
                kind,
                len(some),
                sum(row["exception"] is not None for row in some),
                sum(str(row["end"]).startswith("refused") for row in some),
                float(np.median(spent)),
                float(spent.max()),
                int((spent > _SLOW).sum()),
            )
        )
    heading = (
        *("kind", "cases", "exceptions", "refused", "median CPU [s]", "longest CPU [s]"),
        "above 60 s",
    )
    whole = float(numbers(rows, "at_seconds")[-1])
    warm = [row for row in rows if float(str(row["at_seconds"])) >= _WARM * whole]
    memory, files = numbers(warm, "memory_mb"), numbers(warm, "open_files")
    quarter = -(-len(memory) // 4)
    first, last = float(np.median(memory[:quarter])), float(np.median(memory[-quarter:]))
    said = [
        f"Time: {whole / 60.0:.1f} min. Memory in the first quarter of the cases after the first "
        f"sixth of the time: {first:.0f} MB, in the last quarter: {last:.0f} MB "
        f"({last / first - 1.0:+.1%}); at most {memory.max():.0f} MB.",
    ]
    if len(files):
        said.append(f"Open files: {files[0]:.0f}, later at most {files.max():.0f}.")
    wrong = [
        f"- case {row['case']}, {row['kind']} {row['object']}: "
        f"{str(row['exception']).strip().splitlines()[-1] if row['exception'] else row['end']}"
        for row in rows
        if row["exception"] is not None or float(str(row["cpu_seconds"])) > _SLOW
    ]
    listed = ["Exceptions and slow cases:", "", *(wrong or ["- none"])]
    return "\n".join([markdown(heading, lines), "", *said, "", *listed])
