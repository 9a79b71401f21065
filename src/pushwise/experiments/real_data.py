"""Tables of real pushes, recognised by their columns: start and end poses, and the finger's path.

A table is a CSV file (plain or gzipped) with, in metres and radians,

    obj_x0_m obj_y0_m obj_th0_rad   obj_x1_m obj_y1_m obj_th1_rad   tip_x0_m tip_y0_m

and the finger's end as `tip_x1_m tip_y1_m` or `tip_xend_est_m tip_yend_est_m`. It may have `flags`
(rows with a word of `FAILED` are left out), `parent_push_id` (each row is a piece of a longer push,
so the finger touches from the start) and final poses that others predicted, `pred_<model>_x_m` and
so on. The object's outline comes from a JSON file of the same name (`object`), or from an
`objects.json` further up whose key is a part of the file's name.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pushwise.errors import PushwiseError
from pushwise.physics.actions import Push
from pushwise.pushes.record import PushRecord
from pushwise.shape.grid import CellGrid

__all__ = [
    "RealSet",
    "described",
    "grid_over",
    "numbers",
    "read_columns",
    "real_sets",
    "set_name",
    "tables",
]

Array = NDArray[np.float64]

POSES = ("obj_x0_m", "obj_y0_m", "obj_th0_rad", "obj_x1_m", "obj_y1_m", "obj_th1_rad")
START = ("tip_x0_m", "tip_y0_m")
ENDS = (("tip_x1_m", "tip_y1_m"), ("tip_xend_est_m", "tip_yend_est_m"))
FAILED = ("jump", "short_travel")  # tracking or robot failed
SPEED = 0.01  # m/s where a table gives none: slow pushes do not depend on it
CELLS = 50  # about how many an object is divided into
TIP = 1e-3  # m; a sharp tip is simulated as round as that


@dataclass(frozen=True, eq=False)
class RealSet:
    """Pushes of one object on one board, and what is known of them."""

    name: str
    outline: Array
    """Of the object [m] in the tracked frame, shape (k, 2)."""
    records: list[PushRecord]
    """First and last pose of each push."""
    touching: bool
    """Whether the finger touches from the start."""
    end_estimated: bool
    """Whether the finger's end is not measured but extrapolated."""
    published: dict[str, Array]
    """Final poses predicted by others, (pushes, 3) each."""
    contact: Array | None
    """Where and in which direction each push begins, body frame [m, m, rad], (pushes, 3)."""
    radius: float | None
    """Of the finger [m], if stated."""
    height: float
    """Of the contact above the table [m]; zero if neither it nor a thickness is stated."""
    setback: float
    """By how much the real tip is said to be behind the recorded one [m]."""
    mass: float | None
    """Of the object [kg], if stated."""
    feet: Array | None
    """Where the object is known to stand [m], (k, 2)."""
    shares: Array | None
    """Which share of the weight each foot carries, (k,)."""


def real_sets(folder: Path) -> list[RealSet]:
    """Return the sets below a folder, in order of their names."""
    if not folder.is_dir():
        raise PushwiseError(f"{folder} is not a folder.")
    found = [read_set(path) for path in tables(folder) if _is_set(path)]
    if not found:
        raise PushwiseError(
            f"{folder} holds no table of pushes: no CSV file below it has the columns "
            f"{', '.join((*POSES, *START))} and {' '.join(ENDS[0])}."
        )
    return found


def tables(folder: Path) -> Iterator[Path]:
    """Return all CSV files below a folder, in order."""
    yield from sorted(p for p in folder.rglob("*.csv*") if p.name.endswith((".csv", ".csv.gz")))


def read_columns(path: Path) -> dict[str, list[str]]:
    """Return the columns of a CSV file, plain or gzipped."""
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, None)
        rows = list(reader)
    if not header:
        raise PushwiseError(f"{path} is empty.")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            raise PushwiseError(
                f"{path}, line {i + 2}: {len(row)} values for {len(header)} columns."
            )
    return {name: [row[j] for row in rows] for j, name in enumerate(header)}


def numbers(path: Path, columns: dict[str, list[str]], names: tuple[str, ...]) -> Array:
    """Return named columns as numbers, shape (rows, names)."""
    values = np.empty((len(columns[names[0]]), len(names)))
    for j, name in enumerate(names):
        for i, text in enumerate(columns[name]):
            try:
                values[i, j] = float(text)
            except ValueError:
                values[i, j] = np.nan
            if not np.isfinite(values[i, j]):
                raise PushwiseError(f"{path}, line {i + 2}: {name} must be a number; got {text!r}.")
    return values


