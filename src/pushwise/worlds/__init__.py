"""Places where a push really happens: `Ideal`, `MuJoCo`, `Bullet`, `Replay`, and your own `World`.

Nothing here knows how an object is identified or a push is planned: the truth must not leak.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushwise.worlds.bullet import Bullet
    from pushwise.worlds.gripper import Grasp, grasp
    from pushwise.worlds.ideal import Ideal
    from pushwise.worlds.mujoco import MuJoCo
    from pushwise.worlds.replay import Replay
    from pushwise.worlds.world import Observation, World

__all__ = [
    "Bullet",
    "Grasp",
    "Ideal",
    "MuJoCo",
    "Observation",
    "Replay",
    "World",
    "grasp",
]

_HOMES = {
    "Bullet": "pushwise.worlds.bullet",
    "Grasp": "pushwise.worlds.gripper",
    "Ideal": "pushwise.worlds.ideal",
    "MuJoCo": "pushwise.worlds.mujoco",
    "Observation": "pushwise.worlds.world",
    "Replay": "pushwise.worlds.replay",
    "World": "pushwise.worlds.world",
    "grasp": "pushwise.worlds.gripper",
}


def __getattr__(name: str) -> Any:
    """Load a world on first use: each brings its own engine."""
    if name not in _HOMES:
        raise AttributeError(f"module 'pushwise.worlds' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the worlds, loaded or not."""
    return sorted(__all__)
