"""What the experiments on identification share: pushes of an object, and the error of a model.

An object with random part masses and frictions is pushed from one pose, each time for 2 s at
0.1 m/s. Poses to learn from have 1 mm and 5 mrad of noise; poses to predict have none.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from pushwise import objects
from pushwise.errors import PushwiseWarning, SimulationError
from pushwise.geometry.metric import mean_cell_error
from pushwise.identification.holdout import uniform_model
from pushwise.identification.prior import Prior
from pushwise.identification.result import Identification
from pushwise.objects.thing import Thing
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.physics.simulate import simulate
from pushwise.progress import Progress
from pushwise.records.record import Noise, PushRecord
from pushwise.sliding.random_push import draw_push
from pushwise.typing import Array
from pushwise.worlds.ideal import Ideal
from pushwise.worlds.mujoco import MuJoCo

__all__ = ["EVEN", "ModelHistory", "Trial", "end_error", "push_object"]

EVEN = Prior(friction_spread=0.05)
"""What is believed where friction is known to be nearly uniform, as in the paper."""
NOISE = Noise(position=1e-3, angle=5e-3)
TABLE = Table.rectangle(2.0, 2.0)


@dataclass(frozen=True, eq=False)
class Trial:
    """An object with its true masses and frictions, and records of its pushes."""

    truth: Thing
    seen: tuple[PushRecord, ...]
    """The pushes as a sensor saw them, with forces."""
    true: tuple[PushRecord, ...]
    """The same pushes without noise."""

    @property
    def uniform(self) -> ObjectModel:
        """The uniform baseline: the model before anything is learned."""
        return uniform_model(self.truth.grid, Prior())

    def split(
        self, learn: int, split: int, *, seed: list[int], forces: bool = False
    ) -> tuple[list[PushRecord], list[PushRecord]]:
        """Return pushes to learn from, as seen, and the others without noise.

        Args:
            learn: Number of pushes to learn from.
            split: Which ones: 0 for the first, any other number for random ones.
            seed: Seed of the random choice, together with the split.
            forces: Whether the pushes to learn from keep their forces.

        """
        order = np.arange(len(self.seen))
        if split > 0:
            order = np.random.default_rng([*seed, split]).permutation(order)
        learned = [self.seen[i] for i in order[:learn]]
        if not forces:
            learned = [PushRecord(r.push, r.t, r.pose, twist=r.twist, noise=NOISE) for r in learned]
        return learned, [self.true[i] for i in order[learn:]]


@lru_cache(maxsize=4)  # tasks of the same object follow one another
def push_object(
    name: str, model: int, *, world: str = "ideal", pushes: int = 10, uneven: bool = False
) -> Trial:
    """Push an object in the world "ideal" or "mujoco"; `model` is the seed of its ground truth.

    Unless it is `uneven`, its friction is nearly uniform.
    """
    seed = [objects.names.index(name), model]
    rng = np.random.default_rng(seed)
    truth = objects.load(name).sample(rng, uneven=uneven)
    finger = Finger()
    place: Any = {"ideal": Ideal, "mujoco": MuJoCo}[world](truth, TABLE, finger=finger)
    deviation = np.array([NOISE.position, NOISE.position, NOISE.angle])
    seen, true = [], []
    for i in range(pushes):
        push = draw_push(rng, truth.grid, np.zeros(3), TABLE, finger)
        place.reset(0)
        record = place.push(push)
        # Both from one push: with a noisy world, a second push would be needed.
        noise = deviation * np.random.default_rng([*seed, i]).standard_normal(record.pose.shape)
        pose = record.pose + noise
        seen.append(PushRecord(push, record.t, pose, record.force, twist=record.twist, noise=NOISE))
        true.append(record)
    return Trial(truth, tuple(seen), tuple(true))


def end_error(model: ObjectModel, finger: Finger, records: list[PushRecord]) -> float:
    """Return the mean distance between predicted and true final cells [m], over all pushes.

    A push that cannot be simulated counts as one that moves nothing, with a warning.
    """
    distances = []
    for i, record in enumerate(records):
        end = record.pose[0]
        try:
            end = simulate(
                model,
                record.push,
                record.pose[0],
                twist=record.twist,
                finger=finger,
                until=record.t[-1],
            ).pose[-1]
        except SimulationError as error:
            warnings.warn(
                f"{record.called(i)} counts as one that moves nothing: {error}",
                PushwiseWarning,
                stacklevel=2,
            )
        distances.append(mean_cell_error(model.grid, end, record.pose[-1]))
    return float(np.mean(distances))


@dataclass
class ModelHistory:
    """A `progress` of `identify` that keeps the best models so far."""

    start: ObjectModel
    steps: list[tuple[int, ObjectModel]] = field(default_factory=list)
    """How many simulations had been run, and the best model then."""

    def __call__(self, news: Progress) -> None:
        """Keep the best model so far."""
        assert news.done is not None and isinstance(news.result, ObjectModel)
        self.steps.append((news.done, news.result))

    def best(self, simulations: int) -> ObjectModel:
        """Return the model with the least loss after some simulations; the start before any."""
        # The last step is the final result, not an intermediate model.
        before = [model for done, model in self.steps[:-1] if done <= simulations]
        return before[-1] if before else self.start

    def errors(
        self, found: Identification, at: tuple[int, ...], records: list[PushRecord]
    ) -> Array:
        """Return the error on records [m] after these numbers of simulations, shape (len(at),).

        It is the error of the model that the method would return if it were stopped there, with
        the finger of the prior.
        """
        wanted = []
        for simulations in at:
            if simulations >= found.simulations:
                wanted.append((found.model, found.finger))
                continue
            wanted.append((self.best(simulations), Finger()))
        known: dict[int, float] = {}
        for model, finger in wanted:
            if id(model) not in known:
                known[id(model)] = end_error(model, finger, records)
        return np.array([known[id(model)] for model, _ in wanted])
