"""Pushwise learns the mass and friction of an object from a few pushes, and slides it to a goal.

Names load on first use, so that `import pushwise` and `pushwise --help` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pushwise import export, objects, worlds
    from pushwise.errors import PushwiseError, SimulationError
    from pushwise.geometry.polygon import placed
    from pushwise.identification.belief import Belief
    from pushwise.identification.identify import identify
    from pushwise.identification.methods.task import SearchOptions
    from pushwise.identification.next_push import next_push
    from pushwise.identification.prior import Prior
    from pushwise.identification.result import Identification
    from pushwise.model_files import load, load_belief, save
    from pushwise.physics.gradients import loss_and_gradient
    from pushwise.physics.model import ObjectModel, Physics, Table
    from pushwise.physics.motion_state import MotionState
    from pushwise.physics.push import Finger, ForcePush, Push
    from pushwise.physics.simulate import Mode, Trajectory, simulate, simulate_batch
    from pushwise.physics.simulator import Simulator, step_batch
    from pushwise.planning.goals import Goal, GoalSpace, choose_goal
    from pushwise.planning.options import PlanOptions
    from pushwise.planning.plan import Plan, plan
    from pushwise.progress import Progress
    from pushwise.records.log import PushLog
    from pushwise.records.record import Noise, PushRecord
    from pushwise.records.recordings import BagTopics, CsvColumns, read_recordings
    from pushwise.records.recordings.cut_pushes import cut_pushes
    from pushwise.shape.grid import CellGrid
    from pushwise.shape.scan import Scan
    from pushwise.shape.scan_options import ScanOptions
    from pushwise.shape.scene import Scene, SceneObject
    from pushwise.show.figures import plot_maps
    from pushwise.sliding.control_options import ControlOptions
    from pushwise.sliding.controller import PushController
    from pushwise.sliding.drive import Driven, drive
    from pushwise.sliding.flick import FlickOptions, draw_flicks
    from pushwise.sliding.follow import Followed, follow
    from pushwise.sliding.options import SlideOptions
    from pushwise.sliding.outcome import Outcome
    from pushwise.sliding.random_push import draw_push
    from pushwise.sliding.record_pushes import RecordOptions, record
    from pushwise.sliding.run_folder import RunFolder
    from pushwise.sliding.slide import slide

__all__ = [
    "BagTopics",
    "Belief",
    "CellGrid",
    "ControlOptions",
    "CsvColumns",
    "Driven",
    "Finger",
    "FlickOptions",
    "Followed",
    "ForcePush",
    "Goal",
    "GoalSpace",
    "Identification",
    "Mode",
    "MotionState",
    "Noise",
    "ObjectModel",
    "Outcome",
    "Physics",
    "Plan",
    "PlanOptions",
    "Prior",
    "Progress",
    "Push",
    "PushController",
    "PushLog",
    "PushRecord",
    "PushwiseError",
    "RecordOptions",
    "RunFolder",
    "Scan",
    "ScanOptions",
    "Scene",
    "SceneObject",
    "SearchOptions",
    "SimulationError",
    "Simulator",
    "SlideOptions",
    "Table",
    "Trajectory",
    "choose_goal",
    "cut_pushes",
    "draw_flicks",
    "draw_push",
    "drive",
    "export",
    "follow",
    "identify",
    "load",
    "load_belief",
    "loss_and_gradient",
    "next_push",
    "objects",
    "placed",
    "plan",
    "plot_maps",
    "read_recordings",
    "record",
    "save",
    "simulate",
    "simulate_batch",
    "slide",
    "step_batch",
    "worlds",
]

__version__ = "0.2.0"

_HOMES = {
    "BagTopics": "pushwise.records.recordings",
    "Belief": "pushwise.identification.belief",
    "CellGrid": "pushwise.shape.grid",
    "ControlOptions": "pushwise.sliding.control_options",
    "CsvColumns": "pushwise.records.recordings",
    "Driven": "pushwise.sliding.drive",
    "Finger": "pushwise.physics.push",
    "FlickOptions": "pushwise.sliding.flick",
    "Followed": "pushwise.sliding.follow",
    "ForcePush": "pushwise.physics.push",
    "Goal": "pushwise.planning.goals",
    "Identification": "pushwise.identification.result",
    "Mode": "pushwise.physics.simulate",
    "MotionState": "pushwise.physics.motion_state",
    "Noise": "pushwise.records.record",
    "ObjectModel": "pushwise.physics.model",
    "Outcome": "pushwise.sliding.outcome",
    "Physics": "pushwise.physics.model",
    "Plan": "pushwise.planning.plan",
    "PlanOptions": "pushwise.planning.options",
    "Prior": "pushwise.identification.prior",
    "Progress": "pushwise.progress",
    "Push": "pushwise.physics.push",
    "PushController": "pushwise.sliding.controller",
    "PushLog": "pushwise.records.log",
    "PushRecord": "pushwise.records.record",
    "PushwiseError": "pushwise.errors",
    "RecordOptions": "pushwise.sliding.record_pushes",
    "RunFolder": "pushwise.sliding.run_folder",
    "Scan": "pushwise.shape.scan",
    "ScanOptions": "pushwise.shape.scan_options",
    "Scene": "pushwise.shape.scene",
    "SceneObject": "pushwise.shape.scene",
    "SearchOptions": "pushwise.identification.methods.task",
    "SimulationError": "pushwise.errors",
    "Simulator": "pushwise.physics.simulator",
    "SlideOptions": "pushwise.sliding.options",
    "Table": "pushwise.physics.model",
    "Trajectory": "pushwise.physics.simulate",
    "GoalSpace": "pushwise.planning.goals",
    "choose_goal": "pushwise.planning.goals",
    "cut_pushes": "pushwise.records.recordings.cut_pushes",
    "draw_flicks": "pushwise.sliding.flick",
    "draw_push": "pushwise.sliding.random_push",
    "drive": "pushwise.sliding.drive",
    "follow": "pushwise.sliding.follow",
    "identify": "pushwise.identification.identify",
    "load": "pushwise.model_files",
    "load_belief": "pushwise.model_files",
    "loss_and_gradient": "pushwise.physics.gradients",
    "next_push": "pushwise.identification.next_push",
    "placed": "pushwise.geometry.polygon",
    "plan": "pushwise.planning.plan",
    "plot_maps": "pushwise.show.figures",
    "read_recordings": "pushwise.records.recordings",
    "record": "pushwise.sliding.record_pushes",
    "save": "pushwise.model_files",
    "simulate": "pushwise.physics.simulate",
    "simulate_batch": "pushwise.physics.simulate",
    "slide": "pushwise.sliding.slide",
    "step_batch": "pushwise.physics.simulator",
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
