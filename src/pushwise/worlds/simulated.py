"""What the simulated worlds share: a hidden object, noise, the camera, and `run_push`.

`run_push` steps an engine through a push, takes samples, and waits until the object rests or has
fallen off the table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.objects.camera import Camera
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise, PushRecord
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp, grasp
from pushwise.worlds.world import Observation, Sensing

__all__ = ["TILTED", "Engine", "Look", "Motion", "SimulatedWorld", "run_push", "sample_times"]

_CLOUD_PITCH = 0.002  # m between the points of a bare model's cloud
_DEPTH_NOISE = 0.001  # m; of a depth camera at half a metre

TILTED = 0.35
"""An object tilted by more than this [rad] has left the table."""
_LEANING = 0.05  # rad; an object tilted by more than this does not lie flat
_LIE = 0.1  # s an object must be still to count as resting
_PATIENCE = 5.0  # s after the push an object counts as resting in any case


class Motion(NamedTuple):
    """The noise-free motion during a push, in the table frame."""

    t: Array  # (T,)
    pose: Array  # (T, 3)
    force: Array  # (T, 2), mean since the previous sample
    finger: Array  # (T, 2)
    fell: bool


class SimulatedWorld(ABC):
    """A world around a hidden object; each push starts at rest, where the last one ended.

    Subclasses carry out pushes. This class keeps the pose, adds noise and simulates the camera.
    """

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        sensing: Sensing | None = None,
    ) -> None:
        """Put an object on a table.

        Args:
            thing: The object, or only its model.
            table: The table; the default `Table` if not given.
            seed: Random seed of the noise.
            pose: Pose of the grid frame at the start [m, m, rad], shape (3,).
            finger: The finger; the default `Finger` if not given.
            sensing: What is measured, and how well; the default `Sensing` if not given.

        """
        if not isinstance(thing, Thing | ObjectModel):
            raise PushwiseError(
                f"thing must be a Thing or an ObjectModel; got {type(thing).__name__}."
            )
        self._thing = thing
        self._model = thing.model if isinstance(thing, Thing) else thing
        self._table = Table() if table is None else table
        self._finger = Finger() if finger is None else finger
        self._sensing = Sensing() if sensing is None else sensing
        self._start = finite_array("pose", pose, (3,))
        self.reset(seed)

    @property
    def truth(self) -> ObjectModel:
        """The hidden model, for experiments that compare results with it."""
        return self._model

    @property
    def table(self) -> Table:
        """The table."""
        return self._table

    @property
    def finger(self) -> Finger:
        """The finger."""
        return self._finger

    @property
    def noise(self) -> Noise:
        """Noise of the measurements."""
        return self._sensing.noise

    @property
    def fell(self) -> bool:
        """Whether the object has fallen off the table."""
        return self._fell

    def reset(self, seed: int) -> None:
        """Put the object back where it started.

        Args:
            seed: Random seed of the noise from here on.

        """
        self._rng = np.random.default_rng(non_negative_integer("seed", seed))
        self._pose: Array = self._start.copy()
        self._fell = self._falls(self._pose)

    def observe(self) -> Observation:
        """Look at the object from above, with noise."""
        self._refuse_fallen()
        return Observation(self._cloud(), self._noisy(self._pose[None])[0])

    def push(self, push: Push) -> PushRecord:
        """Carry out a push, wait until the object rests, and return what was measured.

        Raises:
            SimulationError: The finger starts inside the object, or the object has fallen.

        """
        self._refuse_fallen()
        if not isinstance(push, Push):
            raise PushwiseError(f"a world needs a Push by a finger; got {type(push).__name__}.")
        done = self._attempted(push)
        outline = placed(self._model.grid.outline, self._pose)
        if outline_distance(outline, done.start) < self._finger.radius:
            x, y = done.start
            raise SimulationError(
                f"the finger, centre ({x:.4f}, {y:.4f}) m and radius {self._finger.radius:g} m, "
                "starts inside the object; start it clear of the outline."
            )
        motion = self._carried_out(done, self._pose)
        self._pose, self._fell = motion.pose[-1], motion.fell
        force = motion.force + self.noise.force * self._rng.standard_normal(motion.force.shape)
        return PushRecord(
            self._measured(push, motion),
            motion.t,
            self._noisy(motion.pose),
            force if self._sensing.forces else None,
            noise=self.noise,
            fell=motion.fell,
            source=type(self).__name__,
        )

    def grasp(self) -> Grasp:
        """Grasp the object, in MuJoCo, by the part that overhangs the table, and lift it."""
        self._refuse_fallen()
        return grasp(self._thing, self._pose, self._table)

    def state(self) -> dict[str, Any]:
        """Return the pose, whether the object fell, and the random state, as JSON can hold it."""
        random = dict(self._rng.bit_generator.state)
        return {"pose": self._pose.tolist(), "fell": self._fell, "random": random}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Return to a state; the same pushes then have the same results."""
        self._pose = np.array(finite_array("pose", state["pose"], (3,)))
        self._fell = bool(state["fell"])
        self._rng.bit_generator.state = state["random"]

    @abstractmethod
    def _carried_out(self, push: Push, pose: Array) -> Motion:
        """Push the object, at rest at `pose`, and return its motion until it rests again."""

    def _attempted(self, push: Push) -> Push:
        """Return the push that really happens when `push` is commanded."""
        return push

    def _measured(self, push: Push, motion: Motion) -> Push:
        """Return the path of the finger as a record of `push` states it."""
        return push

    def _falls(self, pose: Array) -> bool:
        """Return whether the object falls when it is released at `pose`."""
        return False

    def _refuse_fallen(self) -> None:
        """Raise an error if the object has fallen."""
        if self._fell:
            raise SimulationError("the object has fallen off the table; reset the world.")

    def _noisy(self, pose: Array) -> Array:
        """Return poses (T, 3) as a camera would measure them."""
        noise = self.noise
        deviation = np.array([noise.position, noise.position, noise.angle])
        measured: Array = pose + deviation * self._rng.standard_normal(pose.shape)
        return measured

    def _cloud(self) -> Array:
        """Return what a depth camera right above the object sees [m], shape (N, 3)."""
        if isinstance(self._thing, Thing):
            x, y, theta = self._pose
            seen = self._thing.points(self._rng, noise=_DEPTH_NOISE, pose=(0.0, 0.0, theta))
            camera = Camera().pose
            cloud: Array = seen @ camera[:3, :3].T + camera[:3, 3] + [x, y, 0.0]
            # Beyond the table's edge only the object can be seen.
            grid = self._model.grid
            on_table = contains(self._table.polygon, cloud[:, :2])
            kept: Array = cloud[on_table | (cloud[:, 2] > 0.5 * grid.heights.min())]
            return kept
        grid = self._model.grid
        count = int(np.ceil(grid.cell_size / _CLOUD_PITCH))
        side = (np.arange(count) + 0.5) / count - 0.5
        sub = grid.cell_size * np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        xy = placed((grid.centres[:, None] + sub).reshape(-1, 2), self._pose)
        z = np.repeat(grid.heights, len(sub))
        return np.column_stack([xy, z + _DEPTH_NOISE * self._rng.standard_normal(len(z))])


