"""`Bag`: the messages of a ROS 1 or ROS 2 bag that a recording needs, read without ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pushwise.errors import PushwiseError, reason
from pushwise.extras import require
from pushwise.records.recordings.poses import times
from pushwise.records.recordings.transforms import Frames
from pushwise.typing import Array

__all__ = ["TREES", "Bag", "open_bag"]

TREES = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
"""Types of messages that are trees of transforms."""
_LISTED = 8  # files of a folder that is not a bag


@dataclass(frozen=True, eq=False)
class Bag:
    """The messages that are needed, by topic; make one with `open_bag`."""

    path: Path
    """The file or folder."""
    types: Mapping[str, str]
    """Type of every topic in the bag."""
    counts: Mapping[str, int]
    """How many messages each topic has."""
    messages: Mapping[str, list[tuple[int, Any]]]
    """Arrival [ns] and message, for the topics that were read."""
    taken_back: Mapping[str, float] = field(default_factory=dict)
    """How far to take back the stamps of some sources [s], by their names; see `poses.ahead`."""

    @cached_property
    def frames(self) -> Frames:
        """The tree of all transforms."""
        trees = {topic: sent for topic, sent in self.messages.items() if self.types[topic] in TREES}
        return Frames(str(self.path), trees, self.taken_back)

    def type(self, name: str) -> str:
        """Return the type of a topic."""
        topic = name.partition(":")[0]
        if topic not in self.types:
            raise PushwiseError(f"{self.path} has no topic {topic}; {self.listed()}.")
        return self.types[topic]

    def of(self, topic: str) -> list[Any]:
        """Return the messages of a topic; one without any is refused."""
        if topic not in self.messages:
            raise PushwiseError(f"{self.path}: {topic} has no messages; {self.listed()}.")
        return [message for _, message in self.messages[topic]]

    def times(self, topic: str) -> tuple[Array, float | None]:
        """Return the times of a topic's messages [s], and its clock; see `poses.Clocks`."""
        headers = [message.header for message in self.of(topic)]
        t, clock = times([arrival for arrival, _ in self.messages[topic]], headers)
        return t - self.taken_back.get(topic, 0.0), clock

    def frame_of(self, topic: str) -> str:
        """Return the frame of all messages of a topic, empty if they do not name it."""
        names = {message.header.frame_id.lstrip("/") for message in self.of(topic)}
        if len(names) > 1:
            raise PushwiseError(
                f"{self.path}: {topic} must be in one frame; it is in {', '.join(sorted(names))}."
            )
        return str(names.pop())

    def listed(self) -> str:
        """Return the contents of the bag in words."""
        if not self.types:
            return "the bag is empty"
        topics = [
            f"{name} ({kind}, {self.counts[name]})" for name, kind in sorted(self.types.items())
        ]
        names = self.frames.names()
        frames = f", frames in the transforms: {', '.join(names)}" if names else ""
        return f"the bag has {', '.join(topics)}{frames}"


def open_bag(path: Path, chosen: list[str]) -> Bag:
    """Read the chosen topics and all transforms of a bag."""
    require("rosbags", extra="recordings", purpose="reading ROS bags")
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    if not path.exists():
        raise PushwiseError(f"{path} does not exist.")
    where = path.parent if path.name == "metadata.yaml" else path
    if where.is_dir() and not (where / "metadata.yaml").exists():
        names = sorted(file.name for file in where.iterdir())
        more = [f"{len(names) - _LISTED} others"] if len(names) > _LISTED + 1 else []
        inside = ", ".join([*(names[:_LISTED] if more else names), *more]) or "nothing"
        raise PushwiseError(
            f"{where} is not the folder of a ROS 2 bag: it has no metadata.yaml, only {inside}; "
            "give a .db3 or .mcap file itself, or repair the bag with `ros2 bag reindex`."
        )
    types: dict[str, str] = {}
    counts: dict[str, int] = {}
    messages: dict[str, list[tuple[int, Any]]] = {}
    try:
        with AnyReader([where], default_typestore=get_typestore(Stores.LATEST)) as reader:
            for topic, info in reader.topics.items():
                types[topic], counts[topic] = info.msgtype or "several types", info.msgcount
            read = [c for c in reader.connections if c.topic in chosen or c.msgtype in TREES]
            for connection, arrival, raw in reader.messages(read) if read else ():
                message = reader.deserialize(raw, connection.msgtype)
                messages.setdefault(connection.topic, []).append((arrival, message))
    except Exception as error:
        # For damaged bags the reader, SQLite and the decompressors raise errors of many kinds.
        raise PushwiseError(
            f"{path} cannot be read as a ROS bag: {reason(error)}; if it was cut short, try to "
            "repair it with `rosbag reindex`, `ros2 bag reindex` or `mcap recover`."
        ) from error
    return Bag(path, types, counts, messages)
