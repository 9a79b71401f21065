"""The same push in MuJoCo, as a baseline for speed: a box a cell, a driven cylinder, a plane."""

from __future__ import annotations

import mujoco
import numpy as np

from pushwise.physics.model import ObjectModel
from pushwise.physics.push import Finger, Push
from pushwise.typing import Array

__all__ = ["MuJoCoPush"]

FINGER_MASS = 50.0  # kg: heavy, so that the object does not slow it down


class MuJoCoPush:
    """A scene with one object and one finger that can be run again and again."""

    def __init__(self, model: ObjectModel, push: Push, finger: Finger, *, timestep: float) -> None:
        """Build the scene; timestep [s]."""
        half = 0.5 * model.grid.cell_size
        boxes = "".join(
            f'<geom type="box" size="{half} {half} {half}" pos="{x} {y} 0" mass="{m}" '
            f'friction="{mu} 0 0"/>'
            for (x, y), m, mu in zip(model.grid.centres, model.mass, model.friction, strict=True)
        )
        x, y = push.start
        scene = f"""
        <mujoco>
          <option timestep="{timestep}" cone="elliptic"/>
          <default><geom condim="3"/></default>
          <worldbody>
            <geom type="plane" size="5 5 1" friction="1e-5 0 0"/>
            <body pos="0 0 {half}"><freejoint/>{boxes}</body>
            <body pos="{x} {y} {2 * half}">
              <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
              <geom type="cylinder" size="{finger.radius} {0.9 * half}" mass="{FINGER_MASS}"
                    friction="{finger.friction} 0 0" priority="1"/>
            </body>
          </worldbody>
        </mujoco>"""
        self._model = mujoco.MjModel.from_xml_string(scene)
        self._data = mujoco.MjData(self._model)
        self._push = push

    def run(self) -> Array:
        """Carry out the push from the start; return the pose of the grid frame after it, (3,)."""
        mujoco.mj_resetData(self._model, self._data)
        steps = round(self._push.duration / self._model.opt.timestep)
        for _ in range(steps):
            self._data.qvel[-2:] = self._push.velocity
            mujoco.mj_step(self._model, self._data)
        x, y, _, qw, _, _, qz = self._data.qpos[:7]
        return np.array([x, y, 2.0 * np.arctan2(qz, qw)])
