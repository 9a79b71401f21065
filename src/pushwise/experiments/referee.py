"""`pushwise experiment referee`: the same pushes in every world, compared with the exact answer.

Exact means Coulomb friction with time steps and friction points so fine that neither matters; the
tests check this against closed forms. There are two exact answers, one per load model: each cell
carries its own weight ("own"), or the load is distributed as under a rigid body ("rigid").
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from json import dumps
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pushwise import objects
from pushwise.atomic_write import make_folder, save_figure, write_text
from pushwise.geometry.metric import mean_cell_error
from pushwise.geometry.polygon import outline_distance, placed
from pushwise.physics.model import ObjectModel, Physics
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import simulate
from pushwise.shape.grid import CellGrid
from pushwise.show.figure_style import styled
from pushwise.typing import Array
from pushwise.worlds.bullet import Bullet
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo
from pushwise.worlds.simulated import SimulatedWorld

__all__ = ["Case", "Verdict", "cases", "judge", "run"]

_SPEED = 0.1  # m/s
_CURVE_SPEED = 0.2  # m/s
_CURVE_RADIUS = 0.1  # m
_ACCELERATION = 0.5  # m/s^2
_RUN = 0.08  # m in contact while the finger speeds up
_KNOTS = 91  # of a path that is smooth
_GAP = 0.001  # m between finger and object at the start
_EXACT = Physics(dt=2e-4, points=8)
_COLUMNS = 3  # of the figure's panels
_COLOURS = {
    "exact, own": "#000000",
    "exact, rigid": "#888888",
    "ideal": "#4477aa",
    "mujoco": "#228833",
    "mujoco, own weight": "#66ccee",
    "bullet links": "#ee6677",
    "bullet compound": "#ccbb44",
}


@dataclass(frozen=True, eq=False)
class Case:
    """A push of an object at the origin, at rest or thrown."""

    name: str
    model: ObjectModel
    push: Push
    finger: Finger
    twist: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Twist of the grid origin at the start [m/s, m/s, rad/s]."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Where a world left the object, and how far that is from the exact answers."""

    case: Case
    world: str
    pose: Array
    """Final pose of the object (x, y, theta) [m, m, rad], shape (3,)."""
    from_own: float
    """Mean distance of the cells from the exact answer with the load "own" [m]."""
    from_rigid: float
    """Mean distance of the cells from the exact answer with the load "rigid" [m]."""
    seconds: float
    """Processor time [s]."""

    def row(self) -> dict[str, Any]:
        """Return the verdict as a row of the table."""
        return {
            "push": self.case.name,
            "world": self.world,
            "x [mm]": round(1000 * float(self.pose[0]), 1),
            "y [mm]": round(1000 * float(self.pose[1]), 1),
            "theta [rad]": round(float(self.pose[2]), 4),
            "from exact, own [mm]": round(1000 * self.from_own, 1),
            "from exact, rigid [mm]": round(1000 * self.from_rigid, 1),
            "CPU [s]": round(self.seconds, 2),
        }


def cases() -> Iterator[Case]:
    """Yield straight pushes of a uniform square and of the hammer, then curved, fast and free ones.

    The square is pushed off its centre, the hammer around its outline.
    """
    side = (np.arange(5) - 2.0) * 0.04
    centres = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    square = ObjectModel(
        CellGrid(centres, 0.04, np.full(25, 0.02)), mass=np.full(25, 0.04), friction=0.3
    )
    start = np.array([-0.1 - 0.01 - _GAP, 0.03])
    stick, slip = Finger(friction=0.9), Finger(friction=0.2)
    along = np.array([1.0, 0.0])
    yield Case(
        "square, sticking", square, Push.line(start, _SPEED * along, 1.0 + _GAP / _SPEED), stick
    )
    oblique = _SPEED * np.array([0.8, 0.6])
    yield Case("square, slipping", square, Push.line(start, oblique, 1.0 + _GAP / _SPEED), slip)
    hammer = objects.load("hammer").model
    finger = Finger()
    for name, point, direction in (
        ("hammer, handle", (0.10, -0.015), (0.0, 1.0)),
        ("hammer, end", (0.175, 0.006), (-1.0, 0.0)),
        ("hammer, neck", (-0.06, 0.0135), (0.0, -1.0)),
        ("hammer, face", (-0.16, -0.0615), (0.0, 1.0)),
    ):
        against = np.array(direction)
        at = _clear(hammer.grid.outline, np.array(point), against, finger)
        yield Case(name, hammer, Push.line(at, _SPEED * against, 2.0), finger)
    across = np.array([0.0, 1.0])
    handle = _clear(hammer.grid.outline, np.array([0.10, -0.015]), across, finger)
    yield Case("square, quarter circle", square, _quarter_circle(start, along), stick)
    yield Case("hammer, quarter circle", hammer, _quarter_circle(handle, across), finger)
    yield Case("square, accelerating", square, _speeding_up(start, along), stick)
    yield Case("hammer, accelerating", hammer, _speeding_up(handle, across), finger)
    aside = Push([0.0, 0.02], [(0.0, 0.3)] * 2, raised=True)
    yield Case("square, thrown", square, aside, finger, (0.8, 0.3, 6.0))
    yield Case("hammer, thrown", hammer, aside, finger, (0.8, -0.3, 5.0))


