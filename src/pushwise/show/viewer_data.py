"""`Viewed`: what `pushwise view` shows, a run of `slide` or a single model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pushwise.errors import PushwiseError
from pushwise.model_files import load_belief
from pushwise.physics.model import ObjectModel, Table
from pushwise.physics.push import Finger
from pushwise.planning.stability import Balance
from pushwise.records.record import PushRecord
from pushwise.show.quantities import Quantity, quantities
from pushwise.sliding.run_folder import load_run
from pushwise.typing import Array

__all__ = ["Viewed"]


@dataclass(frozen=True, eq=False)
class Viewed:
    """An object, what is known about it, and the pushes it received."""

    name: str
    """Its name."""
    model: ObjectModel
    """Its cells with their mass and friction."""
    shown: dict[str, Quantity]
    """Quantities per cell, by short names."""
    balance: Balance
    """Where it rests, and where it falls off its table."""
    covariance: Array | None
    """Covariance of the centre of mass [m^2], shape (2, 2); None for a model taken as certain."""
    finger: Finger
    """The finger that pushes it."""
    table: Table
    """The table it lies on."""
    pose: Array
    """Its pose at the start [m, m, rad], shape (3,)."""
    records: tuple[PushRecord, ...] = ()
    """The pushes made, those to learn from first."""
    learned: int = 0
    """How many of them the model was learned from."""
    assumed: bool = False
    """Whether nothing was learned: mass and friction are assumed, the fall risk is unknown."""
    waypoints: Array | None = None
    """Poses along the planned path [m, m, rad], shape (w, 3)."""

    @classmethod
    def load(cls, path: Path) -> Viewed:
        """Read the folder of a run, or the file of a model."""
        return cls._run(path) if path.is_dir() else cls._model(path)

    @classmethod
    def _run(cls, path: Path) -> Viewed:
        outcome = load_run(path)
        belief = outcome.belief
        if belief is None or outcome.seen is None:
            raise PushwiseError(f"{path} holds a run without a model: {outcome.verdict}")
        made = () if outcome.followed is None else outcome.followed.records
        return cls(
            name=path.resolve().name,
            model=belief.model,
            shown=quantities(belief),
            balance=Balance(belief, outcome.table, seed=outcome.options.plan.seed),
            covariance=belief.centre_covariance,
            finger=belief.finger,
            table=outcome.table,
            pose=outcome.seen.pose,
            records=(*outcome.records, *made),
            learned=len(outcome.records),
            assumed=belief.assumed,
            waypoints=None if outcome.plan is None else outcome.plan.waypoints,
        )

    @classmethod
    def _model(cls, path: Path) -> Viewed:
        belief = load_belief(path)
        table = Table()
        return cls(
            name=path.stem,
            model=belief.model,
            shown=quantities(belief),
            balance=Balance(belief, table),
            covariance=belief.centre_covariance,
            finger=belief.finger,
            table=table,
            pose=np.zeros(3),
            assumed=belief.assumed,
        )
