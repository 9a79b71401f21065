"""`pushwise bench`: how fast the physics is, each number a ratio within one run.

Baselines run the same task on the same machine in the same process; one that is not installed is
reported as such. Timings are the best of some repeats, after a warm-up that compiles.
"""

from __future__ import annotations

import json as json_format
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from time import perf_counter

import numpy as np

from pushwise import objects
from pushwise.experiments.mujoco_push import MuJoCoPush
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.gradients import loss, loss_and_gradient
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.paper.lagged_step import lagged_step, lagged_twist
from pushwise.physics.paper.lcp import lcp_step
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate, simulate_batch
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid

__all__ = ["Row", "measure", "run"]

HAMMER_PUSH = Push(start=(-0.06, -0.1), velocity=(0.0, 0.1), duration=2.0)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    value: float | None  # None when it could not be measured: the detail says why
    unit: str
    target: str  # what it should be, "" where nothing is asked
    met: bool | None  # None where nothing is asked or nothing was measured
    detail: str


def run(*, json: bool) -> str:
    """Measure everything; return a table, or with `json` one JSON object."""
    rows = measure()
    if json:
        machine = {
            "python": platform.python_version(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            **{name: version(name) for name in ("pushwise", "numpy", "numba", "mujoco")},
        }
        return json_format.dumps(
            {"machine": machine, "rows": [asdict(row) for row in rows]}, indent=1
        )
    lines = ["| what | measured | wanted | how |", "|---|---|---|---|"]
    for row in rows:
        measured = "not measured" if row.value is None else f"{row.value:.3g} {row.unit}".rstrip()
        mark = {True: "yes: ", False: "NO: ", None: ""}[row.met] if row.target else ""
        lines.append(f"| {row.name} | {measured} | {mark}{row.target} | {row.detail} |")
    return "\n".join(lines)


def measure() -> list[Row]:
    """Return all rows."""
    return [
        *_against_mujoco(),
        *_against_lcp(),
        _gradient(),
        _batch(),
        _many_cells(),
        _memory(),
        _help(),
        _first_push(),
    ]


def best(task: Callable[[], object], repeats: int) -> float:
    """Return the shortest time [s] of some runs, after one that warms up."""
    task()
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        task()
        times.append(perf_counter() - begin)
    return min(times)


def _row(
    name: str, value: float, limit: float, detail: str, *, unit: str = "", at_least: bool = False
) -> Row:
    """Return a row with a target and whether it is met."""
    target = f"{'at least' if at_least else 'at most'} {limit:g} {unit}".rstrip()
    return Row(name, value, unit, target, value >= limit if at_least else value <= limit, detail)


def _against_mujoco() -> list[Row]:
    """Push the hammer for two seconds, here and in MuJoCo."""
    hammer = objects.load("hammer").model
    finger = Finger()
    dt = 0.01  # the finger moves 1 mm a step, twice the default
    ours = simulate(hammer, HAMMER_PUSH, finger=finger, physics=Physics(dt=dt))
    exact = simulate(hammer, HAMMER_PUSH, finger=finger, physics=Physics(dt=dt / 64))
    error = mean_cell_error(hammer.grid, ours.pose[-1], exact.pose[-1])
    time = best(lambda: simulate(hammer, HAMMER_PUSH, finger=finger, physics=Physics(dt=dt)), 20)
    other = MuJoCoPush(hammer, HAMMER_PUSH, finger, timestep=0.002)
    other_time = best(other.run, 2)
    detail = (
        f"{time * 1e3:.2f} ms against {other_time * 1e3:.0f} ms; {hammer.grid.n_cells} cells, "
        f"2 s, {len(ours.t) - 1} steps; MuJoCo: a box a cell, dt 2 ms"
    )
    return [
        _row("one push: times faster than MuJoCo", other_time / time, 100, detail, at_least=True),
        _row("one push: error of the time step", error * 1e3, 0.5, "against dt / 64", unit="mm"),
        Row(
            "one push: simulated time over computing time",
            2.0 / time,
            "",
            "",
            None,
            "one core",
        ),
    ]


def _against_lcp() -> list[Row]:
    """Take one step of the sliding hammer, here and by the paper's LCP."""
    hammer = objects.load("hammer").model
    n = hammer.grid.n_cells
    path = simulate(hammer, HAMMER_PUSH)
    step = best(lambda: simulate(hammer, HAMMER_PUSH), 20) / (len(path.t) - 1)
    velocities = np.tile([0.1, 0.02, 0.3], (n, 1))
    velocities[:, 0] -= 0.3 * hammer.grid.centres[:, 1]
    velocities[:, 1] += 0.3 * hammer.grid.centres[:, 0]
    wrenches = np.zeros((n, 3))
    wrenches[0, 0] = 2.0
    dt = 2.0 / (len(path.t) - 1)
    lcp = best(lambda: lcp_step(hammer, np.zeros(3), velocities, wrenches, dt), 5)
    solved = lagged_step(hammer, np.zeros(3), velocities, wrenches, dt)
    rows, bounds = solved.step.rows[:, 0], solved.step.bounds[:, 0]
    directions = np.ascontiguousarray(rows[:, :2])
    args = (solved.step.offsets, directions, bounds, solved.step.A, solved.step.momentum)
    lagged = best(lambda: [lagged_twist(*args) for _ in range(100)], 5) / 100
    found = [
        _row(
            "one step: times faster than the paper's LCP",
            lcp / step,
            1000,
            f"{step * 1e6:.1f} us, finger and all, against {lcp * 1e3:.1f} ms; sliding, {n} cells",
            at_least=True,
        ),
        Row(
            "one lagged step: times faster than the LCP it equals",
            lcp / lagged,
            "",
            "",
            None,
            f"{lagged * 1e6:.1f} us; the same friction directions",
        ),
    ]
    name = "one gradient: times faster than autograd through the LCP"
    if find_spec("torch") is None:
        return [*found, Row(name, None, "", "", None, "PyTorch is not installed")]
    return [*found, _against_autograd(name, hammer, velocities, wrenches, dt)]


def _against_autograd(
    name: str, hammer: ObjectModel, velocities: np.ndarray, wrenches: np.ndarray, dt: float
) -> Row:
    """Differentiate one step by PyTorch, and by the closed form."""
    import torch

    from pushwise.physics.paper.closed_form_gradients import lagged_vjp
    from pushwise.physics.paper.lcp_torch import lcp_twist

    def autograd() -> None:
        mass = torch.tensor(hammer.mass, requires_grad=True)
        friction = torch.tensor(hammer.friction, requires_grad=True)
        args = (np.zeros(3), velocities, wrenches, dt)
        lcp_twist(hammer.grid, mass, friction, *args).sum().backward()  # type: ignore[no-untyped-call]

    def ours() -> None:
        solved = lagged_step(hammer, np.zeros(3), velocities, wrenches, dt)
        lagged_vjp(hammer, solved, np.ones(3))

    theirs_time = best(autograd, 3)
    time = best(ours, 20)
    detail = f"{time * 1e3:.2f} ms against {theirs_time * 1e3:.0f} ms; one step, lagged friction"
    return Row(name, theirs_time / time, "", "", None, detail)


def _gradient() -> Row:
    """Compare the loss alone with the loss and its gradient, on five pushes."""
    hammer = objects.load("hammer").model
    t = np.linspace(0.0, 2.1, 22)
    records = []
    for x in (-0.12, -0.06, 0.0, 0.06, 0.12):
        push = Push(start=(x, -0.1), velocity=(0.0, 0.1), duration=2.0)
        records.append(PushRecord(push, t, simulate(hammer, push).pose_at(t)))
    light = ObjectModel(hammer.grid, hammer.mass[::-1], hammer.friction)
    alone = best(lambda: loss(light, records), 10)
    both = best(lambda: loss_and_gradient(light, records), 10)
    detail = f"{both * 1e3:.1f} ms against {alone * 1e3:.1f} ms; 5 pushes of 2 s, 177 derivatives"
    return _row("loss and gradient: over the loss alone", both / alone, 2.0, detail)


def _batch() -> Row:
    """Run 256 pushes one after the other, and as a batch."""
    hammer = objects.load("hammer").model
    pushes = [
        Push(start=(x, -0.1), velocity=(0.0, 0.1), duration=2.0)
        for x in np.linspace(-0.15, 0.15, 256)
    ]
    one = best(lambda: [simulate(hammer, push) for push in pushes], 2)
    batch = best(lambda: simulate_batch(hammer, pushes), 3)
    detail = f"{256 / batch:.0f} pushes of 2 s a second against {256 / one:.0f}; all cores"
    return _row("batch of 256: throughput over one core", one / batch, 1.5, detail, at_least=True)


def _square(cells: int) -> ObjectModel:
    """Return a uniform square of side 0.2 m with cells x cells cells."""
    corners = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    grid = CellGrid.from_outline(corners, cell_size=0.2 / cells)
    return ObjectModel(grid, np.full(grid.n_cells, 1.0 / grid.n_cells), 0.5)


SQUARE_PUSH = Push(start=(-0.12, 0.03), velocity=(0.1, 0.0), duration=0.5)


def _many_cells() -> Row:
    """Push squares of 1,024 and of 10,000 cells."""
    few, many = _square(32), _square(100)
    small = best(lambda: simulate(few, SQUARE_PUSH), 5)
    large = best(lambda: simulate(many, SQUARE_PUSH), 3)
    ratio = large / small * few.grid.n_cells / 1000
    detail = f"{large * 1e3:.0f} ms against {small * 1e3:.1f} ms for 1,024 (scaled to 1,000)"
    return _row("10,000 cells: time over that for 1,000", ratio, 12, detail)


_BATCH_IN_A_PROCESS = """
import numpy as np
import pushwise as pw
corners = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
grid = pw.CellGrid.from_outline(corners, cell_size=0.2 / 32)
model = pw.ObjectModel(grid, mass=np.full(grid.n_cells, 1e-3), friction=0.5)
push = pw.Push(start=(-0.12, 0.03), velocity=(0.1, 0.0), duration=2.0)
paths = pw.simulate_batch([model] * 256, push)
print(open("/proc/self/status").read())
"""


def _memory() -> Row:
    """Run a batch in a process of its own and read the most memory it ever had."""
    name = "batch of 256 with 1,024 cells: memory"
    # The resource module would count the memory of this process, too, which forks the other.
    if not os.path.exists("/proc/self/status"):
        return Row(name, None, "MB", "", None, "measured on Linux only")
    status = dict(line.split(":", 1) for line in _python(_BATCH_IN_A_PROCESS).splitlines() if line)
    peak = int(status["VmHWM"].split()[0]) * 1024 / 1e6
    detail = "peak of the whole process, interpreter and libraries included"
    return _row(name, peak, 500, detail, unit="MB")


def _python(code: str) -> str:
    """Run code in a new interpreter and return what it printed."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout


def _help() -> Row:
    """Ask for help in a new process."""
    command = [sys.executable, "-m", "pushwise", "--help"]
    time = best(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    return _row("pushwise --help", time, 0.5, "a new process", unit="s")


_FIRST_PUSH = """
import pushwise as pw
hammer = pw.objects.load("hammer").model
pw.simulate(hammer, pw.Push(start=(-0.06, -0.1), velocity=(0.0, 0.1), duration=2.0))
"""


def _first_push() -> Row:
    """Simulate a first push in a new process, with compiled code in the cache."""
    time = best(lambda: _python(_FIRST_PUSH), 3)
    return _row(
        "first push in a new process", time, 3.0, "imports included, cache present", unit="s"
    )
