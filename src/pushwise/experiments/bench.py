"""`pushwise bench`: how fast the physics is, mostly as ratios within one run.

Baselines run the same task on the same machine in the same process; those that are not installed
are reported as missing. A timing is the best of several runs, after one run that compiles.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from pushwise import objects
from pushwise.experiments.bench_frameworks import measure_frameworks
from pushwise.experiments.bench_processes import compared, first_start, measure_processes
from pushwise.experiments.env_bench import compare_with_gym_pusht
from pushwise.experiments.measurement import Measurement, best_time, printed
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.gradients import loss, loss_and_gradient
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.paper.lagged_step import lagged_step, lagged_twist
from pushwise.physics.paper.lcp import lcp_step
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import Mode, Trajectory, simulate, simulate_batch
from pushwise.physics.simulator import Simulator
from pushwise.records.record import PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["MuJoCoPush", "measure", "run"]

HAMMER_PUSH = Push.line(start=(-0.06, -0.1), velocity=(0.0, 0.1), duration=2.0)
SQUARE_PUSH = Push.line(start=(-0.12, 0.03), velocity=(0.1, 0.0), duration=0.5)
FINGER_MASS = 50.0  # kg: so heavy that the object does not slow it down


def run(
    *,
    first: bool = False,
    against: Path | None = None,
    gym_pusht: Path | None = None,
    json: bool = False,
) -> str:
    """Measure everything, or only the first start, or only Push-T next to gym-pusht.

    Args:
        first: Measure the first start alone; see `first_start`.
        against: Folder (src) of another version to compare with.
        gym_pusht: Python with gym-pusht; see `compare_with_gym_pusht`.
        json: Return one JSON object instead of a table.

    """
    if first:
        return printed(first_start(against), json=json)
    if gym_pusht is not None:
        return printed(compare_with_gym_pusht(gym_pusht), json=json)
    return printed([*measure(), *([] if against is None else compared(against))], json=json)


def measure() -> list[Measurement]:
    """Return all measurements but that of `first_start`, which takes minutes."""
    return [
        *_against_mujoco(),
        *_against_lcp(),
        _gradient(),
        _batch(),
        _control_steps(),
        _many_cells(),
        *measure_frameworks(),
        *measure_processes(),
    ]


def _against_mujoco() -> list[Measurement]:
    """Compare a push of the hammer with the same push in MuJoCo."""
    hammer = objects.load("hammer").model
    finger = Finger()
    dt = 0.01  # the finger moves 1 mm per step, twice the default

    def push() -> Trajectory:
        return simulate(hammer, HAMMER_PUSH, finger=finger, physics=Physics(dt=dt))

    ours = push()
    exact = simulate(hammer, HAMMER_PUSH, finger=finger, physics=Physics(dt=dt / 64))
    error = mean_cell_error(hammer.grid, ours.pose[-1], exact.pose[-1])
    time = best_time(push, 20)
    other_time = best_time(MuJoCoPush(hammer, HAMMER_PUSH, finger, timestep=0.002).run, 2)
    coarse = MuJoCoPush(in_boxes(hammer, 4), HAMMER_PUSH, finger, timestep=0.002)
    coarse_time = best_time(coarse.run, 3)
    detail = (
        f"{time * 1e3:.2f} ms against {other_time * 1e3:.0f} ms; {hammer.grid.n_cells} cells, "
        f"2 s, {len(ours.t) - 1} steps; MuJoCo: one box per cell, dt 2 ms"
    )
    return [
        Measurement.at_least("one push: times faster than MuJoCo", other_time / time, 100, detail),
        Measurement.at_least(
            "one push: times faster than MuJoCo with four boxes",
            coarse_time / time,
            20,
            f"{time * 1e3:.2f} ms for 88 cells against {coarse_time * 1e3:.0f} ms; dt 2 ms",
        ),
        Measurement.at_most(
            "one push: error of the time step", error * 1e3, 0.5, "against dt / 64", unit="mm"
        ),
        Measurement("one push: simulated time over computing time", 2.0 / time, "one core"),
    ]


def _against_lcp() -> list[Measurement]:
    """Compare one step of the sliding hammer with the same step by the paper's LCP."""
    hammer = objects.load("hammer").model
    n = hammer.grid.n_cells
    path = simulate(hammer, HAMMER_PUSH)
    step = best_time(lambda: simulate(hammer, HAMMER_PUSH), 20) / (len(path.t) - 1)
    velocities = np.tile([0.1, 0.02, 0.3], (n, 1))
    velocities[:, 0] -= 0.3 * hammer.grid.centres[:, 1]
    velocities[:, 1] += 0.3 * hammer.grid.centres[:, 0]
    wrenches = np.zeros((n, 3))
    wrenches[0, 0] = 2.0
    dt = 2.0 / (len(path.t) - 1)
    lcp = best_time(lambda: lcp_step(hammer, np.zeros(3), velocities, wrenches, dt), 5)
    solved = lagged_step(hammer, np.zeros(3), velocities, wrenches, dt)
    rows, bounds = solved.step.rows[:, 0], solved.step.bounds[:, 0]
    directions = np.ascontiguousarray(rows[:, :2])
    args = (solved.step.offsets, directions, bounds, solved.step.A, solved.step.momentum)
    lagged = best_time(lambda: [lagged_twist(*args) for _ in range(100)], 5) / 100
    found = [
        Measurement.at_least(
            "one step: times faster than the paper's LCP",
            lcp / step,
            1000,
            f"{step * 1e6:.1f} us, finger and all, against {lcp * 1e3:.1f} ms; sliding, {n} cells",
        ),
        Measurement(
            "one lagged step: times faster than the LCP it equals",
            lcp / lagged,
            f"{lagged * 1e6:.1f} us; the same friction directions",
        ),
    ]
    name = "one gradient: times faster than autograd through the LCP"
    if find_spec("torch") is None:
        return [*found, Measurement(name, None, "PyTorch is not installed")]
    return [*found, _against_autograd(name, hammer, velocities, wrenches, dt)]


