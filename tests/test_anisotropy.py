"""A board that rubs more in one direction: closed forms, symmetry, identification."""

import numpy as np
import pytest

from pushwise import (
    CellGrid,
    Finger,
    ForcePush,
    ObjectModel,
    Physics,
    Push,
    PushRecord,
    identify,
    simulate,
)
from pushwise.errors import PushwiseError
from pushwise.identification.holdout import predicted_ends
from pushwise.physics.constants import GRAVITY
from random_pushes import library_model, random_push

Array = np.ndarray

A = np.array([[1.4, -0.3], [-0.3, 0.7]])
FRICTION = 0.3


def square() -> ObjectModel:
    """Return an even square."""
    cells = 0.02 * np.array([(i, j) for i in range(5) for j in range(5)])
    return ObjectModel(CellGrid(cells, 0.02), np.full(25, 0.02), FRICTION)


def turned(th: float) -> Array:
    """Return the rotation by an angle, (2, 2)."""
    return np.array([[np.cos(th), -np.sin(th)], [np.sin(th), np.cos(th)]])


def test_sliding_along_the_axes() -> None:
    """Stop an object that slides along a principal axis after v^2 / (2 mu sqrt(lambda) g)."""
    values, axes = np.linalg.eigh(A)
    model = square()
    middle = model.grid.centres.mean(axis=0)
    nothing = ForcePush(0, (0.0, 0.0), 1e-3)
    for value, axis in zip(values, axes.T, strict=True):
        path = simulate(
            model,
            nothing,
            (*-middle, 0.0),
            twist=(*(0.4 * axis), 0.0),
            physics=Physics(dt=1e-3, anisotropy=A),
        )
        way = path.pose[-1] - path.pose[0]
        expected = 0.4**2 / (2.0 * FRICTION * np.sqrt(value) * GRAVITY)
        assert way[:2] == pytest.approx(expected * axis, abs=2e-5)
        assert way[2] == pytest.approx(0.0, abs=1e-6)


def test_friction_across_the_axes() -> None:
    """Slow an object down by -mu g A v / sqrt(v A v), not straight against its motion."""
    model = square()
    v = np.array([0.3, 0.2])
    path = simulate(
        model,
        ForcePush(0, (0.0, 0.0), 1e-4),
        twist=(*v, 0.0),
        until=1e-4,
        physics=Physics(dt=1e-4, anisotropy=A),
    )
    slower = (path.twist[-1, :2] - v) / 1e-4
    v = path.twist[-1, :2]  # friction is that at the end of the step
    assert slower == pytest.approx(-FRICTION * GRAVITY * A @ v / np.sqrt(v @ A @ v), rel=1e-5)
    assert path.twist[-1, 2] == pytest.approx(0.0, abs=1e-9)


def test_board_turned_with_everything_on_it() -> None:
    """Turn push, pose and board: the same motion, turned. The matrix one changes nothing."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        model = library_model(rng)
        push = random_push(rng, model, Finger(), length=0.05, speed=0.05)
        th = rng.uniform(-3.0, 3.0)
        R = turned(th)
        path = simulate(model, push, physics=Physics(anisotropy=A))
        other = simulate(
            model,
            Push.line(R @ push.start, R @ push.velocity, push.duration),
            (0.0, 0.0, th),
            physics=Physics(anisotropy=R @ A @ R.T),
        )
        assert other.pose[-1, :2] == pytest.approx(R @ path.pose[-1, :2], abs=1e-7)
        assert other.pose[-1, 2] == pytest.approx(th + path.pose[-1, 2], abs=1e-6)
        plain = simulate(model, push)
        assert simulate(model, push, physics=Physics(anisotropy=np.eye(2))).pose[
            -1
        ] == pytest.approx(plain.pose[-1], abs=1e-8)
        assert np.abs(path.pose[-1] - plain.pose[-1]).max() > 1e-4


@pytest.mark.slow
def test_identified_with_the_matrix_given() -> None:
    """Learn on an uneven board: better with its matrix than without."""
    rng = np.random.default_rng(1)
    truth = library_model(rng, "hammer")
    records = []
    for _ in range(15):
        # Boards are not turned with the object, so it has to lie in many ways.
        push = random_push(rng, truth, Finger(), length=0.05, speed=0.05)
        th = rng.uniform(-3.0, 3.0)
        R = turned(th)
        push = Push.line(R @ push.start, R @ push.velocity, push.duration)
        t = np.linspace(0.0, push.duration, 6)
        pose = simulate(truth, push, (0.0, 0.0, th), physics=Physics(anisotropy=A)).pose_at(t)
        records.append(PushRecord(push, t, pose))
    seen = np.array([record.pose[-1] for record in records[10:]])
    errors = []
    for physics in (Physics(anisotropy=A), Physics()):
        found = identify(truth.grid, records[:10], physics=physics)
        ends = predicted_ends(found.model, records[10:], found.finger, physics=physics).pose
        errors.append(np.abs(ends - seen).mean())
    assert errors[0] < 0.2 * errors[1]


@pytest.mark.parametrize("bad", [[[1.0, 0.1], [0.2, 1.0]], [[1.0, 2.0], [2.0, 1.0]]])
def test_no_matrix_of_a_board(bad: list[list[float]]) -> None:
    """Refuse a matrix that is not symmetric and positive definite, and the paper's friction."""
    push = ForcePush(0, (1.0, 0.0), 0.1)
    with pytest.raises(PushwiseError, match="anisotropy must be symmetric and positive definite"):
        simulate(square(), push, physics=Physics(anisotropy=bad))
    with pytest.raises(PushwiseError, match="lagged"):
        simulate(square(), push, physics=Physics(anisotropy=A, friction="lagged"))