class Look(NamedTuple):
    """The state at one instant."""

    pose: Array  # (3,)
    finger: Array  # (2,)
    tilt: float  # rad
    still: bool


class Engine(Protocol):
    """A scene in a physics engine, in the middle of a push."""

    def advance(self, begin: float, end: float) -> Array:
        """Step from one time to another [s]; return the finger's mean force [N], shape (2,)."""

    def look(self, near: float) -> Look:
        """Return the current state, theta within half a turn of `near` [rad]."""


def run_push(engine: Engine, push: Push, theta: float, rate: float) -> Motion:
    """Step an engine through a push until the object rests or has fallen.

    Args:
        engine: The scene, at the start of the push.
        push: The push.
        theta: The object's angle at the start [rad]; later angles count turns from it.
        rate: Samples per second [Hz].

    Returns:
        The motion. If the object falls, it ends where the object no longer lies flat.

    """
    during = sample_times(push.duration, push.duration, rate)
    times, looks, forces = [0.0], [engine.look(theta)], [np.zeros(2)]
    still = 0.0
    while still < _LIE and looks[-1].tilt <= TILTED and times[-1] < push.duration + _PATIENCE:
        k = len(times)
        end = float(during[k]) if k < len(during) else times[-1] + 1.0 / rate
        forces.append(engine.advance(times[-1], end))
        looks.append(engine.look(looks[-1].pose[2]))
        resting = end > push.duration and looks[-1].still
        still = still + end - times[-1] if resting else 0.0
        times.append(end)
    fell = looks[-1].tilt > TILTED
    leaning = (i for i, look in enumerate(looks) if look.tilt > _LEANING)
    flat = next(leaning) if fell else len(looks)
    kept = slice(0, max(flat, 2))
    return Motion(
        np.array(times)[kept],
        np.array([look.pose for look in looks])[kept],
        np.array(forces)[kept],
        np.array([look.finger for look in looks])[kept],
        fell,
    )


def sample_times(duration: float, end: float, rate: float) -> Array:
    """Return sample times [s] from 0 to `end`, the end of the push among them.

    Args:
        duration: Duration of the push [s].
        end: Time of the last sample [s].
        rate: Samples per second, at least [Hz].

    """
    stop = min(duration, end)
    t = np.linspace(0.0, stop, int(np.ceil(stop * rate)) + 1)
    if end <= stop:
        return t
    rest = np.linspace(stop, end, int(np.ceil((end - stop) * rate)) + 1)
    return np.concatenate([t, rest[1:]])
