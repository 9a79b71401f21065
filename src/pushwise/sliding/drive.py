"""`drive`: a `PushController` at work in a world that streams, until the object is at the goal."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.physics.push import Push
from pushwise.progress import OnProgress, Progress
from pushwise.records.record import Noise, PushRecord
from pushwise.sliding.control_options import Doing
from pushwise.sliding.controller import PushController
from pushwise.sliding.moved import End, Moved
from pushwise.typing import Array
from pushwise.worlds.world import StreamingWorld, moved, observed

__all__ = ["Driven", "drive"]

_SAMPLES = 5  # a shorter push is not recorded
_REFUSALS = 10  # moves that a world may refuse


@dataclass(frozen=True, eq=False)
class Driven(Moved):
    """The result of `drive`; there is one record per contact."""

    poses: Array
    """All poses observed [m, m, rad], shape (steps, 3)."""
    contacts: int
    """Number of contacts begun."""
    seconds: float
    """Time that passed in the world [s]: moving the finger, and looking at the object."""
    step_seconds: Array
    """Processor time of the steps that did not search for a contact [s]."""
    search_seconds: Array
    """Processor time of those that did [s]."""


def drive(
    world: StreamingWorld,
    controller: PushController,
    goal: ArrayLike,
    *,
    time_limit: float = 60.0,
    noise: Noise | None = None,
    progress: OnProgress | None = None,
) -> Driven:
    """Push the object of a world to a goal; the finger must be up.

    Args:
        world: Where the finger moves.
        controller: Says where to; it is reset first.
        goal: Pose to reach (x, y, theta) [m, m, rad], shape (3,).
        time_limit: Time in the world after which it ends [s].
        noise: Noise of the observations, for the records; None if unknown.
        progress: Called after each contact, with its record as the result.

    """
    there = np.array(finite_array("goal", goal, (3,)))
    # At least one step, so that the object is looked at.
    steps = max(int(positive_number("time_limit", time_limit) / controller.options.period), 1)
    log = _Log(controller, noise)
    controller.reset()
    end, detail, fell = End.OUT_OF_TIME, "", False
    seen = observed(world)
    refusals = 0
    grid = controller.grid

    def report() -> None:
        if progress is not None:
            text = f"{1e3 * mean_cell_error(grid, controller.pose, there):.0f} mm to go"
            progress(Progress("drive", text, controller.contacts, None, log.records[-1]))

    for _ in range(steps):
        begin = process_time()
        try:
            finger = controller.step(seen, there)
        except PushwiseError as error:
            end, detail = End.OUT_OF_REACH, str(error)
            break
        log.spent(process_time() - begin)
        if controller.doing is Doing.ARRIVED:
            end = End.REACHED
            break
        try:
            seen = moved(world, finger, controller.options.period)
        except PushwiseError as error:
            fell = bool(getattr(world, "fell", False))
            refusals += 1
            if fell or finger is None or refusals > _REFUSALS:
                missed = End.LOST if isinstance(error, SimulationError) else End.REFUSED
                end, detail = (End.FELL if fell else missed), str(error)
                break
            # The finger does not fit there, or an arm cannot go there; it may fit elsewhere.
            controller.refused()
            finger, seen = None, moved(world, None, controller.options.period)
        if log.add(finger, seen.pose):
            report()
    if log.close(fell=fell):
        report()
    pose = controller.pose
    return Driven(
        end,
        detail,
        there,
        pose,
        mean_cell_error(grid, pose, there),
        tuple(log.records),
        np.array(log.poses).reshape(-1, 3),
        controller.contacts,
        log.steps * controller.options.period,
        np.array(log.step_seconds),
        np.array(log.search_seconds),
    )


class _Log:
    """What happens during a drive."""

    def __init__(self, controller: PushController, noise: Noise | None) -> None:
        self._controller, self._noise = controller, noise
        self.records: list[PushRecord] = []
        self.poses: list[Array] = []
        self.steps = 0
        self.step_seconds: list[float] = []
        self.search_seconds: list[float] = []
        self._fingers: list[Array] = []
        self._pushed: list[Array] = []  # poses

    def spent(self, seconds: float) -> None:
        """Note the processor time of a step."""
        (self.search_seconds if self._controller.searched else self.step_seconds).append(seconds)

    def add(self, finger: Array | None, pose: Array) -> bool:
        """Note a pose after a move; return whether this completes the record of a contact."""
        self.steps += 1
        self.poses.append(pose)
        if finger is None or self._controller.doing is Doing.APPROACHING:
            return self.close()
        self._fingers.append(finger)
        self._pushed.append(pose)
        return False

    def close(self, *, fell: bool = False) -> bool:
        """End a record; return whether there is one. fell: whether the object falls in it."""
        fingers, poses = np.array(self._fingers), np.array(self._pushed)
        self._fingers, self._pushed = [], []
        if len(poses) < _SAMPLES:
            return False
        t = self._controller.options.period * np.arange(len(poses))
        theta = np.unwrap(poses[:, 2])
        record = PushRecord(
            Push(t, fingers),
            t,
            np.column_stack([poses[:, :2], theta]),
            noise=self._noise,
            fell=fell,
            source="drive",
        )
        self.records.append(record)
        return True
