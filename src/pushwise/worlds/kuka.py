"""`Kuka`: a Kuka iiwa that moves its fingertip along a push by inverse kinematics.

`StreamedKuka` follows one path after another.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.typing import Array
from pushwise.worlds.bullet_finger import Fingertip, let_touch
from pushwise.worlds.bullet_scene import TIME_STEP, Room
from pushwise.worlds.mujoco_scene import table_frame
from pushwise.worlds.run_push import sample_times

__all__ = ["JointPath", "Kuka", "StreamedKuka", "rehearsed"]

_JOINTS = 7
_FLANGE = "lbr_iiwa_link_7"
_ROD = 0.2  # m from the flange to the middle of the fingertip, about as in the paper's code
_SETBACK = 0.25  # m from the table's edge to the arm's base; 0.6 m from the default's middle
_STRIDE = 0.005  # m between the positions the joints are solved for, at most
_RATE = 20.0  # Hz; and how many of them there are per second, at least
_MISSED = 1e-3  # m, and rad of its rotation; a position missed by more is out of reach
_DOWN = np.diag([-1.0, 1.0, -1.0])  # rotation of a flange that points down, in the base frame
_ITERATIONS = 200
_IK_DAMPING = 1e-4
_MAX_STEP = 0.1  # rad
_READY = (0.0, 0.6, 0.0, -1.6, 0.0, 0.95, 0.0)  # rad; bent, the flange down
# Torques and speeds are the maker's limits of the iiwa 14 R820, whose links these are.
_TORQUE = (320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0)  # N m
_FASTEST = (85.0, 85.0, 100.0, 75.0, 130.0, 135.0, 135.0)  # deg/s
_ASTRAY = 2.5e-3  # m in rehearsal; 3 mm with an object in the way


class JointPath(NamedTuple):
    """The joint angles of the arm along a push; they change linearly from time to time."""

    t: Array  # (K,) [s]
    angles: Array  # (K, 7) [rad]

    def at(self, t: float) -> Array:
        """Return the angles at a time [s], shape (7,)."""
        return np.array([np.interp(t, self.t, angle) for angle in self.angles.T])


def rehearsed(table: Table, push: Push, tip: Fingertip) -> JointPath:
    """Solve the joints for a push and try it in an empty room, or refuse it.

    Raises:
        PushwiseError: The push is out of reach, takes a joint beyond its greatest speed, or is one
            that the motors cannot follow.

    """
    with Room() as room:
        arm = Kuka(room, table, tip)
        path = arm.solved(push)
        _refuse_fast_joints(path)
        arm.start(path)
        steps = int(np.ceil(push.duration / TIME_STEP))
        dt = push.duration / steps
        room.call("setTimeStep", dt)
        apart = 0.0
        for i in range(steps):
            arm.drive(i * dt, dt)
            room.call("stepSimulation")
            apart = max(apart, float(np.hypot(*(arm.place() - push.at((i + 1) * dt)))))
        if apart > _ASTRAY:
            raise PushwiseError(
                f"the Kuka cannot follow this push: at up to {push.top_speed:.2f} m/s its "
                f"fingertip strays {1000 * apart:.1f} mm from the path, and {1000 * _ASTRAY:g} mm "
                "are allowed; make it slower, or its bends rounder."
            )
    return path


def _refuse_fast_joints(path: JointPath) -> None:
    """Raise an error if a joint would have to turn faster than it can."""
    speed = np.abs(np.diff(path.angles, axis=0)) / np.diff(path.t)[:, None]
    share = speed / np.radians(_FASTEST)
    step, joint = np.unravel_index(np.argmax(share), share.shape)
    if share[step, joint] > 1.0:
        raise PushwiseError(
            f"the Kuka cannot follow this push: at t = {path.t[step]:.2f} s its joint {joint + 1} "
            f"would turn at {np.degrees(speed[step, joint]):.0f} deg/s, and it reaches "
            f"{_FASTEST[joint]:g} deg/s; make the push "
            f"{np.ceil(10.0 * share[step, joint]) / 10.0:.1f} times slower."
        )


class Kuka:
    """The arm stands on a pedestal as high as the table, in the middle of its first side."""

    def __init__(self, room: Room, table: Table, tip: Fingertip) -> None:
        """Put the arm in its place."""
        self._room, self._height = room, tip.height
        centre, half, angle = table_frame(table)
        # The table's first side runs along +x of its frame; the arm faces across it.
        outward = np.array([np.sin(angle), -np.cos(angle)])
        self._base = centre + (half[1] + _SETBACK) * outward
        cos, sin = -np.sin(angle), np.cos(angle)
        self._turn = np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
        with TemporaryDirectory() as folder:
            file = Path(folder) / "kuka_with_finger.urdf"
            file.write_text(_urdf_with_finger(tip), encoding="utf-8")
            self.body: int = room.call(
                "loadURDF",
                str(file),
                [*self._base, 0.0],
                room.turned(angle + 0.5 * np.pi),
                useFixedBase=True,
                flags=room.engine.URDF_USE_IMPLICIT_CYLINDER,
            )
        self.link = _JOINTS
        room.call("changeDynamics", self.body, self.link, lateralFriction=tip.friction)
        limits = [room.call("getJointInfo", self.body, i)[8:10] for i in range(_JOINTS)]
        self._limits = np.array(limits).T

    def start(self, path: JointPath) -> None:
        """Take the path's first position, at rest, to follow it."""
        self._path = path
        self._set(path.angles[0])

    def drive(self, t: float, dt: float) -> None:
        """Command the motors: the joints' present target angles, and their target velocities."""
        now, then = self._path.at(t), self._path.at(t + dt)
        self._room.call(
            "setJointMotorControlArray",
            self.body,
            list(range(_JOINTS)),
            self._room.engine.POSITION_CONTROL,
            targetPositions=now.tolist(),
            targetVelocities=((then - now) / dt).tolist(),
            positionGains=[1.0] * _JOINTS,
            forces=list(_TORQUE),
        )

    def place(self) -> Array:
        """Return the position of the fingertip [m], shape (2,)."""
        return self._fingertip()[0][:2]

    def lift(self) -> None:
        """Stay, and let the fingertip touch nothing from now on."""
        let_touch(self._room, self, touch=False)

    def solved(self, push: Push, near: Array | None = None) -> JointPath:
        """Return the joint angles along a push; one out of reach is refused.

        Args:
            push: The push.
            near: Joint angles near those of its start (7,), if any are known.

        """
        solved = []
        joints = np.array(_READY) if near is None else near
        times = sample_times(push, push.duration, max(_RATE, push.top_speed / _STRIDE))
        for x, y in push.at(times):
            joints, missed = self._joints_for(np.array([x, y, self._height]), joints)
            if missed > _MISSED:
                away = float(np.hypot(x - self._base[0], y - self._base[1]))
                raise PushwiseError(
                    f"the Kuka cannot reach ({x:.3f}, {y:.3f}) m on the table, {away:.2f} m from "
                    f"its base at ({self._base[0]:.3f}, {self._base[1]:.3f}) m: its fingertip "
                    f"stays {1000 * missed:.0f} mm away; keep the push between 0.4 and 0.75 m."
                )
            solved.append(joints)
        return JointPath(times, np.array(solved))

    def _joints_for(self, target: Array, seed: Array) -> tuple[Array, float]:
        """Return joint angles that bring the fingertip to a position (3,), and the remaining error.

        Damped least squares on six equations. The finger stays upright and does not turn about
        its own axis, which would drag the object along.
        """
        low, high = self._limits
        upright = self._turn @ _DOWN
        still = [0.0] * _JOINTS
        joints = seed
        for _ in range(_ITERATIONS):
            self._set(joints)
            place, turn = self._fingertip()
            twisted = 0.5 * np.cross(turn, upright, axis=0).sum(axis=1)
            error = np.append(target - place, twisted)
            if np.abs(error).max() < 0.01 * _MISSED:
                break
            linear, angular = self._room.call(
                "calculateJacobian", self.body, self.link, [0.0] * 3, joints.tolist(), still, still
            )
            # Bullet's Jacobian is in the frame of the base.
            J = np.vstack([self._turn @ linear, self._turn @ angular])
            step = J.T @ np.linalg.solve(J @ J.T + _IK_DAMPING * np.eye(6), error)
            # Far from the target the Jacobian is a poor guide: take small steps there.
            step *= min(1.0, _MAX_STEP / float(np.abs(step).max()))
            joints = np.clip(joints + step, low, high)
        return joints, float(np.linalg.norm(error))

    def _set(self, joints: Array) -> None:
        """Set the joints to angles (7,), at rest."""
        for i, joint in enumerate(joints.tolist()):
            self._room.call("resetJointState", self.body, i, joint)

    def _fingertip(self) -> tuple[Array, Array]:
        """Return the middle of the fingertip [m], shape (3,), and its rotation, shape (3, 3)."""
        state = self._room.call("getLinkState", self.body, self.link, computeForwardKinematics=True)
        turn = np.reshape(self._room.engine.getMatrixFromQuaternion(state[5]), (3, 3))
        return np.array(state[4]), turn


