"""The differentiable operation that PyTorch and JAX share, without either."""

import numpy as np
import pytest

import pushwise as pw
from push_cases import (
    FRICTION,
    GRID,
    MASS,
    NAMES,
    PushCase,
    batch_of_one,
    case_of,
    poses_of,
    simulated,
)
from pushwise.physics.constants import GRAVITY
from pushwise.physics.differentiable import PushInputs, PushScene, batch_shape, roll_scene

CASES = ("stick", "slip", "separated")


@pytest.mark.parametrize("name", CASES)
def test_poses_are_those_of_simulate(name: str) -> None:
    """Agree with `simulate`, and be in the mode that the case is named after."""
    case = case_of(name)
    motion = simulated(case)
    np.testing.assert_allclose(poses_of(case)[-1], motion.pose[-1], atol=1e-12)
    seen = set(motion.mode.tolist())
    assert seen & case.modes if case.modes else seen == {pw.Mode.SEPARATE}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_finite_differences(name: str) -> None:
    """Differentiate a weighted sum of both poses in every input, against central differences."""
    case = case_of(name)
    weights = np.random.default_rng(0).normal(size=(2, 3))
    done = roll_scene(case.scene, batch_of_one(case.inputs))
    bars = done.pull_back(weights[None])
    for which, (label, bar) in enumerate(zip(NAMES, bars, strict=True)):
        for index in np.ndindex(bar.shape[1:]):
            step = 1e-6 * max(abs(float(np.asarray(case.inputs[which])[index])), 0.01)
            ends = []
            for sign in (1.0, -1.0):
                moved = [np.array(x) for x in case.inputs]
                moved[which][index] += sign * step
                ends.append(weights * poses_of(PushCase(case.scene, PushInputs(*moved), set())))
            slope = (ends[0] - ends[1]).sum() / (2.0 * step)
            np.testing.assert_allclose(bar[(0, *index)], slope, rtol=2e-5, atol=1e-7, err_msg=label)


def test_a_free_slide_is_the_closed_form() -> None:
    """Slide a thrown object by v t - mu g t^2 / 2, with derivatives t and -g t^2 / 2."""
    t, v, mu = 0.1, 0.5, 0.3
    scene = PushScene(GRID, (0.0, t))
    n = GRID.n_cells
    inputs = PushInputs(
        MASS[None],
        np.full((1, n), mu),
        np.array([0.3]),
        np.zeros((1, 3)),
        np.array([[v, 0.0, 0.0]]),
        np.array([[(1.0, 1.0), (1.0, 1.0)]]),
    )
    done = roll_scene(scene, inputs)
    assert done.poses[0, 0, 0] == pytest.approx(v * t - 0.5 * mu * GRAVITY * t**2, rel=1e-9)
    bar = done.pull_back(np.array([[[1.0, 0.0, 0.0]]]))
    assert bar.twist[0, 0] == pytest.approx(t, rel=1e-6)
    assert bar.friction[0].sum() == pytest.approx(-0.5 * GRAVITY * t**2, rel=1e-6)
    assert abs(bar.mass[0] @ MASS) < 1e-9  # more of all mass changes nothing


def test_default_time_steps_change_in_steps_only() -> None:
    """Have exact derivatives with the default time step, which depends on the finger's speed."""
    case = case_of("slip")
    scene = PushScene(GRID, case.scene.times, at=(0.13,))
    batch = batch_of_one(case.inputs)
    bar = roll_scene(scene, batch).pull_back(np.ones((1, 1, 3)))
    ends = []
    for sign in (1.0, -1.0):
        knots = batch.knots.copy()
        knots[0, 1, 1] += sign * 1e-7
        ends.append(roll_scene(scene, batch._replace(knots=knots)).poses.sum())
    assert bar.knots[0, 1, 1] == pytest.approx((ends[0] - ends[1]) / 2e-7, rel=1e-5)


def test_a_push_does_not_depend_on_its_batch() -> None:
    """Return the same bits alone and among others, and derivatives that belong to each push."""
    rows = [case_of(name).inputs for name in ("stick", "slip")] * 9
    scene = case_of("stick").scene
    batch = roll_scene(scene, PushInputs(*(np.stack(x) for x in zip(*rows, strict=True))))
    weights = np.zeros_like(batch.poses)
    weights[3] = 1.0
    bars = batch.pull_back(weights)
    for i, row in enumerate(rows[:4]):
        one = PushCase(scene, row, set())
        np.testing.assert_array_equal(batch.poses[i], poses_of(one))
    assert all(np.abs(bar[3]).sum() > 0.0 for bar in bars)
    assert all(not np.delete(bar, 3, axis=0).any() for bar in bars)


def test_shapes_are_checked() -> None:
    """Name the input whose shape is wrong, and what would be right."""
    scene = case_of("stick").scene
    shapes = [(5,), (4, 5), (), (3,), (4, 3), (2, 1, 3, 2)]
    assert batch_shape(scene, shapes) == (2, 4)
    with pytest.raises(pw.PushwiseError, match=r"pose must have shape \(..., 3\); got shape \(2,"):
        batch_shape(scene, [*shapes[:3], (2,), *shapes[4:]])
    with pytest.raises(pw.PushwiseError, match="must be of one shape, or broadcast to one"):
        batch_shape(scene, [(3, 5), *shapes[1:]])


def test_bad_scenes_are_refused() -> None:
    """Refuse negative times and the paper's friction."""
    with pytest.raises(pw.PushwiseError, match="at must be times of zero or later"):
        PushScene(GRID, (0.0, 1.0), at=(-0.1,))
    with pytest.raises(pw.PushwiseError, match="must be 'coulomb'"):
        PushScene(GRID, (0.0, 1.0), physics=pw.Physics(friction="lagged"))


def test_a_push_that_cannot_be_simulated_is_named() -> None:
    """Say which push of a batch tips over the edge, or starts inside the object."""
    model = pw.ObjectModel(GRID, MASS, FRICTION)
    table = pw.Table.rectangle(0.2, 0.2)
    scene = PushScene(GRID, (0.0, 0.5), table=table)
    rows = PushInputs(
        np.tile(model.mass, (2, 1)),
        np.tile(model.friction, (2, 1)),
        np.full(2, 0.3),
        np.zeros((2, 3)),
        np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]),
        np.full((2, 2, 2), 0.5),
    )
    with pytest.raises(pw.SimulationError, match=r"push 1 cannot .* tips over the table's edge"):
        roll_scene(scene, rows)
    centre = np.tile(GRID.centres.mean(axis=0), (2, 2, 1))
    with pytest.raises(pw.SimulationError, match="push 0: the finger"):
        roll_scene(scene, rows._replace(twist=np.zeros((2, 3)), knots=centre))


def test_a_rollout_of_no_time_stays_at_the_start() -> None:
    """Return the starting pose at time zero and its derivative, numbers all of them."""
    case = case_of("slip")
    batch = batch_of_one(case.inputs)
    rollout = roll_scene(PushScene(GRID, case.scene.times, at=(0.0,)), batch)
    np.testing.assert_allclose(rollout.poses[0, 0], batch.pose[0], atol=1e-4)  # out of the finger
    bar = rollout.pull_back(np.ones((1, 1, 3)))
    assert all(np.isfinite(each).all() for each in bar)
    assert np.abs(bar.pose[0]).max() > 0.5
