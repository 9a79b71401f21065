"""ROS 1 bags and ROS 2 bags (sqlite3 and MCAP), read without ROS.

The object and the finger come from stamped poses, odometry or transforms, the force from stamped
wrenches. Times are the stamps in the messages' headers, not those of their arrival; a topic whose
stamps are all zero has none, and arrival must do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pushwise.errors import PushwiseError
from pushwise.pushes.poses import Frames, Poses, interpolated, planar, sorted_poses, unit_rows
from pushwise.pushes.stream import Recording, Stream

__all__ = ["read_bag"]

Array = NDArray[np.float64]

_POSES: dict[str, Callable[[Any], tuple[Any, Any, str]]] = {
    # position, orientation and the name of the frame that moves
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
_LATE = 0.1  # s by which the delays of two topics may differ
_STATIC = "tf_static"  # how the topic of transforms that never change ends


@dataclass(frozen=True, eq=False)
class _Bag:
    """The messages that may matter, by topic."""

    path: Path
    types: dict[str, str]
    """Type of every topic in the bag."""
    counts: dict[str, int]
    """How many messages each has."""
    messages: dict[str, list[tuple[int, Any]]]
    """Arrival [ns] and message, of the topics that were read."""


def read_bag(
    path: str | Path,
    *,
    object: str | None = None,
    finger: str | None = None,
    wrench: str | None = None,
    frame: str | None = None,
) -> Recording:
    """Read the recording of an object and a finger from a ROS bag.

    path: a .bag file, the folder of a ROS 2 bag, or a .db3 or .mcap file. object, finger: a topic
    of stamped poses, odometry or transforms; of a tree of transforms the frame after a colon, as
    in "/tf:box". wrench: the topic of the force, if any. frame: the table frame, z up; by default
    the frame of the object's poses. Raises an error that lists the topics when one is not given.
    """
    path = Path(path)
    chosen = [name.split(":")[0] for name in (object, finger, wrench) if name is not None]
    bag = _read(path, chosen)
    for name, called in ((object, "--object"), (finger, "--finger")):
        if name is None:
            raise PushwiseError(f"{path}: choose a topic with {called}; {_listed(bag)}.")
    assert object is not None and finger is not None
    frames = _frames(bag)
    seen, clock = _poses(bag, frames, object, frame and frame.lstrip("/"))
    tip, tip_clock = _poses(bag, frames, finger, seen.parent)
    clocks = {object: clock, finger: tip_clock}
    begin = min(np.nanmin(seen.t), np.nanmin(tip.t))
    forces = None
    notes: list[str] = []
    if wrench is not None:
        forces, clocks[wrench], notes = _forces(bag, frames, wrench, tip, begin)
    values, flat = planar(f"{path.name} {object}", seen)
    return Recording(
        path.name,
        Stream.ordered(
            "object",
            f"{object} ({_type(bag, object)} in {seen.parent!r})",
            seen.t[flat] - begin,
            values[flat],
            not_planar=int((~flat).sum()),
        ),
        Stream.ordered(
            "finger", f"{finger} ({_type(bag, finger)})", tip.t - begin, tip.rows[:, :2]
        ),
        forces,
        (*notes, *_clock_notes(clocks)),
    )


def _read(path: Path, chosen: list[str]) -> _Bag:
    """Read the chosen topics and all transforms of a bag."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    if not path.exists():
        raise PushwiseError(f"{path} does not exist.")
    where = path.parent if path.name == "metadata.yaml" else path
    if where.is_dir() and not (where / "metadata.yaml").exists():
        inside = ", ".join(sorted(file.name for file in where.iterdir())) or "nothing"
        raise PushwiseError(
            f"{where} is no folder of a ROS 2 bag, which has a metadata.yaml; it has {inside}: "
            "give a .db3 or .mcap file itself, or mend the bag with `ros2 bag reindex`."
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
        # Damaged bags make the reader, SQLite and the decompressors raise whatever they like.
        raise PushwiseError(
            f"{path} cannot be read as a ROS bag: {_sentence(error)}; one that was cut short may "
            "be mended with `rosbag reindex`, `ros2 bag reindex` or `mcap recover`."
        ) from error
    return _Bag(path, types, counts, messages)


def _poses(bag: _Bag, frames: Frames, name: str, frame: str | None) -> tuple[Poses, float | None]:
    """Return the poses of a topic, or of a frame in a tree, in a frame; and their clock."""
    topic, _, child = name.partition(":")
    kind = _type(bag, topic)
    if kind in _TREES:
        if child not in frames.names():
            raise PushwiseError(
                f"{bag.path}: choose a frame of {topic}, as in {topic}:box, from "
                f"{', '.join(frames.names()) or 'none'}; got {child!r}."
            )
        try:
            return frames.poses(child, frame), 0.0
        except PushwiseError as error:
            raise PushwiseError(f"{bag.path}: {error}") from None
    if kind not in _POSES:
        kinds = ", ".join((*_POSES, _TREES[0]))
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no pose; give one of {kinds}: "
            f"{_listed(bag)}."
        )
    messages = _messages(bag, topic)
    t, clock = _stamps(messages)
    parts = [_POSES[kind](message) for _, message in messages]
    rows = np.array([[p.x, p.y, p.z, q.x, q.y, q.z, q.w] for p, q, _ in parts])
    poses = Poses(_frame_of(bag, topic), parts[0][2].lstrip("/"), t, unit_rows(rows))
    if frame is None or frame == poses.parent:
        return poses, clock
    carried = frames.carried(poses, frame)
    if carried is None:
        known = ", ".join(frames.names()) or "none"
        raise PushwiseError(
            f"{bag.path}: {topic} is in frame {poses.parent!r}, not in {frame!r}, and no "
            f"transforms lead there; frames in the transforms: {known}."
        )
    return carried, clock


