"""Analytic gradients of rollouts against central finite differences, in every contact mode."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from pushwise import CellGrid, Finger, ForcePush, ObjectModel, Physics, Push, Table
from pushwise.physics.prepared import (
    Action,
    Ending,
    PreparedObject,
    Track,
    action_of,
    clock_of,
)
from pushwise.physics.simulate import Mode
from random_pushes import library_model, random_blob, random_push

Array = np.ndarray

TOLERANCE = 1e-6
STEPS = (1e-5, 1e-6, 1e-4, 1e-7, 1e-8, 3e-6, 3e-5, 3e-7, 1e-9)
COMPARED: Counter[str] = Counter()


@dataclass(frozen=True)
class Case:
    """A rollout, and the weights of its poses and impulses in a linear loss."""

    model: ObjectModel
    push: Push | ForcePush
    finger: Finger
    table: Table | None
    physics: Physics
    pose: Array
    twist: Array
    until: float

    def track(self) -> Track | None:
        """Roll out; None when the object tips."""
        assert self.physics.dt is not None
        clock = clock_of(self.action, self.physics.dt, self.until, settle=False)
        ending, track = self.prepared.roll(self.action, self.pose, clock, self.twist)
        return track if ending is Ending.DONE else None

    @property
    def prepared(self) -> PreparedObject:
        """The object as the kernels see it."""
        return PreparedObject.of(self.model, self.table, self.physics)

    @property
    def action(self) -> Action:
        """The push as the kernels see it."""
        return action_of(self.model, self.push, self.finger)


def moved(case: Case, name: str, by: Array) -> Case:
    """Return a case with one of its parameters changed."""
    model, push, finger = case.model, case.push, case.finger
    if name == "mass":
        return replace(case, model=ObjectModel(model.grid, model.mass + by, model.friction))
    if name == "friction":
        return replace(case, model=ObjectModel(model.grid, model.mass, model.friction + by))
    if name == "finger friction":
        return replace(case, finger=replace(finger, friction=finger.friction + by[0]))
    if name == "radius":
        return replace(case, finger=replace(finger, radius=finger.radius + by[0]))
    if name in ("pose", "twist"):
        return replace(case, **{name: getattr(case, name) + by})
    if name == "force":
        assert isinstance(push, ForcePush)
        return replace(case, push=ForcePush(push.cell, push.force + by, push.duration))
    assert isinstance(push, Push)
    return replace(case, push=Push(push.times, push.positions + by, raised=push.raised))


def by_knots(push: Push, track: Track, finger: Array) -> Array:
    """Return derivatives in the knots (K, 2), given those in the finger at each instant."""
    found = np.zeros_like(push.positions)
    for t, bar in zip(track.t, finger, strict=True):
        for k in range(len(found)):
            one = np.zeros(len(found))
            one[k] = 1.0
            found[k] += np.interp(t, push.times, one) * bar
    return found


def worst_error(case: Case, rng: np.random.Generator) -> float | None:
    """Return the largest relative error over all parameters; None near a change of mode.

    Each parameter is moved along its own (scaled) gradient, where the derivative cannot cancel.
    The best of some steps counts: large ones see curvature and kinks, small ones rounding.
    """
    track = case.track()
    assert track is not None
    pose_bar = np.zeros_like(track.pose)
    pose_bar[-1] = rng.normal(size=3)
    pose_bar[len(pose_bar) // 2] += rng.normal(size=3)
    # Impulses weigh little: closing the gap makes them so stiff that they amplify rounding.
    impulse_bar = 0.02 * rng.normal(size=track.impulse.shape)

    def value(changed: Case) -> float:
        new = changed.track()
        if new is None or new.t.shape != track.t.shape or (new.mode != track.mode).any():
            return np.nan
        if not np.allclose(new.t, track.t, rtol=0.0, atol=1e-12):
            return np.nan
        return float((pose_bar * new.pose).sum() + (impulse_bar * new.impulse).sum())

    model = case.model
    bar = case.prepared.adjoint(case.action, track, model.grid, pose_bar, impulse_bar)
    assert bar is not None
    found: dict[str, tuple[Array, Array | float]] = {
        "mass": (bar.mass, model.mass),
        "friction": (bar.friction, model.friction),
        "pose": (bar.pose, 0.1),
        "twist": (bar.twist, 0.1),
    }
    if isinstance(case.push, Push):
        found |= {
            "knots": (by_knots(case.push, track, bar.finger), 0.1),
            "radius": (bar.disc[:1], case.finger.radius),
            "finger friction": (bar.disc[1:], case.finger.friction),
        }
    else:
        found["force"] = (bar.force, 1.0)
    worst = 0.0
    slopes = {name: float(np.linalg.norm(bar * scale)) for name, (bar, scale) in found.items()}
    for name, (gradient, scale) in found.items():
        slope = slopes[name]
        if slope < 1e-5 * max(slopes.values()):
            continue  # the rounding of the poses alone changes the loss as much
        COMPARED[name] += 1
        along = gradient * scale**2 / slope
        errors: list[float] = []
        for h in STEPS:
            if errors and np.nanmin([1.0, *errors]) < TOLERANCE:
                break
            # Fourth order, because friction bends within a thousandth of a slow cell's speed.
            d1 = value(moved(case, name, h * along)) - value(moved(case, name, -h * along))
            d2 = value(moved(case, name, 2 * h * along)) - value(moved(case, name, -2 * h * along))
            errors.append(abs((8 * d1 - d2) / (12 * h) / slope - 1.0))
        if np.isnan(errors[: len(STEPS) - 1]).all():
            return None  # the smallest step alone may show nothing but rounding
        worst = max(worst, float(np.nanmin(errors)))
    return worst


def random_case(
    rng: np.random.Generator,
    *,
    table: Table | None = None,
    load: str = "own",
    height: float = 0.0,
    anisotropy: list[list[float]] | None = None,
) -> Case:
    """Draw an object about to be pushed, at rest or moving."""
    model = library_model(rng) if rng.uniform() < 0.7 else random_blob(rng)
    finger = Finger(rng.uniform(0.004, 0.015), rng.uniform(0.05, 0.8), height)
    speed = 10 ** rng.uniform(-1.5, -0.3)
    push = random_push(rng, model, finger, length=0.05, speed=speed, clearance=1e-4)
    dt = 5e-4 / speed
    if rng.uniform() < 0.5:  # it bends, slows down or speeds up on the way
        bends = np.sort(rng.uniform(2.0, 25.0, 2)) * dt
        turn = rng.uniform(-1.2, 1.2, 2)
        velocity = push.velocity
        places = [push.start, push.at(bends[0])]
        for angle, wait in zip(turn, (bends[1] - bends[0], 100.0 * dt), strict=True):
            cos, sin = rng.uniform(0.3, 1.0) * np.array([np.cos(angle), np.sin(angle)])
            velocity = np.array([[cos, -sin], [sin, cos]]) @ velocity
            places.append(places[-1] + wait * velocity)
        push = Push([0.0, *bends, bends[1] + 100.0 * dt], places)
    twist = np.zeros(3)
    if rng.uniform() < 0.4:
        twist = rng.normal(size=3) * np.array([0.05, 0.05, 0.5])
    physics = Physics(dt, load, anisotropy=anisotropy)  # type: ignore[arg-type]
    return Case(model, push, finger, table, physics, np.zeros(3), twist, 20 * dt)


def check(count: int, draw: Callable[[], Case | None], rng: np.random.Generator) -> None:
    """Draw cases until `count` of them could be compared, and hold each to the tolerance."""
    COMPARED.clear()
    compared = tried = 0
    while compared < count:
        case = draw()
        tried += 1
        assert tried < 30 * count
        if case is None:
            continue
        error = worst_error(case, rng)
        if error is not None:
            compared += 1
            assert error < TOLERANCE, case
    for name in ("mass", "friction", "pose", "twist"):
        assert COMPARED[name] >= count // 2


ONE_STEP = {
    "separate": {Mode.SEPARATE},
    "stick": {Mode.STICK},
    "slip": {Mode.SLIP_LEFT, Mode.SLIP_RIGHT},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ONE_STEP)
def test_one_step(kind: str) -> None:
    """Differentiate 200 single steps of each contact mode."""
    rng = np.random.default_rng(list(ONE_STEP).index(kind))

    def draw() -> Case | None:
        case = random_case(rng)
        if kind == "separate":  # an object that moves by itself: one at rest has no derivatives
            twist = rng.normal(size=3) * np.array([0.2, 0.2, 3.0])
            case = replace(case, twist=twist, physics=replace(case.physics, dt=5e-3))
        track = case.track()
        assert track is not None
        for k in rng.permutation(len(track.mode)):
            if track.mode[k, 0] in ONE_STEP[kind]:
                dt = track.t[k + 1] - track.t[k]
                push = case.push
                assert isinstance(push, Push)
                later = Push.line(track.finger[k], push.velocity, push.duration)
                physics = replace(case.physics, dt=dt)
                single = replace(
                    case,
                    push=later,
                    physics=physics,
                    pose=track.pose[k].copy(),
                    twist=track.twist[k].copy(),
                    until=dt,
                )
                alone = single.track()
                if alone is None or len(alone.mode) != 1:
                    return None
                return single if alone.mode[0, 0] in ONE_STEP[kind] else None
        return None

    check(200, draw, rng)


@pytest.mark.slow
def test_whole_push() -> None:
    """Differentiate 200 pushes with their touches, slips and separations."""
    rng = np.random.default_rng(10)
    seen: set[int] = set()

    def draw() -> Case | None:
        case = random_case(rng)
        assert case.physics.dt is not None
        case = replace(case, until=float(rng.choice([10, 30, 110])) * case.physics.dt)
        track = case.track()
        assert track is not None
        seen.update(track.mode[:, 0].tolist())
        return case

    check(200, draw, rng)
    assert COMPARED["knots"] > 150
    assert seen >= {Mode.SEPARATE, Mode.STICK, Mode.SLIP_LEFT, Mode.SLIP_RIGHT}


def test_wedged() -> None:
    """Differentiate pushes into the inner corner of an L, jammed and turning."""
    rng = np.random.default_rng(16)
    cells = [(i, 0) for i in range(6)] + [(0, j) for j in range(1, 6)]
    grid = CellGrid(np.array(cells) * 0.02, 0.02)
    seen: set[int] = set()

    def draw() -> Case | None:
        n = grid.n_cells
        model = ObjectModel(grid, rng.uniform(0.02, 0.2, n), rng.uniform(0.2, 0.6, n))
        angle = rng.uniform(-0.2, 0.2) - 0.75 * np.pi
        velocity = 0.05 * np.array([np.cos(angle), np.sin(angle)])
        push = Push.line(np.array([0.0201, 0.0201]), velocity, 1.0)
        finger = Finger(0.01, rng.uniform(0.05, 1.0))
        case = Case(model, push, finger, None, Physics(dt=0.01), np.zeros(3), np.zeros(3), 0.2)
        track = case.track()
        assert track is not None
        seen.update(track.mode[:, 0].tolist())
        return case

    check(60, draw, rng)
    assert seen >= {Mode.WEDGED, Mode.WEDGED_TURNING_LEFT, Mode.WEDGED_TURNING_RIGHT}


@pytest.mark.parametrize("anisotropy", [None, [[1.4, -0.3], [-0.3, 0.7]]])
def test_above_the_table(anisotropy: list[list[float]] | None) -> None:
    """Differentiate pushes at a height, where the load follows the force of the step before."""
    rng = np.random.default_rng(17)
    seen: set[int] = set()

    def draw() -> Case | None:
        case = random_case(rng, height=0.02 if anisotropy is None else 0.0, anisotropy=anisotropy)
        assert case.physics.dt is not None
        case = replace(case, until=float(rng.choice([10, 30, 60])) * case.physics.dt)
        track = case.track()
        assert track is not None
        seen.update(track.mode[:, 0].tolist())
        return case

    check(40, draw, rng)
    assert seen >= {Mode.SEPARATE, Mode.STICK, Mode.SLIP_LEFT, Mode.SLIP_RIGHT}


@pytest.mark.parametrize(("load", "height"), [("own", 0.0), ("rigid", 0.0), ("own", 0.01)])
def test_at_the_edge(load: str, height: float) -> None:
    """Differentiate pushes of objects that hang over the edge, where loads depend on masses."""
    rng = np.random.default_rng(11)
    table = Table.rectangle(0.4, 0.4, centre=(-0.2, 0.0))

    def draw() -> Case | None:
        case = random_case(rng, table=table, load=load, height=height)
        shift = np.array([-case.model.centre_of_mass[0] - rng.uniform(0.005, 0.02), 0.0, 0.0])
        push = case.push
        assert isinstance(push, Push)
        push = Push.line(push.start + shift[:2], push.velocity, push.duration)
        case = replace(case, pose=shift, push=push)
        return case if case.track() is not None else None

    check(40, draw, rng)


def test_force_push() -> None:
    """Differentiate forces on cells: accelerating, coasting, turning."""
    rng = np.random.default_rng(12)

    def draw() -> Case | None:
        case = random_case(rng)
        n = case.model.grid.n_cells
        push = ForcePush(int(rng.integers(n)), rng.normal(size=2) * 5.0, 0.02)
        return replace(case, push=push, physics=replace(case.physics, dt=1e-3), until=0.04)

    check(50, draw, rng)
