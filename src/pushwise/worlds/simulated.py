"""What the simulated worlds share: a hidden object, noise, samples, and what a camera sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pushwise.checks import finite_array, non_negative_integer, positive_number
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.objects.camera import Camera
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise, PushRecord
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp, grasp
from pushwise.worlds.run_push import Motion
from pushwise.worlds.world import Observation

__all__ = ["SimulatedWorld"]

_CLOUD_PITCH = 0.002  # m between the points of a bare model's cloud
_DEPTH_NOISE = 0.001  # m; of a depth camera at half a metre


class SimulatedWorld(ABC):
    """A world around a hidden object. Each push starts from where the last one left it, at rest.

    Subclasses carry out pushes; this class keeps the pose, adds the noise and looks.
    """

    def __init__(
        self,
        thing: Thing | ObjectModel,
        table: Table | None = None,
        *,
        seed: int = 0,
        pose: ArrayLike = (0.0, 0.0, 0.0),
        finger: Finger | None = None,
        noise: Noise | None = None,
        rate: float = 50.0,
        forces: bool = True,
    ) -> None:
        """Put an object on a table.

        thing: the object, or only its model. table: the default `Table` when not given.
        seed: of the noise. pose: of the grid frame at the start, shape (3,). noise: of the
        records and of `observe`; none when not given. rate: samples of a record per second [Hz].
        forces: whether records tell the finger's force; a camera alone does not.
        """
        if not isinstance(thing, Thing | ObjectModel):
            raise PushwiseError(
                f"thing must be a Thing or an ObjectModel; got {type(thing).__name__}."
            )
        self._thing = thing
        self._model = thing.model if isinstance(thing, Thing) else thing
        self._table = Table() if table is None else table
        self._finger = Finger() if finger is None else finger
        self._noise = Noise() if noise is None else noise
        self._rate = positive_number("rate", rate)
        self._forces = forces
        self._start = finite_array("pose", pose, (3,))
        self.reset(seed)

    @property
    def truth(self) -> ObjectModel:
        """What nobody in the world knows; for experiments that compare with it."""
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
        """How exact the measurements are."""
        return self._noise

    @property
    def fell(self) -> bool:
        """Whether the object has fallen off the table."""
        return self._fell

    def reset(self, seed: int) -> None:
        """Put the object back where it started; `seed` decides the noise from here."""
        self._rng = np.random.default_rng(non_negative_integer("seed", seed))
        self._pose: Array = self._start.copy()
        self._fell = self._falls(self._pose)

    def observe(self) -> Observation:
        """Look at the object from above, with noise."""
        self._refuse_fallen()
        return Observation(self._cloud(), self._noisy(self._pose[None])[0])

    def push(self, push: Push) -> PushRecord:
        """Carry out a push, wait until the object rests, and tell what happened.

        Raises SimulationError when the finger starts inside the object or the object has fallen.
        """
        self._refuse_fallen()
        if not isinstance(push, Push):
            raise PushwiseError(f"a world's finger makes a Push; got {type(push).__name__}.")
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
        force = motion.force + self._noise.force * self._rng.standard_normal(motion.force.shape)
        return PushRecord(
            push,
            motion.t,
            self._noisy(motion.pose),
            force if self._forces else None,
            finger=motion.finger,
            noise=self._noise,
            fell=motion.fell,
            source=type(self).__name__,
        )

    def grasp(self) -> Grasp:
        """Grasp the object by what is over the table's edge, in MuJoCo, and lift it."""
        self._refuse_fallen()
        return grasp(self._thing, self._pose, self._table)

    def state(self) -> dict[str, Any]:
        """Return where the object is and what comes next at random, as JSON can hold it."""
        random = dict(self._rng.bit_generator.state)
        return {"pose": self._pose.tolist(), "fell": self._fell, "random": random}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go back to a state: from there all happens again as it did."""
        self._pose = np.array(finite_array("pose", state["pose"], (3,)))
        self._fell = bool(state["fell"])
        self._rng.bit_generator.state = state["random"]

    @abstractmethod
    def _carried_out(self, push: Push, pose: Array) -> Motion:
        """Push the object, at rest at `pose`, and return how it moved until it rested again."""

    def _attempted(self, push: Push) -> Push:
        """Return the push that really happens when `push` is asked for."""
        return push

    def _falls(self, pose: Array) -> bool:
        """Return whether the object falls when it is let go at `pose`."""
        return False

    def _refuse_fallen(self) -> None:
        """Raise when there is nothing left on the table."""
        if self._fell:
            raise SimulationError("the object has fallen off the table; reset the world.")

    def _noisy(self, pose: Array) -> Array:
        """Return poses (T, 3) as a camera would measure them."""
        deviation = np.array([self._noise.position, self._noise.position, self._noise.angle])
        measured: Array = pose + deviation * self._rng.standard_normal(pose.shape)
        return measured

    def _cloud(self) -> Array:
        """Return what a depth camera right above the object sees [m], shape (N, 3)."""
        if isinstance(self._thing, Thing):
            x, y, theta = self._pose
            seen = self._thing.points(self._rng, noise=_DEPTH_NOISE, pose=(0.0, 0.0, theta))
            camera = Camera().pose
            cloud: Array = seen @ camera[:3, :3].T + camera[:3, 3] + [x, y, 0.0]
            # Beyond the table's edge there is only the object to be seen.
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
