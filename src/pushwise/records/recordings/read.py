"""A recording straight from a file, whatever kind of file it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from pushwise.records.recordings.stream import Recording

__all__ = ["read_recordings"]

_BAGS = (".bag", ".db3", ".mcap", ".yaml")
_MIT = (".h5", ".hdf5", ".json")
_TABLES = (".csv", ".tsv", ".txt")


def read_recordings(
    path: str | Path,
    *,
    object: str | None = None,
    finger: str | None = None,
    wrench: str | None = None,
    frame: str | None = None,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> list[Recording]:
    """Read what a file recorded; `cut_pushes` finds the pushes in it.

    A ROS bag (.bag, .db3, .mcap or the folder of a ROS 2 bag) needs the topics of `object` and
    `finger` and may have one of a `wrench`; see `bag`. A CSV file (.csv, .tsv,
    .txt) may need `columns` and `units`; see `csv_recording`. A file of the MIT push
    dataset (.h5, .hdf5, .json) needs nothing. Options for another kind of file are refused.
    """
    path = Path(path)
    if not path.exists():
        raise PushwiseError(f"{path} does not exist.")
    kind = path.suffix.lower()
    topics = {"object": object, "finger": finger, "wrench": wrench, "frame": frame}
    is_bag = path.is_dir() or kind in _BAGS
    if not is_bag and any(topics.values()):
        given = next(name for name, value in topics.items() if value)
        raise PushwiseError(f"{given} is an option for ROS bags, which {path} is not.")
    if kind not in _TABLES and (columns or units):
        raise PushwiseError(f"columns and units are options for CSV files, which {path} is not.")
    if is_bag:
        from pushwise.records.recordings.bag import read_bag

        return [read_bag(path, **topics)]
    if kind in _MIT:
        from pushwise.records.recordings.mit import read_mit

        return [read_mit(path)]
    if kind in _TABLES:
        from pushwise.records.recordings.csv_recording import read_columns

        return read_columns(path, columns, units)
    kinds = ", ".join((*_BAGS[:3], *_MIT, *_TABLES))
    raise PushwiseError(f"{path} must be the folder of a ROS 2 bag, or one of {kinds}.")