def _quarter_circle(start: Array, heading: Array) -> Push:
    """Return a push that begins in a direction (2,) and turns left by a right angle."""
    angle = np.linspace(0.0, 0.5 * np.pi, _KNOTS)[:, None]
    left = np.array([-heading[1], heading[0]])
    curve = np.sin(angle) * heading + (1.0 - np.cos(angle)) * left
    return Push.through(start + _CURVE_RADIUS * curve, _CURVE_SPEED)


def _speeding_up(start: Array, heading: Array) -> Push:
    """Return a push in a direction (2,) that speeds up from rest, and stops at once."""
    travel = _GAP + _RUN
    t = np.linspace(0.0, np.sqrt(2.0 * travel / _ACCELERATION), _KNOTS)
    return Push(t, start + 0.5 * _ACCELERATION * np.outer(t**2, heading))


def _clear(
    outline: Array,
    point: Array,
    direction: Array,
    finger: Finger,
) -> Array:
    """Return a start just clear of the outline for a finger that is to pass through `point`."""
    at = point - 0.5 * finger.radius * direction
    while outline_distance(outline, at) < finger.radius + _GAP:
        at = at - 0.0005 * direction
    return at


def judge(case: Case) -> list[Verdict]:
    """Execute one push in every world that is installed."""
    own, rigid = (
        simulate(
            case.model,
            case.push,
            twist=case.twist,
            finger=case.finger,
            physics=replace(_EXACT, load=load),
        ).pose[-1]
        for load in ("own", "rigid")
    )
    ends: list[tuple[str, Array, float]] = [
        ("exact, own", own, 0.0),
        ("exact, rigid", rigid, 0.0),
    ]
    for name, world in _worlds(case):
        begin = process_time()
        end = world.push(case.push, twist=case.twist).pose[-1]
        ends.append((name, end, process_time() - begin))
    grid = case.model.grid
    return [
        Verdict(
            case,
            name,
            pose,
            mean_cell_error(grid, pose, own),
            mean_cell_error(grid, pose, rigid),
            seconds,
        )
        for name, pose, seconds in ends
    ]


def _worlds(case: Case) -> Iterator[tuple[str, SimulatedWorld]]:
    """Yield the worlds with their names, each with the object in it."""
    yield "ideal", Ideal(case.model, finger=case.finger)
    yield "mujoco", MuJoCo(case.model, finger=case.finger)
    yield "mujoco, own weight", MuJoCo(case.model, finger=case.finger, own_weight=True)
    if find_spec("pybullet") is not None:
        yield "bullet links", Bullet(case.model, finger=case.finger)
        yield "bullet compound", Bullet(case.model, finger=case.finger, body="compound")


def run(folder: Path, *, json: bool) -> str:
    """Judge every push; write referee.csv, referee.md and referee.png; return the table."""
    verdicts = [judge(case) for case in cases()]
    rows = [verdict.row() for group in verdicts for verdict in group]
    make_folder(folder)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(folder / "referee.csv", text.getvalue())
    table = _markdown(rows)
    write_text(folder / "referee.md", table + "\n")
    _draw(verdicts, folder / "referee.png")
    return dumps(rows) if json else table


def _markdown(rows: list[dict[str, Any]]) -> str:
    """Return rows as a Markdown table."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|---|---|" + "---:|" * (len(names) - 2)]
    lines += ["| " + " | ".join(str(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


@styled
def _draw(verdicts: list[list[Verdict]], file: Path) -> None:
    """Draw where every world left the object, one panel per push."""
    rows = -(-len(verdicts) // _COLUMNS)
    figure = Figure(figsize=(13, 0.6 + 4.0 * rows), layout="constrained")
    axes = figure.subplots(rows, _COLUMNS)
    for panel, group in zip(axes.flat, verdicts, strict=True):
        case = group[0].case
        outline = case.model.grid.outline
        panel.fill(*(1000 * outline.T), color="#eeeeee", label="start")
        path = case.push.positions
        if any(case.twist):  # the finger does nothing; show where the object's centre is thrown to
            centre = case.model.centre_of_mass
            path = np.array([centre, centre + 0.2 * np.array(case.twist[:2])])
        panel.plot(*(1000 * path.T), color="#999999", linewidth=1.0)
        panel.annotate(
            "", *(1000 * path[:-3:-1]), arrowprops={"arrowstyle": "->", "color": "#999999"}
        )
        for verdict in group:
            loop = 1000 * placed(np.vstack([outline, outline[:1]]), verdict.pose)
            exact = verdict.world.startswith("exact")
            panel.plot(
                *loop.T,
                color=_COLOURS[verdict.world],
                linewidth=3.0 if exact else 1.3,
                alpha=0.5 if exact else 1.0,
                label=verdict.world,
            )
        panel.set_title(case.name)
        panel.set_aspect("equal")
        panel.set_xlabel("x [mm]")
        panel.set_ylabel("y [mm]")
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=8)
    save_figure(figure, file, dpi=110)
