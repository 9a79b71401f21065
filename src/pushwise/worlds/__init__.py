"""Places where a push really happens: `Ideal`, `MuJoCo`, `Bullet`, `Replay`, and your own `World`.

Nothing here imports identification, planning or sliding: the truth must not leak into the method.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushwise.worlds.bullet import Bullet
    from pushwise.worlds.bystanders import Bystander
    from pushwise.worlds.gripper import Grasp, grasp
    from pushwise.worlds.ideal import Ideal
    from pushwise.worlds.mujoco import MuJoCo
    from pushwise.worlds.random_scene import random_world
    from pushwise.worlds.replay import Replay
    from pushwise.worlds.world import Observation, Sensing, StreamingWorld, World

__all__ = [
    "Bullet",
    "Bystander",
    "Grasp",
    "Ideal",
    "MuJoCo",
    "Observation",
    "Replay",
    "Sensing",
    "StreamingWorld",
    "World",
    "grasp",
    "random_world",
]

_HOMES = {
    "Bullet": "pushwise.worlds.bullet",
    "Bystander": "pushwise.worlds.bystanders",
    "Grasp": "pushwise.worlds.gripper",
    "Ideal": "pushwise.worlds.ideal",
    "MuJoCo": "pushwise.worlds.mujoco",
    "Observation": "pushwise.worlds.world",
    "Replay": "pushwise.worlds.replay",
    "Sensing": "pushwise.worlds.world",
    "StreamingWorld": "pushwise.worlds.world",
    "World": "pushwise.worlds.world",
    "grasp": "pushwise.worlds.gripper",
    "random_world": "pushwise.worlds.random_scene",
}


def __getattr__(name: str) -> Any:
    """Load a world on first use, and only then its engine."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pushwise.worlds' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the worlds, loaded or not."""
    return sorted(__all__)
