"""Contact as a measurement: a finger that touches is as far from the outline as its radius.

However badly a model predicts where an object goes, the finger that pushed it there still touches
it at the end. Seen through a set-up with constant errors (`calibration`) the gap is not zero: that
tells the errors, far more exactly than any prediction does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pushwise.identification.calibration import NUISANCES, Calibration
from pushwise.physics.actions import Push
from pushwise.physics.contact import feature_normal, nearest_feature
from pushwise.pushes.record import PushRecord
from pushwise.shape.grid import CellGrid

__all__ = ["GAP_SIGMA", "Touches"]

Array = NDArray[np.float64]

NEAR = 2e-3  # m; a finger seen farther away at the end has lost the object
GAP_SIGMA = 3e-4  # m; what is left of the gaps of two laboratories, calibrated, is 0.2 to 0.5 mm


class Touches:
    """The ends of pushes, and their starts if the finger touches then, as equations."""

    def __init__(
        self, grid: CellGrid, records: Sequence[PushRecord], radius: float, *, starts: bool
    ) -> None:
        """Keep the samples at which the finger touches, as far as can be seen."""
        self._outline = tuple(np.ascontiguousarray(column) for column in grid.outline.T)
        self._seen: list[tuple[Push, Array, Array]] = []
        for record in records:
            if not isinstance(record.push, Push) or record.finger is None:
                continue
            for k in (0, -1) if starts else (-1,):
                seen = (record.push, record.pose[k], record.finger[k])
                if k == 0 or self._gap(Calibration(), radius, *seen)[0] < NEAR:
                    self._seen.append(seen)

    def __len__(self) -> int:
        """Return how many equations there are."""
        return len(self._seen)

    def fit(self, calibration: Calibration, radius: float) -> tuple[Array, Array]:
        """Return gaps [m], (g,), and their derivatives in the numbers of a set-up, (g, 8)."""
        gaps = np.empty(len(self))
        by_setup = np.empty((len(self), NUISANCES))
        for i, seen in enumerate(self._seen):
            gaps[i], by_setup[i] = self._gap(calibration, radius, *seen)
        return gaps, by_setup

    def _gap(
        self, calibration: Calibration, radius: float, push: Push, tracked: Array, finger: Array
    ) -> tuple[float, Array]:
        """Return the gap at one sample and its derivatives (8,)."""
        pose = calibration.pose(tracked)
        arm = finger + calibration.offset(push) - pose[:2]
        cos, sin = np.cos(pose[2]), np.sin(pose[2])
        turn = np.array([[cos, -sin], [sin, cos]])
        q = turn.T @ arm
        feature, distance = nearest_feature(q[0], q[1], *self._outline)
        _, nx, ny, _ = feature_normal(feature, q[0], q[1], *self._outline)
        n = turn @ np.array([nx, ny])
        by_pose = np.array([-n[0], -n[1], n[0] * arm[1] - n[1] * arm[0]])
        offset_by, pose_by = calibration.placed(push, tracked)
        derivative: Array = n @ offset_by + by_pose @ pose_by
        derivative[7] = -radius
        return float(distance) - radius, derivative