class StreamedKuka(Kuka):
    """An arm that follows one path after another.

    It is not watched while its finger is up: it is set down wherever it can reach.
    """

    def __init__(self, room: Room, spare: Room, table: Table, tip: Fingertip) -> None:
        """Put the arm in its place, up.

        Args:
            room: Where it is.
            spare: An empty room, in which joint angles are tried.
            table: The table.
            tip: What touches the object.

        """
        super().__init__(room, table, tip)
        self._tried = Kuka(spare, table, tip)
        self._up = True
        self._path = JointPath(np.array([0.0, 1.0]), np.array([_READY, _READY]))
        self.start(self._path)
        let_touch(room, self, touch=False)

    def follow(self, path: Push) -> None:
        """Follow another path from time 0 on; one that it cannot follow is refused."""
        joints = self._tried.solved(path, None if self._up else self._path.angles[-1])
        _refuse_fast_joints(joints)
        self._path = joints
        if self._up:
            self.start(joints)
            let_touch(self._room, self, touch=True)
            self._up = False

    def lift(self) -> None:
        """Stay, and let the fingertip touch nothing from now on."""
        if not self._up:
            last = self._path.angles[-1]
            self._path, self._up = JointPath(np.array([0.0, 1.0]), np.array([last, last])), True
            super().lift()


def _urdf_with_finger(tip: Fingertip) -> str:
    """Return the URDF of the arm with a fingertip fixed to its flange."""
    import pybullet_data

    folder = Path(pybullet_data.getDataPath()) / "kuka_iiwa"
    robot = ET.parse(folder / "model.urdf").getroot()
    for mesh in robot.iter("mesh"):
        mesh.set("filename", str(folder / mesh.get("filename", "")))
    finger = ET.fromstring(
        f"""<link name="finger">
          <inertial><mass value="0.1"/>
           <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
          <collision><geometry><cylinder radius="{tip.radius}" length="{tip.height}"/></geometry>
          </collision></link>"""
    )
    joint = ET.fromstring(
        f"""<joint name="finger_joint" type="fixed"><parent link="{_FLANGE}"/>
          <child link="finger"/><origin xyz="0 0 {_ROD}"/></joint>"""
    )
    robot.extend([finger, joint])
    return ET.tostring(robot, encoding="unicode")
