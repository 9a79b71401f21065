"""`Viewed`: what `pushwise view` shows, a run of `slide` or a single model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from pushwise.errors import PushwiseError, PushwiseWarning
from pushwise.identification.belief import Belief
from pushwise.identification.holdout import uniform_model
from pushwise.identification.identify import identify
from pushwise.identification.methods.task import SearchOptions
from pushwise.identification.prior import Prior
from pushwise.model_files import load_belief
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.planning.options import PlanOptions
from pushwise.planning.stability import Balance
from pushwise.records.record import PushRecord
from pushwise.sliding.run_folder import load_run
from pushwise.typing import Array
from pushwise.worlds.gripper import Grasp

__all__ = ["Viewed"]


@dataclass(frozen=True, eq=False)
class Viewed:
    """An object, what is known about it, and the pushes it received."""

    name: str
    """Its name."""
    belief: Belief
    """What is believed about it: before the first push to the goal, in a run."""
    table: Table
    """The table it lies on."""
    pose: Array
    """Its pose at the start [m, m, rad], shape (3,)."""
    records: tuple[PushRecord, ...] = ()
    """The pushes made, those to learn from first."""
    learned: int = 0
    """How many of them the model was learned from."""
    waypoints: Array | None = None
    """Poses along the planned path [m, m, rad], shape (w, 3)."""
    grasp: Grasp | None = None
    """How the grasp at the end went; None where there was none."""
    obstacles: tuple[Array, ...] = ()
    """Polygons on the table that nothing may touch [m], shape (k, 2) each."""
    options: PlanOptions = field(default_factory=PlanOptions)
    """The allowed fall risk, and the random seed."""
    finger_at_first: Finger = field(default_factory=Finger)
    """The finger, as it was believed to be before the first push."""
    prior: Prior = field(default_factory=Prior)
    """What was believed about mass and friction before the first push."""

    @classmethod
    def load(cls, path: Path) -> Viewed:
        """Read the folder of a run, or the file of a model."""
        return cls._run(path) if path.is_dir() else cls._model(path)

    @classmethod
    def _run(cls, path: Path) -> Viewed:
        outcome = load_run(path)
        if outcome.belief is None or outcome.seen is None:
            raise PushwiseError(f"{path} holds a run without a model: {outcome.verdict}")
        made = () if outcome.followed is None else outcome.followed.records
        return cls(
            name=path.resolve().name,
            belief=outcome.belief,
            table=outcome.table,
            pose=outcome.seen.pose,
            records=(*outcome.records, *made),
            learned=len(outcome.records),
            waypoints=None if outcome.plan is None else outcome.plan.waypoints,
            grasp=outcome.grasp,
            obstacles=tuple(np.array(each) for each in outcome.options.obstacles),
            options=outcome.options.plan,
            finger_at_first=outcome.finger,
            prior=outcome.prior,
        )

    @classmethod
    def _model(cls, path: Path) -> Viewed:
        return cls(name=path.stem, belief=load_belief(path), table=Table(), pose=np.zeros(3))

    @property
    def model(self) -> ObjectModel:
        """The cells with their mass and friction."""
        return self.belief.model

    @property
    def finger(self) -> Finger:
        """The finger that pushes."""
        return self.belief.finger

    @cached_property
    def balance(self) -> Balance:
        """Where the object rests, and where it falls off its table."""
        return Balance.planned(self.belief, self.table, self.options)

    def believed_after(self, pushes: int) -> Belief:
        """Return what is believed after the first few pushes, as `slide` would have learned it.

        After those that the run learned from, it is the run's own belief.
        """
        if pushes == self.learned:
            return self.belief
        grid, prior, finger = self.model.grid, self.prior, self.finger_at_first
        if pushes == 0:
            return Belief.assuming(uniform_model(grid, prior), finger)
        search = SearchOptions(seed=self.options.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PushwiseWarning)  # the run gave them
            return identify(
                grid, self.records[:pushes], finger=finger, prior=prior, search=search
            ).belief
