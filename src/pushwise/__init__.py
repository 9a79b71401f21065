"""Pushwise learns what an object weighs where from a few pushes, and slides it where you want it.

Names load on first use, so that `import pushwise` and `pushwise --help` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushwise import export, objects, worlds
    from pushwise.errors import SimulationError
    from pushwise.identification.identify import identify
    from pushwise.identification.next_push import next_push
    from pushwise.identification.prior import Prior
    from pushwise.identification.result import Identification
    from pushwise.outcome import Outcome
    from pushwise.physics.actions import Finger, ForcePush, Push
    from pushwise.physics.loss import loss_and_gradient
    from pushwise.physics.model import ObjectModel, Table
    from pushwise.physics.simulate import Path, simulate, simulate_batch
    from pushwise.planning.follow import Followed, follow
    from pushwise.planning.goals import Goal, choose_goal
    from pushwise.planning.plan import Plan, plan
    from pushwise.pregrasp import slide
    from pushwise.pushes.cut import cut_pushes
    from pushwise.pushes.log import PushLog
    from pushwise.pushes.record import PushRecord
    from pushwise.pushes.source import read_recordings
    from pushwise.saved import load, save
    from pushwise.shape.grid import CellGrid
    from pushwise.shape.scan import Scan

__all__ = [
    "CellGrid",
    "Finger",
    "Followed",
    "ForcePush",
    "Goal",
    "Identification",
    "ObjectModel",
    "Outcome",
    "Path",
    "Plan",
    "Prior",
    "Push",
    "PushLog",
    "PushRecord",
    "Scan",
    "SimulationError",
    "Table",
    "choose_goal",
    "cut_pushes",
    "export",
    "follow",
    "identify",
    "load",
    "loss_and_gradient",
    "next_push",
    "objects",
    "plan",
    "read_recordings",
    "save",
    "simulate",
    "simulate_batch",
    "slide",
    "worlds",
]

__version__ = "0.1.0"

_HOMES = {
    "CellGrid": "pushwise.shape.grid",
    "Finger": "pushwise.physics.actions",
    "Followed": "pushwise.planning.follow",
    "ForcePush": "pushwise.physics.actions",
    "Goal": "pushwise.planning.goals",
    "Identification": "pushwise.identification.result",
    "ObjectModel": "pushwise.physics.model",
    "Outcome": "pushwise.outcome",
    "Path": "pushwise.physics.simulate",
    "Plan": "pushwise.planning.plan",
    "Prior": "pushwise.identification.prior",
    "Push": "pushwise.physics.actions",
    "PushLog": "pushwise.pushes.log",
    "PushRecord": "pushwise.pushes.record",
    "Scan": "pushwise.shape.scan",
    "SimulationError": "pushwise.errors",
    "Table": "pushwise.physics.model",
    "choose_goal": "pushwise.planning.goals",
    "cut_pushes": "pushwise.pushes.cut",
    "follow": "pushwise.planning.follow",
    "identify": "pushwise.identification.identify",
    "load": "pushwise.saved",
    "loss_and_gradient": "pushwise.physics.loss",
    "next_push": "pushwise.identification.next_push",
    "plan": "pushwise.planning.plan",
    "read_recordings": "pushwise.pushes.source",
    "save": "pushwise.saved",
    "simulate": "pushwise.physics.simulate",
    "simulate_batch": "pushwise.physics.simulate",
    "slide": "pushwise.pregrasp",
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use."""
    if name in ("export", "objects", "worlds"):
        return import_module(f"pushwise.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pushwise' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "__version__"])
