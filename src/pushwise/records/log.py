"""`PushLog`: the records of one object, its grid, and where they come from.

On disk a log is a tidy CSV file with one row per sample, and a JSON header of the same name:

    push,t,x,y,theta,finger_x,finger_y[,fx,fy][,z,tilt][,vx,vy,omega]
    0,0.0,0.0,0.0,0.0,-0.12,0.03
    0,2.0,0.08,0.01,-0.25,0.08,0.03

Units are metres, seconds, radians and newtons. The pose is that of the grid frame, the finger's
position that of its centre, the force that on the object. Between two rows the finger moves in a
straight line; rows after it was raised have no position of it. The twist is that of the grid origin
in the first row of a push; without one the object starts at rest. z and tilt are the height and the
angle by which the object is lifted and tilted, compared with how it rests. Two rows per push are
enough and the header is optional, so that a log can be written by hand. `log_file` reads the rows
and `log_writer` writes them. `load_logs` reads several logs of one object as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np

from pushwise.atomic_write import write_together
from pushwise.checks import positive_number
from pushwise.documents import document_text, header, read_document, read_json, write_document
from pushwise.errors import PushwiseError
from pushwise.locking import exclusive
from pushwise.records.log_file import read_records
from pushwise.records.log_writer import LogWriter, log_text
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.grid import CellGrid
from pushwise.shape.same_shape import (
    QUARTERS,
    SAME_SHAPE,
    TURNED,
    shared_cells,
    turned_onto,
)

__all__ = ["PushLog", "check_new", "header_path", "load_logs"]

_VERSION_1 = "pushwise log 1"  # the format of version 1, which differs in nothing else
_UNITS = "m, rad, s, N; poses of the grid frame, finger centre and force in the table frame"


@dataclass(frozen=True, eq=False)
class PushLog(Sequence[PushRecord]):
    """Records of pushes of one object, in the order in which they happened."""

    records: tuple[PushRecord, ...] = ()
    """The records."""
    grid: CellGrid | None = None
    """The object's cells; the poses of the records are those of its frame."""
    finger_radius: float | None = None
    """Radius of the finger [m]."""
    noise: Noise | None = None
    """Noise of the measurements, if known."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """Where the log comes from: anything that JSON can hold."""

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
    def __getitem__(self, index: slice) -> PushLog: ...
    def __getitem__(self, index: int | slice) -> PushRecord | PushLog:
        """Return one record, or a log of some of them, made with the same finger."""
        if isinstance(index, slice):
            return replace(self, records=self.records[index])
        return self.records[index]

    def __iter__(self) -> Iterator[PushRecord]:
        """Walk over the records."""
        return iter(self.records)

    @classmethod
    def load(cls, path: str | Path) -> PushLog:
        """Read a log; errors in the file are reported with the number of the line."""
        path = Path(path)
        stated = _read_header(path)
        try:
            measured = _part(stated, "noise", (), ("position", "angle", "force"))
            cells = _part(stated, "grid", ("centres", "cell_size"), ("heights", "outline"))
            noise = None if measured is None else Noise(**measured)
            grid = None if cells is None else CellGrid(**cells)
            radius, provenance = stated.get("finger_radius"), stated.get("provenance") or {}
            if not isinstance(provenance, dict):
                raise PushwiseError(f"provenance must be a JSON object; got {provenance!r:.40}.")
            log = cls((), grid, radius, noise, provenance)
        except PushwiseError as error:
            raise PushwiseError(f"{header_path(path)}: {error}") from None
        records = read_records(path, noise=noise, complete_lines=bool(stated))
        return replace(log, records=records)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the log to a CSV file, and its header to a JSON file of the same name.

        Args:
            path: The CSV file.
            overwrite: Overwrite a log, header and all; any other file named like the header stays.

        """
        path = Path(path)
        text = log_text(self.records)
        check_new(path, overwrite=overwrite)
        with exclusive(path):
            check_new(path, overwrite=overwrite)
            write_together({path: text, header_path(path): document_text("log", self._fields())})

    def writer(self, path: str | Path, *, resume: bool = False) -> LogWriter:
        """Start a new file with the header of this log, and return a writer of its records.

        Args:
            path: The CSV file.
            resume: Continue a file that has the same header.

        """
        path = Path(path)
        check_new(path, resume=resume)
        with ExitStack() as lock:
            lock.enter_context(exclusive(path))
            self._begin(path, resume=resume)
            return LogWriter(path, lock=lock.pop_all())

    def _begin(self, path: Path, *, resume: bool) -> None:
        """Write the header of a new log, or check that of one to continue; the log is locked."""
        file = header_path(path)
        if resume and (path.exists() or file.exists()):
            if not file.exists() or read_json(file) != self.header():
                raise PushwiseError(
                    f"{path} holds another log, and a log is never overwritten; choose another "
                    "file."
                )
            return
        check_new(path)
        write_document(file, "log", self._fields())

    def header(self) -> dict[str, Any]:
        """Return the contents of the JSON header."""
        return {**header("log"), **self._fields()}

    def _fields(self) -> dict[str, Any]:
        """Return the fields of the JSON header after those of every document."""
        grid, noise = self.grid, self.noise
        return {
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
    """Return the path of a log's header: log.json for log.csv."""
    if path.suffix != ".csv":
        raise PushwiseError(f"a log must be a .csv file; got {path}.")
    return path.with_suffix(".json")


def check_new(path: Path, *, resume: bool = False, overwrite: bool = False) -> None:
    """Refuse a path at which a new log would overwrite a file, or whose folder does not exist.

    The header is written first: one without its CSV file is what an interrupted command left.
    """
    file = header_path(path)
    if not resume and not overwrite and path.exists():
        raise PushwiseError(f"{path} exists; a log never overwrites a file.")
    if not resume and file.exists() and not _is_header(file):
        raise PushwiseError(f"{file} exists; a log never overwrites a file.")
    if not path.parent.is_dir():
        raise PushwiseError(f"{path} cannot be written: there is no folder {path.parent}.")


def _read_header(path: Path) -> dict[str, Any]:
    """Return the JSON header of a log, empty if there is none."""
    file = header_path(path)
    if not file.exists():
        return {}
    try:
        return _document(file)
    except PushwiseError as error:
        raise PushwiseError(f"{file} is taken for the header of {path}, but {error}") from None


def _document(file: Path) -> dict[str, Any]:
    """Return the JSON header of a log, in the format of this version or of version 1."""
    document = read_json(file)
    if isinstance(document, dict) and document.get("format") == _VERSION_1:
        return document
    return read_document(file, "log")


def _is_header(file: Path) -> bool:
    """Return whether a file is the header of a log."""
    try:
        _document(file)
    except PushwiseError:
        return False
    return True


def _part(
    stated: Mapping[str, Any], name: str, needed: tuple[str, ...], other: tuple[str, ...]
) -> dict[str, Any] | None:
    """Return a part of a header after checking its names, None if the part is missing."""
    part = stated.get(name)
    if part is None:
        return None
    if not isinstance(part, dict) or not set(needed) <= set(part) <= {*needed, *other}:
        got = (", ".join(part) if isinstance(part, dict) else repr(part))[:200]
        least = f", at least {' and '.join(needed)}" if needed else ""
        raise PushwiseError(
            f"{name} must be a JSON object of {', '.join([*needed, *other])}{least}; got {got}."
        )
    return part


def load_logs(paths: Sequence[Path], grid: CellGrid | None) -> PushLog:
    """Read several logs of one object as one, and check that its shape is that of the grid.

    The finger's radius is the one given in the headers, None if there is none. Without a grid, that
    of the first header that has one is taken.
    """
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise PushwiseError(f"{path} is given twice; every push counts once.")
    logs = [PushLog.load(path) for path in paths]
    grid = grid or next((log.grid for log in logs if log.grid is not None), None)
    if grid is None:
        raise PushwiseError(
            f"{paths[0]} has no header with a grid; give the JSON file of a grid, a scan or a "
            "model before it."
        )
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
            "use logs made with one finger."
        )
    records = tuple(record for log in logs for record in log)
    if not records:
        raise PushwiseError(
            f"{', '.join(map(str, paths))}: there are no pushes to learn from; give at least one."
        )
    return PushLog(records, grid, next(iter(radii), None))


def _check_same(path: Path, logged: CellGrid, grid: CellGrid) -> None:
    """Refuse a log whose header describes another shape, or the same one in another frame."""
    shared = shared_cells(logged, grid, np.zeros(3))
    if shared < SAME_SHAPE:
        raise PushwiseError(
            f"{path} is the log of another object, or in another frame: the shape in its header "
            f"and that of the grid have only {shared:.0%} in common."
        )
    fits = {
        turns: shared_cells(logged, grid, turned_onto(logged, grid, turns))
        for turns in range(1, QUARTERS)
    }
    turns = max(fits, key=lambda turns: fits[turns])
    if fits[turns] > shared + TURNED:
        raise PushwiseError(
            f"{path} was made with the same shape in another frame: turned by {90 * turns} "
            f"degrees, the grid has {fits[turns]:.0%} in common with the one in its header instead "
            f"of {shared:.0%}; leave the grid out, so that the one in the header is taken."
        )
