"""`PushLog`: many records, the grid whose frame their poses give, and where they come from.

On disk a log is one tidy CSV file, a row a sample, and beside it a JSON header of the same name:

    push,t,x,y,theta,finger_x,finger_y[,fx,fy]
    0,0.0,0.0,0.0,0.0,-0.12,0.03
    0,2.0,0.08,0.01,-0.25,0.08,0.03

Metres, seconds, radians and newtons; the pose is that of the grid frame, the finger's place that
of its centre, the force that on the object. Two rows a push are enough, and the header may be
missing: a person can write a log by hand. `logfile` reads the rows, `LogWriter` writes them.

Several logs of one object, read as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

from pushwise.checks import positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import contains
from pushwise.records.log_file import LogWriter, read_records
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid

__all__ = ["PushLog", "check_new", "header_path", "load_logs"]

_FORMAT = "pushwise log 1"
_UNITS = "m, rad, s, N; poses of the grid frame, finger centre and force in the table frame"


@dataclass(frozen=True, eq=False)
class PushLog(Sequence[PushRecord]):
    """Records of pushes of one object, in the order they happened."""

    records: tuple[PushRecord, ...] = ()
    """What happened."""
    grid: CellGrid | None = None
    """The object's cells; the records' poses are those of its frame."""
    finger_radius: float | None = None
    """Radius of the finger [m]."""
    noise: Noise | None = None
    """How exact the measurements are, if known."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Where the log comes from: whatever JSON can hold."""

    def __post_init__(self) -> None:
        """Check the radius and freeze the records."""
        object.__setattr__(self, "records", tuple(self.records))
        if self.finger_radius is not None:
            positive_number("finger_radius", self.finger_radius)

    def __len__(self) -> int:
        """Count the records."""
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> PushRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PushRecord]: ...
    def __getitem__(self, index: int | slice) -> PushRecord | Sequence[PushRecord]:
        """Return one record, or a slice of them."""
        return self.records[index]

    def __iter__(self) -> Iterator[PushRecord]:
        """Walk over the records."""
        return iter(self.records)

    @classmethod
    def load(cls, path: str | Path) -> PushLog:
        """Read a log; a file that cannot be right is refused with the number of its line."""
        path = Path(path)
        header = _read_header(path)
        try:
            exact = _part(header, "noise", (), ("position", "angle", "force"))
            cells = _part(header, "grid", ("centres", "cell_size"), ("heights", "outline"))
            noise = None if exact is None else Noise(**exact)
            grid = None if cells is None else CellGrid(**cells)
            radius, told = header.get("finger_radius"), header.get("provenance")
            log = cls((), grid, radius, noise, {} if told is None else told)
        except PushwiseError as error:
            raise PushwiseError(f"{header_path(path)}: {error}") from None
        records = read_records(path, noise=noise, complete_lines=bool(header))
        return replace(log, records=records)

    def save(self, path: str | Path) -> None:
        """Write the log to a new CSV file and its header beside it."""
        with self.writer(path) as writer:
            for record in self.records:
                writer.append(record)

    def writer(self, path: str | Path) -> LogWriter:
        """Start a new file for a log with this header, and return what appends records to it."""
        path = Path(path)
        check_new(path)
        header = header_path(path)
        try:
            header.write_text(json.dumps(self.header(), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise PushwiseError(f"cannot write {header} ({error.strerror}).") from None
        return LogWriter(path)

    def header(self) -> dict[str, Any]:
        """Return what the JSON header holds."""
        grid, noise = self.grid, self.noise
        return {
            "format": _FORMAT,
            "units": _UNITS,
            "provenance": dict(self.provenance),
            "finger_radius": self.finger_radius,
            "noise": noise
            and {"position": noise.position, "angle": noise.angle, "force": noise.force},
            "grid": grid
            and {
                "cell_size": grid.cell_size,
                "centres": grid.centres.tolist(),
                "heights": grid.heights.tolist(),
                "outline": grid.outline.tolist(),
            },
        }


def header_path(path: Path) -> Path:
    """Return the name of a log's header: log.json beside log.csv."""
    if path.suffix != ".csv":
        raise PushwiseError(f"a log is a .csv file with a .json header beside it; got {path}.")
    return path.with_suffix(".json")


def check_new(path: Path) -> None:
    """Refuse to begin a log where it would overwrite a file, or where there is no folder."""
    for file in (path, header_path(path)):
        if file.exists():
            raise PushwiseError(f"{file} exists; a log never overwrites a file.")
    if not path.parent.is_dir():
        raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")


def _read_header(path: Path) -> dict[str, Any]:
    """Return the JSON header beside a log, empty when there is none."""
    file = header_path(path)
    if not file.exists():
        return {}
    try:
        header = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PushwiseError(f"cannot read {file} ({error.strerror}).") from None
    except ValueError as error:
        raise PushwiseError(f"{file} must be a JSON header of a push log; {error}.") from None
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise PushwiseError(f"{file} must be a header with the format {_FORMAT!r}.")
    return header


def _part(
    header: Mapping[str, Any], name: str, needed: tuple[str, ...], other: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return a part of a header that has the needed names and no others, None if it is missing."""
    part = header.get(name)
    if part is None:
        return None
    if not isinstance(part, dict) or not set(needed) <= set(part) <= {*needed, *other}:
        got = ", ".join(part) if isinstance(part, dict) else repr(part)
        least = f", at least {' and '.join(needed)}" if needed else ""
        raise PushwiseError(
            f"{name} must be a JSON object of {', '.join([*needed, *other])}{least}; got {got}."
        )
    return part


_SAME_SHAPE = 0.75  # of the cells that two scans of one thing have in common, at the least


def load_logs(paths: Sequence[Path], grid: CellGrid) -> PushLog:
    """Read logs of the object with a grid, one after the other, and check that they are of it.

    The finger's radius is that which the headers tell, None when none does.
    """
    logs = [PushLog.load(path) for path in paths]
    radii: dict[float, Path] = {}
    for path, log in zip(paths, logs, strict=True):
        if log.grid is not None:
            _check_same(path, log.grid, grid)
        if log.finger_radius is not None:
            radii.setdefault(log.finger_radius, path)
    if len(radii) > 1:
        (a, one), (b, other) = list(radii.items())[:2]
        raise PushwiseError(
            f"{one} has a finger of radius {a:g} m and {other} one of {b:g} m; "
            "identify from logs of one finger."
        )
    records = tuple(record for log in logs for record in log)
    return PushLog(records, grid, next(iter(radii), None))


def _check_same(path: Path, told: CellGrid, grid: CellGrid) -> None:
    """Refuse a log whose header describes an object of another shape, or elsewhere in its frame."""
    shared = min(
        float(contains(a.outline, b.centres).mean()) for a, b in ((told, grid), (grid, told))
    )
    if shared < _SAME_SHAPE:
        raise PushwiseError(
            f"{path} is the log of another object, or in another frame: the shape in its header "
            f"and that of the grid have {shared:.0%} in common."
        )