def _against_autograd(
    name: str, hammer: ObjectModel, velocities: Array, wrenches: Array, dt: float
) -> Measurement:
    """Compare the closed-form gradient of one step with that of PyTorch."""
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

    theirs_time = best_time(autograd, 3)
    time = best_time(ours, 20)
    detail = f"{time * 1e3:.2f} ms against {theirs_time * 1e3:.0f} ms; one step, lagged friction"
    return Measurement(name, theirs_time / time, detail)


def _gradient() -> Measurement:
    """Compare the loss and its gradient with the loss alone, on five pushes."""
    hammer = objects.load("hammer").model
    t = np.linspace(0.0, 2.1, 22)
    records = []
    for x in (-0.12, -0.06, 0.0, 0.06, 0.12):
        push = Push.line(start=(x, -0.1), velocity=(0.0, 0.1), duration=2.0)
        records.append(PushRecord(push, t, simulate(hammer, push).pose_at(t)))
    light = ObjectModel(hammer.grid, hammer.mass[::-1], hammer.friction)
    alone = best_time(lambda: loss(light, records), 10)
    both = best_time(lambda: loss_and_gradient(light, records), 10)
    detail = f"{both * 1e3:.1f} ms against {alone * 1e3:.1f} ms; 5 pushes of 2 s, 177 derivatives"
    return Measurement.at_most("loss and gradient: over the loss alone", both / alone, 2.0, detail)


def _batch() -> Measurement:
    """Compare 256 pushes as a batch with the same pushes one by one."""
    hammer = objects.load("hammer").model
    pushes = [
        Push.line(start=(x, -0.1), velocity=(0.0, 0.1), duration=2.0)
        for x in np.linspace(-0.15, 0.15, 256)
    ]
    one = best_time(lambda: [simulate(hammer, push) for push in pushes], 4)
    batch = best_time(lambda: simulate_batch(hammer, pushes), 8)
    detail = f"{256 / batch:.0f} pushes of 2 s per second against {256 / one:.0f}; all cores"
    return Measurement.at_least("batch of 256: throughput over one core", one / batch, 1.8, detail)


def _control_steps() -> Measurement:
    """Advance 1,024 states of an object of 40 cells by control steps of 20 ms, in contact."""
    corners = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.0625], [0.0, 0.0625]])
    grid = CellGrid.from_outline(corners, cell_size=0.0125)
    simulator = Simulator(ObjectModel(grid, np.full(grid.n_cells, 0.02), 0.3))
    count = 1024
    start = np.column_stack([np.full(count, -0.0105), np.linspace(0.01, 0.05, count)])
    state = simulator.step(simulator.start(np.zeros((count, 3))), start)
    ahead = np.array([0.001, 0.0])
    for k in range(1, 6):
        state = simulator.step(state, start + k * ahead)
    after = start + 6 * ahead
    rate = count / best_time(lambda: simulator.step(state, after), 20)
    touching = float(np.mean(state.mode != Mode.SEPARATE))
    detail = f"{grid.n_cells} cells, finger at 50 mm/s, {touching:.0%} in contact; all cores"
    return Measurement.at_least(
        "step_batch: states advanced by 20 ms per second", rate, 1e5, detail
    )


