"""`draw_flicks`: random flicks that keep an object flat, and on the table.

A flick, `Push.flick`, accelerates an object in contact and then stops, so that it slides on alone.
Seen from an object that accelerates by a, its load moves backwards by

    a (z - h) / g

with its centre of mass at the height z and the finger at h. It tilts when the load would leave its
support. When it slides on alone, friction slows it down and the load moves forwards by mu z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull

from pushwise.checks import finite_array, positive_number
from pushwise.errors import PushwiseError
from pushwise.geometry.compiled import nearest_normals
from pushwise.geometry.polygon import placed
from pushwise.physics.constants import GRAVITY
from pushwise.physics.model import ObjectModel, Physics, Table
from pushwise.physics.prepared import PreparedObject, action_of
from pushwise.physics.push import Finger, Push
from pushwise.physics.simulate import Setting, Start, Trajectory, simulate_prepared
from pushwise.sliding.random_push import random_contact
from pushwise.typing import Array

__all__ = ["FlickOptions", "draw_flicks", "is_safe"]

_TRIES = 5  # contacts that are tried for each flick, and some more
_SIMULATED = 8  # models; of more, those beyond only show how uncertain friction is
_SLOWER = 0.85  # of the speed, where a flick is not safe
_STEADY = 0.5  # of the acceleration that tilts the object; half of it lifts none in MuJoCo
_UNLIKELY = 2.0  # standard deviations: friction below the models' by this much must be safe, too
_COARSE = Physics(dt=4e-3, points=1)  # ends are within 2 mm of those of finer steps
_PAUSE = 0.02  # s; an object that meets the finger again after a longer one is hit
_POSES = 16  # of a slide, whose distances from the edge are looked at
_STRIDE = 0.02  # m between distances from the edge that are looked at
_FAR = 1.0  # m; no flick takes an object farther
_TURNING = 1.2  # an object that also turns is slower, and may be flicked this much faster


@dataclass(frozen=True)
class FlickOptions:
    """Which flicks are drawn, and which of them are safe."""

    slowest: float = 0.3
    """Least final speed of the finger [m/s]."""
    fastest: float = 1.0
    """Greatest final speed of the finger [m/s]."""
    gap: float = 0.004
    """Distance between finger and object at the start [m]: observed poses may be this far off."""
    run_up: float = 0.1
    """Length over which the finger accelerates [m]."""
    longest_run_up: float = 0.12
    """Greatest length it may need to keep the object flat [m]; beyond it the flick is slower."""
    obliquity: float = 0.5
    """Greatest angle between a flick and the inward normal at its contact [rad]."""
    margin: float = 0.04
    """Least distance between the object and the table's edge [m], or the one it starts with."""
    spin: float = 12.0
    """Greatest angular velocity of the object [rad/s]."""
    glide: float = 0.04
    """How far the object should slide alone [m], median over the models."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for known in fields(self):
            positive_number(f"flick {known.name}", getattr(self, known.name))
        for low, high, unit in (("slowest", "fastest", "m/s"), ("run_up", "longest_run_up", "m")):
            least, most = getattr(self, low), getattr(self, high)
            if most < least:
                raise PushwiseError(
                    f"flick {high} must be at least {low}, {least:g} {unit}; got {most:g} {unit}."
                )


def draw_flicks(
    rng: np.random.Generator,
    models: Sequence[ObjectModel],
    pose: Array,
    table: Table,
    finger: Finger,
    *,
    count: int = 1,
    options: FlickOptions | None = None,
) -> list[Push]:
    """Return flicks that are safe for every one of some models; see `is_safe`.

    The contact is uniform along the outline, where the finger fits, and the direction at random.
    Each flick is as fast as is safe: the longer an object slides, the more it reveals. Flicks after
    which it hardly slides are returned last, and only where there are too few others.

    Args:
        rng: Source of randomness.
        models: What the object may be like, all of one grid. Draw them from what is believed: some
            64, because a few do not show how small friction may be. Flicks are simulated with the
            first eight, and with friction as improbably small as that of all of them suggests.
        pose: Pose of the object [m, m, rad], shape (3,).
        table: The table.
        finger: The finger.
        count: Number of flicks to return.
        options: Speeds, directions and limits; the default `FlickOptions` if not given.

    Returns:
        `count` flicks, or fewer if no more are found: none if nothing is safe.

    """
    options = options or FlickOptions()
    check = _Check(models, finite_array("pose", pose, (3,)), table, finger, options)
    good: list[Push] = []
    short: list[tuple[float, Push]] = []
    outline = placed(check.models[0].grid.outline, check.pose)
    for _ in range(_TRIES * (count + 4)):
        start, normal = random_contact(rng, outline, finger, gap=options.gap)
        angle = rng.uniform(-1.0, 1.0) * options.obliquity
        direction = placed(-normal[None], np.array([0.0, 0.0, angle]))[0]
        if check.flattest(direction) < options.slowest:
            continue
        speed = min(options.fastest, check.top_speed(direction))
        while speed >= options.slowest:
            push = check.flick(start, direction, speed)
            glide = check.glide(push)
            if glide is not None:
                break
            speed *= _SLOWER
        else:
            continue
        if glide < options.glide:
            short.append((glide, push))
            continue
        good.append(push)
        if len(good) == count:
            return good
    short.sort(key=lambda found: -found[0])
    return [*good, *(push for _, push in short)][:count]


def is_safe(
    push: Push,
    models: Sequence[ObjectModel],
    pose: Array,
    table: Table,
    finger: Finger,
    *,
    options: FlickOptions | None = None,
) -> bool:
    """Return whether a flick keeps the object flat and on the table, whichever the model is.

    The object must stay away from the edge all along, also with friction two standard deviations
    below that of the models. It must not spin wildly, nor lose the finger and meet it again, which
    would be a hit. The acceleration must be at most half of that which would tilt the object.
    Arguments as for `draw_flicks`.
    """
    options = options or FlickOptions()
    check = _Check(models, finite_array("pose", pose, (3,)), table, finger, options)
    acceleration = 2.0 * push.length / push.duration**2
    flat = acceleration <= _STEADY * check.tilting(push.end - push.start)
    return flat and check.glide(push) is not None


@dataclass(frozen=True, eq=False)
class _Check:
    """An object that may be like any of some models, and where it lies."""

    models: Sequence[ObjectModel]
    pose: Array
    table: Table
    finger: Finger
    options: FlickOptions

    def __post_init__(self) -> None:
        """Refuse what leaves nothing to check."""
        if not self.models:
            raise PushwiseError("flicks need at least one model of the object; got none.")
        if any(model.grid is not self.models[0].grid for model in self.models):
            raise PushwiseError("the models of a flicked object must have the same grid.")

    @cached_property
    def hull(self) -> Array:
        """Convex hull of the object's outline [m] in the grid frame, shape (k, 2)."""
        outline = self.models[0].grid.outline
        corners: Array = outline[ConvexHull(outline).vertices]
        return corners

    @cached_property
    def margin(self) -> float:
        """Least distance from the table's edge [m]; an object nearby need not come nearer."""
        return min(self.options.margin, self._clearance(placed(self.hull, self.pose)) - 1e-9)

    @cached_property
    def _slippery(self) -> list[PreparedObject]:
        """The models with improbably little friction, which slide the farthest."""
        return [
            _prepared(model, min(self._least / own, 1.0))
            for model, own in zip(self._simulated, self._levels, strict=False)
        ]

    @cached_property
    def _likely(self) -> list[PreparedObject]:
        """The models as they are."""
        return [_prepared(model) for model in self._simulated]

    @property
    def _simulated(self) -> Sequence[ObjectModel]:
        """The models that flicks are simulated with."""
        return self.models[:_SIMULATED]

    def top_speed(self, direction: Array) -> float:
        """Return a speed in a direction (2,) beyond which no flick is safe [m/s], zero if none is.

        After the run-up an object glides by v^2 / (2 mu g) before it stops.
        """
        corners, gone = placed(self.hull, self.pose), self.options.run_up
        while self._clearance(corners + gone * direction) >= self.margin and gone < _FAR:
            gone += _STRIDE
        glide = max(gone - _STRIDE - self.options.run_up, 0.0)
        return _TURNING * float(np.sqrt(2.0 * self._least * GRAVITY * glide))

    def flick(self, start: Array, direction: Array, speed: float) -> Push:
        """Return a flick that does not tilt the object, slower if the run-up gets too long."""
        run_up, longest = self.options.run_up, self.options.longest_run_up
        speed = min(speed, self.flattest(direction))
        steady = _STEADY * self.tilting(direction)
        run_up = max(run_up, min(longest, 0.5 * speed**2 / steady))
        return Push.flick(start, direction, speed, run_up=run_up)

    def flattest(self, direction: Array) -> float:
        """Return the speed of the fastest flick in a direction (2,) that tilts no model [m/s]."""
        steady = _STEADY * self.tilting(direction)
        return float(np.sqrt(2.0 * steady * self.options.longest_run_up))

    def tilting(self, direction: Array) -> float:
        """Return the least acceleration in a direction (2,) that tilts one of the models [m/s^2].

        Unlimited, or nearly, if the finger is above the centre of mass of all of them.
        """
        arm = np.maximum(self._heights - self.finger.height, 1e-9)
        return float((GRAVITY * self._reach(-direction) / arm).min())

    def glide(self, push: Push) -> float | None:
        """Return how far the object slides alone [m], median over models; None if unsafe."""
        reach = self._reach(push.end - push.start)
        if (self._levels[:_SIMULATED] * self._heights > reach).any():
            return None  # it would topple forwards
        action = action_of(self.models[0], push, self.finger)
        start, setting = Start(self.pose, np.zeros(3)), Setting(self.finger, None, _COARSE)
        paths = []
        # The first ones, which slide the farthest, rule out most flicks that are not safe.
        for prepared in (*self._slippery, *self._likely):
            path = simulate_prepared(prepared, action, push, start, setting)
            if not self._stays(path):
                return None
            paths.append(path)
        centres = self.models[0].grid.centres
        glides = []
        for path in paths[len(self._slippery) :]:
            last = int(np.flatnonzero(path.force.any(axis=1)).max(initial=0)) + 1
            slid = placed(centres, path.pose[-1]) - placed(centres, path.pose[last])
            glides.append(np.hypot(*slid.T).mean())
        return float(np.median(glides))

    def _stays(self, path: Trajectory) -> bool:
        """Return whether the object stays away from the edge, does not spin, and is not hit."""
        if path.failure is not None or np.abs(path.twist[:, 2]).max() > self.options.spin:
            return False
        touching = path.t[1:][path.force.any(axis=1)]
        if np.diff(touching).max(initial=0.0) > _PAUSE:
            return False
        poses = path.pose_at(np.linspace(0.0, path.t[-1], _POSES))
        return self._clearance(placed(self.hull, poses).reshape(-1, 2)) >= self.margin

    def _reach(self, direction: Array) -> Array:
        """Return how far the support extends beyond each centre of mass in a direction [m]."""
        x, y = direction / np.hypot(*direction)
        cos, sin = np.cos(self.pose[2]), np.sin(self.pose[2])
        along = np.array([cos * x + sin * y, -sin * x + cos * y])
        side = np.roll(self.hull, -1, axis=0) - self.hull
        normal = np.stack([side[:, 1], -side[:, 0]], axis=1)
        front = normal @ along > 0.0
        centres = np.array([model.centre_of_mass for model in self._simulated])
        distance = np.sum(normal * self.hull, axis=1) - centres @ normal.T
        reach: Array = (distance[:, front] / (normal @ along)[front]).min(axis=1)
        return reach

    @cached_property
    def _levels(self) -> Array:
        """Mean coefficient of friction of each model, weighted by mass, shape (models,)."""
        return np.array([model.mean_friction for model in self.models]).clip(1e-6)

    @cached_property
    def _least(self) -> float:
        """Mean coefficient of friction that is improbably small."""
        level = np.log(self._levels)
        return float(np.exp(level.mean() - _UNLIKELY * level.std()))

    @cached_property
    def _heights(self) -> Array:
        """Heights of the centres of mass [m], that of a cell at half its height."""
        return np.array([0.5 * m.mass @ m.grid.heights / m.total_mass for m in self._simulated])

    def _clearance(self, points: Array) -> float:
        """Return the least distance of points (n, 2) from the edge [m]; negative beyond it."""
        (x, y), (px, py) = (np.array(each.T) for each in (points, self.table.polygon))
        found = np.empty((3, len(points)))
        nearest_normals(x, y, px, py, found)
        return -float(found[0].max())


def _prepared(model: ObjectModel, friction: float = 1.0) -> PreparedObject:
    """Prepare a model with its friction times a factor."""
    changed = ObjectModel(model.grid, model.mass, friction * model.friction)
    return PreparedObject.of(changed, None, _COARSE)
