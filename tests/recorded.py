"""Recordings of pushes as a laboratory makes them: a continuous session, and bags of it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import pushwise as pw
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array

FINGER = pw.Finger(radius=0.01, friction=0.3)
BEGIN = 1_700_000_000_000_000_000  # ns since 1970
KINDS = ("ros1", "sqlite3", "mcap")


@dataclass
class Session:
    """What truly happened, at every millisecond."""

    t: Array
    pose: Array
    finger: Array
    force: Array
    pushes: list[tuple[float, pw.Push]]
    """When each push began [s], and the push."""


def session(model: pw.ObjectModel, count: int, *, seed: int = 0) -> Session:
    """Push an object `count` times, with rests, retreats and ways through the air between."""
    rng = np.random.default_rng(seed)
    pose, at = np.zeros(3), np.array([-0.3, -0.3])
    dt = 1e-3
    poses, fingers, forces, pushes = [], [], [], []

    def stay(seconds: float, to: Array) -> None:
        nonlocal at
        steps = round(seconds / dt)
        share = np.linspace(0.0, 1.0, steps, endpoint=False)[:, None]
        fingers.append(at + share * (to - at))
        poses.append(np.tile(pose, (steps, 1)))
        forces.append(np.zeros((steps, 2)))
        at = to

    stay(1.0, at)
    for _ in range(count):
        push = draw_push(rng, model.grid, pose, pw.Table(), FINGER)
        stay(1.5, push.start)
        stay(0.5, push.start)
        pushes.append((sum(map(len, poses)) * dt, push))
        path = pw.simulate(model, push, pose, finger=FINGER, until=push.duration + 0.5)
        t = np.arange(0.0, push.duration + 0.5, dt)
        poses.append(np.column_stack([np.interp(t, path.t, c) for c in path.pose.T]))
        fingers.append(push.start + np.minimum(t, push.duration)[:, None] * push.velocity)
        step = np.clip(np.searchsorted(path.t, t, side="right") - 1, 0, len(path.force) - 1)
        forces.append(path.force[step])
        pose, at = poses[-1][-1], fingers[-1][-1]
        stay(0.5, at - 0.05 * push.velocity / np.hypot(*push.velocity))
    stay(1.0, at)
    whole = np.concatenate(poses)
    times = dt * np.arange(len(whole), dtype=float)
    return Session(times, whole, np.concatenate(fingers), np.concatenate(forces), pushes)


class Bag:
    """Messages to be written as a bag of any kind."""

    def __init__(self, kind: str) -> None:
        """Start a bag: ros1, sqlite3 or mcap."""
        self.kind = kind
        self.store = get_typestore(Stores.ROS1_NOETIC if kind == "ros1" else Stores.ROS2_HUMBLE)
        if kind == "ros1":
            tree = "geometry_msgs/TransformStamped[] transforms"
            self.store.register(get_types_from_msg(tree, "tf2_msgs/msg/TFMessage"))
        self.messages: list[tuple[str, str, int, Any]] = []

    def add(self, topic: str, kind: str, t: float, message: Any, *, late: float = 0.002) -> None:
        """Add a message that arrives a little after its time [s]."""
        self.messages.append((topic, kind, BEGIN + round((t + late) * 1e9), message))

    def make(self, kind: str, *fields: Any) -> Any:
        """Return a message of a type such as geometry_msgs/msg/Point."""
        return self.store.types[kind](*fields)

    def header(self, t: float, frame: str) -> Any:
        """Return a header with a stamp."""
        stamp = BEGIN + round(t * 1e9)
        time = self.make("builtin_interfaces/msg/Time", stamp // 10**9, stamp % 10**9)
        count = (0,) if self.kind == "ros1" else ()
        return self.make("std_msgs/msg/Header", *count, time, frame)

    def vector(self, *values: float, kind: str = "Vector3") -> Any:
        """Return a vector or a point of floats."""
        return self.make(f"geometry_msgs/msg/{kind}", *map(float, values))

    def spin(self, theta: float, size: float = 1.0) -> Any:
        """Return a quaternion about z, of any length."""
        half = 0.5 * theta
        return self.make(
            "geometry_msgs/msg/Quaternion", 0.0, 0.0, size * np.sin(half), size * np.cos(half)
        )

    def pose(
        self, topic: str, t: float, x: float, y: float, theta: float, *, z: float = 0.0,
        frame: str = "table", orientation: Any = None, late: float = 0.002,
    ) -> None:  # fmt: skip
        """Add a PoseStamped."""
        turn = self.spin(theta) if orientation is None else orientation
        pose = self.make("geometry_msgs/msg/Pose", self.vector(x, y, z, kind="Point"), turn)
        kind = "geometry_msgs/msg/PoseStamped"
        self.add(topic, kind, t, self.make(kind, self.header(t, frame), pose), late=late)

    def transform(
        self, topic: str, t: float, parent: str, child: str, place: Array, turn: Any, *,
        late: float = 0.002, stamped: bool = True,
    ) -> None:  # fmt: skip
        """Add a TFMessage with one transform."""
        move = self.make("geometry_msgs/msg/Transform", self.vector(*place), turn)
        header = self.header(t, parent)
        if not stamped:
            header.stamp = self.make("builtin_interfaces/msg/Time", 0, 0)
        part = self.make("geometry_msgs/msg/TransformStamped", header, child, move)
        kind = "tf2_msgs/msg/TFMessage"
        self.add(topic, kind, t, self.make(kind, [part]), late=late)

    def wrench(self, topic: str, t: float, force: Array, *, frame: str = "table") -> None:
        """Add a WrenchStamped."""
        wrench = self.make("geometry_msgs/msg/Wrench", self.vector(*force), self.vector(0, 0, 0))
        kind = "geometry_msgs/msg/WrenchStamped"
        self.add(topic, kind, t, self.make(kind, self.header(t, frame), wrench))

    def write(self, folder: Path) -> Path:
        """Write the bag, messages in the order of their arrival, and return its path."""
        path = folder / ("run.bag" if self.kind == "ros1" else "run")
        plugin = StoragePlugin.MCAP if self.kind == "mcap" else StoragePlugin.SQLITE3
        writer: Any = (
            Writer1(path)
            if self.kind == "ros1"
            else Writer2(path, version=8, storage_plugin=plugin)
        )
        with writer:
            connections: dict[str, Any] = {}
            for topic, kind, arrival, message in sorted(self.messages, key=lambda m: m[2]):
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=self.store)
                encode = (
                    self.store.serialize_ros1 if self.kind == "ros1" else self.store.serialize_cdr
                )
                writer.write(connections[topic], arrival, encode(message, kind))
        return path
