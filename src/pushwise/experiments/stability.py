"""Does it fall when it is let go? The margin of stability beside MuJoCo, at edges and corners."""

from __future__ import annotations

import csv
import json as json_format
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np

from pushwise import objects
from pushwise.physics.model import Table
from pushwise.planning.stability import Balance
from pushwise.shape.polygon import placed
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["Case", "compare", "run"]

_NEAR = 0.04  # m the centre of mass is from an edge at most
_SURE = 0.005  # m; a margin that must decide


@dataclass(frozen=True)
class Case:
    """An object let go at a pose."""

    name: str
    x: float
    y: float
    theta: float
    margin: float
    fell: bool


def compare(*, cases: int = 500, seed: int = 0) -> Iterator[Case]:
    """Let objects of random masses go at random poses, half at an edge, half at a corner."""
    rng = np.random.default_rng(seed)
    table = Table.rectangle(0.8, 0.6)
    for i in range(cases):
        thing = objects.load(objects.names[i % len(objects.names)]).sample(rng)
        theta = rng.uniform(-np.pi, np.pi)
        centre = placed(thing.model.centre_of_mass[None], np.array([0.0, 0.0, theta]))[0]
        at = np.array([0.4, 0.3]) + rng.uniform(-_NEAR, _NEAR, 2)
        if i % 2:
            at[1] = rng.uniform(-0.2, 0.2)
        pose = np.append(at - centre, theta)
        margin = Balance(thing.model, table).margins(pose[None])[0]
        fell = MuJoCo(thing, table, pose=pose).fell
        x, y, _ = pose
        yield Case(thing.name, x, y, theta, float(margin), fell)


def run(output: Path, *, cases: int = 500, json: bool = False) -> str:
    """Write all cases to `stability.csv` in a folder and return a summary."""
    output.mkdir(parents=True, exist_ok=True)
    rows = list(compare(cases=cases))
    with (output / "stability.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(Case))
        writer.writerows(astuple(row) for row in rows)
    sure = [row for row in rows if abs(row.margin) > _SURE]
    wrong = sum(row.fell != (row.margin < 0.0) for row in rows)
    sure_wrong = sum(row.fell != (row.margin < 0.0) for row in sure)
    facts = {
        "cases": len(rows),
        "fell": sum(row.fell for row in rows),
        "wrong": wrong,
        "margin_above_5_mm": len(sure),
        "wrong_above_5_mm": sure_wrong,
    }
    if json:
        return json_format.dumps(facts)
    return (
        f"{len(rows)} cases, {facts['fell']} fell: the margin was wrong in {wrong}; "
        f"of {len(sure)} with a margin above 5 mm, in {sure_wrong}."
    )
