"""`read_recordings`: continuous recordings of others, from ROS bags, MIT files or CSV files.

`cut_pushes` then finds the pushes in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pushwise.errors import PushwiseError

if TYPE_CHECKING:
    from pushwise.records.recordings.stream import Recording

__all__ = ["BagTopics", "CsvColumns", "read_recordings"]

_BAGS = (".bag", ".db3", ".mcap", ".yaml")
_MIT = (".h5", ".hdf5", ".json")
_TABLES = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class BagTopics:
    """Where a ROS bag has what a recording needs.

    A topic has stamped poses, odometry or transforms. For a tree of transforms, give the frame
    after a colon, as in "/tf:box".
    """

    object: str | None = None
    """Topic of the object's pose. Without it, the error message lists the topics of the bag."""
    finger: str | None = None
    """Topic of the finger's pose. Without it, the error message lists the topics of the bag."""
    wrench: str | None = None
    """Topic of the force, if it was measured: stamped wrenches."""
    frame: str | None = None
    """The table frame, z up; the frame of the object's poses if not given."""


@dataclass(frozen=True)
class CsvColumns:
    """The columns of a CSV file: t, x, y, theta, finger_x, finger_y, and optionally fx, fy, push.

    With a column `push`, each push is one recording; without it, the file is one recording.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    """The file's name for a column, by our name; columns that are not given have our names."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The unit of a column, by our name, such as "mm" or "deg"; m, rad, s and N if not given."""


def read_recordings(
    path: str | Path, options: BagTopics | CsvColumns | None = None
) -> list[Recording]:
    """Read the recordings in a file; `cut_pushes` finds the pushes in them.

    Args:
        path: A ROS bag (.bag, .db3, .mcap or the folder of a ROS 2 bag), a CSV file (.csv, .tsv,
            .txt) or a file of the MIT push dataset (.h5, .hdf5, .json). Bags and HDF5 files need
            the extra `recordings`.
        options: `BagTopics` for a bag, which needs them; `CsvColumns` for a CSV file with column
            names or units of its own. Options for another kind of file are refused.

    """
    path = Path(path)
    if not path.exists():
        raise PushwiseError(f"{path} does not exist.")
    kind = path.suffix.lower()
    is_bag = path.is_dir() or kind in _BAGS
    if isinstance(options, BagTopics) and not is_bag:
        raise PushwiseError(f"topics are options for ROS bags; {path} is not a ROS bag.")
    if isinstance(options, CsvColumns) and (is_bag or kind not in _TABLES):
        raise PushwiseError(f"columns and units are for CSV files; {path} is not a CSV file.")
    if is_bag:
        from pushwise.records.recordings.bag import read_bag

        return [read_bag(path, options if isinstance(options, BagTopics) else BagTopics())]
    if kind in _MIT:
        from pushwise.records.recordings.mit import read_mit

        return [read_mit(path)]
    if kind in _TABLES:
        from pushwise.records.recordings.csv_recording import read_columns

        return read_columns(path, options if isinstance(options, CsvColumns) else CsvColumns())
    kinds = ", ".join((*_BAGS[:3], *_MIT, *_TABLES))
    raise PushwiseError(f"{path} must be the folder of a ROS 2 bag, or one of {kinds}.")
