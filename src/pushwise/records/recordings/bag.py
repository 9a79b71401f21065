"""ROS 1 bags and ROS 2 bags (sqlite3 and MCAP), read without ROS.

The object and the finger come from stamped poses, odometry or transforms, the force from stamped
wrenches. Times are the stamps in the messages' headers, not their times of arrival, unless all
stamps of a topic are zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from pushwise.errors import PushwiseError
from pushwise.records.recordings import BagTopics
from pushwise.records.recordings.bag_file import TREES, Bag, open_bag
from pushwise.records.recordings.poses import (
    Clocks,
    Poses,
    ahead,
    clock_notes,
    here,
    interpolated,
    planar,
    sorted_poses,
    unit_rows,
)
from pushwise.records.recordings.stream import Recording, Stream

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
_WRENCH = "geometry_msgs/msg/WrenchStamped"


@dataclass(frozen=True, eq=False)
class _Reading:
    """A bag, and how it is read."""

    bag: Bag
    table: str | None  # the table frame, if the user names it
    notes: list[str] = field(default_factory=list)  # what had to be assumed


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
    bag = open_bag(path, chosen)
    for name, called in ((tracked, "--object"), (finger, "--finger")):
        if name is None:
            raise PushwiseError(f"{path}: choose a topic with {called}; {bag.listed()}.")
    recording, clocks = _recording(bag, topics)
    if early := ahead(clocks):
        recording, _ = _recording(replace(bag, taken_back=early), topics)
    return replace(recording, notes=(*recording.notes, *clock_notes(clocks, early)))


def _recording(bag: Bag, topics: BagTopics) -> tuple[Recording, Clocks]:
    """Return the recording in a bag, and the clocks of all sources that it is made of."""
    tracked, finger, wrench = topics.object, topics.finger, topics.wrench
    assert tracked is not None and finger is not None
    reading = _Reading(bag, topics.frame and topics.frame.lstrip("/"))
    seen = _poses(reading, tracked, reading.table)
    tip = _poses(reading, finger, seen.parent)
    clocks = {**seen.clocks, **tip.clocks}
    begin = min(np.nanmin(seen.t), np.nanmin(tip.t))
    forces = None
    if wrench is not None:
        forces, force_clocks = _forces(reading, wrench, tip, begin)
        clocks.update(force_clocks)
    values, flat = planar(f"{bag.path.name} {tracked}", seen)
    recording = Recording(
        bag.path.name,
        Stream.ordered(
            "object",
            f"{tracked} ({bag.type(tracked)} in {seen.parent!r})",
            seen.t[flat] - begin,
            values[flat],
            not_planar=int((~flat).sum()),
            not_placed=seen.not_placed,
        ),
        Stream.ordered(
            "finger",
            f"{finger} ({bag.type(finger)})",
            tip.t - begin,
            tip.rows[:, :2],
            not_placed=tip.not_placed,
        ),
        forces,
        (*reading.notes, *bag.frames.notes()),
    )
    return recording, clocks


def _poses(reading: _Reading, name: str, frame: str | None) -> Poses:
    """Return the poses of a topic, or of a frame in a tree of transforms, in a frame."""
    bag, frames = reading.bag, reading.bag.frames
    topic, _, child = name.partition(":")
    kind = bag.type(topic)
    if kind in TREES:
        if child not in frames.names():
            raise PushwiseError(
                f"{bag.path}: choose a frame of {topic}, as in {topic}:box; got {child!r}, and "
                f"the transforms have {', '.join(frames.names()) or 'none'}."
            )
        return frames.poses(child, frame)
    if kind not in _POSES:
        kinds = ", ".join((*_POSES, TREES[0]))
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no pose; give a topic of {kinds}: "
            f"{bag.listed()}."
        )
    t, clock = bag.times(topic)
    parts = [_POSES[kind](message) for message in bag.of(topic)]
    rows = np.array([[p.x, p.y, p.z, q.x, q.y, q.z, q.w] for p, q, _ in parts])
    moves = parts[0][2].lstrip("/")
    poses = Poses(bag.frame_of(topic), moves, t, unit_rows(rows), {topic: clock})
    if frame is None or frame == poses.parent:
        return poses
    if not poses.parent or not frame:
        return _in_the_named_frame(reading, topic, poses, frame)
    carried = frames.carried(poses, frame)
    if carried is None:
        known = ", ".join(frames.names()) or "none"
        raise PushwiseError(
            f"{bag.path}: {topic} is in frame {poses.parent!r}, not in {frame!r}, and no "
            f"transforms lead there; frames in the transforms: {known}."
        )
    return carried


def _in_the_named_frame(reading: _Reading, topic: str, poses: Poses, frame: str) -> Poses:
    """Return poses whose messages name no frame in the one that the user names."""
    if reading.table is None:
        unnamed, named = (
            (topic, frame) if not poses.parent else ("the object's topic", poses.parent)
        )
        likely = " or ".join(dict.fromkeys([*reading.bag.frames.roots(), named]))
        raise PushwiseError(
            f"{reading.bag.path}: the poses of {unnamed} name no frame; give the table frame, if "
            f"that is the one they are in, with --frame: {likely}."
        )
    reading.notes.append(f"the poses of {topic} name no frame: taken as given in {frame!r}")
    return replace(poses, parent=frame)


def _forces(reading: _Reading, topic: str, tip: Poses, begin: float) -> tuple[Stream, Clocks]:
    """Return the forces in the table frame, and their clocks."""
    bag, notes = reading.bag, reading.notes
    kind = bag.type(topic)
    if kind != _WRENCH:
        raise PushwiseError(
            f"{bag.path}: {topic} is {kind}, which has no force; give a topic of {_WRENCH}: "
            f"{bag.listed()}."
        )
    t, clock = bag.times(topic)
    clocks = {topic: clock}
    vectors = [message.wrench.force for message in bag.of(topic)]
    force = np.array([[f.x, f.y, f.z] for f in vectors])
    given = bag.frame_of(topic)
    found = bag.frames.at(given, tip.parent, t)
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
    return stream, clocks
