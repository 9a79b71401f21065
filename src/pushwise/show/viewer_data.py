"""What `pushwise view` shows: a run of `slide`, or a model alone."""

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
    """An object, what is known of it, and what was done to it."""

    name: str
    """What to call it."""
    model: ObjectModel
    """Its cells."""
    shown: dict[str, Quantity]
    """What can be shown of them."""
    balance: Balance
    """When it falls off its table."""
    covariance: Array | None
    """Of the centre of mass [m^2], shape (2, 2); None for a model taken as certain."""
    finger: Finger
    """What pushes it."""
    table: Table
    """What it lies on."""
    pose: Array
    """Where it is at first [m, m, rad], shape (3,)."""
    records: tuple[PushRecord, ...] = ()
    """The pushes made, those to learn from first."""
    learned: int = 0
    """How many of them it was learned from."""
    assumed: bool = False
    """Whether nothing was learned: masses and frictions are assumed, falls not known."""
    waypoints: Array | None = None
    """The planned way, shape (w, 3)."""

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
