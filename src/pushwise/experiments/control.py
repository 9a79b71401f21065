"""The controller's parts of `pushwise experiment planning`, in MuJoCo with uneven friction.

- control: goals within 1 m with a model identified from five noisy pushes, reached within 5 mm; the
  last two of ten are turned by exactly half a turn. The planner of whole pushes goes to the same
  goals within 20 mm, as version 0.1 did.
- around: goals around two obstacles with the true model, within 5 mm.

Distances are those of the true pose, which the controller sees with noise. The time of the finger
includes its approaches; for whole pushes they are as fast as the controller's.
"""

from __future__ import annotations

from functools import cache
from time import process_time

import numpy as np

from pushwise.experiments.rows import Row
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.belief import Belief
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.planning.approach import Approach
from pushwise.planning.contact_routes import APPROACH_SPEED
from pushwise.planning.push_evaluation import contacts
from pushwise.shape.grid import CellGrid
from pushwise.sliding.controller import PushController
from pushwise.sliding.drive import Driven, drive
from pushwise.sliding.follow import Followed
from pushwise.typing import Array
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["CONTROL_TOLERANCE", "SEEDS", "TURNED", "controlled", "finger_seconds", "warm_up"]

CONTROL_TOLERANCE = 0.005
"""Mean distance of the cells [m] within which the controller must reach a goal."""
SEEDS = {"control": (1,), "around": (1,)}
"""What is added to the seeds of the parts; the earlier ones were looked at to improve them."""
TURNED = (8, 9)
"""Goals of every ten that are turned by half a turn."""
_TIME_LIMIT = 90.0  # s of the world


@cache
def warm_up() -> None:
    """Drive a small object once, so that no kernel is compiled while times are measured."""
    grid = CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], cell_size=0.05)
    model, table = ObjectModel(grid, np.full(4, 0.1), 0.3), Table.rectangle(1.2, 1.0)
    wall = [(0.2, -0.2), (0.25, -0.2), (0.25, 0.2), (0.2, 0.2)]
    controller = PushController(Belief.certain(model), table, [wall])
    drive(Ideal(model, table), controller, (0.35, 0.0, 1.0), time_limit=10.0)


def controlled(
    world: MuJoCo, thing: Thing, controller: PushController, there: Array
) -> tuple[Driven, Row]:
    """Drive an object to a goal (3,); return what happened, and the row."""
    begin = process_time()
    done = drive(world, controller, there, time_limit=_TIME_LIMIT, noise=world.noise)
    seconds = process_time() - begin
    error = true_error(world, thing, there)
    return done, {
        "method": "controller",
        "reached": done.reached and error < CONTROL_TOLERANCE,
        "error_mm": 1e3 * error,
        "pushes": done.contacts,
        "finger_seconds": done.seconds,
        "step_ms": _slow_ms(done.step_seconds),
        "search_ms": _slow_ms(done.search_seconds),
        "end": done.end.value,
        "said": done.detail or None,
        "seconds": seconds,
    }


def true_error(world: MuJoCo, thing: Thing, there: Array) -> float:
    """Return the mean distance of the cells from a goal (3,), at the true pose [m]."""
    return mean_cell_error(thing.grid, np.array(world.state()["pose"]), there)


def _slow_ms(seconds: Array) -> float | None:
    """Return the 95th percentile of durations [ms]; None where nothing was timed."""
    return 1e3 * float(np.percentile(seconds, 95)) if len(seconds) else None


def finger_seconds(thing: Thing, done: Followed) -> float:
    """Return how long the finger of whole pushes moves [s], with approaches between them."""
    finger = Finger()
    starts, _ = contacts(thing.grid, finger)
    approach = Approach(thing.grid.outline, starts, (), finger)
    total = 0.0
    before: Array | None = None
    for record in done.records:
        assert isinstance(record.push, Push)
        if before is not None:
            path = approach.path(record.pose[0], before, record.push.start)
            if path is None:  # through the air
                path = np.stack([before, record.push.start])
            total += float(np.hypot(*np.diff(path, axis=0).T).sum()) / APPROACH_SPEED
        total += record.push.duration
        before = record.push.end
    return total
