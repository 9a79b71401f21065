"""Read tables of real pushes, which are recognised by their columns.

A table of pushes is a CSV file (plain or gzipped) with these columns, in metres and radians,

    obj_x0_m obj_y0_m obj_th0_rad   obj_x1_m obj_y1_m obj_th1_rad   tip_x0_m tip_y0_m

and the end of the finger as `tip_x1_m tip_y1_m` or `tip_xend_est_m tip_yend_est_m`. It may have
`flags` (rows with a word of `FAILED` are skipped), `parent_push_id` (each row is a piece of a
longer push, so the finger touches from the start) and final poses predicted by others,
`pred_<model>_x_m` and so on. A recording is a CSV file with one row per sample instead,

    t_s   obj_x_m obj_y_m obj_th_rad   tip_x_m tip_y_m

and the time in seconds. It is cut into short pushes; see `recordings`. Outline and finger come from
files next to the table or from the caller; see `stated`.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.experiments.real.recordings import Recorded, cut_pieces
from pushwise.experiments.real.stated import (
    Stated,
    Unstated,
    centre_of,
    outline_of,
    radius_of,
    stated,
)
from pushwise.physics.push import Push
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import PushRecord
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.shape.grid import CellGrid
from pushwise.typing import Array

__all__ = [
    "RealSet",
    "described",
    "grid_over",
    "numbers",
    "read_columns",
    "real_sets",
    "set_name",
    "succeeded",
    "tables",
]


POSES = ("obj_x0_m", "obj_y0_m", "obj_th0_rad", "obj_x1_m", "obj_y1_m", "obj_th1_rad")
START = ("tip_x0_m", "tip_y0_m")
ENDS = (("tip_x1_m", "tip_y1_m"), ("tip_xend_est_m", "tip_yend_est_m"))
RECORDING = ("t_s", "obj_x_m", "obj_y_m", "obj_th_rad", "tip_x_m", "tip_y_m")
FAILED = ("jump", "short_travel")  # tracking or robot failed
SPEED = 0.01  # m/s if a table states none: slow pushes do not depend on it
CELLS = 50  # approximate number of cells of an object


@dataclass(frozen=True, eq=False)
class RealSet:
    """Pushes of one object on one board, and what is known about them."""

    name: str
    outline: Array
    """Outline of the object [m] in the tracked frame, shape (k, 2)."""
    records: list[PushRecord]
    """First and last pose of each push."""
    touching: bool
    """Whether the finger touches from the start."""
    end_estimated: bool
    """Whether the end of the finger is extrapolated rather than measured."""
    published: dict[str, Array]
    """Final poses predicted by others, (pushes, 3) each."""
    contact: Array | None
    """Position and direction in which each push begins, body frame [m, m, rad], (pushes, 3)."""
    radius: float
    """Radius of the finger [m]."""
    height: float
    """Height of the contact above the table [m]; zero if neither it nor a thickness is stated."""
    setback: float
    """Stated distance of the real tip behind the recorded one [m]."""
    mass: float | None
    """Mass of the object [kg], if stated."""
    centre: tuple[float, float] | None
    """Centre of mass [m] in the tracked frame, if stated."""
    feet: Array | None
    """Positions of the feet of the object [m], if known, (k, 2)."""
    shares: Array | None
    """Share of the weight on each foot, (k,)."""
    recorded: Recorded | None = None
    """Statistics of the recording that the pushes were cut from, in order of time."""


def real_sets(
    folder: Path, otherwise: Stated | None = None, progress: OnProgress = lambda _: None
) -> list[RealSet]:
    """Return the sets below a folder, ordered by name.

    Args:
        folder: Where the tables are, at any depth.
        otherwise: What holds for sets whose files do not state it; see `given`.
        progress: Called for each set that is skipped because nothing states its outline or finger.

    Raises:
        PushwiseError: No set can be read.

    """
    if not folder.is_dir():
        raise PushwiseError(f"{folder} is not a folder.")
    found = []
    lacking = []
    for path in tables(folder):
        if (read := _reader(path)) is None:
            continue
        try:
            found.append(read(path, otherwise or {}))
        except Unstated as error:
            lacking.append(error)
    if lacking and not found:
        raise lacking[0]
    for why in lacking:
        progress(Progress("read", f"left out: {why}"))
    if not found:
        raise PushwiseError(
            f"{folder} holds no table of pushes: no CSV file below it has the columns "
            f"{', '.join((*POSES, *START))} and {' '.join(ENDS[0])}, or those of a recording, "
            f"{', '.join(RECORDING)}."
        )
    return found


def tables(folder: Path) -> Iterator[Path]:
    """Yield all CSV files below a folder, in order."""
    found = (p for p in folder.rglob("*.csv*") if p.name.endswith((".csv", ".csv.gz")))
    yield from sorted(p for p in found if p.is_file())


def header_of(path: Path) -> set[str]:
    """Return the names of the columns of a CSV file, plain or gzipped; none if it is no text."""
    opener = gzip.open if path.name.endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            return set(file.readline().strip().split(","))
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error):
        return set()  # it belongs to something else


def poses_of(path: Path, columns: dict[str, list[str]]) -> Array:
    """Return first and last poses, (rows, 6); no angle jumps at pi from one to the other."""
    poses = numbers(path, columns, POSES)
    poses[:, 5] -= 2.0 * np.pi * np.round((poses[:, 5] - poses[:, 2]) / (2.0 * np.pi))
    return poses


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


def succeeded(columns: dict[str, list[str]]) -> list[int]:
    """Return the rows of a table of pushes that no flag marks as failed."""
    flags = columns.get("flags", [""] * len(columns[POSES[0]]))
    return [i for i, flag in enumerate(flags) if not any(word in flag for word in FAILED)]


def _reader(path: Path) -> Callable[[Path, Stated], RealSet] | None:
    """Return the function that reads a table; None if it is of neither kind."""
    header = header_of(path)
    if header.issuperset((*POSES, *START)) and any(header.issuperset(end) for end in ENDS):
        return read_set
    return read_recording if header.issuperset(RECORDING) else None


def read_set(path: Path, otherwise: Stated) -> RealSet:
    """Read one table of pushes."""
    columns = read_columns(path)
    known = stated(path, otherwise)
    end = next(names for names in ENDS if set(names) <= columns.keys())
    pose, tip = poses_of(path, columns), numbers(path, columns, (*START, *end))
    kept = succeeded(columns)
    speed = float(known.get("tip_speed_m_s", SPEED))
    models = [m[1] for name in columns if (m := re.fullmatch(r"pred_(\w+)_x_m", name))]
    contact = None
    if {"contact_bx_m", "contact_by_m", "push_angle_deg"} <= columns.keys():
        contact = numbers(path, columns, ("contact_bx_m", "contact_by_m", "push_angle_deg"))[kept]
        contact[:, 2] = np.radians(contact[:, 2])
    pusher, thing = known["pusher"], known["object"]
    feet = known.get("support_points_com_frame_m")
    return RealSet(
        set_name(path),
        outline_of(path, thing),
        [_record(pose[i], tip[i], speed, f"{set_name(path)}, line {i + 2}") for i in kept],
        "parent_push_id" in columns,
        end == ENDS[1],
        {
            m: numbers(path, columns, (f"pred_{m}_x_m", f"pred_{m}_y_m", f"pred_{m}_th_rad"))[kept]
            for m in models
        },
        contact,
        radius_of(path, pusher),
        _height(known),
        float(pusher.get("effective_setback_m", 0.0)),
        thing.get("mass_kg"),
        centre_of(path, thing),
        None if feet is None else np.array(feet, float),
        None if feet is None else np.array(known["nominal_load_fraction"], float),
    )


def read_recording(path: Path, otherwise: Stated) -> RealSet:
    """Read one recording and cut it into short pushes."""
    known = stated(path, otherwise)
    outline, radius = outline_of(path, known["object"]), radius_of(path, known["pusher"])
    t, *values = numbers(path, read_columns(path), RECORDING).T
    back = np.flatnonzero(np.diff(t) <= 0.0)
    if len(back):
        i = int(back[0]) + 1
        raise PushwiseError(f"{path}, line {i + 2}: t_s must increase; {t[i]} follows {t[i - 1]}.")
    recording = Recording(
        set_name(path),
        Stream.ordered("object", str(path), t, np.column_stack(values[:3])),
        Stream.ordered("finger", str(path), t, np.column_stack(values[3:])),
    )
    records, recorded = cut_pieces(recording, outline, radius)
    return RealSet(
        set_name(path),
        outline,
        records,
        touching=True,
        end_estimated=False,
        published={},
        contact=None,
        radius=radius,
        height=_height(known),
        setback=0.0,
        mass=known["object"].get("mass_kg"),
        centre=centre_of(path, known["object"]),
        feet=None,
        shares=None,
        recorded=recorded,
    )


def _height(known: Stated) -> float:
    """Return the height of the contact above the table [m].

    If it is not stated, an upright finger touches a plate along its whole thickness.
    """
    if "push_height_above_object_origin_mm" in known:
        return 1e-3 * float(known["push_height_above_object_origin_mm"])
    return 0.5 * float(known["object"].get("thickness_m", 0.0))


def set_name(path: Path) -> str:
    """Return the name of a table: its folder and its file name without suffixes."""
    return f"{path.parent.name}/{path.name.split('.')[0]}"


def _record(pose: Array, tip: Array, speed: float, source: str) -> PushRecord:
    """Return a push from its two poses (6,) and the two positions of the tip (4,)."""
    travel = float(np.hypot(*(tip[2:] - tip[:2])))
    times = [0.0, travel / speed if travel > 0.0 else 1.0]
    return PushRecord(Push(times, tip.reshape(2, 2)), times, pose.reshape(2, 3), source=source)


def described(path: Path, otherwise: Stated) -> tuple[Stated, Array]:
    """Return the description and the outline of the object of a table."""
    thing = stated(path, otherwise)["object"]
    return thing, outline_of(path, thing)


def grid_over(outline: Array, cells: int = CELLS) -> CellGrid:
    """Divide an outline into about this many cells."""
    x, y = outline.T
    area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    return CellGrid.from_outline(outline, cell_size=float(np.sqrt(area / cells)))
