"""`pushwise experiment among`: slide one object of a scene to the edge, among two others.

Each trial draws three of the nine objects at random poses on a table of 1.0 m x 0.7 m. A tilted
depth camera sees them; the scene is made from its cloud, and one of its objects is explored,
slid to the edge and grasped in MuJoCo. The other two stand there as free bodies.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from pushwise import objects
from pushwise.atomic_write import write_text
from pushwise.errors import PushwiseError
from pushwise.experiments.reporting import markdown, mean_text
from pushwise.experiments.rows import Row, numbers, where
from pushwise.experiments.sweep import SweepOptions, check_counts, conduct
from pushwise.geometry.polygon import contains, outline_distances, placed
from pushwise.objects.camera import Camera
from pushwise.objects.thing import Thing, scene_points
from pushwise.physics.model import Table
from pushwise.planning.options import PlanOptions
from pushwise.shape.scene import Scene
from pushwise.sliding.options import SlideOptions
from pushwise.sliding.slide import slide
from pushwise.typing import Array
from pushwise.worlds.random_scene import random_pose, scene_world

__all__ = ["report", "rows_of", "run", "seen_scene", "settings_of"]

_TABLE = Table()
_OTHERS = 2
_GAP = 0.05  # m between the objects at the start
_TRIES = 3000
_TILT = 0.6  # rad; of the camera, at most
_DISTANCE = 1.0  # m
_SEED = 2700  # of the first trial
_LIMIT = 2.0  # mm by which an object may be moved that is not to be moved


class SeenScene(NamedTuple):
    """A random scene, as a camera sees it."""

    scene: Scene
    number: int
    """Number of the object that is to be moved."""


def run(options: SweepOptions, *, trials: int = 8) -> str:
    """Run this many trials per object; return the table, as `conduct` does."""
    check_counts(trials=trials)
    return conduct(rows_of, settings_of(trials=trials), report, options)


def settings_of(*, trials: int) -> list[Row]:
    """Return all settings, ordered by trial."""
    return [{"object": name, "trial": trial} for trial in range(trials) for name in objects.names]


def rows_of(setting: Row) -> list[Row]:
    """Run one trial."""
    seed, name = _SEED + int(str(setting["trial"])), str(setting["object"])
    try:
        seen = seen_scene(name, np.random.default_rng([seed, objects.names.index(name), 11]))
    except PushwiseError as error:
        return [_row(found=None, verdict=f"Not found: {error}")]
    world = scene_world(seen.scene, seen.number, _TABLE, seed=seed)
    done = slide(
        world,
        _TABLE,
        options=SlideOptions(obstacles=world.obstacles, plan=PlanOptions(seed=seed)),
    )
    moved = 1e3 * float(world.bystanders_moved().max())
    pushes = None if done.followed is None else len(done.followed.records)
    found = len(seen.scene.objects)
    return [_row(found, done.verdict, success=done.success, moved=moved, pushes=pushes)]


def _row(
    found: int | None,
    verdict: str,
    *,
    success: bool = False,
    moved: float | None = None,
    pushes: int | None = None,
) -> Row:
    """Return the outcome of a trial."""
    return {
        "success": success,
        "found": found,
        "verdict": verdict,
        "moved_mm": moved,
        "pushes": pushes,
    }


def seen_scene(name: str, rng: np.random.Generator) -> SeenScene:
    """Return a random scene of an object among two others, made from a camera's cloud.

    Args:
        name: The object that is to be moved.
        rng: Source of randomness.

    """
    rest = [other for other in objects.names if other != name]
    names = [name, *rng.choice(rest, _OTHERS, replace=False).tolist()]
    standing = _standing([objects.load(each) for each in names], rng)
    camera = Camera(float(rng.uniform(0.0, _TILT)), distance=_DISTANCE)
    scene = Scene.from_points(scene_points(standing, rng, camera=camera))
    if len(scene.objects) != len(standing):
        raise PushwiseError(f"{len(scene.objects)} objects of {len(standing)} were found.")
    frame = camera.pose @ scene.frame
    origins = np.array([[*each.pose[:2], 0.0, 1.0] for each in scene.objects]) @ frame.T
    away = np.hypot(*(origins[:, :2] - standing[0][1][:2]).T)
    return SeenScene(scene, int(np.argmin(away)))


def _standing(things: list[Thing], rng: np.random.Generator) -> list[tuple[Thing, Array]]:
    """Return objects with random poses (3,) on the table, apart from each other."""
    for _ in range(_TRIES):
        poses = [random_pose(rng, thing.outline, _TABLE) for thing in things]
        outlines = [placed(t.outline, pose) for t, pose in zip(things, poses, strict=True)]
        if all(_apart(a, b) for i, a in enumerate(outlines) for b in outlines[:i]):
            return list(zip(things, poses, strict=True))
    raise PushwiseError("the objects do not fit on the table.")


def _apart(a: Array, b: Array) -> bool:
    """Return whether two outlines (k, 2) are farther apart than the gap."""
    if contains(a, b).any() or contains(b, a).any():
        return False
    return bool(min(outline_distances(a, b).min(), outline_distances(b, a).min()) > _GAP)


def report(rows: list[Row], folder: Path) -> str:
    """Write and return the table."""
    lines = []
    for name in (*objects.names, "all"):
        some = rows if name == "all" else where(rows, object=name)
        moved = numbers(some, "moved_mm")
        lines.append(
            (
                name,
                f"{sum(bool(row['success']) for row in some)} of {len(some)}",
                mean_text(some, "pushes"),
                f"{moved.max():.1f}" if len(moved) else "-",
                int((moved > _LIMIT).sum()),
            )
        )
    heading = ("object", "grasped", "pushes", "others moved by at most [mm]", "more than 2 mm")
    failed = [
        f"- {row['object']}, trial {row['trial']}: {row['verdict']}"
        for row in rows
        if not row["success"]
    ]
    table = "\n".join([markdown(heading, lines), "", "Not grasped:", "", *(failed or ["- none"])])
    write_text(folder / "table.md", table + "\n")
    return table
