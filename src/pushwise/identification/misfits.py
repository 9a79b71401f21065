"""Which pushes contradict the others, and which have a pose that jumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["contradicts", "jumps"]

Array = NDArray[np.float64]

FEW = 4  # samples; of fewer each counts as much as a whole push
OUTLIER = 0.3  # mean weight below which a push known by few poses contradicts the others
MANY = 0.15  # of a trajectory's samples: so many that do not fit are no accident
WILD = 0.1  # weight of a sample ten sigma off
JUMPS = 2  # a pose that jumps away and back; more are no accident either


def contradicts(weight: Array) -> bool:
    """Return whether a push whose samples count `weight` (k,) does not fit the others."""
    if len(weight) < FEW:
        return bool(np.mean(weight) < OUTLIER)
    return bool(np.mean(weight < 0.5) > MANY) or jumps(weight) > JUMPS


def jumps(weight: Array) -> int:
    """Return how many samples of weight (k,) are where no push could have brought the object."""
    return int(np.sum(weight < WILD))
