"""Small pushes in which a finger sticks, slips or is apart, for tests of derivatives."""

from typing import NamedTuple

import numpy as np

import pushwise as pw
from pushwise.physics.differentiable import PushInputs, PushScene, roll_scene
from pushwise.typing import Array

GRID = pw.CellGrid(np.array([(0, 0), (1, 0), (2, 0), (1, 1), (1, 2)]) * 0.02, 0.02)
MASS = np.array([0.02, 0.05, 0.03, 0.04, 0.02])
FRICTION = np.array([0.3, 0.5, 0.2, 0.4, 0.6])
NAMES = PushInputs._fields


class PushCase(NamedTuple):
    """A push, and the modes of which its motion has some."""

    scene: PushScene
    inputs: PushInputs  # without a batch
    modes: set[pw.Mode]


def case_of(name: str) -> PushCase:
    """Return a push in which the finger sticks, slips, or is apart from a moving object."""
    x, y = GRID.outline[:, 0], GRID.outline[:, 1]
    # A little inside, which moves the object out of the way: derivatives of an impact are steep.
    below = np.array([x.mean(), y.min() - 0.0098])
    finger, path, twist, modes = {
        "stick": (0.8, [(0, 0), (0.001, 0.004), (0.001, 0.008)], (0, 0, 0), {pw.Mode.STICK}),
        "slip": (
            0.05,
            [(0, 0), (0.005, 0.003), (0.011, 0.007)],
            (0, 0, 0),
            {pw.Mode.SLIP_LEFT, pw.Mode.SLIP_RIGHT},
        ),
        "separated": (0.3, [(0, -0.01), (0, -0.02), (0.01, -0.02)], (0.2, 0.3, 2.0), set()),
    }[name]
    scene = PushScene(GRID, (0.0, 0.05, 0.1), at=(0.04, 0.1), physics=pw.Physics(dt=0.005))
    inputs = PushInputs(
        MASS,
        FRICTION,
        np.array(finger),
        np.array([0.001, -0.0002, 0.02]),
        np.array(twist, float),
        below + np.array(path),
    )
    return PushCase(scene, inputs, modes)


def batch_of_one(inputs: PushInputs) -> PushInputs:
    """Return inputs with a batch axis of length one."""
    return PushInputs(*(np.asarray(x)[None] for x in inputs))


def poses_of(case: PushCase) -> Array:
    """Return the poses of a case without any framework, shape (2, 3)."""
    poses: Array = roll_scene(case.scene, batch_of_one(case.inputs)).poses[0]
    return poses


def simulated(case: PushCase) -> pw.Trajectory:
    """Return the same push by `simulate`."""
    x = case.inputs
    return pw.simulate(
        pw.ObjectModel(GRID, x.mass, x.friction),
        pw.Push(case.scene.times, x.knots),
        x.pose,
        twist=x.twist,
        finger=pw.Finger(case.scene.radius, float(x.finger_friction)),
        until=0.1,
        physics=case.scene.physics,
    )