def _square(cells: int) -> ObjectModel:
    """Return a uniform square of side 0.2 m with cells x cells cells."""
    corners = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
    grid = CellGrid.from_outline(corners, cell_size=0.2 / cells)
    return ObjectModel(grid, np.full(grid.n_cells, 1.0 / grid.n_cells), 0.5)


def _many_cells() -> Measurement:
    """Compare pushes of squares with 1,024 and with 10,000 cells."""
    few, many = _square(32), _square(100)
    small = best_time(lambda: simulate(few, SQUARE_PUSH), 5)
    large = best_time(lambda: simulate(many, SQUARE_PUSH), 3)
    ratio = large / small * few.grid.n_cells / 1000
    detail = f"{large * 1e3:.0f} ms against {small * 1e3:.1f} ms for 1,024 (scaled to 1,000)"
    return Measurement.at_most("10,000 cells: time over that for 1,000", ratio, 12, detail)


class Box(NamedTuple):
    """A box of an object that is made of some."""

    x: float  # its middle [m] in the grid frame
    y: float
    half_x: float  # half its sides [m]
    half_y: float
    mass: float
    friction: float


def in_boxes(model: ObjectModel, count: int) -> list[Box]:
    """Return an object as a few boxes, side by side along x, as one would write it by hand."""
    order = np.argsort(model.grid.centres[:, 0], kind="stable")
    found = []
    for cells in np.array_split(order, count):
        places = model.grid.centres[cells]
        low, high = places.min(axis=0), places.max(axis=0)
        (x, y), (a, b) = 0.5 * (low + high), 0.5 * (high - low) + 0.5 * model.grid.cell_size
        mass, friction = float(model.mass[cells].sum()), float(model.friction[cells].mean())
        found.append(Box(float(x), float(y), float(a), float(b), mass, friction))
    return found


def _cells_as_boxes(model: ObjectModel) -> list[Box]:
    """Return an object with a box for each cell."""
    half = 0.5 * model.grid.cell_size
    return [
        Box(float(x), float(y), half, half, float(m), float(mu))
        for (x, y), m, mu in zip(model.grid.centres, model.mass, model.friction, strict=True)
    ]


class MuJoCoPush:
    """A push in MuJoCo that can be repeated: an object of boxes, a driven cylinder, a plane."""

    def __init__(
        self, thing: ObjectModel | list[Box], push: Push, finger: Finger, *, timestep: float
    ) -> None:
        """Build the scene, with a box for each cell of a model; timestep [s]."""
        parts = _cells_as_boxes(thing) if isinstance(thing, ObjectModel) else thing
        half = min(min(part.half_x, part.half_y) for part in parts)
        boxes = "".join(
            f'<geom type="box" size="{part.half_x} {part.half_y} {half}" '
            f'pos="{part.x} {part.y} 0" mass="{part.mass}" friction="{part.friction} 0 0"/>'
            for part in parts
        )
        x, y = push.start
        scene = f"""
        <mujoco>
          <option timestep="{timestep}" cone="elliptic"/>
          <default><geom condim="3"/></default>
          <worldbody>
            <geom type="plane" size="5 5 1" friction="1e-5 0 0"/>
            <body pos="0 0 {half}"><freejoint/>{boxes}</body>
            <body pos="{x} {y} {2 * half}">
              <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
              <geom type="cylinder" size="{finger.radius} {0.9 * half}" mass="{FINGER_MASS}"
                    friction="{finger.friction} 0 0" priority="1"/>
            </body>
          </worldbody>
        </mujoco>"""
        self._model = mujoco.MjModel.from_xml_string(scene)
        self._data = mujoco.MjData(self._model)
        self._push = push

    def run(self) -> Array:
        """Run the push from the start; return the final pose of the grid frame, (3,)."""
        mujoco.mj_resetData(self._model, self._data)
        steps = round(self._push.duration / self._model.opt.timestep)
        for _ in range(steps):
            self._data.qvel[-2:] = self._push.velocity
            mujoco.mj_step(self._model, self._data)
        x, y, _, qw, _, _, qz = self._data.qpos[:7]
        return np.array([x, y, 2.0 * np.arctan2(qz, qw)])
