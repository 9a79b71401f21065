"""ROS 1 bags and ROS 2 bags (sqlite3 and MCAP), read without ROS.

The object and the finger come from stamped poses, odometry or transforms, the force from stamped
wrenches. Times are the stamps in the messages' headers, not their times of arrival, unless all
stamps of a topic are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pushwise.errors import PushwiseError
from pushwise.extras import require
from pushwise.records.recordings import BagTopics
from pushwise.records.recordings.poses import (
    Clocks,
    Poses,
    clock_notes,
    here,
    interpolated,
    planar,
    sorted_poses,
    times,
    unit_rows,
)
from pushwise.records.recordings.stream import Recording, Stream
from pushwise.records.recordings.transforms import Frames
from pushwise.typing import Array

__all__ = ["read_bag"]

_POSES: dict[str, Callable[[Any], tuple[Any, Any, str]]] = {
    # position, orientation and name of the moving frame
    "geometry_msgs/msg/PoseStamped": lambda m: (m.pose.position, m.pose.orientation, ""),
    "geometry_msgs/msg/PoseWithCovarianceStamped": lambda m: (
        m.pose.pose.position,
        m.pose.pose.orientation,
        "",
    ),
    "nav_msgs/msg/Odometry": lambda m: (
        m.pose.pose.position,
        m.pose.pose.orientation,
        m.child_frame_id,
    ),
    "geometry_msgs/msg/TransformStamped": lambda m: (
        m.transform.translation,
        m.transform.rotation,
        m.child_frame_id,
    ),
}
_TREES = ("tf2_msgs/msg/TFMessage", "tf/msg/tfMessage")
_WRENCH = "geometry_msgs/msg/WrenchStamped"


@dataclass(frozen=True, eq=False)
class _Bag:
    """The messages that are needed, by topic."""

    path: Path
    types: dict[str, str]
    """Type of every topic in the bag."""
    counts: dict[str, int]
    """How many messages each topic has."""
    messages: dict[str, list[tuple[int, Any]]]
    """Arrival [ns] and message, for the topics that were read."""


def read_bag(path: str | Path, topics: BagTopics) -> Recording:
    """Read the recording of an object and a finger from a ROS bag.

    Args:
        path: A .bag file, the folder of a ROS 2 bag, or a .db3 or .mcap file.
        topics: Where the bag has the object, the finger and the force.

    Raises:
        PushwiseError: The bag cannot be read, or a topic is missing; the message then lists the
            topics of the bag.

    """
    path = Path(path)
    tracked, finger, wrench = topics.object, topics.finger, topics.wrench
    chosen = [name.split(":")[0] for name in (tracked, finger, wrench) if name is not None]
    bag = _read(path, chosen)
    for name, called in ((tracked, "--object"), (finger, "--finger")):
        if name is None:
            raise PushwiseError(f"{path}: choose a topic with {called}; {_listed(bag)}.")
    assert tracked is not None and finger is not None
    frames = _frames(bag)
    seen = _poses(bag, frames, tracked, topics.frame and topics.frame.lstrip("/"))
    tip = _poses(bag, frames, finger, seen.parent)
    clocks = {**seen.clocks, **tip.clocks}
    begin = min(np.nanmin(seen.t), np.nanmin(tip.t))
    forces = None
    notes: list[str] = []
    if wrench is not None:
        forces, force_clocks, notes = _forces(bag, frames, wrench, tip, begin)
        clocks.update(force_clocks)
    values, flat = planar(f"{path.name} {tracked}", seen)
    return Recording(
        path.name,
        Stream.ordered(
            "object",
            f"{tracked} ({_type(bag, tracked)} in {seen.parent!r})",
            seen.t[flat] - begin,
            values[flat],
            not_planar=int((~flat).sum()),
            not_placed=seen.not_placed,
        ),
        Stream.ordered(
            "finger",
            f"{finger} ({_type(bag, finger)})",
            tip.t - begin,
            tip.rows[:, :2],
            not_placed=tip.not_placed,
        ),
        forces,
        (*notes, *clock_notes(clocks)),
    )


def _read(path: Path, chosen: list[str]) -> _Bag:
    """Read the chosen topics and all transforms of a bag."""
    require("rosbags", extra="recordings", purpose="reading ROS bags")
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    if not path.exists():
        raise PushwiseError(f"{path} does not exist.")
    where = path.parent if path.name == "metadata.yaml" else path
    if where.is_dir() and not (where / "metadata.yaml").exists():
        inside = ", ".join(sorted(file.name for file in where.iterdir())) or "nothing"
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
            wanted = [c for c in reader.connections if c.topic in chosen or c.msgtype in _TREES]
            for connection, arrival, raw in reader.messages(wanted) if wanted else ():
                message = reader.deserialize(raw, connection.msgtype)
                messages.setdefault(connection.topic, []).append((arrival, message))
    except Exception as error:
        # For damaged bags the reader, SQLite and the decompressors raise errors of many kinds.
        raise PushwiseError(
            f"{path} cannot be read as a ROS bag: {_sentence(error)}; if it was cut short, try to "
            "repair it with `rosbag reindex`, `ros2 bag reindex` or `mcap recover`."
        ) from error
    return _Bag(path, types, counts, messages)


def _poses(bag: _Bag, frames: Frames, name: str, frame: str | None) -> Poses:
    """Return the poses of a topic, or of a frame in a tree of transforms, in a frame."""
    topic, _, child = name.partition(":")
    kind = _type(bag, topic)
    if kind in _TREES:
        if child not in frames.names():
            raise PushwiseError(
                f"{bag.path}: choose a frame of {topic}, as in {topic}:box; got {child!r}, and "
                f"the transforms have {', '.join(frames.names()) or 'none'}."
            )
        return frames.poses(child, frame)
    if kind not in _POSES:
        kinds = ", ".join((*_POSES, _TREES[0]))
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no pose; give a topic of {kinds}: "
            f"{_listed(bag)}."
        )
    messages = _messages(bag, topic)
    t, clock = _times(messages)
    parts = [_POSES[kind](message) for _, message in messages]
    rows = np.array([[p.x, p.y, p.z, q.x, q.y, q.z, q.w] for p, q, _ in parts])
    moves = parts[0][2].lstrip("/")
    poses = Poses(_frame_of(bag, topic), moves, t, unit_rows(rows), {topic: clock})
    if frame is None or frame == poses.parent:
        return poses
    carried = frames.carried(poses, frame)
    if carried is None:
        known = ", ".join(frames.names()) or "none"
        raise PushwiseError(
            f"{bag.path}: {topic} is in frame {poses.parent!r}, not in {frame!r}, and no "
            f"transforms lead there; frames in the transforms: {known}."
        )
    return carried


def _forces(
    bag: _Bag, frames: Frames, topic: str, tip: Poses, begin: float
) -> tuple[Stream, Clocks, list[str]]:
    """Return the forces in the table frame, their clocks, and what had to be assumed."""
    kind = _type(bag, topic)
    if kind != _WRENCH:
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no force; give a topic of {_WRENCH}: "
            f"{_listed(bag)}."
        )
    messages = _messages(bag, topic)
    t, clock = _times(messages)
    clocks = {topic: clock}
    vectors = [message.wrench.force for _, message in messages]
    force = np.array([[f.x, f.y, f.z] for f in vectors])
    given = _frame_of(bag, topic)
    notes = []
    found = frames.at(given, tip.parent, t)
    if found is not None:
        rows = found.rows
        clocks.update(found.clocks)
    elif given and np.isfinite(tip.rows).all(axis=1).any():
        rows = interpolated(sorted_poses(tip), t)
        if given != tip.child:
            notes.append(
                f"no transform leads to the force's frame {given!r}: the finger's frame is assumed"
            )
    else:
        rows = here(len(t))
        notes.append(
            f"no transform leads to the force's frame {given!r}: the axes of {tip.parent!r} are "
            "assumed"
        )
    known = np.isfinite(rows.sum(axis=1))
    turn = Rotation.from_quat(np.where(known[:, None], rows, here(1))[:, 3:])
    stream = Stream.ordered(
        "force",
        f"{topic} ({kind} in {given!r})",
        t[known] - begin,
        turn.apply(force)[known, :2],
        not_placed=int((~known).sum()),
    )
    return stream, clocks, notes


def _frames(bag: _Bag) -> Frames:
    """Return the tree of all transforms in a bag."""
    trees = {topic: sent for topic, sent in bag.messages.items() if bag.types[topic] in _TREES}
    return Frames(str(bag.path), trees)


def _times(messages: list[tuple[int, Any]]) -> tuple[Array, float | None]:
    """Return the times of messages [s], and their clock."""
    return times([arrival for arrival, _ in messages], [m.header for _, m in messages])


def _frame_of(bag: _Bag, topic: str) -> str:
    """Return the frame of all messages of a topic."""
    names = {message.header.frame_id.lstrip("/") for _, message in _messages(bag, topic)}
    if len(names) > 1:
        raise PushwiseError(
            f"{bag.path}: {topic} must be in one frame; it is in {', '.join(sorted(names))}."
        )
    return str(names.pop())


def _messages(bag: _Bag, topic: str) -> list[tuple[int, Any]]:
    """Return the messages of a topic; a topic without any is refused."""
    if topic not in bag.messages:
        raise PushwiseError(f"{bag.path}: {topic} has no messages; {_listed(bag)}.")
    return bag.messages[topic]


def _type(bag: _Bag, name: str) -> str:
    """Return the type of a topic."""
    topic = name.partition(":")[0]
    if topic not in bag.types:
        raise PushwiseError(f"{bag.path} has no topic {topic}; {_listed(bag)}.")
    return bag.types[topic]


def _listed(bag: _Bag) -> str:
    """Return the contents of a bag in words."""
    if not bag.types:
        return "the bag is empty"
    topics = [f"{name} ({kind}, {bag.counts[name]})" for name, kind in sorted(bag.types.items())]
    names = _frames(bag).names()
    frames = f", frames in the transforms: {', '.join(names)}" if names else ""
    return f"the bag has {', '.join(topics)}{frames}"


def _sentence(error: Exception) -> str:
    """Return the text of an error without the full stop."""
    return (str(error) or type(error).__name__).rstrip(".")
