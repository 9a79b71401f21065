"""`Plane`, and finding the plane of the table in a cloud that shows more than the table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pushwise.checks import finite_array
from pushwise.errors import PushwiseError
from pushwise.typing import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["FoundPlane", "Plane", "find_table", "thinned"]

# Points this close to a trial plane support it [m]: three times the noise of a poor camera.
_TRIAL_DISTANCE = 0.006
_TRIALS = 300
_TRIAL_POINTS = 1_500
_FIT_POINTS = 30_000
# A plane with a smaller share of the points is not the table.
_LEAST_SHARE = 0.1
# Objects that are pushed on a table are not taller than this [m]; the floor is farther below.
_TALLEST = 0.3


@dataclass(frozen=True, eq=False, init=False)
class Plane:
    """A plane with an upper side: the points p with `normal . p = offset`."""

    normal: Array
    """Unit normal, pointing up, shape (3,), read-only."""
    offset: float
    """Distance of the plane from the origin along the normal [m]."""

    def __init__(self, coefficients: ArrayLike) -> None:
        """Make the plane a x + b y + c z + d = 0 from (a, b, c, d), where (a, b, c) points up."""
        values = finite_array("table", coefficients, (4,))
        length = math.hypot(*values[:3])  # which does not overflow on the way
        if length == 0.0 or not math.isfinite(length):
            raise PushwiseError(
                f"table must have a normal; its first three numbers have the length {length:g}."
            )
        # Dividing by a length that differs from one only by rounding would change the last digits.
        if abs(length - 1.0) > 1e-12:
            values = values / length
        normal = values[:3].copy()
        normal.flags.writeable = False
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", -float(values[3]))

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """(a, b, c, d) of a x + b y + c z + d = 0."""
        a, b, c = self.normal.tolist()
        return a, b, c, -self.offset

    def __str__(self) -> str:
        """Return the equation of the plane."""
        # + 0.0: no minus before a zero.
        a, b, c, d = (round(value, 4) + 0.0 for value in self.coefficients)
        rest = "".join(
            f" {'-' if value < 0.0 else '+'} {abs(value):.4f}{name}"
            for value, name in ((b, " y"), (c, " z"), (d, ""))
        )
        return f"{a:.4f} x{rest} = 0"

    def heights(self, points: Array) -> Array:
        """Return the heights [m], shape (n,), of points [m], shape (n, 3), above the plane."""
        heights: Array = points @ self.normal - self.offset
        return heights

    def flipped(self) -> Plane:
        """Return the same plane with the opposite normal."""
        return Plane(-np.array(self.coefficients))

    def tilt(self) -> float:
        """Return the angle [rad] between the plane and z = 0, whichever side is up."""
        return float(np.arccos(min(1.0, abs(float(self.normal[2])))))


class FoundPlane(NamedTuple):
    """A plane found in a cloud."""

    plane: Plane
    """The plane; which of its sides is up is not known yet."""
    noise: float
    """Standard deviation of the distances of its points [m]."""


def find_table(points: Array) -> FoundPlane | None:
    """Return the plane of the table in a cloud [m], shape (n, 3), or None when there is none.

    The plane with the most points is the table, unless a parallel plane close to it covers a
    larger area; then the first one was the top of a large flat object.
    """
    rng = np.random.default_rng(0)  # The same cloud always gives the same table.
    sample = thinned(points, _FIT_POINTS)
    best: FoundPlane | None = None
    best_reach = 0.0
    left = sample
    for _ in range(3):
        if len(left) < max(_LEAST_SHARE * len(sample), 3):
            break
        trial = _best_trial(left, rng)
        if trial is None:
            break
        found = _refined(trial, left)
        heights = np.abs(found.plane.heights(left))
        on_it = heights < max(3.0 * found.noise, 1e-6)
        if on_it.sum() < _LEAST_SHARE * len(sample):
            break
        reach = _reach(left[on_it])
        if best is None or (_is_stacked(found.plane, best.plane, left) and reach > best_reach):
            best, best_reach = found, reach
        left = left[heights > max(4.0 * found.noise, 0.5 * _TRIAL_DISTANCE)]
    return best


def thinned(points: Array, count: int) -> Array:
    """Return about `count` evenly spaced rows of an array."""
    return points[:: max(1, len(points) // count)]


def _best_trial(points: Array, rng: np.random.Generator) -> Plane | None:
    """Return the plane through three of the points with the most others close to it (RANSAC)."""
    corners = points[rng.integers(len(points), size=(_TRIALS, 3))]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    good = lengths > 0.0
    if not good.any():
        return None
    normals = normals[good] / lengths[good, None]
    offsets = np.sum(normals * corners[good, 0], axis=1)
    voters = points[rng.integers(len(points), size=min(len(points), _TRIAL_POINTS))]
    # Closer points count more, which centres the plane within its points.
    loss = np.minimum(np.abs(voters @ normals.T - offsets), _TRIAL_DISTANCE).sum(axis=0)
    at = int(np.argmin(loss))
    return Plane([*normals[at], -offsets[at]])


def _refined(plane: Plane, points: Array) -> FoundPlane:
    """Fit a plane to the points close to it, repeatedly, tightening the limit to their noise."""
    distance, noise = _TRIAL_DISTANCE, 0.0
    for _ in range(8):
        heights = plane.heights(points)
        near = np.abs(heights) <= distance
        if near.sum() < 3:
            break
        noise = 1.4826 * float(np.median(np.abs(heights[near])))
        middle = points[near].mean(axis=0)
        apart = points[near] - middle
        normal = np.linalg.eigh(apart.T @ apart)[1][:, 0]
        plane = Plane([*normal, -float(normal @ middle)])
        distance = min(_TRIAL_DISTANCE, max(2.5 * noise, 1e-6))
    return FoundPlane(plane, noise)


def _reach(points: Array) -> float:
    """Return a measure of the area [m^2] that points on a plane cover; outliers hardly count."""
    values = np.linalg.eigvalsh(np.cov(points.T))
    return float(np.sqrt(max(values[1] * values[2], 0.0)))


def _is_stacked(plane: Plane, other: Plane, points: Array) -> bool:
    """Return whether two planes are parallel and no farther apart than an object may be tall."""
    parallel = abs(float(plane.normal @ other.normal)) > np.cos(np.deg2rad(10.0))
    apart = abs(float(np.median(other.heights(points[np.abs(plane.heights(points)) < 0.01]))))
    return bool(parallel and apart < _TALLEST)
