"""The part of `pushwise bench` that runs new processes: memory, start-up, and compilation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pushwise
from pushwise.errors import PushwiseError
from pushwise.experiments.measurement import Measurement, best_time

__all__ = ["compared", "first_start", "measure_processes"]

_BATCH = """
import numpy as np
import pushwise as pw
corners = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
grid = pw.CellGrid.from_outline(corners, cell_size=0.2 / 32)
model = pw.ObjectModel(grid, mass=np.full(grid.n_cells, 1e-3), friction=0.5)
push = pw.Push.line(start=(-0.12, 0.03), velocity=(0.1, 0.0), duration=2.0)
paths = pw.simulate_batch([model] * 256, push)
print(open("/proc/self/status").read())
"""
_FIRST_PUSH = """
import pushwise as pw
hammer = pw.objects.load("hammer").model
pw.simulate(hammer, pw.Push.line(start=(-0.06, -0.1), velocity=(0.0, 0.1), duration=2.0))
"""
_SPEED = """
import json, time
import numpy as np
import pushwise as pw
line = getattr(pw.Push, "line", pw.Push)  # versions before 0.2 know straight pushes only
hammer = pw.objects.load("hammer").model
pushes = [line((x, -0.1), (0.0, 0.1), 2.0) for x in np.linspace(-0.15, 0.15, 256)]

def best(work, times):
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return min(found)

one = best(lambda: [pw.simulate(hammer, push) for push in pushes[::8]], 5) / 32
batch = best(lambda: pw.simulate_batch(hammer, pushes), 4) / 256
print(json.dumps([one, batch]))
"""


def measure_processes() -> list[Measurement]:
    """Return memory and start-up times; compiled code is in the cache."""
    return [_memory(), _help(), _first_push()]


def _memory() -> Measurement:
    """Run a batch in a process of its own and read its peak memory."""
    name = "batch of 256 with 1,024 cells: memory"
    # The resource module would also count the memory of this process, which forks the other.
    if not os.path.exists("/proc/self/status"):
        return Measurement(name, None, "measured on Linux only", "MB")
    status = dict(line.split(":", 1) for line in _python(_BATCH).splitlines() if line)
    peak = int(status["VmHWM"].split()[0]) * 1024 / 1e6
    detail = "peak of the whole process, interpreter and libraries included"
    return Measurement.at_most(name, peak, 500, detail, unit="MB")


def _help() -> Measurement:
    """Print the help in a new process."""
    command = [sys.executable, "-m", "pushwise", "--help"]
    time = best_time(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    return Measurement.at_most("pushwise --help", time, 0.5, "a new process", unit="s")


def _first_push() -> Measurement:
    """Simulate a first push in a new process, with compiled code in the cache."""
    time = best_time(lambda: _python(_FIRST_PUSH), 3)
    detail = "imports included, cache present"
    return Measurement.at_most("first push in a new process", time, 3.0, detail, unit="s")


def _python(code: str, environment: dict[str, str] | None = None) -> str:
    """Run code in a new interpreter and return what it printed."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise PushwiseError(f"a part of the benchmark failed: {last}")
    return done.stdout


def compared(against: Path) -> list[Measurement]:
    """Compare the speed of pushes with that of another version, in processes that take turns.

    Args:
        against: Folder with the other version of the package (its ``src``); its dependencies must
            be installed.

    """
    _check_version(against)
    here = Path(pushwise.__file__).resolve().parents[1]
    times: dict[Path, list[list[float]]] = {here: [], against.resolve(): []}
    for _ in range(3):
        for source, found in times.items():
            path = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
            found.append(json.loads(_python(_SPEED, {**os.environ, "PYTHONPATH": path})))
    ours, theirs = (tuple(map(min, zip(*found, strict=True))) for found in times.values())
    return [
        Measurement.at_least(
            f"{name}: speed over that of the other version",
            old / new,
            wanted,
            f"{new * 1e3:.2f} ms a push against {old * 1e3:.2f} ms",
        )
        for name, wanted, new, old in zip(
            ("one push", "batch of 256"), (1.0, 1.7), ours, theirs, strict=True
        )
    ]


def _check_version(against: Path) -> None:
    if not (against / "pushwise" / "__main__.py").is_file():
        raise PushwiseError(f"the folder to compare with must contain pushwise; got {against}.")


def first_start(against: Path | None = None) -> list[Measurement]:
    """Measure how long the first `pushwise slide hammer` of an installation compiles.

    That is the processor time of a run without compiled code in the cache, minus that of a second
    run. It takes several minutes.

    Args:
        against: Folder with another version of the package (its ``src``) to measure as well; its
            dependencies must be installed.

    """
    if against is not None:
        _check_version(against)
    here = Path(pushwise.__file__).resolve().parents[1]
    name = "first start: processor time of compiling"
    try:
        first, second = _slide_twice(here)
        other = None if against is None else _slide_twice(against.resolve())
    except ModuleNotFoundError:
        return [Measurement(name, None, "measured on Unix only", "s")]
    rows = [Measurement(name, first - second, _slides(first, second), "s")]
    if other is not None:
        theirs = other[0] - other[1]
        rows += [
            Measurement(f"{name}, {against}", theirs, _slides(*other), "s"),
            Measurement(
                f"{name}, over that of {against}",
                (first - second) / theirs,
                f"{first - second:.1f} s against {theirs:.1f} s",
            ),
        ]
    return rows


def _slides(first: float, second: float) -> str:
    """Describe two runs by their processor times [s]."""
    return f"pushwise slide hammer: {first:.1f} s without compiled code, {second:.1f} s with it"


def _slide_twice(source: Path) -> tuple[float, float]:
    """Return the processor time [s] of a run with an empty cache, and of the next run."""
    with TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")]),
            "NUMBA_CACHE_DIR": str(Path(folder) / "compiled"),
        }
        first = _slide(Path(folder), "first", environment)
        return first, _slide(Path(folder), "second", environment)


def _slide(folder: Path, name: str, environment: dict[str, str]) -> float:
    """Slide the hammer in a new process; return its processor time [s]."""
    import resource  # not on Windows

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pushwise", "slide", "hammer", "-o", name]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise PushwiseError(f"pushwise slide hammer failed: {done.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
