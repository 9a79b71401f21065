"""Friction of the board from measured wrenches, for tables of real pushes that have them.

While an object slides slowly, friction balances the finger. The load c_i of cell i, which moves
with velocity v_i, contributes the force c_i v_i / |v_i|, so wrenches are linear in the loads. The
loads are fitted to half of the samples by non-negative least squares. Their sum is the total
friction force, and divided by the weight the coefficient of friction. The other half of the samples
tests it: the force on an object that slides without turning is the total friction force, whatever
the load.

Tables are recognised by their columns: `fx_body_N fy_body_N tau_Nm vx_body_m_s vy_body_m_s
omega_rad_s` with one row per sample, or a table of pushes with `mean_fx_body_N mean_fy_body_N
mean_tau_com_Nm` (the motion is then that of the whole push).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from pushwise.experiments.real.data import (
    POSES,
    described,
    grid_over,
    header_of,
    numbers,
    poses_of,
    read_columns,
    set_name,
    succeeded,
    tables,
)
from pushwise.experiments.real.stated import Stated, Unstated
from pushwise.experiments.reporting import markdown
from pushwise.experiments.rows import merge_rows
from pushwise.physics.constants import GRAVITY
from pushwise.progress import OnProgress, Progress
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = ["Friction", "forces_table", "friction_rows"]


SAMPLE = ("fx_body_N", "fy_body_N", "tau_Nm", "vx_body_m_s", "vy_body_m_s", "omega_rad_s")
MEAN = ("mean_fx_body_N", "mean_fy_body_N", "mean_tau_com_Nm")
STRAIGHT = 0.2  # share of turning in the motion below which an object slides without turning
UNIFORMITY = 0.05  # weight of a uniform load relative to the wrenches


@dataclass(frozen=True)
class Friction:
    """The friction of a set, from its wrenches."""

    set: str
    samples: int
    force_N: float  # total friction force, learned from one half
    straight_N: float | None  # mean force without turning, from the other half, if any
    ratio: float | None  # force_N / straight_N
    size_ratio: float  # median ratio of predicted to measured forces of the other half
    coefficient: float | None  # of friction: force over weight, if the mass is stated
    misfit: float  # median relative error of predicted forces of the other half


def friction_rows(
    folder: Path, otherwise: Stated, progress: OnProgress = lambda _: None
) -> list[Friction]:
    """Return one row per table with wrenches below a folder; the arguments are of `real_sets`."""
    found = []
    for path in tables(folder):
        header = header_of(path)
        if not (header.issuperset(SAMPLE) or header.issuperset((*MEAN, *POSES))):
            continue
        columns = read_columns(path)
        if columns.keys() >= set(SAMPLE):
            values = numbers(path, columns, SAMPLE)
            wrench, twist = values[:, :3], values[:, 3:]
        else:
            kept = succeeded(columns)
            wrench = numbers(path, columns, MEAN)[kept]
            twist = _mean_twists(poses_of(path, columns)[kept])
        try:
            thing, outline = described(path, otherwise)
        except Unstated as error:
            progress(Progress("read", f"left out: {error}"))
            continue
        found.append(_friction(set_name(path), grid_over(outline), twist, wrench, thing))
    return found


def _mean_twists(poses: Array) -> Array:
    """Return motions (k, 3) between pairs of poses (k, 6), in the body axes midway."""
    step = poses[:, 3:] - poses[:, :3]
    middle = poses[:, 2] + 0.5 * step[:, 2]
    cos, sin = np.cos(middle), np.sin(middle)
    x = cos * step[:, 0] + sin * step[:, 1]
    y = -sin * step[:, 0] + cos * step[:, 1]
    return np.column_stack([x, y, step[:, 2]])


def _friction(
    name: str, grid: CellGrid, twist: Array, wrench: Array, thing: dict[str, object]
) -> Friction:
    """Fit the loads of the cells to half of the wrenches (k, 3); compare with the other half."""
    reach = 0.5 * float(np.sqrt(grid.area))
    scale = np.array([1.0, 1.0, 1.0 / reach])
    A = _wrenches_of_cells(grid, twist) * scale[:, None]
    learn, test = np.arange(0, len(A), 2), np.arange(1, len(A), 2)
    typical = float(np.median(np.hypot(wrench[:, 0], wrench[:, 1])))
    n = grid.n_cells
    even = UNIFORMITY * np.sqrt(len(learn)) * np.eye(n)
    rows = np.concatenate([A[learn].reshape(-1, n), even])
    right = np.concatenate([(wrench[learn] * scale).ravel(), even @ np.full(n, typical / n)])
    load, _ = nnls(rows, right)
    predicted = (A[test] @ load)[:, :2]
    seen = wrench[test, :2]
    size = np.hypot(*seen.T)
    straight = reach * np.abs(twist[:, 2]) < STRAIGHT * np.hypot(twist[:, 0], twist[:, 1])
    # The mean, as in least squares: on some boards friction drifts by a third within a set.
    along = float(np.mean(size[straight[test]])) if straight[test].any() else None
    total = float(load.sum())
    mass = thing.get("mass_kg")
    coefficient = total / (mass * GRAVITY) if isinstance(mass, int | float) else None
    misfit = float(np.median(np.hypot(*(predicted - seen).T) / size))
    sizes = float(np.median(np.hypot(*predicted.T) / size))
    ratio = None if along is None else total / along
    return Friction(name, len(A), total, along, ratio, sizes, coefficient, misfit)


def _wrenches_of_cells(grid: CellGrid, twist: Array) -> Array:
    """Return the wrench of a unit load on each cell for each twist, (k, 3, n)."""
    x, y = grid.centres.T
    vx = twist[:, :1] - twist[:, 2:] * y
    vy = twist[:, 1:2] + twist[:, 2:] * x
    speed = np.maximum(np.hypot(vx, vy), 1e-9)
    fx, fy = vx / speed, vy / speed
    return np.stack([fx, fy, x * fy - y * fx], axis=1)


def forces_table(folder: Path, output: Path, otherwise: Stated, progress: OnProgress) -> str:
    """Add the tables with wrenches below a folder to `forces.csv`; return it in Markdown."""
    new = friction_rows(folder, otherwise, progress)
    rows = merge_rows(output / "forces.csv", new, Friction, "set")
    if not rows:
        return ""
    lines = []
    for r in sorted(rows, key=lambda row: row.set):
        values = (r.force_N, r.straight_N, r.ratio, r.size_ratio, r.coefficient)
        cells = ("" if value is None else f"{value:.3f}" for value in values)
        lines.append((r.set, r.samples, *cells, f"{100 * r.misfit:.0f} %"))
    columns = ["set", "samples", "learned [N]", "without turning [N]", "ratio"]
    columns += ["all forces, ratio", "coefficient of friction", "misfit"]
    return (
        "Total friction force learned from half of the measured wrenches, compared with the force\n"
        "on objects that did not turn in the other half.\n\n"
        f"{markdown(columns, lines)}\n"
    )