def _forces(
    bag: _Bag, frames: Frames, topic: str, tip: Poses, begin: float
) -> tuple[Stream, float | None, list[str]]:
    """Return the forces turned into the table frame, their clock, and what had to be assumed."""
    kind = _type(bag, topic)
    if kind != _WRENCH:
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no force; give one of {_WRENCH}: "
            f"{_listed(bag)}."
        )
    messages = _messages(bag, topic)
    t, clock = _stamps(messages)
    vectors = [message.wrench.force for _, message in messages]
    force = np.array([[f.x, f.y, f.z] for f in vectors])
    given = _frame_of(bag, topic)
    notes = []
    placed = frames.at(given, tip.parent, t)
    if placed is None and given and np.isfinite(tip.rows).all(axis=1).any():
        placed = interpolated(sorted_poses(tip), t)
        if given != tip.child:
            notes.append(
                f"the bag does not place the force's frame {given!r}: taken for the finger's"
            )
    elif placed is None:
        notes.append(
            f"the force's frame {given!r} is not placed: its axes are taken for those of "
            f"{tip.parent!r}"
        )
        placed = unit_rows(np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(t), 1)))
    turned = Rotation.from_quat(placed[:, 3:]).apply(force)
    stream = Stream.ordered("force", f"{topic} ({kind} in {given!r})", t - begin, turned[:, :2])
    return stream, clock, notes


def _frames(bag: _Bag) -> Frames:
    """Return the tree of all transforms in a bag."""
    found: dict[str, list[tuple[str, float, list[float]]]] = {}
    fixed = set()
    for topic, messages in bag.messages.items():
        if bag.types[topic] not in _TREES:
            continue
        for _, message in messages:
            for part in message.transforms:
                child = part.child_frame_id.lstrip("/")
                p, q = part.transform.translation, part.transform.rotation
                row = [p.x, p.y, p.z, q.x, q.y, q.z, q.w]
                stamp = _seconds(part.header.stamp)
                found.setdefault(child, []).append((part.header.frame_id.lstrip("/"), stamp, row))
                if topic.endswith(_STATIC):
                    fixed.add(child)
    edges = []
    for child, parts in found.items():
        rows = unit_rows(np.array([row for *_, row in parts]))
        stamps = np.array([stamp for _, stamp, _ in parts])
        edges.append(Poses(parts[0][0], child, stamps, rows))
    return Frames(edges, fixed)


def _stamps(messages: list[tuple[int, Any]]) -> tuple[Array, float | None]:
    """Return the times of messages [s], and their clock: how long after its stamp one arrives.

    Without stamps the times are those of arrival, and the clock is None.
    """
    arrivals = np.array([1e-9 * arrival for arrival, _ in messages])
    stamps = np.array([_seconds(message.header.stamp) for _, message in messages])
    if not stamps.any():
        return arrivals, None
    return stamps, float(np.median(arrivals - stamps))


def _seconds(stamp: Any) -> float:
    """Return a stamp in seconds; to a quarter of a microsecond, as far from 1970 as we are."""
    return float(stamp.sec) + 1e-9 * float(stamp.nanosec)


def _clock_notes(clocks: dict[str, float | None]) -> list[str]:
    """Say which topics have no stamps, and which clocks do not agree."""
    notes = [
        f"{name} has no stamps: its times are those of arrival"
        for name, clock in clocks.items()
        if clock is None
    ]
    late = {name: clock for name, clock in clocks.items() if clock}
    if len(late) > 1 and max(late.values()) - min(late.values()) > _LATE:
        words = ", ".join(f"{name} {clock:.3f} s" for name, clock in late.items())
        notes.append(f"messages arrive late by unequal times, are their clocks the same? {words}")
    return notes


def _frame_of(bag: _Bag, topic: str) -> str:
    """Return the frame that all messages of a topic are in."""
    names = {message.header.frame_id.lstrip("/") for _, message in _messages(bag, topic)}
    if len(names) > 1:
        raise PushwiseError(
            f"{bag.path}: {topic} must be in one frame; it is in {', '.join(sorted(names))}."
        )
    return str(names.pop())


def _messages(bag: _Bag, topic: str) -> list[tuple[int, Any]]:
    """Return the messages of a topic that has some."""
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
    """Return what a bag has, in words."""
    if not bag.types:
        return "the bag is empty"
    topics = [f"{name} ({kind}, {bag.counts[name]})" for name, kind in sorted(bag.types.items())]
    names = _frames(bag).names()
    frames = f", frames in the transforms: {', '.join(names)}" if names else ""
    return f"the bag has {', '.join(topics)}{frames}"


def _sentence(error: Exception) -> str:
    """Return an error's words without the full stop."""
    return (str(error) or type(error).__name__).rstrip(".")
