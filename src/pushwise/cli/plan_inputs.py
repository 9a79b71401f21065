"""What `pushwise plan` plans with: the belief, the start, the table and the obstacles."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.checks import counted
from pushwise.cli.polygon_files import load_polygons, table_of
from pushwise.errors import PushwiseError
from pushwise.geometry.polygon import placed
from pushwise.identification.belief import Belief
from pushwise.identification.holdout import uniform_model
from pushwise.identification.prior import Prior
from pushwise.model_files import load, load_belief
from pushwise.physics.model import Table
from pushwise.physics.push import Finger
from pushwise.shape.grid import CellGrid
from pushwise.shape.same_shape import QUARTERS, SAME_SHAPE, TURNED, shared_cells, turned_onto
from pushwise.shape.scene import Scene, SceneObject
from pushwise.typing import Array

if TYPE_CHECKING:
    from pathlib import Path

    from pushwise.cli.plan import PlanCommand

__all__ = ["PlanningInputs", "planning_inputs"]

_TABLE = "1.0x0.7"


class PlanningInputs(NamedTuple):
    """What a plan is made from."""

    belief: Belief
    start: tuple[float, float, float]
    """Pose of the object now, in the frame of table and obstacles [m, m, rad]."""
    table: Table
    obstacles: list[Array]
    """Polygons [m], shape (k, 2) each."""


def planning_inputs(asked: PlanCommand) -> PlanningInputs:
    """Read the files that the command line names."""
    blocks = [] if asked.obstacles is None else load_polygons(asked.obstacles)
    scene = _scene_in(asked.model)
    if scene is None and asked.scene is None:
        if asked.number is not None:
            raise PushwiseError(f"--object is for scenes, and {asked.model} is not one.")
        start = (0.0, 0.0, 0.0) if asked.start is None else asked.start
        table = table_of(_TABLE if asked.table is None else asked.table)
        return PlanningInputs(load_belief(asked.model), start, table, blocks)
    if scene is not None and asked.scene is not None:
        raise PushwiseError(f"{asked.model} and {asked.scene} are both scenes; give a model first.")
    around = scene or _scene_of(asked)
    if asked.number is None:
        objects = counted(len(around.objects), "object", "objects")
        raise PushwiseError(
            f"the scene has {objects}; say which is to be moved with --object, counting from 0."
        )
    moved = around.chosen(asked.number)
    if scene is None:
        belief = load_belief(asked.model)
    else:
        belief = Belief.assuming(uniform_model(moved.grid, Prior()), Finger())
    if asked.table is None and asked.edge:
        raise PushwiseError(
            "a cloud does not show where its table ends; give the corners in the scene's frame "
            "with --table corners.json."
        )
    table = Table(around.region) if asked.table is None else table_of(asked.table)
    if asked.start is not None:
        start = asked.start
    else:
        start = moved.pose if scene is not None else _pose_in(moved, belief.model.grid)
    return PlanningInputs(belief, start, table, [*around.obstacles(asked.number), *blocks])


def _pose_in(moved: SceneObject, grid: CellGrid) -> tuple[float, float, float]:
    """Return the pose in a scene of a model's own grid, which another scan may have turned."""
    poses = [turned_onto(moved.grid, grid, turns) for turns in range(QUARTERS)]
    fits = np.array([shared_cells(moved.grid, grid, pose) for pose in poses])
    second, best = np.argsort(fits)[-2:]
    if fits[best] < SAME_SHAPE:
        raise PushwiseError(
            f"the model and the object have only {fits[best]:.0%} of their shape in common; choose "
            "another --object, or give the pose of the model's frame with --start."
        )
    if fits[second] > fits[best] - TURNED:
        raise PushwiseError(
            "the object looks much the same when it is turned, so that the scene does not show how "
            "the model lies in it; give the pose of the model's frame with --start."
        )
    x, y = placed(poses[best][None, :2], np.array(moved.pose))[0]
    return float(x), float(y), float(moved.pose[2] + poses[best][2])


def _scene_in(path: Path) -> Scene | None:
    """Return the scene that a file holds; None if it holds something else."""
    value = load(path)
    return value if isinstance(value, Scene) else None


def _scene_of(asked: PlanCommand) -> Scene:
    """Return the scene that the command line names besides a model."""
    assert asked.scene is not None
    scene = _scene_in(asked.scene)
    if scene is None:
        raise PushwiseError(f"{asked.scene} holds no scene; make one with pushwise scan --all.")
    return scene
