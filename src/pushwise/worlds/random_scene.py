"""`random_world`: an object of unknown mass and friction, somewhere on a table."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from pushwise import objects, worlds
from pushwise.checks import counted, non_negative_integer
from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.geometry.polygon import contains, placed
from pushwise.object_files import read_object
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table, grid_of
from pushwise.records.record import Noise
from pushwise.shape.files import IMAGES
from pushwise.shape.grid import CellGrid
from pushwise.shape.scan import scan_file
from pushwise.shape.scene import Scene
from pushwise.typing import Array
from pushwise.worlds.bystanders import Bystander
from pushwise.worlds.mujoco import MuJoCo
from pushwise.worlds.mujoco_scene import table_frame
from pushwise.worlds.simulated import SimulatedWorld
from pushwise.worlds.world import Sensing

__all__ = ["CAMERA", "WORLDS", "hidden_object", "random_pose", "random_world", "scene_world"]

WORLDS = {"mujoco": "MuJoCo", "ideal": "Ideal", "bullet": "Bullet"}
"""The worlds an object can be put in, and their classes."""

# At the rate of most cameras, flicks can be learned from.
CAMERA = Sensing(Noise(position=1e-3, angle=5e-3), rate=30.0, forces=False)
"""A camera that tracks the object: 1 mm, 5 mrad, 30 Hz, no forces."""
_MARGIN = 0.06  # m from the object to the table's edge at the start
_TRIES = 1000
_LOPSIDED = 2.5  # how many times heavier one end of a scanned object is than its middle
_FRICTION = (0.2, 0.5)


def random_world(
    what: str, table: Table, *, world: str = "mujoco", seed: int = 0, number: int | None = None
) -> SimulatedWorld:
    """Return a world with an object at a random pose, seen by `CAMERA`.

    The objects of a scene stand as they do there, in the middle of the table: one is to be moved,
    the others are bystanders.

    Args:
        what: One of the nine objects or of the other shapes, or the path of a scan, of a grid or
            of a file that `pushwise scan` reads: each gets a random mass and friction distribution.
            The path of a model: it keeps its own. The path of a scene, with `number`.
        table: The table.
        world: Name of the world, one of `WORLDS`.
        seed: Random seed of the mass and friction, the pose and the noise.
        number: Number of the object of a scene that is to be moved; only for scenes.

    """
    if world not in WORLDS:
        raise PushwiseError(f"world must be one of {', '.join(WORLDS)}; got {world!r}.")
    table_frame(table)  # refused before the first push: MuJoCo's gripper lifts in every world
    rng = np.random.default_rng([non_negative_integer("seed", seed), 7])
    scene = _scene(what)
    if scene is not None:
        if number is None:
            raise PushwiseError(
                f"{what} holds a scene of {counted(len(scene.objects), 'object', 'objects')}; say "
                "which one is to be moved with --object (in Python: number), counting from 0."
            )
        if world != "mujoco":
            raise PushwiseError(f"a scene needs the world mujoco; got {world}.")
        return scene_world(scene, number, table, seed=seed)
    if number is not None:
        raise PushwiseError(f"--object (in Python: number) is for scenes, and {what} is not one.")
    thing = hidden_object(what, rng)
    outline = thing.outline if isinstance(thing, Thing) else thing.grid.outline
    made: SimulatedWorld = getattr(worlds, WORLDS[world])(
        thing, table, seed=seed, pose=random_pose(rng, outline, table), sensing=CAMERA
    )
    return made


def _scene(what: str) -> Scene | None:
    """Return the scene in a file, if it holds one."""
    if what in objects.all_names or not what.lower().endswith(".json") or not Path(what).exists():
        return None
    known = read_object(what)
    return known if isinstance(known, Scene) else None


def scene_world(scene: Scene, number: int, table: Table, *, seed: int = 0) -> MuJoCo:
    """Return a world with the objects of a scene in the middle of the table, seen by `CAMERA`.

    Args:
        scene: The scene.
        number: Number of the object that is to be moved; the others are bystanders.
        table: The table.
        seed: Random seed of the masses and frictions, and of the noise.

    """
    rng = np.random.default_rng([non_negative_integer("seed", seed), 7])
    moved = scene.chosen(number)
    corners = np.concatenate([each.outline for each in scene.objects])
    low, high = table.polygon.min(axis=0), table.polygon.max(axis=0)
    shift = 0.5 * (low + high - corners.min(axis=0) - corners.max(axis=0))
    if not contains(table.polygon, corners + shift).all():
        width, depth = np.ptp(corners, axis=0)
        raise PushwiseError(
            f"the scene is {width:.2f} x {depth:.2f} m large and does not fit on the table."
        )
    shifted = np.append(shift, 0.0)
    return MuJoCo(
        _uneven(moved.grid, rng),
        table,
        seed=seed,
        pose=moved.pose + shifted,
        sensing=CAMERA,
        bystanders=[
            Bystander(_uneven(each.grid, rng), each.pose + shifted)
            for each in scene.objects
            if each is not moved
        ],
    )


def hidden_object(what: str, rng: np.random.Generator) -> Thing | ObjectModel:
    """Return an object with its hidden mass and friction.

    Args:
        what: As for `random_world`, except a scene.
        rng: Source of randomness.

    """
    if what in objects.all_names:
        return objects.load(what).sample(rng)
    path = Path(what)
    if not path.exists():
        raise PushwiseError(
            f"{what} is neither a file nor an object; the objects are "
            f"{', '.join(objects.all_names)}."
        )
    if path.suffix.lower() in IMAGES:
        raise PushwiseError(
            f"{what} is a depth image; make a grid from it with pushwise scan, and use that."
        )
    if path.suffix.lower() != ".json":
        return _uneven(_largest(path), rng)
    known = read_object(path)
    if isinstance(known, ObjectModel):
        return known
    try:
        return _uneven(grid_of(known), rng)
    except PushwiseError as error:
        raise PushwiseError(f"{what}: {error}") from None


def _largest(path: Path) -> CellGrid:
    """Return the largest object in a cloud or a mesh; say so where there are others."""
    scan = scan_file(path)[0]
    others = [group.what for group in scan.dropped if group.share > 0.0]
    if others:
        x, y, z = scan.frame[:3, 3]
        warnings.warn(
            f"{path} shows {len(others) + 1} objects, and the largest is taken, at "
            f"({x:.3f}, {y:.3f}, {z:.3f}); left out: {', '.join(others)}; to take one of those, "
            f"give the grid that pushwise scan {path} --near X Y Z -o grid.json writes.",
            PushwiseWarning,
            stacklevel=3,
        )
    return scan.grid


def _uneven(grid: CellGrid, rng: np.random.Generator) -> ObjectModel:
    """Return an object of this shape that is heavier at one end, with friction in two parts."""
    if grid.n_cells < 2:
        raise PushwiseError("the grid has one cell; give it at least two with a smaller cell_size.")
    angle = rng.uniform(-np.pi, np.pi)
    along = (grid.centres - grid.centres.mean(axis=0)) @ [np.cos(angle), np.sin(angle)]
    mass = _LOPSIDED ** (along / np.abs(along).max())
    total = rng.uniform(0.2, 1.0)
    # One half has more friction than the other, by up to a factor of 3, as in `Thing.sample`.
    angle, ratio = rng.uniform(-np.pi, np.pi), 3.0 ** (0.5 * rng.uniform(-1.0, 1.0))
    side = (grid.centres - grid.centres.mean(axis=0)) @ [np.cos(angle), np.sin(angle)] > 0.0
    friction = rng.uniform(*_FRICTION) * np.where(side, ratio, 1.0 / ratio)
    return ObjectModel(grid, total * mass / mass.sum(), friction)


def random_pose(rng: np.random.Generator, outline: Array, table: Table) -> Array:
    """Return a random pose (3,) with the whole outline (k, 2) well on the table."""
    low, high = table.polygon.min(axis=0), table.polygon.max(axis=0)
    middle = 0.5 * (low + high)
    # The table, smaller by the margin on every side.
    inner = middle + (table.polygon - middle) * (1.0 - 2.0 * _MARGIN / (high - low))
    for _ in range(_TRIES):
        pose = np.append(rng.uniform(low, high), rng.uniform(-np.pi, np.pi))
        if contains(inner, placed(outline, pose)).all():
            return pose
    raise PushwiseError("the object does not fit on the table; use a larger one.")
