"""`Kuka`: a Kuka iiwa that moves its fingertip along a push by inverse kinematics."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.physics.model import Table
from pushwise.physics.push import Push
from pushwise.typing import Array
from pushwise.worlds.bullet_scene import Fingertip, Room
from pushwise.worlds.mujoco_scene import table_frame

__all__ = ["Kuka"]

_JOINTS = 7
_FLANGE = "lbr_iiwa_link_7"
_ROD = 0.2  # m from the flange to the middle of the fingertip, about as in the paper's code
_SETBACK = 0.25  # m from the table's edge to the arm's base; 0.6 m from the default's middle
_STRIDE = 0.005  # m between the positions the joints are solved for
_MISSED = 1e-3  # m, and rad of its rotation; a position missed by more is out of reach
_DOWN = np.diag([-1.0, 1.0, -1.0])  # rotation of a flange that points down, in the base frame
_ITERATIONS = 200
_IK_DAMPING = 1e-4
_MAX_STEP = 0.1  # rad
_READY = (0.0, 0.6, 0.0, -1.6, 0.0, 0.95, 0.0)  # rad; bent, the flange down
_TORQUE = (320.0, 320.0, 176.0, 176.0, 110.0, 40.0, 40.0)  # N m; the maker's limits


class Kuka:
    """The arm stands on a pedestal as high as the table, in the middle of its first side."""

    def __init__(self, room: Room, table: Table, push: Push, tip: Fingertip) -> None:
        """Solve the joints for the whole push, or refuse it; put the fingertip at its start."""
        self._room, self._push, self._height = room, push, tip.height
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
        length = float(np.hypot(*push.velocity)) * push.duration
        self._t = np.linspace(0.0, push.duration, int(np.ceil(length / _STRIDE)) + 1)
        self._joints = self._solved()
        self._set(self._joints[0])

    def drive(self, t: float, dt: float) -> None:
        """Command the motors: the joints' present target angles, and their target velocities."""
        now, then = (
            np.array([np.interp(s, self._t, joint) for joint in self._joints.T])
            for s in (t, t + dt)
        )
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

    def _solved(self) -> Array:
        """Return the joint angles [rad] along the push, shape (K, 7)."""
        solved = []
        joints = np.array(_READY)
        for t in self._t:
            x, y = self._push.start + t * self._push.velocity
            joints, missed = self._joints_for(np.array([x, y, self._height]), joints)
            if missed > _MISSED:
                away = float(np.hypot(x - self._base[0], y - self._base[1]))
                raise PushwiseError(
                    f"the Kuka cannot reach ({x:.3f}, {y:.3f}) m on the table, {away:.2f} m from "
                    f"its base at ({self._base[0]:.3f}, {self._base[1]:.3f}) m: its fingertip "
                    f"stays {1000 * missed:.0f} mm away; keep the push between 0.4 and 0.75 m."
                )
            solved.append(joints)
        return np.array(solved)

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
