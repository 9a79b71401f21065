"""The losses over records: their gradients against finite differences, and what they refuse."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from pushwise import Finger, ObjectModel, Physics, Push, PushRecord, Table, simulate
from pushwise.errors import PushwiseError, SimulationError
from pushwise.physics.gradients import loss, loss_and_gradient
from random_pushes import library_model, random_push

Array = np.ndarray

TOLERANCE = 1e-6


def records_of(rng: np.random.Generator, model: ObjectModel, count: int) -> list[PushRecord]:
    """Simulate pushes of another object of the same shape, and look at it with some noise."""
    truth = ObjectModel(
        model.grid,
        model.mass * rng.uniform(0.5, 2.0, len(model.mass)),
        model.friction * rng.uniform(0.5, 1.5, len(model.mass)),
    )
    records = []
    for _ in range(count):
        push = random_push(rng, model, Finger(), length=0.05, speed=0.1)
        t = np.linspace(0.0, push.duration + 0.1, 12)
        noise = rng.normal(size=(12, 3)) * np.array([3e-4, 3e-4, 2e-3])
        records.append(PushRecord(push, t, simulate(truth, push).pose_at(t) + noise))
    return records


@pytest.mark.parametrize("form", ["rollout", "one-step"])
def test_loss(form: str) -> None:
    """Compare the gradient of both losses with finite differences, parameter by parameter."""
    rng = np.random.default_rng(13)
    model = library_model(rng, "hammer")
    records = records_of(rng, model, 4)
    options: dict[str, Any] = {"form": form, "physics": Physics(dt=5e-3)}
    value, gradient = loss_and_gradient(model, records, **options)
    assert value == loss(model, records, **options)

    def check_one(found: float, at: Callable[[float], float]) -> None:
        errors = []
        for h in (1e-4, 1e-5, 1e-6, 1e-7):
            slope = (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h)
            errors.append(abs(slope / found - 1.0))
        assert min(errors) < TOLERANCE

    def of(changed: ObjectModel) -> float:
        return loss(changed, records, **options)

    mass = gradient.mass * model.mass**2
    mass /= np.abs(mass / model.mass).max()
    check_one(
        float(gradient.mass @ mass),
        lambda h: of(ObjectModel(model.grid, model.mass + h * mass, model.friction)),
    )
    mu = gradient.friction / np.abs(gradient.friction).max()
    check_one(
        float(gradient.friction @ mu),
        lambda h: of(ObjectModel(model.grid, model.mass, model.friction + h * mu)),
    )
    check_one(
        gradient.finger_friction,
        lambda h: loss(model, records, finger=Finger(0.01, 0.3 + h), **options),
    )
    check_one(
        gradient.finger_radius,
        lambda h: loss(model, records, finger=Finger(0.01 + 0.01 * h, 0.3), **options) * 100.0,
    )

    def moved(knots: Sequence[Array], pose: Array, twist: Array) -> list[PushRecord]:
        found = []
        for i, r in enumerate(records):
            assert isinstance(r.push, Push)
            push = Push(r.push.times, r.push.positions + knots[i])
            seen = r.pose.copy()
            seen[0] += pose[i]
            found.append(PushRecord(push, r.t, seen, twist=r.twist + twist[i]))
        return found

    still, none = [np.zeros((2, 2))] * 4, np.zeros((4, 3))
    most = max(np.abs(knots).max() for knots in gradient.knots)
    along = [1e-3 * knots / most for knots in gradient.knots]
    check_one(
        sum(float(np.sum(a * b)) for a, b in zip(gradient.knots, along, strict=True)),
        lambda h: loss(model, moved([h * a for a in along], none, none), **options),
    )
    if form == "rollout":
        way = 1e-3 * gradient.pose / np.abs(gradient.pose).max()
        check_one(
            float(np.sum(gradient.pose * way)),
            lambda h: loss(model, moved(still, h * way, none), **options),
        )
        push = 1e-2 * gradient.twist / np.abs(gradient.twist).max()
        check_one(
            float(np.sum(gradient.twist * push)),
            lambda h: loss(model, moved(still, none, h * push), **options),
        )
    else:
        assert not gradient.pose.any() and not gradient.twist.any()


def test_true_model_has_no_loss() -> None:
    """Predict with the truth: zero, and a gradient that is a number."""
    rng = np.random.default_rng(14)
    model = library_model(rng, "box")
    push = random_push(rng, model, Finger(), length=0.05, speed=0.1)
    path = simulate(model, push, until=1.0)
    t = np.array([0.0, 0.3, 1.0])
    value, gradient = loss_and_gradient(model, [PushRecord(push, t, path.pose_at(t))])
    assert value < 1e-12
    assert np.isfinite(gradient.mass).all()


def test_loss_refuses_what_it_cannot_predict() -> None:
    """Name the record and why."""
    rng = np.random.default_rng(15)
    model = library_model(rng, "hammer")
    record = records_of(rng, model, 1)[0]
    with pytest.raises(PushwiseError, match="records must hold something to predict: 0 given"):
        loss(model, [])
    with pytest.raises(PushwiseError, match="form must be 'one-step' or 'rollout'; got 'two'"):
        loss(model, [record], form="two")  # type: ignore[arg-type]
    buried = PushRecord(
        Push.line(model.grid.centres[0], (0.1, 0.0), 1.0), record.t, np.zeros_like(record.pose)
    )
    with pytest.raises(SimulationError, match=r"record 1: the finger, .* starts .* mm inside"):
        loss(model, [record, buried])
    with pytest.raises(SimulationError, match=r"record 0: .* tips over the table's edge"):
        loss(model, [record], table=Table.rectangle(0.05, 0.05))