def _is_set(path: Path) -> bool:
    opener = gzip.open if path.name.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        header = set(file.readline().strip().split(","))
    return header.issuperset((*POSES, *START)) and any(header.issuperset(end) for end in ENDS)


def read_set(path: Path) -> RealSet:
    """Read one table of pushes."""
    columns = read_columns(path)
    stated = _stated(path)
    end = next(names for names in ENDS if set(names) <= columns.keys())
    pose, tip = numbers(path, columns, POSES), numbers(path, columns, (*START, *end))
    flags = columns.get("flags", [""] * len(pose))
    kept = [i for i, flag in enumerate(flags) if not any(word in flag for word in FAILED)]
    speed = float(stated.get("tip_speed_m_s", SPEED))
    models = [m[1] for name in columns if (m := re.fullmatch(r"pred_(\w+)_x_m", name))]
    contact = None
    if {"contact_bx_m", "contact_by_m", "push_angle_deg"} <= columns.keys():
        contact = numbers(path, columns, ("contact_bx_m", "contact_by_m", "push_angle_deg"))[kept]
        contact[:, 2] = np.radians(contact[:, 2])
    pusher = stated.get("pusher", {})
    thing = stated["object"]
    feet = stated.get("support_points_com_frame_m")
    return RealSet(
        set_name(path),
        outline_of(thing),
        [_record(pose[i], tip[i], speed) for i in kept],
        "parent_push_id" in columns,
        end == ENDS[1],
        {
            m: numbers(path, columns, (f"pred_{m}_x_m", f"pred_{m}_y_m", f"pred_{m}_th_rad"))[kept]
            for m in models
        },
        contact,
        max(float(pusher["radius_m"]), TIP) if "radius_m" in pusher else None,
        _height(stated),
        float(pusher.get("effective_setback_m", 0.0)),
        thing.get("mass_kg"),
        None if feet is None else np.array(feet, float),
        None if feet is None else np.array(stated["nominal_load_fraction"], float),
    )


def _height(stated: dict[str, Any]) -> float:
    """Return how far above the table an object is pushed [m].

    As stated; else an upright finger touches a plate along all its thickness.
    """
    if "push_height_above_object_origin_mm" in stated:
        return 1e-3 * float(stated["push_height_above_object_origin_mm"])
    return 0.5 * float(stated["object"].get("thickness_m", 0.0))


def set_name(path: Path) -> str:
    """Return the name of a table: its folder and its own, without suffixes."""
    return f"{path.parent.name}/{path.name.split('.')[0]}"


def _record(pose: Array, tip: Array, speed: float) -> PushRecord:
    travel = tip[2:] - tip[:2]
    duration = float(np.hypot(*travel)) / speed
    return PushRecord(
        Push(tip[:2], travel / duration, duration), [0.0, duration], pose.reshape(2, 3)
    )


def _stated(path: Path) -> dict[str, Any]:
    """Return what JSON files state of a table: its own, or a list of objects further up."""
    own = path.with_name(path.name.split(".")[0] + ".json")
    if own.is_file():
        stated: dict[str, Any] = json.loads(own.read_text(encoding="utf-8"))
        if "object" in stated:
            return stated
    parts = path.name.split(".")[0].split("_")
    for folder in path.parents:
        listed = folder / "objects.json"
        if listed.is_file():
            whole = json.loads(listed.read_text(encoding="utf-8"))
            objects = whole["objects"]
            for name in parts:
                if name in objects:
                    return {"object": objects[name], "pusher": whole.get("pusher", {})}
            raise PushwiseError(
                f"{path}: no part of its name is an object of {listed}; there are "
                f"{', '.join(objects)}."
            )
    raise PushwiseError(f"{path}: no outline: neither {own.name} nor an objects.json states one.")


def described(path: Path) -> tuple[dict[str, Any], Array]:
    """Return the description of a table's object and its outline."""
    thing = _stated(path)["object"]
    return thing, outline_of(thing)


def grid_over(outline: Array) -> CellGrid:
    """Divide an outline into about `CELLS` cells."""
    x, y = outline.T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    return CellGrid.from_outline(outline, cell_size=float(np.sqrt(area / CELLS)))


def outline_of(thing: dict[str, Any]) -> Array:
    """Return the outline [m] an object's description gives, shape (k, 2)."""
    for key, value in thing.items():
        if key.startswith("outline") and isinstance(value, list):
            return np.array(value, float)
    raise PushwiseError(f"an object is described without an outline; it has {', '.join(thing)}.")
