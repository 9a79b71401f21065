"""`SimulatedWorld`: what the simulated worlds share, a hidden object, noise and the camera."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from pushwise.checks import finite_array, instance_of, non_negative_integer
from pushwise.errors import PushwiseError, SimulationError
from pushwise.geometry.polygon import contains, outline_distance, placed
from pushwise.objects.camera import Camera
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger, Push
from pushwise.records.record import Noise, PushRecord
from pushwise.shape.lattice import lattice_over
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp, grasp
from pushwise.worlds.run_push import Motion
from pushwise.worlds.world import Observation, Sensing

__all__ = ["SimulatedWorld"]

_CLOUD_PITCH = 0.002  # m between the points of a bare model's cloud
_DEPTH_NOISE = 0.001  # m; of a depth camera at half a metre
_TOUCHING = 1e-4  # m; a finger that is no deeper in the object touches it


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
        self._thing = instance_of("thing", thing, (Thing, ObjectModel))
        self._model = thing.model if isinstance(thing, Thing) else thing
        self._table = instance_of("table", Table() if table is None else table, Table)
        self._finger = instance_of("finger", Finger() if finger is None else finger, Finger)
        self._sensing = instance_of("sensing", Sensing() if sensing is None else sensing, Sensing)
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

    def push(self, push: Push, *, twist: ArrayLike = (0.0, 0.0, 0.0)) -> PushRecord:
        """Carry out a push, wait until the object rests, and return what was measured.

        Args:
            push: The path of the finger. It may stand still, let go of the object and touch it
                again, and be raised at the end.
            twist: Throws the object: the twist of its grid origin when the push begins
                [m/s, m/s, rad/s], shape (3,). The record states it exactly.

        Raises:
            SimulationError: The finger starts inside the object, or the object has fallen.

        """
        self._refuse_fallen()
        if not isinstance(push, Push):
            raise PushwiseError(f"a world needs a Push by a finger; got {type(push).__name__}.")
        thrown = finite_array("twist", twist, (3,))
        self._settle()
        self._refuse_fallen()
        done = self._attempted(push)
        self._refuse_inside(done.start)
        motion = self._carried_out(done, self._pose, thrown)
        self._pose, self._fell = motion.pose[-1], motion.fell
        force = motion.force + self.noise.force * self._rng.standard_normal(motion.force.shape)
        record = PushRecord(
            self._measured(push, motion),
            motion.t,
            self._noisy(motion.pose),
            force if self._sensing.forces else None,
            twist=thrown,
            noise=self.noise,
            fell=motion.fell,
            source=type(self).__name__,
        )
        return record.with_lift(self._noisy_lift(motion.lift)) if self._sensing.lift else record

    def grasp(self) -> Grasp:
        """Grasp the object, in MuJoCo, by the part that overhangs the table, and lift it."""
        self._settle()
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
    def _carried_out(self, push: Push, pose: Array, twist: Array) -> Motion:
        """Push the object from a pose (3,) and a twist (3,), and return its motion until it rests.

        A push that the world cannot carry out is refused before anything moves.
        """

    def _settle(self) -> None:  # noqa: B027
        """Wait until the object rests; where there are only pushes, it does between them."""

    def _attempted(self, push: Push) -> Push:
        """Return the push that really happens when `push` is commanded."""
        return push

    def _measured(self, push: Push, motion: Motion) -> Push:
        """Return the path of the finger as a record of `push` states it.

        It is the commanded one where the finger follows it exactly, or where it is not measured.
        """
        return push

    def _falls(self, pose: Array) -> bool:
        """Return whether the object falls when it is released at `pose`."""
        return False

    def _refuse_fallen(self) -> None:
        """Raise an error if the object has fallen."""
        if self._fell:
            raise SimulationError("the object has fallen off the table; reset the world.")

    def _refuse_inside(self, place: Array) -> None:
        """Raise an error if a finger at a place (2,) would be inside the object."""
        if self._distance(place) < self._finger.radius - _TOUCHING:
            x, y = place
            raise SimulationError(
                f"the finger, centre ({x:.4f}, {y:.4f}) m and radius {self._finger.radius:g} m, "
                "starts inside the object; start it clear of the outline."
            )

    def _distance(self, place: Array) -> float:
        """Return how far a place (2,) is from what the finger touches [m]."""
        return outline_distance(placed(self._model.grid.outline, self._pose), place)

    def _noisy(self, pose: Array) -> Array:
        """Return poses (T, 3) as a camera would measure them."""
        noise = self.noise
        deviation = np.array([noise.position, noise.position, noise.angle])
        measured: Array = pose + deviation * self._rng.standard_normal(pose.shape)
        return measured

    def _noisy_lift(self, lift: Array) -> Array:
        """Return heights and tilts (T, 2) as a tracker would measure them."""
        height, tilt = lift.T
        off, along, across = self._rng.standard_normal((3, len(lift)))
        # Two angles are measured, about the axis of the tilt and across it.
        seen = np.hypot(tilt + self.noise.angle * along, self.noise.angle * across)
        return np.column_stack([height + self.noise.position * off, seen])

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
        # What the finger touches is the outline, so that this is what must be seen.
        grid = self._model.grid
        lattice = lattice_over(grid.outline, cell_size=_CLOUD_PITCH).centres().reshape(-1, 2)
        own = lattice[contains(grid.outline, lattice)]
        z = grid.heights[cKDTree(grid.centres).query(own)[1]]
        noise = _DEPTH_NOISE * self._rng.standard_normal(len(z))
        return np.column_stack([placed(own, self._pose), z + noise])
