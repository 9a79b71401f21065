"""Closed forms and conservation laws that the simulation must meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, fsolve

from pushwise import CellGrid, Finger, ForcePush, ObjectModel, Physics, Push, Trajectory, simulate
from pushwise.physics.constants import GRAVITY
from pushwise.physics.simulate import Mode
from pushwise.typing import Array
from random_pushes import random_blob, random_push

SQUARE = np.array([[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]])
NOTHING = ForcePush(cell=0, force=(0.0, 0.0), duration=1e-3)


def uniform(outline: np.ndarray, cell_size: float, mass: float, friction: float) -> ObjectModel:
    """Fill an outline with cells of equal mass and friction."""
    grid = CellGrid.from_outline(outline, cell_size=cell_size)
    return ObjectModel(grid, np.full(grid.n_cells, mass / grid.n_cells), friction)


def at_centre(model: ObjectModel, path: Trajectory) -> np.ndarray:
    """Return velocity of the centre of mass and omega at each instant, shape (T + 1, 3)."""
    cos, sin = np.cos(path.pose[:, 2]), np.sin(path.pose[:, 2])
    cx, cy = model.centre_of_mass
    x, y = cos * cx - sin * cy, sin * cx + cos * cy
    vx, vy, w = path.twist.T
    return np.column_stack([vx - w * y, vy + w * x, w])


def energy(model: ObjectModel, path: Trajectory) -> np.ndarray:
    """Return the kinetic energy at each instant [J]."""
    v = at_centre(model, path)
    linear = model.total_mass * np.sum(v[:, :2] ** 2, axis=1)
    energy: Array = 0.5 * (linear + model.inertia * v[:, 2] ** 2)
    return energy


def test_sliding_block_stops_where_coulomb_says() -> None:
    """Slide a block: v^2 / (2 mu g)."""
    block = uniform(SQUARE, 0.04, 1.0, 0.5)
    path = simulate(block, NOTHING, twist=(1.0, 0.0, 0.0), physics=Physics(dt=1e-3))
    assert path.pose[-1, 0] == pytest.approx(1.0 / (2 * 0.5 * GRAVITY), rel=0.005)
    assert np.abs(path.pose[-1, 1:]).max() < 1e-9


def test_spinning_disc_slows_as_coulomb_says() -> None:
    """Spin a uniform disc: 4 mu g / (3 R)."""
    radius, mu, spin = 0.1, 0.4, 20.0
    angle = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    outline = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    path = simulate(
        uniform(outline, 0.004, 0.7, mu),
        NOTHING,
        twist=(0.0, 0.0, spin),
        until=0.1,
        physics=Physics(dt=1e-3),
    )
    slowing = (path.twist[0, 2] - path.twist[-1, 2]) / path.t[-1]
    assert slowing == pytest.approx(4 * mu * GRAVITY / (3 * radius), rel=0.01)


@pytest.mark.parametrize(("cells", "points", "rel"), [(5, 1, 0.015), (5, 2, 1e-3), (50, 1, 1e-3)])
def test_off_centre_square_turns_at_the_exact_rate(cells: int, points: int, rel: float) -> None:
    """Push a square 30 mm off centre with a sticking finger: -0.20983 rad/s at first."""
    # Friction is made so strong that inertia does not show; its size does not matter otherwise.
    square = uniform(SQUARE, 0.2 / cells, 1.0, 5e5)
    push = Push.line(start=(-0.11, 0.03), velocity=(0.1, 0.0), duration=0.1)
    path = simulate(
        square, push, finger=Finger(0.01, 10.0), until=1e-4, physics=Physics(dt=1e-4, points=points)
    )
    assert path.mode[0] == Mode.STICK
    assert path.twist[-1, 2] == pytest.approx(-0.20983, rel=rel)


FEET = np.array([[0.05, -0.03], [-0.04, -0.05], [-0.01, 0.06]])


@pytest.mark.parametrize(
    ("height", "finger_friction", "mode"),
    [(0.0, 5.0, Mode.STICK), (0.02, 5.0, Mode.STICK), (0.04, 0.1, Mode.SLIP_LEFT)],
)
def test_three_feet_match_a_root_finder(height: float, finger_friction: float, mode: Mode) -> None:
    """Push an object on three point feet and compare with its quasi-static balance."""
    grid = CellGrid.from_outline(SQUARE * 0.9, cell_size=0.01)
    near = [int(np.argmin(np.hypot(*(grid.centres - foot).T))) for foot in FEET]
    feet = grid.centres[near]
    mass = np.full(grid.n_cells, 1e-9)
    mass[near] = 1e-4
    friction = np.zeros(grid.n_cells)
    friction[near] = (1e6, 2e6, 3e6)  # heavy friction on light feet: no inertia to speak of
    model = ObjectModel(grid, mass, friction)
    load = (friction * mass * GRAVITY)[near]
    speed, dt = 0.05, 1e-4
    push = Push.line(start=(-0.1, height), velocity=(speed, 0.0), duration=1.0)
    finger = Finger(0.01, finger_friction)
    path = simulate(model, push, finger=finger, until=dt, physics=Physics(dt=dt, points=1))
    assert path.mode[0] == mode
    arm = feet - np.array([-0.09, height])

    def forces(slip: float, omega: float) -> tuple[np.ndarray, float]:
        velocity = np.column_stack([speed - omega * arm[:, 1], slip + omega * arm[:, 0]])
        size = np.sqrt(np.sum(velocity**2, axis=1) + 1e-8)
        force = load[:, None] * velocity / size[:, None]
        return force.sum(axis=0), float(np.sum(arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0]))

    if mode == Mode.STICK:
        omega = brentq(lambda w: forces(0.0, w)[1], -10.0, 10.0, xtol=1e-14)
    else:
        # On the left side of the square t = (0, -1): friction on the object along +t.
        def balance(z: np.ndarray) -> list[float]:
            total, moment = forces(*z)
            return [moment, total[1] + finger_friction * total[0]]

        omega = fsolve(balance, [0.0, 0.0], xtol=1e-13)[1]
    assert path.twist[-1, 2] == pytest.approx(omega, rel=1e-3)


def test_free_spin_conserves_momentum() -> None:
    """Let an object with an offset centre of mass spin on ice."""
    grid = CellGrid.from_outline(SQUARE + 0.07, cell_size=0.02)
    rng = np.random.default_rng(1)
    model = ObjectModel(grid, rng.uniform(0.01, 0.5, grid.n_cells), 0.0)
    path = simulate(model, NOTHING, twist=(0.3, -0.2, 9.0), until=1.0, physics=Physics(dt=1e-3))
    v = at_centre(model, path)
    assert np.abs(v - v[0]).max() < 1e-9
    cos, sin = np.cos(path.pose[:, 2]), np.sin(path.pose[:, 2])
    x = path.pose[:, 0] + cos * model.centre_of_mass[0] - sin * model.centre_of_mass[1]
    assert np.abs(x - x[0] - v[0, 0] * path.t).max() < 1e-5


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_energy_never_grows_without_a_push(seed: int) -> None:
    """Throw random objects in random ways."""
    rng = np.random.default_rng(seed)
    model = random_blob(rng)
    twist = rng.normal(size=3) * np.array([0.5, 0.5, 10.0])
    path = simulate(
        model, NOTHING, twist=twist, physics=Physics(dt=float(rng.choice([1e-3, 1e-2])))
    )
    e = energy(model, path)
    assert (np.diff(e) <= 1e-12 * e[0]).all()
    assert e[-1] < 1e-5 * e[0]


def test_finger_does_the_work_friction_takes() -> None:
    """Check work done by the finger against energy gained, step by step: never less."""
    rng = np.random.default_rng(2)
    finger = Finger(0.008, 0.4)
    for _ in range(20):
        model = random_blob(rng)
        push = random_push(rng, model, finger, length=0.05, speed=0.3)
        path = simulate(model, push, finger=finger, physics=Physics(dt=1e-3))
        touched = path.mode != Mode.SEPARATE
        arm = path.contact - path.pose[1:, :2]
        vx, vy, w = path.twist[1:].T
        point = np.column_stack([vx - w * arm[:, 1], vy + w * arm[:, 0]])
        work = np.sum(path.force * point, axis=1) * np.diff(path.t)
        gain = np.diff(energy(model, path))
        assert (gain[touched] <= work[touched] + 1e-3 * np.abs(work).max()).all()
